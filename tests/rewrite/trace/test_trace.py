"""Traces: what fired, in which phase, on which terms, from which line."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.explain import replay
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.trace import Trace, brief
from tests.match.language import x, y
from tests.rewrite.graphs import named
from tests.toy import Scale, add, const, divmod_, exp, join, log, mul, neg, num, sin, sub

neg_neg = named("neg_neg", lambda a: neg(neg(a)) >> a)


def negations(n: int) -> Variable:
    term = x
    for _ in range(n):
        term = neg(term)
    return term


@pytest.mark.parametrize("driver", [EquilibriumOptimizer, WalkingOptimizer])
def test_records(driver: type) -> None:
    trace = Trace()
    outputs = [sub(neg(neg(x)), sin(neg(neg(y))))]
    result = driver([neg_neg], name="phase").rewrite(FunctionGraph([x, y], outputs), trace)
    assert len(trace) == result.firings == 2
    one, two = trace
    assert (one.number, two.number) == (1, 2)
    assert one.rule is neg_neg
    assert one.rule_name == neg_neg.name
    assert one.phase == "phase"
    assert 0 <= one.seconds <= two.seconds
    assert isinstance(one.before, Variable)


def test_terms_as_text_and_the_line_they_come_from() -> None:
    trace = Trace(terms=True)
    term = sin(neg(neg(log(x))))
    line = test_terms_as_text_and_the_line_they_come_from.__code__.co_firstlineno + 2
    EquilibriumOptimizer([neg_neg]).rewrite(FunctionGraph([x], [term]), trace)
    (firing,) = trace
    assert (firing.before, firing.after) == ("--log(x)", "log(x)")
    assert firing.origin == (__file__, line)


def test_text_is_taken_at_once() -> None:
    trace = Trace(terms=True)
    EquilibriumOptimizer([neg_neg]).rewrite(FunctionGraph([x], [negations(6)]), trace)
    assert [f.before for f in trace] == ["--x"] * 3


def test_a_ring_buffer() -> None:
    trace = Trace(size=2)
    EquilibriumOptimizer([neg_neg]).rewrite(FunctionGraph([x], [negations(10)]), trace)
    assert len(trace) == 5
    assert [f.number for f in trace] == [4, 5]


def test_what_changes_nothing_is_not_recorded() -> None:
    trace = Trace()
    swap = named("swap", lambda a, b: sub(a, b) >> sub(b, a))
    EquilibriumOptimizer([swap]).rewrite(FunctionGraph([x], [sub(x, x)]), trace)
    assert len(trace) == 0


def test_a_trace_over_several_runs() -> None:
    trace = Trace(terms=True)
    for _ in range(3):
        EquilibriumOptimizer([neg_neg]).rewrite(FunctionGraph([x], [negations(2)]), trace)
    assert [f.number for f in trace] == [1, 2, 3]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (sub(x, sub(y, x)), "x - (y - x)"),
        (mul(add(x, 1), neg(y)), "(x + 1.0) * -y"),
        (join(x, exp(y)), "join(x, exp(y))"),
        (Scale(2.0)(x), "Scale{by=2.0}(x)"),
        (sin(sin(sin(sin(sin(x))))), "sin(sin(sin(sin(…))))"),
        (const(2.5), "2.5"),
        (num(), "<Num>"),
        (divmod_(x, y)[1], "DivMod(x, y)[1]"),
        (3, "3"),
    ],
    ids=str,
)
def test_brief_text(term: object, text: str) -> None:
    assert brief(term) == text


def test_brief_text_of_a_term_with_many_paths() -> None:
    term = x
    for _ in range(60):
        term = add(term, term)
    assert len(brief(term)) < 200


@pytest.mark.parametrize("size", [0, -1])
def test_a_trace_of_no_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"size must be at least 1, .*, not {size}"):
        Trace(size=size)


def test_a_trace_that_is_attached_hears_of_whoever_changes_the_graph() -> None:
    class ByHand(GraphRewriter):
        """As a driver is written elsewhere."""

        def apply(self, fgraph: Any) -> None:
            (old,) = fgraph.outputs
            fgraph.replace(old, log(old.owner.inputs[0]), "by hand")

    trace, graph = Trace(terms=True), FunctionGraph([x], [sin(neg(neg(exp(x))))])
    graph.attach_feature(trace)
    inner = graph.outputs[0].owner.inputs[0]
    graph.replace(inner, inner.owner.inputs[0].owner.inputs[0], "a user")
    ByHand().rewrite(graph)
    EquilibriumOptimizer([named("log_exp", lambda a: log(exp(a)) >> a)]).rewrite(graph)
    graph.remove_feature(trace)
    graph.replace(graph.outputs[0], neg(graph.inputs[0]), "nobody listens")
    assert [(f.phase, f.rule_name.rpartition("/")[2], f.before, f.after) for f in trace] == [
        ("", "a user", "--exp(x)", "exp(x)"),
        ("ByHand", "by hand", "sin(exp(x))", "log(exp(x))"),
        ("equilibrium", "log_exp", "log(exp(x))", "x"),
    ]


@pytest.mark.parametrize("size", [None, 1, 2, 100])
def test_what_was_changed_while_a_trace_did_not_listen(size: int | None) -> None:
    graph, trace = FunctionGraph([x, y], [sin(negations(8)), neg(neg(y))]), Trace(size=size)
    driver = WalkingOptimizer([neg_neg])
    driver.rewrite(graph, trace)
    graph.replace(graph.outputs[1], sin(neg(neg(neg(neg(graph.inputs[1]))))))
    before = graph.clone()
    driver.rewrite(graph, trace)
    again = replay(trace.lines(), trace.oldest(), [neg_neg]) if size in (1, 2) else None
    if again is not None:
        assert equal_computations(again.outputs, graph.outputs, again.inputs, graph.inputs)
    driver.rewrite(before)
    assert equal_computations(before.outputs, graph.outputs, before.inputs, graph.inputs)
