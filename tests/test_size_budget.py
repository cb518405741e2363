"""`scripts/size_budget`: what it counts, and that exceptions have limits."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "size_budget"
budgets: Any = SimpleNamespace(**runpy.run_path(str(SCRIPT)))
BUDGET = {"function": 40, "function-hard": 60, "rule": 15}


def function(lines: int, head: str = "", docstring: int = 0) -> ast.FunctionDef:
    """A function of so many lines, `def` included, docstring not."""
    text = ["    " + '"""' + "\n" * (docstring - 1) + '"""'] if docstring else []
    source = "\n".join([head + "def f():", *text, *["    pass"] * (lines - 1)])
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef)
    return node


@pytest.mark.parametrize("docstring", [0, 1, 10])
def test_a_docstring_is_not_counted(docstring: int) -> None:
    assert budgets.length(function(5, docstring=docstring)) == 5


@pytest.mark.parametrize(
    ("lines", "head", "excess"),
    [
        (40, "", None),
        (41, "", "41 lines of function, budget 40"),
        (61, "", "61 lines of function, budget 60 (no exception allowed)"),
        (15, "@rule(phase='x')\n", None),
        (16, "@rule(phase='x')\n", "16 lines of rule, budget 15"),
        (16, "@equation\n", "16 lines of rule, budget 15"),
        (16, "@node_rewriter(phase='x')\n", None),
    ],
)
def test_budgets(lines: int, head: str, excess: str | None) -> None:
    found = [str(x) for x in budgets.function_excess("p::f", function(lines, head), BUDGET)]
    assert found == ([] if excess is None else [f"p::f: {excess}"])


def test_methods_and_inner_functions_have_qualified_names() -> None:
    tree = ast.parse("class A:\n    def f(self):\n        if 1:\n            def g(): pass\n")
    assert [name for name, _ in budgets.functions(tree)] == ["A.f", "A.f.g"]


def test_a_linked_folder_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").touch()
    (tmp_path / "real" / "tool").write_text("#!/usr/bin/env python3\n")
    (tmp_path / "real" / "other").write_text("#!/bin/sh\n")
    (tmp_path / "link").symlink_to("real")
    found = [p.relative_to(tmp_path).as_posix() for p in budgets.python_files(tmp_path)]
    assert found == ["real/a.py", "real/tool"]
