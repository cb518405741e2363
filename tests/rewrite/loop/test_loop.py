"""Loops of every length and kind, under the default budgets: all rules are named, soon."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.errors import RuleLoopError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import compute, node_rewriter
from rewrite_engine.match.pattern import Prop
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import SequentialOptimizer
from rewrite_engine.rewrite.loop import whole_period
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
from tests.growth import Lines, lines
from tests.match.language import x, y
from tests.rewrite.graphs import double, f, f_g, g, g_f, grow, h, named, pair, shape
from tests.toy import Scale, ToyOp, add, const, exp, log, mul, sin

pile = named("pile", lambda a, b: pair(f(a), b) >> pair(f(a), h(b)))


def counted(a: Any, by: Prop) -> Any:
    return Scale(by)(a) >> compute(lambda a, by: Scale(by + 1.0)(a))


def cycle(n: int) -> tuple[list[Any], Any]:
    """Rules that go round in n steps, and a term that they go round at."""
    ops = [ToyOp(f"c{i}", 1) for i in range(n)]

    def step(i: int) -> Any:
        return named(f"step{i}", lambda a: ops[i](a) >> ops[(i + 1) % n](a))

    return [step(i) for i in range(n)], ops[0](x)


def around(term: Any, n: int) -> FunctionGraph:
    """A graph of about n nodes, one of which is the term."""
    return FunctionGraph(
        [x, y], [*[sin(exp(Scale(float(i))(x))) for i in range(n // 3)], log(term)]
    )


def caught(driver: Any, graph: FunctionGraph) -> Any:
    """The error of a driver; the graph is as it was."""
    before = shape(graph)
    with pytest.raises(RuleLoopError) as info:
        driver.rewrite(graph)
    assert shape(graph) == before
    graph.check_integrity()
    assert graph.worklist is None
    return info.value


@pytest.mark.parametrize(
    ("n", "order"),
    [*[(n, innermost) for n in (1, 2, 3, 21, 22, 100, 399, 401, 900)], (22, outermost)],
)
def test_cycles_of_any_length_are_told_as_cycles(n: int, order: Any) -> None:
    rules, term = cycle(n) if n > 1 else ([named("swap", lambda a, b: pair(a, b) >> pair(b, a))], 0)
    error = caught(order(*rules), around(pair(x, y) if n == 1 else term, 30))
    assert set(error.rules) == {rule.name for rule in rules}
    assert error.result.stopped is StopReason.LOOP
    assert "the same terms come again and again" in str(error)
    assert len(error.turn) == (2 if n == 1 else n)
    assert all(one[2] == two[1] for one, two in zip(error.turn, error.turn[1:], strict=False))
    assert len(str(error)) < 3_000 + 30 * n
    assert 0 < error.result.taken_back < max(1_100, 10_000 + 8 * n)


@pytest.mark.parametrize(
    ("rule", "term"),
    [(grow, f(x)), (double, f(x)), (pile, pair(f(x), y))],
    ids=["grow", "double", "pile"],
)
def test_growth_does_not_take_the_budget_of_a_large_graph(rule: Any, term: Any) -> None:
    """10,000 firings, whatever is around."""
    for n in (30, 3_000):
        graph, errors = around(term, n), list[Any]()
        work = lines(lambda: errors.append(caught(innermost(rule), graph)))  # noqa: B023
        (error,) = errors
        assert work < 10_000_000 + 1_000 * n
        assert 0 < error.result.taken_back < 10_500
        assert error.rules == (rule.name,)
        assert "turn by turn" in str(error) or rule is double


@pytest.mark.parametrize("n", [2, 30, 200])
def test_one_loop_in_a_large_graph_with_work_to_do(n: int) -> None:
    rules, term = cycle(n)
    log_exp = named("log_exp", lambda a: log(exp(a)) >> a)
    terms = [sin(log(exp(Scale(float(i))(x)))) for i in range(3_000)]
    graph = FunctionGraph([x], [*terms[:1500], sin(sin(sin(term))), *terms[1500:]])
    error = caught(innermost(log_exp, *rules), graph)
    assert set(error.rules) == {rule.name for rule in rules}
    assert 0 < error.result.taken_back < 14_500


def test_numbers_that_count_up() -> None:
    """No term comes twice, and the graph does not grow."""
    rule = named("counted", counted)
    few = RunBudget(depth=1_500)
    error = caught(innermost(rule, budget=few), FunctionGraph([x], [sin(Scale(1.0)(x))]))
    assert error.rules == (rule.name,)
    assert "the same rules go on with other terms" in str(error)
    assert error.result.stopped is StopReason.BUDGET


@pytest.mark.parametrize(
    "make",
    [
        lambda a, b: innermost(first(a, b)),
        lambda a, b: outermost(try_(a), b),
        lambda a, b: innermost(where(lambda fgraph, node: True, a), b),
        lambda a, b: repeat(topdown(a, b)),
        lambda a, b: repeat(bottomup(first(b, a))),
        lambda a, b: repeat(seq(innermost(a), innermost(b))),
        lambda a, b: topdown(repeat(first(a, b))),
        lambda a, b: SequentialOptimizer([innermost(a), innermost(repeat(first(b, a)))]),
        lambda a, b: repeat(try_(seq(bottomup(a), bottomup(b)))),
        lambda a, b: repeat(repeat(topdown(a, b))),
    ],
)
def test_loops_within_and_through_strategies(make: Any) -> None:
    graph = FunctionGraph([x], [sin(f(x)), log(f(x))])
    driver = make(f_g, g_f)
    with Lines() as counted:
        if isinstance(driver, SequentialOptimizer):
            with pytest.raises(RuleLoopError) as info:
                driver.rewrite(graph)
            error = info.value
            graph.check_integrity()
        else:
            error = caught(driver, graph)
    assert counted.count < 3_000_000
    assert set(error.rules) == {f_g.name, g_f.name}
    assert {event[0] for event in error.turn} == {f_g.name, g_f.name}


def test_a_repeat_that_does_not_end_where_loops_only_stop() -> None:
    graph = FunctionGraph([x], [f(x)])
    driver = innermost(repeat(first(f_g, g_f)), budget=RunBudget(on_budget="stop"))
    assert driver.rewrite(graph).stopped is StopReason.LOOP
    graph.check_integrity()


def test_a_loop_of_sums_and_constants() -> None:
    """In any order, with constants that are folded on the way."""

    @node_rewriter([mul])
    def fold(fgraph: Any, node: Any) -> Any:
        """Not data: it computes."""
        numbers = [v.data for v in node.inputs if v.owner is None and hasattr(v, "data")]
        rest = [v for v in node.inputs if not hasattr(v, "data")]
        return mul(const(numbers[0] * numbers[1]), *rest) if len(numbers) == 2 else None

    apart = named("apart", lambda a: mul(6, a) >> mul(2, 3, a))
    for rules in ([apart, fold], [apart, first(fold, f_g)]):
        few = RunBudget(depth=1_500)
        error = caught(innermost(*rules, budget=few), FunctionGraph([x], [sin(mul(6, f(sin(x))))]))
        assert {apart.name, fold.name} <= set(error.rules) | {f_g.name}
    turned = named("turned", lambda a, b: add(f(a), b) >> add(g(a), b))
    error = caught(innermost(turned, g_f), FunctionGraph([x, y], [sin(add(y, f(x)))]))
    assert set(error.rules) == {turned.name, g_f.name}


def test_long_work_at_one_place_that_sees_more_and_more_is_no_loop() -> None:
    """12,000 firings at what came of one node, each of which takes in one node more."""
    term: Any = x
    for _ in range(12_000):
        term = f(term)
    over = named("over", lambda a, b: pair(f(a), b) >> pair(a, h(b)))
    kept = FunctionGraph([x, y], [pair(term, y), sin(term)])  # (all those nodes stay)
    for driver in (innermost(over), outermost(over)):
        graph = kept.clone()
        assert driver.rewrite(graph).firings == 12_000


def test_whole_period() -> None:
    assert whole_period("abcabc") == 3
    assert whole_period("aaaa") == 1
    assert whole_period("abcab") is None
    assert whole_period("xababab") is None
    assert whole_period("") is None


def test_the_error_says_where_the_rules_are_and_what_to_do() -> None:
    rules, term = cycle(2)
    error = caught(innermost(*rules), around(term, 30))
    text = str(error)
    for one in rules:
        assert f"{one.name} is at {one.where[0]}:{one.where[1]}" in text
    assert text.endswith("exclude one of the rules, or let it apply to fewer terms")
    assert error.__suppress_context__


@pytest.mark.parametrize("operands", [1, 40])
def test_growth_is_shown_where_terms_are_cut(operands: int) -> None:
    wide = ToyOp("wide", operands)
    grows = named("grows", lambda a: sin(a) >> sin(exp(a)))
    inner: Any = x
    for _ in range(6):
        inner = wide(*[inner] * operands)
    error = caught(innermost(grows), FunctionGraph([x], [sin(inner)]))
    assert [(before, after) for _, before, after in error.turn] == [("sin(A)", "sin(exp(A))")]
    assert "RunBudget" in str(error)
