"""Strategies: of rules at one node, and of drivers in a graph."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.query import Query
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import SequentialOptimizer
from rewrite_engine.rewrite.equilibrium import (
    EquilibriumOptimizer,
    OutermostOptimizer,
    WalkingOptimizer,
)
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.strategies import (
    bottomup,
    first,
    innermost,
    outermost,
    repeat,
    seq,
    topdown,
    try_,
    where,
)
from rewrite_engine.rewrite.trace import Trace, brief
from tests.match.language import x, y
from tests.rewrite.graphs import (
    SOUND,
    f,
    f_g,
    g,
    g_h,
    graphs,
    h,
    h_k,
    k,
    named,
    pair,
    shown,
    swap,
    values,
)
from tests.toy import ToyOp, add, const, divmod_, exp, log, mul, neg, sin, sub

peel = named("peel", lambda a: f(f(a)) >> f(a))


def after(driver: Any, *terms: Any, trace: Any = None) -> str:
    """Terms after a driver (or after rules and strategies, innermost)."""
    graph = FunctionGraph(None, terms)
    driver = driver if hasattr(driver, "rewrite") else innermost(driver)
    driver.rewrite(graph, trace)
    graph.check_integrity()
    return shown(graph)


# --- at one node --------------------------------------------------------------------------------


def test_first_takes_the_first_that_applies() -> None:
    other = named("other", lambda a: f(a) >> k(a))
    assert after(first(f_g, other), f(x), g(x)) == "g(x); g(x)"
    assert after(first(other, f_g), f(x)) == "k(x)"
    assert after(first(g_h, other), f(x), g(x)) == "k(x); h(x)"


def test_seq_is_all_or_nothing() -> None:
    assert after(seq(f_g, g_h), f(x)) == "h(x)"
    assert after(seq(f_g, h_k), f(x)) == "f(x)"
    assert after(seq(f_g, g_h), g(x)) == "g(x)"
    assert after(seq(f_g, seq(g_h, h_k)), f(x)) == "k(x)"


def test_try_never_fails() -> None:
    assert after(seq(f_g, try_(h_k)), f(x)) == "g(x)"
    assert after(seq(try_(f_g), g_h), f(x), g(y)) == "h(x); h(y)"
    assert after(seq(try_(h_k), try_(f_g)), f(x), h(y)) == "g(x); k(y)"
    assert after(try_(f_g), f(x)) == "g(x)"
    assert after(first(try_(h_k), f_g), f(x)) == "f(x)"  # it has succeeded, with no effect


def test_repeat_at_one_node() -> None:
    term = x
    for _ in range(50):
        term = f(term)
    assert after(topdown(repeat(peel)), term) == "f(x)"
    assert after(repeat(first(f_g, g_h, h_k)), f(x)) == "k(x)"
    assert after(seq(repeat(h_k), f_g), f(x)) == "g(x)"
    with pytest.raises(RuleLoopError, match="repeat.*does not come to an end") as info:
        after(repeat(swap), pair(x, y))
    assert info.value.rules == (swap.name,)


def test_where_asks_first() -> None:
    asked = []

    def lone(fgraph: Any, node: Any) -> bool:
        asked.append(node.op)
        return len(fgraph.get_clients(node.outputs[0])) == 1

    term = f(x)
    found = after(where(lone, f_g), sin(f(y)), pair(term, exp(term)))
    assert found == "sin(g(y)); pair(f(x), exp(f(x)))"
    assert set(asked) == {f}


def test_a_rule_that_is_not_at_home_is_not_called() -> None:
    @node_rewriter([g])
    def strict(fgraph, node):
        """Breaks at anything else."""
        assert node.op is g
        return h(node.inputs[0])

    assert after(first(strict, f_g), f(x)) == "h(x)"
    assert after(seq(f_g, strict), f(x)) == "h(x)"
    two, _ = divmod_(x, y)
    assert after(first(f_g, swap), two) == "DivMod(x, y)[0]"


def test_a_step_that_leaves_no_node() -> None:
    drop = named("drop", lambda a: g(a) >> a)
    assert after(seq(f_g, drop), f(x)) == "x"
    assert after(seq(f_g, drop, h_k), f(x)) == "f(x)"
    assert after(seq(f_g, drop, try_(h_k)), f(x)) == "x"
    assert after(seq(f_g, drop, h_k), f(h(x))) == "k(x)"
    assert after(repeat(first(f_g, drop)), f(f(x))) == "x"


def test_strategies_stand_in_sets_and_are_indexed() -> None:
    both = first(f_g, g_h)
    rules = RuleSet([both, seq(h_k, try_(f_g)), swap])
    candidates = rules.dispatch.candidates
    assert candidates(f(x).owner) == (both,)
    assert candidates(pair(x, y).owner) == (swap,)
    assert candidates(sin(x).owner) == ()
    assert candidates(h(x).owner) == (rules["seq(graphs/h_k, try_(graphs/f_g))"],)
    assert [r.name for r in rules.excluding("g_h")] == [
        "seq(graphs/h_k, try_(graphs/f_g))", swap.name,
    ]  # fmt: skip
    assert both in rules
    assert repr(both) == "first(graphs/f_g, graphs/g_h): " + both.text
    assert both.where[0].endswith("test_strategies.py")
    assert both.pack == f_g.pack in both.names  # so a query may use it


def test_assumptions_of_parts_are_those_of_the_whole() -> None:
    from rewrite_engine.match.claim import assumes, exact

    risky = named("risky", lambda a: sub(a, a) >> 0, claim=assumes("fastmath"))
    safe = named("safe", lambda a: neg(neg(a)) >> a, claim=exact)
    strategy = first(safe, risky)
    assert strategy.needs_grant == "fastmath"
    assert not len(RuleSet([strategy]).query(Query()))
    assert len(RuleSet([strategy]).query(Query().including("fastmath"))) == 1
    assert first(safe, f_g).claim.kind == "refines"


def test_a_trace_tells_of_the_rules_and_the_strategy() -> None:
    trace = Trace(terms=True)
    strategy = seq(f_g, first(h_k, g_h))
    assert after(strategy, sin(f(x)), trace=trace) == "sin(h(x))"
    assert [(t.rule_name, t.before, t.after) for t in trace] == [
        (f_g.name, "f(x)", "g(x)"),
        (g_h.name, "g(x)", "h(x)"),
    ]
    assert {t.strategy for t in trace} == {strategy.name}
    graph = FunctionGraph(None, [f(x)])
    result = innermost(strategy).rewrite(graph, trace)
    assert result.fired == {f_g.name: 1, g_h.name: 1}
    assert result.rules[strategy.name].calls == 1
    assert result.rules[strategy.name].matches == 1


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_nodes_are_visited_again_as_deep_as_a_strategy_looks(depth: int) -> None:
    """Only the whole sequence tells how deep it looks."""
    unwrap = named("unwrap", lambda a: g(a) >> a)
    end = named("end", lambda a: k(a) >> neg(a))
    parts = [named("start", lambda a: f(a) >> a), *[unwrap] * (depth - 1), end]
    term = log(x)
    for _ in range(depth - 1):
        term = g(term)
    assert after([seq(*parts), late_k], mul(f(term), y)) == "-x * y"


@node_rewriter([mul])
def late_k(fgraph, node):
    """At the top, replaces log below by k."""
    old = next((v for v in fgraph.variables if v.owner and v.owner.op is log), None)
    return None if old is None else {old: k(old.owner.inputs[0])}


# --- in a graph ---------------------------------------------------------------------------------


def test_drivers_are_what_the_names_make() -> None:
    assert isinstance(innermost(f_g), EquilibriumOptimizer)
    assert isinstance(outermost(RuleSet([f_g]), [g_h]), OutermostOptimizer)
    assert isinstance(topdown(f_g), WalkingOptimizer)
    assert isinstance(bottomup(f_g), WalkingOptimizer)
    assert isinstance(seq(topdown(f_g), innermost(g_h)), SequentialOptimizer)
    assert seq(topdown(f_g), innermost(g_h)).name == "seq(topdown, innermost)"
    with pytest.raises(TypeError, match="neither a rule, nor a strategy"):
        innermost(3)


def test_topdown_and_bottomup_once() -> None:
    f_f = named("f_f", lambda a: f(f(a)) >> a)
    term = f(f(f(x)))
    assert after(topdown(f_g), term) == "g(g(g(x)))"
    assert after(bottomup(f_g, g_h), term) == "g(g(g(x)))"
    assert after(topdown(f_f), f(f(f(f(x))))) == "x"
    assert after(seq(topdown(f_g), bottomup(g_h)), term) == "h(h(h(x)))"


def test_repeat_of_a_driver() -> None:
    driver = repeat(topdown(first(f_g, g_h, h_k)))
    graph = FunctionGraph([x], [f(sin(f(x)))])
    result = driver.rewrite(graph)
    assert shown(graph) == "k(sin(k(x)))"
    assert len(result.parts) == 4
    assert result.firings == 6
    assert driver.name == "repeat(topdown)"
    graph = FunctionGraph([x, y], [sin(pair(x, y)), f(x)])
    driver = repeat(seq(topdown(swap), innermost(f_g)), RunBudget(firings=101))
    with pytest.raises(RuleLoopError, match="repeat.seq.* does not come to an end") as info:
        driver.rewrite(graph)
    assert info.value.rules == (swap.name,)
    assert shown(graph) == "sin(pair(x, y)); f(x)"
    kept = repeat(topdown(swap), RunBudget(firings=100, on_budget="stop"))
    assert kept.rewrite(FunctionGraph([x, y], [pair(x, y)])).stopped is StopReason.LOOP


def test_repeat_ends_where_rules_fire_without_effect() -> None:
    turn = named("turn", lambda a, b: add(a, b) >> add(b, a))
    result = repeat(topdown(turn)).rewrite(FunctionGraph([x, y], [add(x, y)]))
    assert (result.stopped.name, result.firings, len(result.parts)) == ("SATURATED", 0, 1)


def test_try_of_a_driver() -> None:
    @node_rewriter([h])
    def breaks(fgraph, node):
        """Raises."""
        raise ZeroDivisionError

    driver = seq(try_(seq(innermost(f_g), innermost(g_h), innermost(breaks))), innermost(f_g))
    graph = FunctionGraph([x], [f(x), f(neg(x))])
    result = driver.rewrite(graph)
    assert shown(graph) == "g(x); g(-x)"
    assert result.parts[0].stopped is StopReason.FAILED
    assert "ZeroDivisionError" in result.parts[0].note
    graph.check_integrity()
    assert after(try_(innermost(f_g)), f(x)) == "g(x)"


# --- outermost ----------------------------------------------------------------------------------

zero, a, b, c = (const(float(i)) for i in range(1, 5))
s = ToyOp("s", 1)
cons, nth, plus = ToyOp("cons", 2), ToyOp("nth", 2), ToyOp("plus", 2)
from_, head = ToyOp("from", 1), ToyOp("head", 1)


def test_outermost_never_touches_what_is_thrown_away() -> None:
    throw = named("throw", lambda a: f(a) >> 0)
    touched = []

    @node_rewriter([g])
    def touch(fgraph, node):
        """Notes that somebody worked on it."""
        touched.append(node)
        return h(node.inputs[0])

    assert after(outermost(throw, touch), f(g(x))) == "0.0"
    assert not touched
    assert after(innermost(throw, touch), f(g(x))) == "0.0"
    assert touched
    touched.clear()
    assert after(outermost(throw, touch), f(g(x)), g(y)) == "0.0; h(y)"
    assert len(touched) == 1


LAZY = [
    named("from", lambda n: from_(n) >> cons(n, from_(s(n)))),
    named("nth_zero", lambda u, v: nth(cons(u, v), 0) >> u),
    named("nth_s", lambda u, v, n: nth(cons(u, v), s(n)) >> nth(v, n)),
    named("head", lambda u, v: head(cons(u, v)) >> u),
]


def number(n: int) -> Any:
    term: Any = const(0.0)
    for _ in range(n):
        term = s(term)
    return term


@pytest.mark.parametrize("n", [0, 1, 7, 200])
def test_lazy_lists_end_only_outermost(n: int) -> None:
    graph = FunctionGraph([x], [nth(from_(x), number(n))])
    result = outermost(*LAZY).rewrite(graph)
    assert result.stopped is StopReason.SATURATED
    assert result.firings == 2 * n + 2
    term = graph.outputs[0]
    for _ in range(n):
        assert term.owner.op is s
        term = term.owner.inputs[0]
    assert term is graph.inputs[0]
    graph.check_integrity()
    if n < 2:
        with pytest.raises(RuleLoopError, match="test_strategies/from"):
            innermost(*LAZY, budget=RunBudget(nodes=500)).rewrite(
                FunctionGraph([x], [nth(from_(x), number(n))])
            )


def test_outermost_sees_late_changes_from_above() -> None:
    deep = named("deep", lambda a: f(g(h(k(a)))) >> a)
    late = named("late", lambda a: log(a) >> k(a))
    trace = Trace()
    assert after(outermost(deep, late), sin(f(g(h(log(x))))), trace=trace) == "sin(x)"
    assert [t.rule_name for t in trace] == [late.name, deep.name]
    trace = Trace()
    term = sin(f(g(h(log(f(g(h(k(x)))))))))
    assert after(outermost(deep, late), term, trace=trace) == "sin(x)"
    assert [t.rule_name for t in trace] == [late.name, deep.name, deep.name]


# --- both orders --------------------------------------------------------------------------------

#: confluent and terminating: Peano addition and multiplication, with what collapses
PEANO = [
    named("plus_zero", lambda n: plus(0, n) >> n),
    named("plus_s", lambda m, n: plus(s(m), n) >> s(plus(m, n))),
    named("times_zero", lambda n: pair(0, n) >> 0),
    named("times_s", lambda m, n: pair(s(m), n) >> plus(pair(m, n), n)),
    named("f_s", lambda n: f(s(n)) >> f(n)),
    named("g_g", lambda n: g(g(n)) >> g(n)),
]


def peano() -> st.SearchStrategy[Any]:
    leaves = st.integers(0, 3).map(number)
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(plus, inner, inner)
            | st.builds(pair, inner, inner)
            | inner.map(f)
            | inner.map(g)
            | inner.map(s)
        ),
        max_leaves=6,
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(peano(), min_size=1, max_size=2))
def test_innermost_and_outermost_agree(terms: list[Any]) -> None:
    one, two = FunctionGraph([], terms), FunctionGraph([], terms)
    innermost(*PEANO).rewrite(one)
    outermost(*PEANO).rewrite(two)
    for graph in (one, two):
        graph.check_integrity()
        assert innermost(*PEANO).rewrite(graph).firings == 0
        assert outermost(*PEANO).rewrite(graph).firings == 0
    assert [brief(v, 99) for v in one.outputs] == [brief(v, 99) for v in two.outputs]


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_values_are_kept_by_every_order(graph: FunctionGraph) -> None:
    before = values(graph)
    for driver in (outermost(SOUND), repeat(topdown(SOUND)), innermost(first(*SOUND))):
        twin = graph.clone()
        driver.rewrite(twin)
        twin.check_integrity()
        assert values(twin) == pytest.approx(before, rel=1e-6, abs=1e-6)
        assert innermost(SOUND).rewrite(twin).firings == 0


def test_a_large_graph_outermost() -> None:
    term = x
    for _ in range(3_000):
        term = sin(log(exp(add(term, y))))
    log_exp = named("log_exp", lambda a: log(exp(a)) >> a)
    graph = FunctionGraph([x, y], [term])
    result = outermost(log_exp).rewrite(graph)
    assert result.firings == 3_000
    graph.check_integrity()
