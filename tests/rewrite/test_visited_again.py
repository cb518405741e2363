"""What is visited again: as deep as patterns look, in sums too, and where facts were asked."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.fact import because, fact, given, unknown
from rewrite_engine.match.pattern import Const, Rest
from rewrite_engine.rewrite.strategies import innermost, outermost
from rewrite_engine.rewrite.trace import brief
from tests.match.language import x, y, z
from tests.rewrite.graphs import f, g, h, named
from tests.toy import Scale, ToyOp, add, log, mul, neg, sin, sub

top = ToyOp("top", 2)

DRIVERS = {"innermost": innermost, "outermost": outermost}


@node_rewriter([top])
def late(fgraph, node):
    """At the top: replaces log, far below, by neg. Innermost, all below was visited before."""
    old = next((v for v in fgraph.variables if v.owner and v.owner.op is log), None)
    return None if old is None else {old: neg(old.owner.inputs[0])}


def nest(op: Any, n: int, inner: Any) -> Any:
    for _ in range(n):
        inner = op(inner)
    return inner


def collector(a, b):
    return f(add(neg(a), b)) >> g(add(a, b))


def rest_of(a, rest: Rest = ()):
    return f(neg(a) + rest) >> g(a + rest)


def default(a, n: Const = 1, rest: Rest = ()):
    return f(n * neg(a) + rest) >> g(n * a + rest)


def twice(a, rest: Rest = ()):
    return neg(a) + neg(a) + rest >> g(a) + rest


def beside(a):
    return mul(neg(a), neg(a)) >> g(a)


#: a rule, and terms at whose roots it fires once log is neg
SUMS: dict[str, tuple[Any, list[Any]]] = {
    "collector": (collector, [f(add(log(x), y)), f(add(y, z, log(x), sin(x)))]),
    "rest": (rest_of, [f(add(log(x), y)), f(add(sin(y), z, log(x), sin(x)))]),
    "default": (default, [f(add(log(x), y)), f(add(y, mul(2.0, log(x)), z))]),
    "repeated": (twice, [add(neg(x), log(x)), add(neg(x), log(x), y, z)]),
    "beside": (beside, [mul(neg(x), log(x)), mul(neg(x), log(x), y)]),
}


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
@pytest.mark.parametrize("case", SUMS.values(), ids=SUMS)
def test_sums(case: Any, driver: Any) -> None:
    fn, terms = case
    rule = named(fn.__name__, fn)
    for term in terms:
        graph = FunctionGraph([x, y, z], [top(nest(h, 3, term), y)])
        result = driver(rule, late).rewrite(graph)
        assert result.fired == {late.name: 1, rule.name: 1}, brief(graph.outputs[0], 9)
        graph.check_integrity()
        assert driver(rule, late).rewrite(graph).firings == 0


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
@pytest.mark.parametrize("depth", range(1, 6))
def test_depths(depth: int, driver: Any) -> None:
    """The pattern looks so deep, on a branch that is shared and one that is not."""
    rule = named("deep", lambda a, b: f(sub(nest(sin, depth, neg(a)), b)) >> g(add(a, b)))
    low = nest(sin, depth, log(x))
    graph = FunctionGraph([x, y], [top(h(f(sub(low, y))), y), low])
    result = driver(rule, late).rewrite(graph)
    assert result.fired == {late.name: 1, rule.name: 1}
    assert brief(graph.outputs[0], 9) == "top(h(g(x + y)), y)"


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
@pytest.mark.parametrize("depth", range(1, 6))
def test_rewriters_with_a_depth(depth: int, driver: Any) -> None:
    @node_rewriter([f], depth=depth)
    def looks(fgraph, node):
        """Looks so deep for a negation."""
        v = node.inputs[0]
        for _ in range(depth - 1):
            v = v.owner.inputs[0]
        return g(v.owner.inputs[0]) if v.owner is not None and v.owner.op is neg else None

    graph = FunctionGraph([x, y], [top(h(f(nest(sin, depth - 1, log(x)))), y)])
    result = driver(looks, late).rewrite(graph)
    assert result.fired == {late.name: 1, looks.name: 1}
    assert brief(graph.outputs[0], 9) == "top(h(g(x)), y)"


@fact
def negated(v):
    """Whether a negation is below, however deep; each answer rests on the one below."""
    if v.owner is None or len(v.owner.inputs) != 1:
        return unknown("no negation below")
    if v.owner.op is neg:
        return because("it is a negation")
    return negated(v.owner.inputs[0])


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
@pytest.mark.parametrize("depth", [1, 2, 4, 9])
def test_facts_look_deeper_than_patterns(depth: int, driver: Any) -> None:
    rule = named("guarded", lambda a: (f(a) >> g(a), given(negated(a))))
    graph = FunctionGraph([x, y], [top(h(f(nest(sin, depth, log(x)))), y)])
    result = driver(rule, late).rewrite(graph)
    assert result.fired == {late.name: 1, rule.name: 1}


def test_what_nobody_looks_at_is_not_visited_again() -> None:
    """300 levels above the change; the pattern looks two deep."""
    rule = named("flat", lambda a: f(f(a)) >> g(a))
    graph = FunctionGraph([x, y], [top(nest(Scale(2.0), 300, log(x)), y)])
    result = innermost(rule, late).rewrite(graph)
    assert result.firings == 1
    seen = [0]

    @node_rewriter([Scale])
    def counts(fgraph, node):
        """Counts visits."""
        seen[0] += 1

    graph = FunctionGraph([x, y], [top(nest(Scale(2.0), 300, log(x)), y)])
    innermost(rule, counts, late).rewrite(graph)
    assert seen[0] <= 303
