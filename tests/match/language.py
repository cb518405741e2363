"""Operators and sorts for rules on the toy ops, and ways to ask rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.match import decorate
from rewrite_engine.match.claim import Claim, refines
from rewrite_engine.match.pattern import Sort
from rewrite_engine.match.rule import DataRule
from rewrite_engine.terms.logic import pattern_classes
from tests.toy import add, mul, neg, num, pos, sub


class ToyOperators:
    """What patterns on toy ops may be written with."""

    def __add__(self, other: Any) -> Any:
        return add(self, other)

    def __radd__(self, other: Any) -> Any:
        return add(other, self)

    def __mul__(self, other: Any) -> Any:
        return mul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return mul(other, self)

    def __sub__(self, other: Any) -> Any:
        return sub(self, other)

    def __neg__(self) -> Any:
        return neg(self)

    def __lt__(self, other: Any) -> Any:
        return sub(self, other)

    def __and__(self, other: Any) -> Any:
        return mul(self, other)


ToyVariable, ToyPattern = pattern_classes(ToyOperators)

Positive = Sort("Positive", lambda v: getattr(v.type, "positive", False), "{v}.type.positive")


def named_x(v: Any) -> bool:
    """A predicate used as a sort."""
    return v.name == "x"


def rule(
    fn: Callable[..., Any] | None = None,
    *,
    claim: Claim = refines,
    phase: str | None = None,
    tags: tuple[str, ...] = (),
) -> Any:
    """`@rule` whose parameters have the operators above."""
    return decorate.rule(fn, claim=claim, phase=phase, tags=tags, variable=ToyVariable)


def make(fn: Callable[..., Any], doc: str = "A rule made by a test.", **options: Any) -> DataRule:
    """A rule of a lambda."""
    fn.__doc__ = doc
    fn.__name__ = "made" if fn.__name__ == "<lambda>" else fn.__name__
    return rule(**options)(fn)


def ask(rule: Any, term: Variable) -> Any:
    """What a rule makes of a term, compiled and interpreted: both must agree."""
    node = term.owner
    compiled = rule.transform(None, node)
    interpreted = rule.interpreted(None, node)
    assert same(compiled, interpreted), (compiled, interpreted)
    return compiled


def same(a: Any, b: Any) -> bool:
    """Whether two terms are equal (interned by a graph), or both nothing; or tuples of such."""
    if a is None or b is None or a is b:
        return a is b
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    graph = FunctionGraph(None, [a, b], clone=True)
    return graph.outputs[0] is graph.outputs[1]


x, y, z = num("x"), num("y"), num("z")
p, q = pos("p"), pos("q")


def merged(term: Variable) -> Variable:
    """The term with equal parts made one, as in a graph (which is kept)."""
    fgraph = FunctionGraph(None, [term])
    KEEP.append(fgraph)
    return fgraph.outputs[0]


KEEP: list[FunctionGraph] = []
