"""Replays: the same firings on the same graph end in the same graph; lines that do not apply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.explain
import rewrite_engine.tensor as pt
import rewrite_engine.terms
from rewrite_engine.errors import InconsistencyError, ReplayError
from rewrite_engine.explain import explain, replay
from rewrite_engine.explain.lines import json_lines
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.replace import equal_computations
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.pipeline.phases import all_rules, optimizer
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import SequentialOptimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.strategies import (
    bottomup,
    first,
    innermost,
    outermost,
    repeat,
    seq,
    topdown,
    try_,
)
from rewrite_engine.rewrite.trace import Trace
from tests.match.language import x, y
from tests.rewrite.graphs import SOUND, graphs, named
from tests.toy import Scale, add, const, divmod_, exp, log, mul, neg, sin, sub

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


@pytest.mark.on_vm
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
        ({"place": None}, "line 1 .*it has no place: it is not known where it fired"),
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


# --- traces that keep only the last firings -----------------------------------------------------

to_exp = named("to_exp", lambda a: sin(a) >> exp(a))
to_log = named("to_log", lambda a: exp(a) >> log(a))
KEEPING = [
    *DRIVERS,
    outermost(SOUND),
    innermost(repeat(first(*SOUND))),
    topdown(seq(SOUND[1], try_(SOUND[2]))),
    repeat(bottomup(SOUND)),
    innermost(seq(to_exp, to_log), SOUND),
]


@pytest.mark.parametrize("size", [None, 1, 2, 3, 4])
@pytest.mark.parametrize("turned", [False, True])
def test_equal_nodes_that_fired_apart(size: int | None, turned: bool) -> None:
    """A driver settles later: both have fired before they are found equal, which a replay does at
    once. The same line twice is still an error.
    """
    pair = Scale(1.0)(add(x, const(0.0))), Scale(1.0)(x)
    total = add(*(pair[::-1] if turned else pair))
    trace, graph = Trace(size=size), FunctionGraph([x], [total, sub(total, total)])
    before = graph.clone()
    EquilibriumOptimizer(SOUND).rewrite(graph, trace)
    again = trace.oldest() if size else before
    lines = [line for line in trace.lines() if json.loads(line)["kind"] == "firing"]
    assert same(replay(lines, again.clone(), SOUND), graph)
    for i, line in enumerate(lines, 1):
        with pytest.raises(ReplayError):
            replay([*lines[:i], line], again.clone(), SOUND)


@settings(max_examples=200, deadline=None)
@over(graphs(), st.sampled_from(KEEPING), st.integers(1, 6), st.booleans())
def test_what_is_left_of_a_trace_can_be_replayed(
    graph: FunctionGraph, driver: Any, size: int, terms: bool
) -> None:
    trace, rules = Trace(size=size, terms=terms), [*SOUND, to_exp, to_log]
    before = graph.clone()
    driver.rewrite(graph, trace)
    assert len(trace.records) == min(size, len(trace))
    rules = [*rules, *getattr(driver, "rules", ())]
    if not len(trace):
        assert same(before, graph)
        return
    again = trace.oldest()
    again.check_integrity()
    if len(trace) <= size:
        assert same(again, before)
    assert same(replay(trace.lines(), again, rules), graph)
    again.check_integrity()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_the_oldest_state_goes_on_over_drivers_phases_and_changes_in_between(size: int) -> None:
    term = x
    for i in range(12):
        term = neg(neg(sin(add(term, neg(neg(y)))))) if i % 3 else log(exp(term))
    graph, trace = FunctionGraph([x, y], [term, neg(term)]), Trace(size=size)
    for driver in (WalkingOptimizer([neg_neg]), EquilibriumOptimizer([neg_neg, log_exp])):
        driver.rewrite(graph, trace)
        graph.add_output(neg(neg(graph.inputs[0])))
    EquilibriumOptimizer([neg_neg]).rewrite(graph, trace)
    assert len(trace) > 10
    if len(trace) > size:
        assert len(trace.oldest().outputs) in (2, 3, 4)
        todo = [json.loads(line) for line in trace.lines() if '"firing"' in line]
        assert {line["since"] for line in todo} == {len(trace) - size + 1}
        assert len(todo) == size


@pytest.mark.parametrize("size", [1, 3, 8, 20])
def test_the_phases_of_the_pipeline_with_a_short_memory(size: int) -> None:
    a, b = pt.matrix("a"), pt.matrix("b")
    outputs = [
        pt.log(1 + pt.exp(a)) + pt.log(pt.exp(b)) * 1, (pt.exp(a) / pt.exp(a).sum()).T.T,
        pt.log(pt.exp(a) / pt.exp(a).sum(axis=1, keepdims=True)) * b + b,
    ]  # fmt: skip
    rules = [p for p in optimizer().parts if p.name in ("canonicalize", "stabilize", "specialize")]
    trace, graph = Trace(size=size), FunctionGraph([a, b], outputs)
    SequentialOptimizer(rules).rewrite(graph, trace)
    assert len(trace) >= 8
    again = replay(trace.lines(), trace.oldest(), all_rules())
    assert same(again, graph)
    assert same(replay(trace.lines(), trace.oldest(), all_rules()), again)


def test_the_values_are_those_of_the_run() -> None:
    a = pt.vector("a")
    graph = FunctionGraph([a], [pt.log(1 + pt.exp(pt.log(pt.exp(a)))) * 1 + pt.sqr(a) / 1])
    trace = Trace(size=2)
    optimizer().rewrite(graph, trace)
    assert len(trace) > 2
    again = replay(trace.lines(), trace.oldest(), all_rules(), optimizer().parts)
    value = np.array([-30.0, -0.5, 0.0, 3.0, 30.0])
    want = value * (value > 0) + np.log1p(np.exp(-np.abs(value))) + value**2
    for one in (graph, again, trace.oldest()):
        plain = rw.function(
            one.inputs, one.outputs[0], mode=rw.Mode(optimizer=None), accept_inplace=True
        )
        found = plain(value.copy())
        np.testing.assert_allclose(found, want, rtol=1e-14)


def test_what_was_put_back_is_not_replayed() -> None:
    """A feature refuses some firings: the graph goes back, and the trace with it."""

    class NoSine(Feature):
        def on_validate(self, fgraph: Any) -> None:
            if any(node.op is exp for node in fgraph.apply_nodes):
                raise InconsistencyError("no")

    two = named("two", lambda a, b: sub(a, b) >> add(exp(a), neg(neg(b))))
    for size in range(1, 5):
        term = sub(neg(neg(x)), sin(neg(neg(sub(neg(neg(y)), x)))))
        graph = FunctionGraph([x, y], [term], [NoSine()])
        trace = Trace(size=size)
        result = EquilibriumOptimizer([to_exp, two, neg_neg]).rewrite(graph, trace)
        assert result.refusals == {"NoSine": 3}
        assert same(replay(trace.lines(), trace.oldest(), [neg_neg]), graph)


def test_each_step_of_a_sequence_has_its_own_place() -> None:
    """The second of three too: it is done at what the first made, not at the node there was."""
    to_sub = named("to_sub", lambda a: neg(a) >> sub(a, a))
    to_log = named("to_log", lambda a: sub(a, a) >> log(a))
    to_sin = named("to_sin", lambda a: log(a) >> sin(a))
    rules, trace = [to_sub, to_log, to_sin], Trace()
    graph = FunctionGraph([x], [neg(neg(x))])
    before = graph.clone()
    innermost(seq(*rules)).rewrite(graph, trace)
    lines = [json.loads(text) for text in trace.lines() if '"firing"' in text]
    places = [line["place"] for line in lines]
    assert places == [[0, 0], [1, 0], [2, 0], [0, 1], [4, 0], [5, 0]]
    assert same(replay(trace.lines(), before, rules), graph)


def test_two_graphs_in_one_short_trace() -> None:
    trace = Trace(size=3)
    graphs_ = [FunctionGraph([x], [sin(neg(neg(neg(neg(x)))))]) for _ in range(2)]
    for graph in graphs_:
        EquilibriumOptimizer([neg_neg]).rewrite(graph, trace)
    lines = [json.loads(text) for text in trace.lines() if '"firing"' in text]
    assert [(line["graph"], line["since"]) for line in lines] == [(1, 2), (2, None), (2, None)]
    for number, graph in enumerate(graphs_, 1):
        mine = [line for line in lines if line["graph"] == number]
        assert same(replay(mine, trace.oldest(number), [neg_neg]), graph)
    EquilibriumOptimizer([neg_neg]).rewrite(FunctionGraph([x], [neg(neg(x))]), trace)
    with pytest.raises(LookupError, match=r"the trace has no record of graph 1, only of \[2, 3\]"):
        trace.oldest(1)


def test_another_start_than_the_oldest_state_is_told() -> None:
    term = x
    for _ in range(6):
        term = sin(neg(neg(term)))
    before, trace = FunctionGraph([x], [term]), Trace(size=2)
    EquilibriumOptimizer([neg_neg]).rewrite(before.clone(), trace)
    with pytest.raises(ReplayError, match=r"from number 5 on: begin with the graph of its `oldest"):
        replay(trace.lines(), before, [neg_neg])


def test_memory_is_that_of_what_is_kept() -> None:
    """A long run: what has left is gone."""
    term = x
    for i in range(300):
        term = sin(neg(neg(Scale(float(i))(term))))
    to_log = named("to_log", lambda a: sin(a) >> log(a))
    undo = named("undo", lambda a: log(a) >> sin(a))
    graph, trace = FunctionGraph([x], [term]), Trace(size=5)
    driver = EquilibriumOptimizer(
        [to_log, undo, neg_neg], budget=RunBudget(5_000, on_budget="stop")
    )
    driver.rewrite(graph, trace)
    past = trace.pasts[1]
    assert len(trace) > 1_000
    assert len(past.entries) < 3 * 2_000
    assert same(replay(trace.lines(), trace.oldest(), [to_log, undo, neg_neg]), graph)


@pytest.mark.parametrize(
    "package", [rw, rewrite_engine.explain, rewrite_engine.terms], ids=lambda p: p.__name__
)
def test_no_lazy_name_is_a_module(package: Any) -> None:
    """Once somebody has imported the module, the name would be that."""
    modules = {path.stem for path in Path(package.__file__).parent.iterdir()}
    assert not modules & {*package._HOMES}


def test_a_term_whose_parts_the_graph_has_in_another_order_is_found() -> None:
    rules = [named("mul_neg", lambda a, b: mul(neg(a), b) >> neg(mul(a, b)))]
    graph = FunctionGraph([x, y], [mul(y, x), mul(y, neg(x))])
    copy, trace = graph.clone(), Trace(terms=True)
    EquilibriumOptimizer(rules).rewrite(graph, trace)
    assert [f.after for f in trace] == ["-(y * x)"]  # the rule itself makes x * y
    assert same(replay(trace.lines(), copy, rules), graph)
