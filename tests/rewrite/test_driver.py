"""Drivers one after the other, merging, and what all drivers have."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from rewrite_engine.errors import MethodNotDefined
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.knowledge import current
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.fact import because, fact
from rewrite_engine.rewrite.driver import (
    GraphRewriter,
    MergeOptimizer,
    SequentialOptimizer,
    paused_collector,
)
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.trace import Trace, brief
from tests.match.language import x, y
from tests.rewrite.graphs import named, values
from tests.toy import add, exp, log, neg, sin, sub

neg_neg = named("neg_neg", lambda a: neg(neg(a)) >> a)
log_exp = named("log_exp", lambda a: log(exp(a)) >> neg(neg(a)))


def test_one_after_the_other() -> None:
    driver = SequentialOptimizer(
        [EquilibriumOptimizer([neg_neg], "one"), EquilibriumOptimizer([log_exp], "two")], "both"
    )
    graph = FunctionGraph([x], [log(exp(neg(neg(x))))])
    result = driver.rewrite(graph)
    assert brief(graph.outputs[0]) == "--x"
    assert [p.name for p in driver] == ["one", "two"]
    assert [p.name for p in result.leaves()] == ["one", "two"]
    assert result.firings == 2
    assert result.stopped is StopReason.SATURATED
    assert repr(driver) == "<SequentialOptimizer both>"
    assert result.nodes_before == 4


def test_a_budget_shows_in_the_whole() -> None:
    class Stops(GraphRewriter):
        def run(self, fgraph: Any, result: Result) -> None:
            result.stopped = StopReason.BUDGET

    result = SequentialOptimizer([Stops("a")]).rewrite(FunctionGraph([x], [x]))
    assert result.stopped is StopReason.BUDGET


def test_a_driver_defines_run() -> None:
    with pytest.raises(NotImplementedError):
        GraphRewriter("nothing").rewrite(FunctionGraph([x], [x]))
    assert issubclass(MethodNotDefined, NotImplementedError)


def test_apply_is_rewrite() -> None:
    graph = FunctionGraph([x], [neg(neg(x))])
    assert EquilibriumOptimizer([neg_neg]).apply(graph).firings == 1


def test_merging_off_and_on() -> None:
    outputs = [sub(sin(log(x)), sin(log(x))), add(log(x), sin(log(x)))]
    graph = FunctionGraph([x], outputs, merging=False)
    graph.merging = False
    assert len(graph) == 9
    before = values(graph, {"x": 2.0})
    result = MergeOptimizer().rewrite(graph)
    assert len(graph) == 4
    assert result.merged == 5
    assert result.stopped is StopReason.PASSED
    assert graph.merging
    graph.check_integrity()
    assert values(graph, {"x": 2.0}) == before
    assert MergeOptimizer().rewrite(graph).merged == 0


def test_merging_after_replacements_that_were_not_merged() -> None:
    graph = FunctionGraph([x, y], [sin(neg(x)), sin(neg(y))], merging=False)
    graph.merging = False
    one, two = (v.owner.inputs[0] for v in graph.outputs)
    graph.replace(two, neg(graph.inputs[0]))
    assert len(graph) == 4
    MergeOptimizer().rewrite(graph)
    assert len(graph) == 2
    assert graph.outputs[0] is graph.outputs[1]
    graph.check_integrity()
    assert one is not two


# --- the cyclic collector ---------------------------------------------------------------------


def test_the_collector_is_paused_and_restored() -> None:
    inside: list[bool] = []

    @node_rewriter([sin])
    def look(fgraph, node):
        """Notes whether the collector is on; runs a nested driver."""
        inside.append(gc.isenabled())
        EquilibriumOptimizer([neg_neg]).rewrite(FunctionGraph([x], [neg(neg(x))]))
        inside.append(gc.isenabled())

    assert gc.isenabled()
    EquilibriumOptimizer([look]).rewrite(FunctionGraph([x], [sin(x)]))
    assert inside == [False, False]
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        EquilibriumOptimizer([neg_neg]).rewrite(FunctionGraph([x], [neg(neg(x))]))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_comes_back_after_errors() -> None:
    @node_rewriter([sin])
    def fails(fgraph, node):
        """Raises."""
        raise KeyboardInterrupt

    graph = FunctionGraph([x], [sin(x)])
    with pytest.raises(KeyboardInterrupt):
        EquilibriumOptimizer([fails]).rewrite(graph)
    assert gc.isenabled()
    assert graph.worklist is None
    graph.check_integrity()
    with pytest.raises(ValueError), paused_collector(), paused_collector():
        raise ValueError
    assert gc.isenabled()


def test_phases_are_told_to_the_trace() -> None:
    trace = Trace()
    driver = SequentialOptimizer(
        [EquilibriumOptimizer([neg_neg], "one"), EquilibriumOptimizer([log_exp], "two")]
    )
    driver.rewrite(FunctionGraph([x], [log(exp(neg(neg(x))))]), trace)
    assert [(f.phase, f.rule_name) for f in trace] == [
        ("one", neg_neg.name),
        ("two", log_exp.name),
    ]


# --- facts ------------------------------------------------------------------------------------


def test_facts_that_a_function_asks_are_kept_with_the_graph() -> None:
    looked: list[Any] = []

    @fact
    def climbs(v: Any) -> Any:
        """v grows with x."""
        looked.append(v)
        return because("a leaf") if v.owner is None else climbs(v.owner.inputs[0])

    @node_rewriter([exp])
    def asks(fgraph, node):
        """Asks of a node, of what it stands on, and of a term of no graph."""
        inside.append(FunctionGraph([y], [sin(y)]).outputs[0])
        EquilibriumOptimizer([neg_neg]).rewrite(FunctionGraph([y], [neg(neg(y))]))
        return None if climbs(node.outputs[0]) and climbs(sin(node.outputs[0])) else False

    inside: list[Any] = []
    v = x
    for _ in range(50):
        v = exp(v)
    EquilibriumOptimizer([asks]).rewrite(FunctionGraph([x], [v]))
    assert len(inside) == 50
    assert len(looked) == 1 + 50 + 50  # each once, and what is in no graph
    assert current.fgraph is None
    assert climbs(exp(x))
    assert len(looked) == 103
