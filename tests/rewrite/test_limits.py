"""Limits: what a budget may be, what it costs to reach one, and what is said of it."""

from __future__ import annotations

from time import perf_counter

import pytest

from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.strategies import first, innermost, outermost, seq, topdown, where
from tests.match.language import x
from tests.rewrite.graphs import named
from tests.toy import ToyOp, add, exp

f, g, h, k = (ToyOp(name, 1) for name in "fghk")

to_g = f_g = named("to_g", lambda a: f(a) >> g(a))
g_h = named("g_h", lambda a: g(a) >> h(a))
back = named("back", lambda a: g(a) >> f(a))
wrap = named("wrap", lambda a: f(a) >> g(f(a)))


def test_names_do_not_hide_terms() -> None:
    term = f(x)
    term.name = "mine"
    for rules, words in (
        ([to_g, back], ["f(x) → g(x)", "g(x) → f(x)"]),
        ([to_g, python_list], ["f(x) → g(x)", "g(x) → f(x)"]),
        ([wrap], ["makes of f(x) a term", "f(x) → g(f(x))"]),
    ):
        with pytest.raises(RuleLoopError) as info:
            EquilibriumOptimizer(rules).rewrite(FunctionGraph([x], [exp(term)]))
        assert all(word in str(info.value) for word in words), info.value
        assert info.value.result.stopped is StopReason.LOOP


@node_rewriter([g])
def python_list(fgraph, node):
    """Returns a list."""
    return [f(node.inputs[0])]


@pytest.mark.parametrize("name", ["firings", "depth", "per_rule", "nodes", "seconds"])
def test_budgets_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match=f"a budget of {name} is not less than 0, but -1 is"):
        RunBudget(**{name: -1})
    for wrong in ("a", True):
        with pytest.raises(TypeError, match=f"a budget of {name} is a"):
            RunBudget(**{name: wrong})
    with pytest.raises(TypeError, match="a whole number or None, not 1.5"):
        RunBudget(firings=1.5)  # type: ignore[arg-type]


def test_growth_outermost_takes_time_in_proportion() -> None:
    """Levels are raised at each firing; only the nodes that moved are looked at again."""
    wide = named("wide", lambda a: f(a) >> add(f(h(a)), f(k(a))))
    graph = FunctionGraph([x], [exp(f(x))])
    start = perf_counter()
    budget = RunBudget(firings=6_000, on_budget="stop")
    assert outermost(wide, budget=budget).rewrite(graph).firings >= 6_000
    assert perf_counter() - start < 6  # (it was 20)
    assert graph.order.raised is None


def test_what_cannot_be_combined_is_said() -> None:
    for make in (first, seq):
        with pytest.raises(ValueError, match="needs a rule at least"):
            make()
    with pytest.raises(TypeError, match="topdown> is a driver; only rules"):
        where(lambda fgraph, node: True, topdown(f_g))
    with pytest.raises(TypeError, match="where takes a function"):
        where("no", f_g)


def test_a_sequence_stops_for_the_reason_of_its_parts() -> None:
    graph = FunctionGraph([x], [f(x)])
    assert seq(topdown(f_g), topdown(g_h)).rewrite(graph).stopped is StopReason.PASSED
    assert seq(innermost(f_g), innermost(g_h)).rewrite(graph).stopped is StopReason.SATURATED
