"""Names: of classes, one thing each; of files, where folders name them."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "rewrite_engine"


def test_no_two_classes_have_one_name() -> None:
    found = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        file = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(f"{file}:{node.lineno}")
    assert len(found) > 300
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_files_named_by_a_folder_exist() -> None:
    missing = []
    for path in PACKAGE.rglob("__init__.py"):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        for name in re.findall(r"`([\w/]+(?:\.py|/))`", text):
            if not any((folder / name).exists() for folder in (path.parent, PACKAGE, ROOT)):
                missing.append(f"{path.parent.name}: {name}")
    assert missing == []


@pytest.mark.parametrize("name", ["", "check", "explain", "random", "tensor"])
def test_consoles_complete_public_names_only(name: str) -> None:
    package = import_module(f"rewrite_engine.{name}".rstrip("."))
    shown = {*dir(package)}
    assert shown >= {*getattr(package, "__all__", ())}
    assert not shown & {"annotations", "Any", "TYPE_CHECKING", "lookup", "lazy", "sys", "_HOMES"}
    assert all(hasattr(package, one) for one in shown)
