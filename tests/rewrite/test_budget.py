"""Rules without an end: what is said, when it is noticed, and that the graph is as before."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.config import config
from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import node_rewriter, relation
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import SequentialOptimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.loop import period
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.trace import Trace, brief
from rewrite_engine.rewrite.watched import Stopwatch
from tests.growth import lines
from tests.match.language import x, y
from tests.rewrite.graphs import (
    double,
    f,
    f_g,
    g,
    g_f,
    g_h,
    grow,
    h,
    named,
    pair,
    shape,
    swap,
    wrap,
)
from tests.toy import Scale, ToyOp, add, exp, log, neg, sin, sub

to_f = named("to_f", lambda a: h(a) >> f(a))
outside = named("outside", lambda a: sin(f(a)) >> sin(g(a)))
above = named("above", lambda a: sin(exp(a)) >> sin(log(a)))
below = named("below", lambda a: log(a) >> exp(a))


@node_rewriter([g], tags=["loop"])
def python_back(fgraph, node):
    """Not data: the loop needs one of each kind."""
    return f(node.inputs[0])


#: rules, a term, and the words that must be there
LOOPS: dict[str, tuple[Any, Any, list[str]]] = {
    "undo": ([f_g, g_f], f(x), ["f(x) → g(x)", "g(x) → f(x)"]),
    "three": ([f_g, g_h, to_f], f(x), ["f(x) → g(x)", "g(x) → h(x)", "h(x) → f(x)"]),
    "swap": ([swap], pair(x, y), ["pair(x, y) → pair(y, x)", "pair(y, x) → pair(x, y)"]),
    "rewriter": ([f_g, python_back], f(x), ["f(x) → g(x)", "g(x) → f(x)"]),
    "two levels": ([outside, g_f], sin(f(x)), ["sin(f(x)) → sin(g(x))", "g(x) → f(x)"]),
    "child and parent": ([above, below], sin(log(x)), ["log(x) → exp(x)", "sin(exp(x)) → "]),
    "grow": ([grow], f(x), ["f(A) → f(g(h(A)))", "turn by turn: "]),
    "double": ([double], f(x), ["the graph grew from "]),
    "contains": ([wrap], f(x), ["turns f(x) into a term that contains it, again and again"]),
    "contains, used twice": ([wrap], sub(f(x), exp(f(x))), ["again and again"]),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("case", LOOPS.values(), ids=LOOPS)
def test_a_loop_is_named_and_the_graph_is_as_before(case: Any, traced: bool) -> None:
    rules, term, words = case
    named_term = neg(exp(neg(y)))
    named_term.name = "mine"
    graph = FunctionGraph([x, y], [term, named_term, log(log(term))])
    before = shape(graph)
    driver = EquilibriumOptimizer(rules, "phase")
    with pytest.raises(RuleLoopError) as info:
        driver.rewrite(graph, Trace() if traced else None)
    text = str(info.value)
    for word in words:
        assert word in text, text
    for rule in rules:
        assert rule.name in text
        assert rule.name in info.value.rules
    assert len(text) < 3000
    assert shape(graph) == before
    graph.check_integrity()
    assert info.value.result.stopped in (StopReason.BUDGET, StopReason.LOOP)
    assert (info.value.result.firings, info.value.result.taken_back > 0) == (0, True)
    assert info.value.result.nodes_after == len(graph)
    assert graph.worklist is None
    assert not graph.on_change_type


def test_one_turn_is_shown_in_order() -> None:
    graph = FunctionGraph([x], [f(x)])
    with pytest.raises(RuleLoopError, match="the same terms come again and again") as info:
        EquilibriumOptimizer([f_g, g_h, to_f]).rewrite(graph)
    turn = list(info.value.turn)
    assert len(turn) == 3
    start = [t[0] for t in turn].index(f_g.name)
    assert turn[start:] + turn[:start] == [
        (f_g.name, "f(x)", "g(x)"),
        (g_h.name, "g(x)", "h(x)"),
        (to_f.name, "h(x)", "f(x)"),
    ]
    assert all(turn[i][2] == turn[(i + 1) % 3][1] for i in range(3))


def test_names_and_types_come_back() -> None:
    """A replacement may give its name to a node that was there, and its type to those above."""
    kept = exp(x)  # positive
    term = f(x)
    term.name = "t"
    to_exp = named("to_exp", lambda a: f(a) >> exp(a))
    graph = FunctionGraph([x], [add(term, exp(x)), kept, g(x)])
    before = shape(graph)
    rules = [to_exp, named("spin", lambda a: g(a) >> h(a)), to_f_g]
    with pytest.raises(RuleLoopError):
        EquilibriumOptimizer(rules).rewrite(graph)
    assert shape(graph) == before
    graph.check_integrity()


to_f_g = named("to_f_g", lambda a: h(a) >> g(a))


def test_a_relation_in_the_cycle() -> None:
    def lefto(term: Any, result: Any) -> Any:
        """g(a) is f(a)."""
        from etuples import etuple
        from kanren import eq, lall, var

        a = var()
        return lall(eq(term, etuple(g, a)), eq(result, etuple(f, a)))

    rule = relation(tracks=[g])(lefto)
    graph = FunctionGraph([x], [f(x)])
    with pytest.raises(RuleLoopError) as info:
        EquilibriumOptimizer([f_g, rule]).rewrite(graph)
    assert set(info.value.rules) == {f_g.name, rule.name}


def test_a_cycle_longer_than_what_is_compared() -> None:
    ops = [ToyOp(f"c{i}", 1) for i in range(90)]
    rules = [step(ops, i) for i in range(90)]
    graph = FunctionGraph([x], [ops[0](x)])
    with pytest.raises(RuleLoopError) as info:
        EquilibriumOptimizer(rules, budget=RunBudget(depth=300)).rewrite(graph)
    assert set(info.value.rules) == {rule.name for rule in rules}
    assert len(info.value.turn) == 90


def step(ops: Any, i: int) -> Any:
    return named(f"step{i}", lambda a: ops[i](a) >> ops[(i + 1) % len(ops)](a))


def big(n: int, loops: int) -> FunctionGraph:
    """A wide graph of n nodes in which `loops` places go round, far from each other."""
    terms = [sin(exp(Scale(float(i))(x))) for i in range(n // 3)]
    for i in range(loops):
        terms[(2 * i + 1) * len(terms) // (2 * loops)] = sin(f(Scale(float(n + i))(x)))
    return FunctionGraph([x], terms)


@pytest.mark.parametrize("loops", [1, 50])
def test_a_loop_in_a_large_graph_is_found_soon(loops: int) -> None:
    graph = big(40_000, loops)
    before = len(graph)

    def rewrite() -> None:
        with pytest.raises(RuleLoopError, match=r"f\(Scale"):
            EquilibriumOptimizer([f_g, g_f]).rewrite(graph)

    assert lines(rewrite) < 300 * before
    assert len(graph) == before


@pytest.mark.parametrize("loops", [1, 50])
def test_how_many_firings_it_takes_to_find_a_loop(loops: int) -> None:
    for n in (300, 9_000):
        with pytest.raises(RuleLoopError) as info:
            EquilibriumOptimizer([f_g, g_f]).rewrite(big(n, loops))
        assert 0 < info.value.result.taken_back < 2_000


def test_long_honest_work_is_no_loop() -> None:
    """A row of 5,000 firings, of the same two rules."""
    term = x
    for _ in range(2_500):
        term = Scale(2.0)(term)
    down = named("down", lambda a: f(Scale(2.0)(a)) >> g(a))
    again = named("again", lambda a: g(a) >> f(a))
    graph = FunctionGraph([x], [f(term)])
    result = EquilibriumOptimizer([down, again, named("end", lambda a: sin(f(a)) >> a)]).rewrite(
        FunctionGraph([x], [sin(f(term))])
    )
    assert result.firings == 5_001
    assert EquilibriumOptimizer([down, again]).rewrite(graph).firings == 5_000


def test_who_allows_many_firings_allows_long_rows() -> None:
    """A program: 12,000 steps, each at what the one before made."""
    down = named("down", lambda a: f(Scale(2.0)(a)) >> f(a))
    term = x
    for _ in range(12_000):
        term = Scale(2.0)(term)
    up = named("up", lambda a, b: pair(f(a), b) >> pair(a, h(b)))
    steps = x
    for _ in range(12_000):
        steps = f(steps)
    for rule, start in ((down, f(term)), (up, pair(steps, y))):
        result = EquilibriumOptimizer([rule], budget=RunBudget(20_000)).rewrite(
            FunctionGraph(None, [start])
        )
        assert result.firings == 12_000
    budget = RunBudget(firings=5_000).fitted(10)
    assert (budget.depth, budget.nodes) == (10_000, 100_020)
    budget = RunBudget(firings=50_000, depth=7).fitted(10)
    assert (budget.depth, budget.nodes) == (7, 500_000)


def test_budgets_by_kind() -> None:
    cases = {
        "its budget of 50 firings is used up": RunBudget(firings=50),
        "more than 60 firings at descendants of one node": RunBudget(depth=60),
        f"{grow.name} has used up its 70 firings": RunBudget(per_rule=70),
        "the graph grew by more than 80 nodes": RunBudget(nodes=80),
        "its budget of 0.05 seconds is used up": RunBudget(
            seconds=0.05, depth=10**9, firings=10**9
        ),
    }
    for why, budget in cases.items():
        graph = FunctionGraph([x], [f(x)])
        with pytest.raises(RuleLoopError) as info:
            EquilibriumOptimizer([grow], budget=budget).rewrite(graph)
        assert why in str(info.value)
        assert grow.name in info.value.rules
        assert why in info.value.result.note
        assert brief(graph.outputs[0]) == "f(x)"


def test_what_is_done_is_kept_if_so_wished() -> None:
    stop = RunBudget(firings=49, on_budget="stop")
    for budget, setting in ((stop, "raise"), (RunBudget(49), "stop")):
        graph = FunctionGraph([x], [f(x)])
        with config.change_flags(on_budget=setting):
            result = EquilibriumOptimizer([f_g, g_f], budget=budget).rewrite(graph)
        assert result.stopped is StopReason.BUDGET
        assert result.note == "its budget of 49 firings is used up"
        assert result.firings == 49
        assert brief(graph.outputs[0]) == "g(x)"
        graph.check_integrity()
        assert graph.worklist is None
    graph = FunctionGraph([x], [f(x)])
    both = SequentialOptimizer(
        [EquilibriumOptimizer([wrap], budget=RunBudget(on_budget="stop")),
         EquilibriumOptimizer([f_g])]
    )  # fmt: skip
    result = both.rewrite(graph)
    assert result.stopped is StopReason.LOOP
    assert brief(graph.outputs[0]) == "g(g(x))"
    with pytest.raises(ValueError, match="on_budget must be 'raise' or 'stop'"):
        RunBudget(on_budget="warn")


def test_a_budget_is_enough_or_it_is_not() -> None:
    term = x
    for _ in range(8):
        term = neg(term)
    neg_neg = named("neg_neg", lambda a: neg(neg(a)) >> a)
    ok = EquilibriumOptimizer([neg_neg], budget=RunBudget(firings=4)).rewrite(
        FunctionGraph([x], [term])
    )
    assert ok.firings == 4
    with pytest.raises(RuleLoopError, match="its budget of 3 firings is used up") as info:
        EquilibriumOptimizer([neg_neg], budget=RunBudget(firings=3)).rewrite(
            FunctionGraph([x], [term])
        )
    assert info.value.rules == (neg_neg.name,)


def test_changes_behind_the_drivers_back() -> None:
    """Nothing fires, and yet nodes change again and again."""

    @node_rewriter([pair])
    def meddles(fgraph, node):
        """Replaces an input itself and says that it did nothing."""
        old = node.inputs[0]
        fgraph.replace(old, (g if old.owner.op is f else f)(x))

    for budget in (RunBudget(), RunBudget(on_budget="stop")):
        graph = FunctionGraph(None, [pair(f(x), y)], clone=False)
        driver = EquilibriumOptimizer([meddles], budget=budget)
        if budget.on_budget == "stop":
            assert driver.rewrite(graph).stopped is StopReason.BUDGET
            continue
        with pytest.raises(RuleLoopError, match="nodes change again and again although no rule"):
            driver.rewrite(graph)
        assert brief(graph.outputs[0]) == "pair(f(x), y)"


def test_the_walk_has_a_budget_too() -> None:
    graph = FunctionGraph([x], [f(f(f(f(x))))])
    with pytest.raises(RuleLoopError):
        WalkingOptimizer([f_g], budget=RunBudget(firings=2)).rewrite(graph)
    assert brief(graph.outputs[0]) == "f(f(f(f(x))))"
    graph.check_integrity()


def test_a_rewriter_that_stays_and_acts_elsewhere_is_no_loop() -> None:
    """2,000 firings at one node, each of which does something."""
    terms = [f(Scale(float(i))(x)) for i in range(2_000)]

    @node_rewriter([pair])
    def elsewhere(fgraph, node):
        """Changes one term far away."""
        for v in fgraph.outputs:
            if v.owner.op is f:
                return {v: g(v.owner.inputs[0])}
        return None

    graph = FunctionGraph([x, y], [*terms[:1200], pair(x, y)])
    assert EquilibriumOptimizer([elsewhere]).rewrite(graph).firings == 1_200


def test_period() -> None:
    assert period([1, 2, 3, 1, 2, 3]) == 3
    assert period([9, 9, 1, 2, 1, 2]) == 2
    assert period([1, 1]) == 1
    assert period([1, 2, 3]) is None
    assert period([]) is None


def test_a_million_nodes_come_back() -> None:
    """(20,000 here; a chain, so that nothing may recurse.)"""
    term = x
    for i in range(10_000):
        term = sin(Scale(float(i + 2))(term))
    scaled = named("scaled", lambda a: sin(a) >> log(a))
    graph = FunctionGraph([x], [f(term)])
    nodes = set(graph.apply_nodes)
    with pytest.raises(RuleLoopError):
        EquilibriumOptimizer([scaled, f_g, g_f]).rewrite(graph)
    assert set(graph.apply_nodes) == nodes
    assert graph.outputs[0].owner.inputs[0].owner.op is sin


def test_results_as_a_table() -> None:
    from io import StringIO

    from rich.console import Console

    graph = FunctionGraph([x], [f(sin(x)), h(x)])
    driver = SequentialOptimizer(
        [EquilibriumOptimizer([f_g], "one"), EquilibriumOptimizer([g_h], "two")], "both"
    )
    result = driver.rewrite(graph, Stopwatch())
    stats = result.rules[f_g.name]
    assert (stats.calls, stats.matches, stats.firings, stats.refused) == (1, 1, 1, 0)
    assert (stats.created, stats.dropped) == (1, 1)
    assert 0 < stats.seconds < result.seconds
    assert result.rules[g_h.name].firings == 1
    out = StringIO()
    Console(file=out, width=120).print(result)
    text = out.getvalue()
    for word in ("both: 2 firings", "one: nothing more to do", "two: ", f_g.name, g_h.name, "ms"):
        assert word in text
    assert result.rules == {**result.parts[0].rules, **result.parts[1].rules}


def test_each_driver_counts_alike() -> None:
    term = f(f(f(sin(x))))
    for driver in (EquilibriumOptimizer([f_g, g_h]), WalkingOptimizer([f_g])):
        result = driver.rewrite(FunctionGraph([x], [term]), Stopwatch())
        stats = result.rules[f_g.name]
        assert (stats.calls, stats.matches, stats.firings) == (3, 3, 3)
        assert stats.created == 3
        assert stats.dropped == 3
    result = EquilibriumOptimizer([f_g, g_h]).rewrite(FunctionGraph([x], [term, log(x)]))
    assert result.fired == {f_g.name: 3, g_h.name: 3}
    result = EquilibriumOptimizer([outside]).rewrite(FunctionGraph([x], [sin(f(x)), sin(g(x))]))
    assert result.rules[outside.name].dropped == 2
    assert result.rules[outside.name].created == 0


def test_the_pipeline_takes_a_budget() -> None:
    import rewrite_engine as rw
    import rewrite_engine.tensor as pt
    from rewrite_engine.pipeline.phases import optimizer

    v = pt.vector("v")
    terms = pt.log(pt.exp(pt.sin(pt.log(pt.exp(v)))))
    with pytest.raises(RuleLoopError, match="the phase canonicalize .* budget of 1 firings"):
        rw.function([v], terms, mode=rw.Mode(optimizer=optimizer(budget=RunBudget(firings=1))))
    fine = rw.function([v], terms, mode=rw.Mode(optimizer=optimizer(budget=RunBudget(firings=9))))
    assert len(fine.fgraph.apply_nodes) == 1
