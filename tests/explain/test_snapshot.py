"""Graphs as data: what they say is what the graphs were, after each firing."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain import Report, explain, recording
from rewrite_engine.explain.lines import json_lines
from rewrite_engine.explain.states import graph_until, own_steps
from rewrite_engine.rewrite.trace.lines import schema
from tests.rewrite.schema import problems

PROGRAMS = Path(__file__).parent / "programs"
x, m = pt.vector("x"), pt.matrix("m")


def lines_of(report):
    return [json.loads(line) for line in json_lines(report)]


def graph_of(lines):
    return next(one for one in lines if one["kind"] == "graph" and one["inside"] is None)


class Replayed:
    """The graph at a time, as somebody finds it who has the lines alone."""

    def __init__(self, graph):
        self.graph = graph
        self.inputs = [node["inputs"] for node in graph["nodes"]]
        self.ops = [node["op"] for node in graph["nodes"]]
        self.outputs = graph["outputs"]

    def apply(self, change):
        for number, new in change["nodes"].items():
            self.inputs[int(number)], self.ops[int(number)] = new["inputs"], new["op"]
        self.outputs = change["outputs"] or self.outputs

    def there(self):
        seen, todo = set(), list(self.outputs)
        while todo:
            node = self.graph["variables"][todo.pop()]["node"]
            if node is not None and node not in seen:
                seen.add(node)
                todo += self.inputs[node]
        return sorted(self.ops[node] for node in seen)


@pytest.mark.parametrize("name", ["layers", "density", "kalman", "unrolled"])
def test_the_graph_after_each_firing_can_be_had_of_the_lines(name):
    with recording() as recorder:
        runpy.run_path(str(PROGRAMS / f"{name}.py"))
    (f,) = Report(recorder.records).functions
    lines = lines_of(Report.of([f]))
    for one in lines:
        assert list(problems(one, schema())) == []
    replayed = Replayed(graph_of(lines))
    steps = own_steps(f.record)
    assert len(replayed.graph["changes"]) == len(steps) > 0
    every = max(1, len(steps) // 8)
    for k, change in enumerate(replayed.graph["changes"]):
        replayed.apply(change)
        if k % every == 0 or k == len(steps) - 1:
            truth = graph_until(f.record, change["firing"])
            truth = f.record.after if k == len(steps) - 1 else truth
            assert replayed.there() == sorted(str(node.op) for node in truth.toposort()), k


def test_a_function_in_which_nothing_fired_has_its_graph():
    graph = graph_of(lines_of(explain(pt.exp(x), mode=rw.Mode(optimizer=None))))
    assert [node["op"] for node in graph["nodes"]] == ["exp"]
    assert graph["changes"] == []


def test_graphs_inside_of_ops_have_lines():
    out, _ = rw.scan(lambda v, t: t + v, x, pt.constant(0.0), name="sums")
    lines = lines_of(explain(out, mode=rw.Mode().excluding("loops")))
    inside = [one for one in lines if one["kind"] == "graph" and one["inside"]]
    assert [one["inside"] for one in inside] == ["sums"]
    assert [node["op"] for node in inside[0]["nodes"]] == ["add"]


def test_nodes_know_costs_shapes_and_lines():
    y = pt.exp(m)
    report = explain(rw.grad(y.sum(), m) * 2, values=[[[0.0] * 3] * 2])
    graph = graph_of(lines_of(report))
    exp = next(node for node in graph["nodes"] if node["op"] == "exp")
    assert exp["flops"] == 60
    assert graph["variables"][exp["outputs"][0]]["shape"] == [2, 3]
    assert any(node["forward"] for node in graph["nodes"])
