"""Limits: what a budget may be, what it costs to reach one, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rewrite_engine.errors import ForeignObjectError, RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.strategies import (
    first,
    innermost,
    outermost,
    repeat,
    seq,
    topdown,
    try_,
    where,
)
from tests.growth import Lines
from tests.match.language import x
from tests.rewrite.graphs import f, f_g, g, g_f, g_h, h, k, named, wrap
from tests.toy import add, exp, neg


def test_names_do_not_hide_terms() -> None:
    term = f(x)
    term.name = "mine"
    for rules, words in (
        ([f_g, g_f], ["f(x) → g(x)", "g(x) → f(x)"]),
        ([f_g, python_list], ["f(x) → g(x)", "g(x) → f(x)"]),
        ([wrap], ["turns f(x) into a term", "f(x) → g(f(x))"]),
    ):
        with pytest.raises(RuleLoopError) as info:
            EquilibriumOptimizer(rules).rewrite(FunctionGraph([x], [exp(term)]))
        assert all(word in str(info.value) for word in words), info.value
        assert info.value.result.stopped is StopReason.LOOP


@node_rewriter([g])
def python_list(fgraph, node):
    """Returns a list."""
    return [f(node.inputs[0])]


@pytest.mark.parametrize("driver", [innermost, outermost, topdown, repeat])
def test_a_budget_is_a_budget(driver: Any) -> None:
    with pytest.raises(
        TypeError, match=r"a budget must be RunBudget\(firings=...\) or None, not 5"
    ):
        driver(innermost(f_g), budget=5) if driver is repeat else driver(f_g, budget=5)


@pytest.mark.parametrize("given", [f(x), [f(x)], None])
def test_a_driver_rewrites_graphs(given: Any) -> None:
    with pytest.raises(ForeignObjectError, match=r"FunctionGraph\(inputs, outputs\), not"):
        innermost(f_g).rewrite(given)


@pytest.mark.parametrize("name", ["firings", "depth", "per_rule", "nodes", "seconds"])
def test_budgets_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match=f"a budget of {name} must be 0 or more, not -1"):
        RunBudget(**{name: -1})
    for wrong in ("a", True):
        with pytest.raises(TypeError, match=f"a budget of {name} must be a"):
            RunBudget(**{name: wrong})
    with pytest.raises(TypeError, match="a whole number or None, not 1.5"):
        RunBudget(firings=1.5)  # type: ignore[arg-type]


def test_growth_outermost_is_work_in_proportion() -> None:
    """Levels are raised at each firing; only the nodes that moved are looked at again."""
    wide = named("wide", lambda a: f(a) >> add(f(h(a)), f(k(a))))
    graph = FunctionGraph([x], [exp(f(x))])
    budget = RunBudget(firings=6_000, on_budget="stop")
    with Lines() as counted:
        result = outermost(wide, budget=budget).rewrite(graph)
    assert result.firings >= 6_000
    assert counted.count < 2_000 * result.firings
    assert graph.order.raised is None


def test_what_cannot_be_combined_is_said() -> None:
    for make in (first, seq):
        with pytest.raises(ValueError, match="needs at least one rule"):
            make()
    with pytest.raises(TypeError, match="topdown> is a driver; expected only rules"):
        where(lambda fgraph, node: True, topdown(f_g))
    with pytest.raises(TypeError, match="where takes a function"):
        where("no", f_g)


def test_a_sequence_stops_for_the_reason_of_its_parts() -> None:
    graph = FunctionGraph([x], [f(x)])
    assert seq(topdown(f_g), topdown(g_h)).rewrite(graph).stopped is StopReason.PASSED
    assert seq(innermost(f_g), innermost(g_h)).rewrite(graph).stopped is StopReason.SATURATED


def test_a_repeated_driver_tells_of_its_loop() -> None:
    g_f = named("g_f", lambda a: g(a) >> f(a))
    for part in (topdown(f_g, g_f), seq(topdown(f_g), topdown(g_f)), try_(topdown(f_g, g_f))):
        graph = FunctionGraph([x], [exp(f(x))])
        with pytest.raises(RuleLoopError, match="the phase repeat.*same terms come again") as info:
            repeat(part).rewrite(graph)
        assert set(info.value.rules) == {f_g.name, g_f.name}
        assert "f(x) → g(x)" in str(info.value)
        assert "g(x) → f(x)" in str(info.value)
        assert info.value.result.stopped is StopReason.LOOP
        assert 0 < info.value.result.taken_back < 100
        assert graph.outputs[0].owner.inputs[0].owner.op is f
        graph.check_integrity()


def test_the_budget_of_a_repetition_is_of_all_turns() -> None:
    longer = named("longer", lambda a: f(a) >> f(g(a)))
    for why, limits in {
        "its budget of 9 firings": RunBudget(firings=9),
        "longer has used up its 8 firings": RunBudget(per_rule=8),
        "more than 7 firings at descendants of one node": RunBudget(depth=7),
        "grew by more than 6 nodes": RunBudget(nodes=6),
        "its budget of 0.01 seconds is used up": RunBudget(seconds=0.01),
    }.items():
        graph = FunctionGraph([x], [exp(f(x))])
        with pytest.raises(RuleLoopError, match=why) as info:
            repeat(topdown(longer), budget=limits).rewrite(graph)
        assert info.value.result.stopped is StopReason.BUDGET
        assert len(graph) == 2
        kept = repeat(topdown(longer), budget=replace(limits, on_budget="stop"))
        result = kept.rewrite(graph)
        assert result.stopped is StopReason.BUDGET
        assert why in result.note
        assert len(graph) == 2 + result.firings
    assert repeat(topdown(f_g, g_h), RunBudget(firings=2)).rewrite(
        FunctionGraph([x], [f(x)])
    ).stopped is StopReason.SATURATED  # fmt: skip


def test_a_function_warns_of_phases_that_were_stopped() -> None:
    import rewrite_engine as rw
    import rewrite_engine.tensor as pt
    from rewrite_engine.pipeline.phases import optimizer
    from rewrite_engine.rewrite.step import RuleWarning

    v = pt.vector("v")
    few = rw.Mode(optimizer=optimizer(budget=RunBudget(firings=1, on_budget="stop")))
    with pytest.warns(RuleWarning, match="the phase canonicalize was stopped: its budget of 1"):
        rw.function([v], pt.log(pt.exp(pt.sin(pt.log(pt.exp(v))))), mode=few)


def test_what_took_the_place_of_something_comes_from_where_it_came_from() -> None:
    graph = FunctionGraph([x], [f(exp(x)), exp(x), g(neg(neg(neg(x))))])
    kept = graph.outputs[1]
    assert kept.owner is not None
    before = kept.owner.origin
    rules = [
        named("bare", lambda a: f(a) >> a),
        named("to_h", lambda a: g(a) >> h(a)),
        named("f_g", lambda a: h(a) >> g(a)),
    ]
    with pytest.raises(RuleLoopError):
        EquilibriumOptimizer(rules).rewrite(graph)
    assert kept.owner.origin is before
