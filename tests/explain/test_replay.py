"""Replays: the same firings on the same graph end in the same graph; lines that do not apply."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.errors import ReplayError
from rewrite_engine.explain import explain, replay
from rewrite_engine.explain.lines import json_lines
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.trace import Trace
from rewrite_engine.rewrite.walk import WalkingOptimizer
from rewrite_engine.rules.pipeline import all_rules, optimizer
from tests.match.language import x, y
from tests.rewrite.graphs import SOUND, graphs, named
from tests.toy import add, divmod_, exp, log, mul, neg, sin, sub

DRIVERS = [
    EquilibriumOptimizer(SOUND),
    WalkingOptimizer(SOUND, "in_to_out"),
    WalkingOptimizer(SOUND, "out_to_in"),
]

neg_neg = named("neg_neg", lambda a: neg(neg(a)) >> a)
log_exp = named("log_exp", lambda a: log(exp(a)) >> a)


def same(one: FunctionGraph, two: FunctionGraph) -> bool:
    return equal_computations(one.outputs, two.outputs, one.inputs, two.inputs)


@settings(max_examples=150)
@over(graphs(), st.sampled_from(DRIVERS), st.booleans())
def test_a_replay_ends_in_the_same_graph(graph: FunctionGraph, driver: Any, terms: bool) -> None:
    copy, trace = graph.clone(), Trace(terms=terms)
    result = driver.rewrite(graph, trace)
    replay(trace.lines(), copy, SOUND)
    copy.check_integrity()
    assert same(graph, copy)
    assert len(trace) == result.firings


@settings(max_examples=30)
@over(graphs())
def test_over_several_drivers(graph: FunctionGraph) -> None:
    copy, trace = graph.clone(), Trace()
    for driver in DRIVERS[::-1]:
        driver.rewrite(graph, trace)
    assert same(graph, replay(list(trace.lines()), copy, SOUND))


def test_from_a_file(tmp_path: Any) -> None:
    path = tmp_path / "trace.jsonl"
    term = sub(neg(neg(sin(x))), log(exp(y)))
    trace, graph = Trace(), FunctionGraph([x, y], [term])
    EquilibriumOptimizer([neg_neg, log_exp]).rewrite(graph, trace)
    trace.write_jsonl(path)
    with open(path, encoding="utf-8") as file:
        again = replay(file, FunctionGraph([x, y], [term]), [log_exp, neg_neg])
    assert same(graph, again)


def test_rules_of_packs_on_tensors() -> None:
    a, b = pt.matrix("a"), pt.matrix("b")
    outputs = [pt.log(1 + pt.exp(a)) + pt.log(pt.exp(b)), (pt.exp(a) / pt.exp(a).sum()).T.T]
    rules = [p for p in optimizer().parts if p.name in ("canonicalize", "stabilize", "specialize")]
    trace, graph = Trace(terms=True, depth=8), FunctionGraph([a, b], outputs)
    for part in rules:
        part.rewrite(graph, trace)
    assert len(trace) > 3
    assert same(graph, replay(trace.lines(), FunctionGraph([a, b], outputs), all_rules()))


def test_what_explain_wrote_of_a_function() -> None:
    a, b = pt.matrix("a"), pt.matrix("b")
    outputs = [pt.log(pt.exp(a) / pt.exp(a).sum(axis=1, keepdims=True)) * b + b, pt.exp(b) * 1]
    report = explain(outputs, [a, b])
    after = report.functions[0].record.after
    lines = list(json_lines(report))
    assert any('"inplace' in line for line in lines)
    again = FunctionGraph([a, b], outputs)
    with pytest.raises(ReplayError, match="there is no such rule"):
        replay(lines, again.clone(), all_rules())
    replay(lines, again, all_rules(), optimizer().parts)
    assert equal_computations(again.outputs, after.outputs, again.inputs, after.inputs)


def test_a_rule_that_replaces_several_outputs_at_once() -> None:
    @node_rewriter([type(divmod_)])
    def apart(fgraph: Any, node: Any) -> Any:
        """A test."""
        return [sub(*node.inputs), add(*node.inputs)]

    quotient, rest = divmod_(x, y)
    term = mul(sin(quotient), neg(rest))
    trace, graph = Trace(), FunctionGraph([x, y], [term])
    EquilibriumOptimizer([apart]).rewrite(graph, trace)
    assert len(trace) == 2
    assert same(graph, replay(trace.lines(), FunctionGraph([x, y], [term]), [apart]))
    with pytest.raises(ReplayError, match="line 1: more of .*apart should stand here"):
        replay(list(trace.lines())[:1], FunctionGraph([x, y], [term]), [apart])


def test_other_matches_are_tried_where_the_line_says_what_was_made() -> None:
    rule = named("drop", lambda a, b: sub(sin(a), sin(b)) >> a)
    trace, graph = Trace(terms=True), FunctionGraph([x, y], [sub(sin(x), sin(y))])
    EquilibriumOptimizer([rule]).rewrite(graph, trace)
    (first, *_) = [json.loads(text) for text in trace.lines()]
    with pytest.raises(ReplayError, match="does not apply"):
        replay([first | {"after": "y"}], FunctionGraph([x, y], [sub(sin(x), sin(y))]), [rule])


def lines_of(term: Any, *rules: Any, **options: Any) -> list[Any]:
    trace = Trace(**options)
    EquilibriumOptimizer(rules).rewrite(FunctionGraph([x, y], [term]), trace)
    return [json.loads(text) for text in trace.lines()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": "no/such"}, r"line 1 \(no/such, firing 1\): there is no such rule"),
        ({"place": [0, 7]}, r"line 1 \(.*neg_neg, firing 1\): the graph has nothing at place"),
        ({"place": [0, 0]}, r"line 1 .*does not apply at -x"),
        ({"place": None}, "line 1 .*the trace did not keep everything"),
        ({"version": 0}, "line 1: it is of version 0; this is version 1"),
    ],
    ids=str,
)
def test_a_line_that_does_not_apply(change: Any, message: str) -> None:
    (line, *_) = lines_of(neg(neg(x)), neg_neg)
    graph = FunctionGraph([x, y], [neg(neg(x))])
    with pytest.raises(ReplayError, match=message) as caught:
        replay([line | change], graph, [neg_neg])
    assert caught.value.line == 1
    assert same(graph, FunctionGraph([x, y], [neg(neg(x))]))


def test_what_is_no_line() -> None:
    graph = FunctionGraph([x, y], [neg(x)])
    with pytest.raises(ReplayError, match="line 2: it is no line of a trace"):
        replay(["", "{"], graph, [])
    with pytest.raises(ReplayError, match="line 1: it is no line of a trace"):
        replay(["{}"], graph, [])


def test_another_graph_says_where_it_stops_to_fit() -> None:
    lines = lines_of(neg(neg(neg(neg(x)))), neg_neg)
    graph = FunctionGraph([x, y], [sin(neg(neg(x)))])
    with pytest.raises(ReplayError, match="line 2"):
        replay(lines, graph, [neg_neg])
    assert same(graph, FunctionGraph([x, y], [sin(x)]))  # as the line before left it


def test_lines_of_two_graphs() -> None:
    trace = Trace()
    for _ in range(2):
        EquilibriumOptimizer([neg_neg]).rewrite(FunctionGraph([x], [neg(neg(x))]), trace)
    with pytest.raises(ReplayError, match="line 2 .*of another graph"):
        replay(trace.lines(), FunctionGraph([x], [neg(neg(x))]), [neg_neg])


def test_a_ring_buffer_cannot_be_replayed() -> None:
    with pytest.raises(ReplayError, match="did not keep everything"):
        replay(lines_of(neg(neg(x)), neg_neg, size=5), FunctionGraph([x, y], [x]), [neg_neg])


def test_the_steps_of_a_driver_that_a_trace_forgot_cannot_be_replayed_either() -> None:
    v = pt.vector("v")
    graph = FunctionGraph([v], [pt.tanh(pt.sin(pt.exp(pt.cos(v)))) * 1])
    before, trace = graph.clone(), Trace(size=3)
    optimizer().rewrite(graph, trace)
    assert {firing.phase for firing in trace} == {"inplace"}
    with pytest.raises(ReplayError, match="line 1 .*kept only its last entries, and cannot be"):
        replay(trace.lines(), before, all_rules(), optimizer().parts)
