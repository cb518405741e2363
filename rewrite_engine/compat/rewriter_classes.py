"""Rewriters that are written as classes: `NodeRewriter`, with `transform(fgraph, node)` and
`tracks()`. (`GraphRewriter`, with `apply(fgraph)`, is that of the library.)
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.match import rule
from rewrite_engine.match.decorate import several

__all__ = ["ClassRewriter"]


class _MadeOfClass(type):
    """A rule is made once an object's own `__init__` has run; every rule of a function is one."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)

        def transform(fgraph: Any, node: Any) -> Any:
            return made.transform(fgraph, node)

        transform.__name__ = transform.__qualname__ = cls.__name__
        roots = several(made.tracks(), "as a list that `tracks` returns")
        rule.NodeRewriter.__init__(made, transform, tracks=roots)
        return made

    def __instancecheck__(cls, instance: Any) -> bool:
        of_function = cls is ClassRewriter and isinstance(instance, rule.NodeRewriter)
        return of_function or super().__instancecheck__(instance)


class ClassRewriter(rule.NodeRewriter, metaclass=_MadeOfClass):
    """A rule as PyTensor has it written: a subclass has `transform(self, fgraph, node)`, which
    returns replacements for the node's outputs, or None; and `tracks(self)` returns the ops, or
    classes of ops, that it looks at (None: all).
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Any subclass may have a `transform`."""

    def __init__(self) -> None:
        """What a subclass keeps of its own."""

    def tracks(self) -> Any:  # type: ignore[override]
        """The ops it looks at."""
        return None

    def add_requirements(self, fgraph: Any) -> None:
        """Nothing is needed of a graph."""
