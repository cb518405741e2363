"""Find names of another library that a program uses and this library lacks, without running it.

Imports are checked, and dotted names that begin with an imported module (`pt.linalg.lu`), also
under another name (`T = theano.tensor`). Methods of variables are not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from rewrite_engine.compat import PeerModule, install, is_missing
from rewrite_engine.compat.table import VERSIONS


@dataclass
class UsedNames(ast.NodeVisitor):
    """Visitor that collects missing names: pairs of a line and a name, in the order of the
    program.
    """

    missing: list[tuple[int, str]] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)  # {name in the program: module}

    def visit_Import(self, node: ast.Import) -> None:
        """Record `import pytensor.tensor as pt`."""
        for alias in node.names:
            module = self.module(node, alias.name)
            if module is not None:
                first = alias.name.partition(".")[0]
                self.known[alias.asname or first] = module if alias.asname else import_module(first)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Record `from pytensor import tensor as pt`."""
        module = None if node.level or not node.module else self.module(node, node.module)
        for alias in node.names if module is not None else ():
            if alias.name != "*":
                self.known[alias.asname or alias.name] = self.attribute(node, module, alias.name)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Record another name of a module: `T = theano.tensor`."""
        value = self.value(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.known[target.id] = value
            else:
                self.visit(target)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Check a name such as `pt.exp`."""
        self.value(node)

    def module(self, node: ast.AST, name: str) -> Any:
        """Return a module of a known library; None for others and for missing ones."""
        if name.partition(".")[0] not in VERSIONS:
            return None
        try:
            return import_module(name)
        except ModuleNotFoundError:
            self.tell(node, name)
            return None

    def value(self, node: ast.expr) -> Any:
        """Return the module that an expression refers to, or None."""
        if isinstance(node, ast.Name):
            return self.known.get(node.id)
        if isinstance(node, ast.Attribute):
            return self.attribute(node, self.value(node.value), node.attr)
        self.visit(node) if not isinstance(node, ast.Constant) else None
        return None

    def attribute(self, node: ast.AST, module: Any, name: str) -> Any:
        """Return a name of a module; record it if it is missing."""
        if not isinstance(module, PeerModule):
            return None
        value = getattr(module, name, self)
        if value is self or is_missing(value):
            self.tell(node, f"{module.__name__}.{name}")
        return value if isinstance(value, ModuleType) else None

    def tell(self, node: Any, name: str) -> None:
        if (node.lineno, name) not in self.missing:
            self.missing.append((node.lineno, name))


def missing(source: str) -> Iterator[tuple[int, str]]:
    """Yield the missing names of a program, with the lines where they are used, in their order.
    Raises `SyntaxError`.
    """
    install()
    names = UsedNames()
    names.visit(ast.parse(source))
    return iter(sorted(names.missing))
