"""Every node once, in order."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.rewrite.equilibrium import WalkingOptimizer
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.trace import brief
from tests.match.language import x, y
from tests.rewrite.graphs import named
from tests.toy import exp, log, neg, sin, sub


def test_orders() -> None:
    seen: list[str] = []

    @node_rewriter()
    def look(fgraph, node):
        """Notes what it sees."""
        seen.append(str(node.op))

    graph = FunctionGraph([x], [sin(exp(log(x)))])
    result = WalkingOptimizer([look]).rewrite(graph)
    assert seen == ["log", "exp", "sin"]
    assert result.visits == 3
    assert result.stopped is StopReason.PASSED
    seen.clear()
    WalkingOptimizer([look], order="out_to_in").rewrite(graph)
    assert seen == ["sin", "exp", "log"]


@pytest.mark.parametrize(("order", "expected"), [("in_to_out", "-x"), ("out_to_in", "-x")])
def test_what_a_rule_makes_is_not_visited(order: Any, expected: str) -> None:
    rule = named("sin_to_exp", lambda a: sin(a) >> neg(sin(a)))
    graph = FunctionGraph([x], [sin(x)])
    result = WalkingOptimizer([rule], order).rewrite(graph)
    assert result.firings == 1
    assert brief(graph.outputs[0]) == "-sin(x)"
    graph.check_integrity()


def test_the_order_matters() -> None:
    rule = named("pairs", lambda a: neg(neg(a)) >> a)
    term = neg(neg(neg(x)))
    for order, firings in (("in_to_out", 1), ("out_to_in", 1)):
        graph = FunctionGraph([x], [term])
        result = WalkingOptimizer([rule], order).rewrite(graph)
        assert result.firings == firings
        assert brief(graph.outputs[0]) == "-x"


def test_nodes_that_are_gone_are_not_visited() -> None:
    drop = named("drop", lambda a, b: sub(a, b) >> a)
    seen: list[Any] = []

    @node_rewriter([log])
    def look(fgraph, node):
        """Notes what it sees."""
        seen.append(node)

    graph = FunctionGraph([x, y], [sub(x, log(y))])
    result = WalkingOptimizer([drop, look], "out_to_in").rewrite(graph)
    assert result.visits == 1
    assert seen == []


def test_the_first_rule_that_applies_is_taken() -> None:
    one = named("one", lambda a: sin(a) >> log(a))
    two = named("two", lambda a: sin(a) >> neg(a))
    graph = FunctionGraph([x], [sin(x)])
    assert WalkingOptimizer([one, two]).rewrite(graph).fired == {one.name: 1}
