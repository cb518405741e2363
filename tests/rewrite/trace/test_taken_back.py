"""Attempts of rules inside of strategies; firings that strategies and drivers take back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis.strategies import integers, lists, none, sampled_from

from rewrite_engine.config import config
from rewrite_engine.errors import InconsistencyError, PatternError, RuleLoopError
from rewrite_engine.explain import replay
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.explain import diagnose
from rewrite_engine.match.fact import because, fact, given, unknown
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.strategies import (
    first,
    innermost,
    repeat,
    seq,
    topdown,
    try_,
    where,
)
from rewrite_engine.rewrite.trace import Trace
from rewrite_engine.rewrite.trace.records import schema
from tests.match.language import x, y
from tests.rewrite.graphs import SOUND, f, f_g, g, g_h, graphs, h, h_k, k, named, pair, shown, swap
from tests.rewrite.schema import problems
from tests.toy import exp, log, neg, sin, sub


@fact
def is_x(v):
    return because("its name") if v.name == "x" else unknown("it is not x", v)


# --- what is taken back --------------------------------------------------------------------------


@node_rewriter([h])
def breaks(fgraph: Any, node: Any) -> Any:
    """Raises."""
    raise ZeroDivisionError("no")


def run(driver: Any, *terms: Any, **options: Any) -> tuple[FunctionGraph, Any, Trace]:
    """What is left of terms, the result (of an error too), and a trace."""
    graph, trace = FunctionGraph([x, y], terms), Trace(attempts=True, terms=True, **options)
    try:
        result = driver.rewrite(graph, trace)
    except RuleLoopError as error:
        result = error.result
    graph.check_integrity()
    return graph, result, trace


def test_what_try_takes_back_leaves_the_record_and_stays_an_attempt() -> None:
    part = seq(innermost(f_g, name="one"), innermost(g_h, name="two"), innermost(breaks))
    graph, result, trace = run(seq(try_(part), innermost(f_g, name="last")), f(x), f(neg(x)))
    assert shown(graph) == "g(x); g(-x)"
    assert [(t.number, t.phase, t.before, t.after) for t in trace] == [
        (1, "last", "f(x)", "g(x)"),
        (2, "last", "f(-x)", "g(-x)"),
    ]
    by = f"try_({part.name})"
    assert [(a.phase, a.term, a.verdict, a.part, a.firing) for a in trace.tries] == [
        ("one", "f(x)", "taken back", by, None),
        ("one", "f(-x)", "taken back", by, None),
        ("two", "g(x)", "taken back", by, None),
        ("two", "g(-x)", "taken back", by, None),
        ("innermost", "h(x)", "error", "function", None),
        ("last", "f(x)", "fired", "", 1),
        ("last", "f(-x)", "fired", "", 2),
    ]
    back = trace.tries[0]
    assert back.bindings == {"a": "x"}
    assert back.reason.startswith(f"rule {breaks.name} (")
    assert back.reason.endswith(") raised ZeroDivisionError: no")
    assert str(back).startswith(f"f(x): {f_g.name} taken back by {by}: rule {breaks.name}")
    assert (result.firings, result.taken_back) == (2, 4)
    assert result.fired == {f_g.name: 2}
    one, *_, last = result.leaves()
    stats = one.rules[f_g.name]
    assert (stats.matches, stats.firings, stats.taken_back) == (2, 0, 2)
    assert (one.taken_back_by, last.taken_back_by) == (by, None)
    assert (stats.created, stats.dropped) == (0, 0)
    assert "2 firings (4 more taken back)" in str(result)
    phases = [json.loads(line) for line in trace.lines() if '"phase",' in line]
    assert [(p["firings"], p["taken_back"], p["taken_back_by"]) for p in phases] == [
        (0, 2, by), (0, 2, by), (0, 0, None), (2, 0, None),
    ]  # fmt: skip


def test_a_loop_leaves_nothing_in_the_record() -> None:
    few = RunBudget(firings=5)
    term = sin(pair(f(x), y))
    graph, result, trace = run(seq(innermost(f_g), innermost(swap, name="s", budget=few)), term)
    assert shown(graph) == "sin(pair(g(x), y))"
    assert [t.rule for t in trace] == [f_g]
    assert (result.fired, result.parts[1].taken_back_by) == ({f_g.name: 1}, "s")
    assert result.taken_back == sum(a.verdict == "taken back" for a in trace.tries) > 4
    driver = repeat(seq(topdown(f_g), topdown(swap)), few)
    graph, result, trace = run(driver, term)
    assert shown(graph) == "sin(pair(f(x), y))"
    assert (len(trace), result.firings) == (0, 0)
    assert {a.part for a in trace.tries} == {driver.name, "topdown"}
    assert trace.tries[0].reason.startswith(f"the phase {driver.name} does not come to an end")


def test_what_an_interrupt_takes_back() -> None:
    @node_rewriter([sin])
    def interrupts(fgraph: Any, node: Any) -> Any:
        """As Ctrl-C does."""
        raise KeyboardInterrupt

    graph, trace = FunctionGraph([x], [sin(f(x))]), Trace(attempts=True)
    with pytest.raises(KeyboardInterrupt):
        innermost(f_g, interrupts).rewrite(graph, trace)
    assert shown(graph) == "sin(f(x))"
    (attempt,) = trace.tries
    assert (attempt.term, attempt.verdict, attempt.part) == ("f(x)", "taken back", "innermost")
    assert trace.tries[0].reason == "KeyboardInterrupt"
    assert (len(trace), trace.phases[0].taken_back) == (0, 1)


def test_a_repetition_of_what_is_taken_back_ends() -> None:
    graph, result, trace = run(repeat(try_(seq(innermost(f_g, g_h), innermost(breaks)))), f(x))
    assert shown(graph) == "f(x)"
    assert (result.stopped.name, result.taken_back, len(trace)) == ("SATURATED", 2, 0)


def test_a_strategy_whose_steps_lead_back_has_not_fired() -> None:
    g_f = named("g_f", lambda a: g(a) >> f(a))
    graph, result, trace = run(innermost(seq(f_g, g_f)), f(x))
    assert shown(graph) == "f(x)"
    assert (len(trace), result.firings) == (0, 0)


@settings(max_examples=100, deadline=None)
@over(graphs(), lists(sampled_from(range(7)), min_size=1, max_size=4), integers(1, 9) | none())
def test_replaying_the_record_gives_the_graph_and_the_counts(
    graph: FunctionGraph, choice: list[int], size: int | None
) -> None:
    @node_rewriter([sub])
    def fails(fgraph: Any, node: Any) -> Any:
        """Raises."""
        raise ZeroDivisionError

    lost = RunBudget(firings=3)
    drivers = [
        innermost(SOUND), topdown(SOUND), try_(seq(innermost(SOUND), topdown(fails))),
        try_(seq(topdown(SOUND), innermost(fails))),
        repeat(try_(seq(topdown(SOUND), topdown(fails)))),
        innermost(seq(SOUND[1], SOUND[2]), try_(SOUND[3])), innermost(SOUND, budget=lost),
    ]  # fmt: skip
    before, trace = graph.clone(), Trace(size=size, attempts=True)
    counts, back = 0, 0
    for i in choice:
        try:
            result = drivers[i].rewrite(graph, trace)
        except RuleLoopError as error:
            result = error.result
        counts, back = counts + result.firings, back + result.taken_back
    graph.check_integrity()
    assert len(trace) == counts == sum(p.firings for p in trace.phases)
    start = before if size is None else trace.oldest()
    again = replay(trace.lines(), start, SOUND)
    again.check_integrity()
    assert equal_computations(graph.outputs, again.outputs, graph.inputs, again.inputs)
    if size is None:
        numbers = [a.firing for a in trace.tries if a.firing and not hasattr(a.rule, "parts")]
        assert numbers == [*range(1, counts + 1)]
        assert sum(a.verdict == "taken back" and not a.strategy for a in trace.tries) == back


# --- inside of strategies ------------------------------------------------------------------------


def tries(trace: Trace) -> list[tuple[Any, ...]]:
    """What was tried, by whom, and what came of it; strategies by their words."""
    return [
        (a.term, getattr(a.rule, "word", a.rule.short_name), a.verdict, a.part, a.firing)
        for a in trace.tries
    ]


def test_the_rules_of_a_strategy_are_tried_one_by_one() -> None:
    guarded = named("guarded", lambda a: (f(a) >> h(a), given(is_x(a))))
    strategy = first(guarded, seq(f_g, first(h_k, g_h)))
    graph, result, trace = run(innermost(strategy), f(y))
    assert shown(graph) == "h(y)"
    assert tries(trace) == [
        ("f(y)", "guarded", "failed", "is_x(a)", None),
        ("f(y)", "f_g", "fired", "", 1),
        ("g(y)", "g_h", "fired", "", 2),
        ("f(y)", "first", "fired", "", 2),
    ]
    assert {a.strategy for a in trace.tries} == {strategy.name, None}
    failed, fired, *_, whole = trace.tries
    assert failed.reason == "the left side matches; guard is_x(a): it is not x: y"
    assert failed.bindings == fired.bindings == {"a": "y"}
    assert (failed.strategy, whole.strategy) == (strategy.name, None)
    assert failed.took > 0
    assert [t.number for t in trace] == [1, 2]
    assert result.fired == {f_g.name: 1, g_h.name: 1}


def test_a_sequence_that_fails_at_a_node_takes_back() -> None:
    strategy = seq(f_g, h_k)
    graph, result, trace = run(innermost(strategy), f(x))
    assert shown(graph) == "f(x)"
    assert tries(trace) == [
        ("f(x)", "f_g", "taken back", strategy.name, None),
        ("g(x)", "h_k", "failed", "root", None),
        ("f(x)", "seq", "failed", h_k.name, None),
    ]
    why = f"{h_k.name} failed at g(x): the rule looks at h, but this is g"
    assert trace.tries[0].reason == trace.tries[2].reason == why
    assert trace.tries[1].ruled_out
    assert (len(trace), result.firings, result.rules[f_g.name].matches) == (0, 0, 1)


def test_it_is_the_strategy_that_fails_that_takes_back() -> None:
    inner = seq(f_g, g_h, f_g)
    graph, result, trace = run(innermost(seq(try_(inner), first(inner, f_g))), f(x))
    assert shown(graph) == "g(x)"
    back = [("f(x)", "f_g"), ("g(x)", "g_h")]
    assert tries(trace)[:-1] == 2 * [
        *[(term, name, "taken back", inner.name, None) for term, name in back],
        ("h(x)", "f_g", "failed", "root", None),
    ] + [("f(x)", "f_g", "fired", "", 1)]
    assert len(trace) == result.firings == 1


def test_a_strategy_that_leads_back_to_where_it_began() -> None:
    g_f = named("g_f", lambda a: g(a) >> f(a))
    strategy = seq(f_g, g_f)
    _, _, trace = run(innermost(strategy), f(x))
    assert tries(trace) == [
        ("f(x)", "f_g", "taken back", strategy.name, None),
        ("g(x)", "g_f", "taken back", strategy.name, None),
        ("f(x)", "seq", "failed", "right side", None),
    ]
    assert "nothing would change" in trace.tries[2].reason


def test_conditions_and_steps_that_leave_no_node() -> None:
    def small(fgraph: Any, node: Any) -> bool:
        return node.inputs[0] is fgraph.inputs[1]

    drop = named("drop", lambda a: g(a) >> a)
    _, _, trace = run(innermost(where(small, f_g)), f(x))
    assert tries(trace) == [("f(x)", "where", "failed", "small", None)]
    assert trace.tries[0].reason == "its condition small does not hold"
    guarded = where(small, g_h)
    _, _, trace = run(innermost(seq(f_g, guarded)), f(x))
    assert [t[1:4] for t in tries(trace)] == [
        ("f_g", "taken back", f"seq({f_g.name}, {guarded.name})"),
        ("where", "failed", "small"),
        ("seq", "failed", guarded.name),
    ]
    _, _, trace = run(innermost(seq(f_g, drop, h_k)), f(x))
    why = f"there is no term left to continue with after {drop.name}"
    assert [(t[1], t[2]) for t in tries(trace)] == [
        ("f_g", "taken back"), ("drop", "taken back"), ("seq", "failed"),
    ]  # fmt: skip
    assert {a.reason for a in trace.tries} == {why}


def test_what_a_feature_refuses_of_a_strategy() -> None:
    class NoH(Feature):
        """Wants none."""

        def on_validate(self, fgraph: Any) -> None:
            if any(node.op is h for node in fgraph.apply_nodes):
                raise InconsistencyError("there is an h")

    graph, trace = FunctionGraph([x], [f(x)], [NoH()]), Trace(attempts=True)
    strategy = seq(f_g, g_h)
    result = topdown(strategy).rewrite(graph, trace)
    assert shown(graph) == "f(x)"
    assert tries(trace) == [
        ("f(x)", "f_g", "taken back", strategy.name, None),
        ("g(x)", "g_h", "refused", "NoH", None),
        ("f(x)", "seq", "refused", "NoH", None),
    ]
    assert (result.rules[g_h.name].refused, result.refusals) == (1, {"NoH": 1})


def test_types_and_errors_in_a_strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    narrows, widens = (
        named("f_exp", lambda a: f(a) >> exp(a)),
        named("exp_a", lambda a: exp(a) >> a),
    )
    _, _, trace = run(innermost(seq(narrows, widens)), f(y))
    assert [t[1:4] for t in tries(trace)][1] == ("exp_a", "refused", "type")
    monkeypatch.setattr(config, "on_rule_error", "warn")
    strategy = seq(f_g, g_h, breaks)
    graph, trace = FunctionGraph([x], [f(x)]), Trace(attempts=True)
    with pytest.warns(UserWarning, match="ZeroDivisionError"):
        result = innermost(strategy).rewrite(graph, trace)
    assert [(t[1], t[2]) for t in tries(trace)] == [
        ("f_g", "taken back"), ("g_h", "taken back"), ("breaks", "error"), ("seq", "error"),
    ]  # fmt: skip
    assert trace.tries[2].reason == "ZeroDivisionError: no"
    assert (len(trace), result.firings) == (0, 0)


def test_a_repetition_in_a_strategy() -> None:
    peel = named("peel", lambda a: f(f(a)) >> f(a))
    _, _, trace = run(topdown(repeat(peel)), f(f(f(x))))
    assert [t[1:3] + t[4:] for t in tries(trace)] == [
        ("peel", "fired", 1), ("peel", "fired", 2), ("peel", "failed", None),
        ("repeat", "fired", 2), ("repeat", "failed", None),
    ]  # fmt: skip
    assert (trace.tries[-1].term, trace.tries[-1].ruled_out) == ("f(x)", True)
    driver = seq(innermost(f_g), innermost(repeat(swap)))
    graph, result, trace = run(driver, pair(f(x), y))
    assert shown(graph) == "pair(g(x), y)"
    assert [t.rule for t in trace] == [f_g]
    assert {(a.rule, a.verdict) for a in trace.tries if a.strategy} == {(swap, "taken back")}
    assert trace.tries[-1].verdict == "error"
    assert result.fired == {f_g.name: 1}


def test_what_the_index_knows_of_strategies() -> None:
    deep = named("deep", lambda a: log(exp(a)) >> a)
    strategy = try_(seq(deep, f_g))
    _, _, trace = run(innermost(strategy), log(sin(x)))
    (attempt,) = trace.tries
    assert (attempt.verdict, attempt.ruled_out) == ("failed", True)
    assert f"{deep.name}: `exp(a)`: sin(x) is computed by sin" in attempt.reason
    assert diagnose(seq(f_g, h_k), f(x).owner).reason == (
        f"{f_g.name} applies; then {h_k.name} fails at g(x): the rule looks at h, but this is g"
    )
    assert diagnose(seq(f_g, g_h), f(x).owner).applies


def test_replacing_more_than_the_term_is_only_for_the_first_step() -> None:
    @node_rewriter([g])
    def elsewhere(fgraph: Any, node: Any) -> Any:
        """Replaces another node."""
        old = next(v for v in fgraph.variables if v.owner and v.owner.op is log)
        return {old: k(old.owner.inputs[0])}

    @node_rewriter([g])
    def listed(fgraph: Any, node: Any) -> Any:
        """Returns a list or dict for the node itself."""
        new = h(node.inputs[0])
        return [new] if node.inputs[0] is fgraph.inputs[0] else {node.outputs[0]: new}

    graph = FunctionGraph([x, y], [f(x), log(y)])
    with pytest.raises(PatternError, match="elsewhere.*\n.*replaces other things than the term"):
        innermost(seq(f_g, elsewhere)).rewrite(graph)
    assert shown(graph) == "f(x); log(y)"
    graph, result, trace = run(innermost(seq(f_g, listed)), f(x), f(y))
    assert shown(graph) == "h(x); h(y)"
    assert len(trace) == result.firings == 4


@settings(max_examples=60, deadline=None)
@over(graphs())
def test_attempts_in_strategies_change_nothing_and_agree_with_the_firings(
    graph: FunctionGraph,
) -> None:
    once = seq(first(*SOUND[:4]), try_(first(*SOUND[4:])))
    for driver in (innermost(once, repeat(first(*SOUND[4:]))), topdown(try_(once), SOUND)):
        plain, trace = Trace(terms=True), Trace(terms=True, attempts=True)
        driver.rewrite(graph.clone(), plain)
        result = driver.rewrite(graph.clone(), trace)
        assert [(f.rule, f.before, f.after, f.strategy) for f in plain] == [
            (f.rule, f.before, f.after, f.strategy) for f in trace
        ]
        fired = [a for a in trace.tries if a.firing and not hasattr(a.rule, "parts")]
        assert [(a.firing, a.rule, a.strategy) for a in fired] == [
            (f.number, f.rule, f.strategy) for f in trace
        ]
        assert [a.number for a in trace.tries] == [*range(1, trace.tried_count + 1)]
        assert all(a.reason and a.part for a in trace.tries if a.verdict != "fired")
        called = {name: stats.calls for name, stats in result.rules.items()}
        for name, n in called.items():
            assert sum(a.rule_name == name and not a.ruled_out for a in trace.tries) == n
        lines = [json.loads(text) for text in trace.lines()]
        assert [p for line in lines for p in problems(line, schema())] == []
