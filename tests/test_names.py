"""Names of classes: one thing each."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_no_two_classes_have_one_name() -> None:
    found = defaultdict(list)
    for path in [*(ROOT / "rewrite_engine").rglob("*.py"), *(ROOT / "rules").rglob("*.py")]:
        file = path.resolve().relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and f"{file}:{node.lineno}" not in found[node.name]:
                found[node.name].append(f"{file}:{node.lineno}")
    assert len(found) > 300
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
