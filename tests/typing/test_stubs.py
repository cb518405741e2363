"""Stubs, and what checkers see in the place of names that are made or looked up at run time."""

from __future__ import annotations

import ast
import inspect
import runpy
from pathlib import Path

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.tensor import operators

ROOT = Path(__file__).resolve().parent.parent.parent
STUBS = runpy.run_path(str(ROOT / "scripts" / "stubs"))["STUBS"]


def declared(tree: ast.AST) -> set[str]:
    """Names that a stub, or the part of a module that only checkers read, exports."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def for_checkers(module: object) -> ast.If:
    """The first block under `if TYPE_CHECKING:` of a module or class."""
    tree = ast.parse(inspect.getsource(module))  # type: ignore[arg-type]
    return next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )


@pytest.mark.parametrize("place", STUBS)
def test_a_stub_is_what_the_script_writes(place: str) -> None:
    text = (ROOT / "rewrite_engine" / place).read_text(encoding="utf-8")
    assert text == STUBS[place](), "run scripts/stubs"


def test_no_other_stubs_are_there() -> None:
    found = (ROOT / "rewrite_engine").rglob("*.pyi")
    assert {path.relative_to(ROOT / "rewrite_engine").as_posix() for path in found} == {*STUBS}


def test_all_names_of_tensor_are_in_its_stub() -> None:
    text = (ROOT / "rewrite_engine" / "tensor" / "__init__.pyi").read_text(encoding="utf-8")
    assert declared(ast.parse(text)) == {*dir(pt)}


def test_all_names_of_the_package_are_declared() -> None:
    assert declared(for_checkers(rw)) == {*dir(rw)} - {"config"}


def test_methods_made_by_name_are_declared() -> None:
    block = for_checkers(operators.TensorOperators)
    assert declared(block) == {*operators._BY_NAME.split(), "__rshift__"}


@pytest.mark.parametrize("module", [rw, pt])
def test_dir_has_public_names_alone(module: object) -> None:
    names = dir(module)
    assert {"function", "grad"} <= {*dir(rw)}
    assert {"exp", "grad", "linalg", "softmax"} <= {*dir(pt)}
    assert [n for n in names if n.startswith("_") and n != "__version__"] == []
    assert {"annotations", "Any", "TYPE_CHECKING", "lazy", "lookup", "hooks", "sys"}.isdisjoint(
        names
    )
    assert all(hasattr(module, name) for name in names)
