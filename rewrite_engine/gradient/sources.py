"""Variables from which a gradient was built.

The derivative of `dot(x, y)` by `y` is `x`: building it already removes `y`. A function of x and y
that returns it is correct, so `compile/` looks here before it reports an unused input.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.graph.weak import on_death

#: by the identity of the derivative (constants of one value are equal), while that lives: a weak
#: reference to it, and its sources
_sources: dict[int, tuple[Any, tuple[Variable, ...]]] = {}


NONE: tuple[Any, tuple[Variable, ...]] = None, ()


def with_sources(results: Sequence[Any], sources: Iterable[Any]) -> list[Any]:
    """Record the variables from which derivatives were built, and return the derivatives."""
    known = tuple([v for v in sources if isinstance(v, Variable)])
    return [_noted(g, known) for g in results]


def _noted(g: Any, sources: tuple[Variable, ...]) -> Any:
    if isinstance(g, Constant):
        g = g.clone()  # one of its own: the same number may stand elsewhere
    elif not isinstance(g, Variable) or g.owner is None:
        return g
    _sources[id(g)] = on_death(g, _sources.pop, id(g), None), sources
    return g


def used_by(expressions: Iterable[Variable]) -> set[Variable]:
    """Return all variables from which expressions are computed, or from which derivatives in them
    were built.
    """
    found: set[Variable] = set()
    todo: list[Variable] = list(expressions)
    while todo:
        more = [v for v in ancestors(todo) if v not in found]
        found.update(more)
        todo = [s for v in more for s in _sources.get(id(v), NONE)[1] if s not in found]
    return found
