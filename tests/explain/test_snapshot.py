"""Graphs as data: what they say is what the graphs were, after each firing."""

from __future__ import annotations

import json
import runpy
from contextlib import suppress
from pathlib import Path

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import MissingInputError
from rewrite_engine.explain import Report, explain, recording
from rewrite_engine.explain.lines import json_lines
from rewrite_engine.explain.states import graph_until, own_steps
from rewrite_engine.rewrite.trace.records import schema
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


def test_what_rules_did_inside_of_an_op_can_be_replayed_of_the_lines():
    def step(v, t):
        return t + pt.log(1 + pt.exp(v))

    out, _ = rw.scan(step, x, pt.constant(0.0), name="sums")
    report = explain(out, mode=rw.Mode().excluding("loops", "inplace"))
    lines = lines_of(report)
    for one in lines:
        assert list(problems(one, schema())) == []
    end, history = [one for one in lines if one["kind"] == "graph" and one["inside"] == "sums"]
    assert end["graph"] is None
    assert end["changes"] == []
    replayed = Replayed(history)
    assert "log" in replayed.there()
    rules = {one["number"]: one["rule"] for one in lines if one["kind"] == "firing"}
    assert [rules[change["firing"]] for change in history["changes"]] == [
        "exp_log/log_of_one_plus", "exp_log/log1p_of_exp",
    ]  # fmt: skip
    for change in history["changes"]:
        replayed.apply(change)
    assert replayed.there() == sorted(node["op"] for node in end["nodes"])


def test_terms_of_firings_are_complete_in_the_graph():
    y = pt.exp(pt.sinh(pt.cosh(pt.tanh(x)) * 2) ** 2 + 1)
    lines = lines_of(explain(pt.log(y) * y, mode=rw.Mode().excluding("inplace")))
    graph = graph_of(lines)
    firings = {one["number"]: one for one in lines if one["kind"] == "firing"}
    lettered = [change for change in graph["changes"] if firings[change["firing"]]["letters"]]
    assert lettered
    for change in graph["changes"]:
        assert graph["variables"][change["old"]]["kind"] == "computed"
        assert change["letters"].keys() <= firings[change["firing"]]["letters"].keys()
        for number in change["letters"].values():
            assert graph["variables"][number]["node"] is not None


def test_the_line_of_a_report_has_versions_and_failures():
    with recording() as recorder, suppress(MissingInputError):
        rw.function([x], x + pt.vector("y"), name="bad")
    [report] = [
        one
        for one in lines_of(Report(recorder.records, recorder.failed))
        if one["kind"] == "report"
    ]
    assert report["versions"].keys() == {"rewrite_engine", "python", "numpy"}
    assert [one["name"] for one in report["failed"]] == ["bad"]
    assert report["failed"][0]["error"].startswith("MissingInputError")


def test_the_line_of_a_function_has_claims_inputs_and_formulas():
    y = pt.abs(rw.assume(x, nonneg=True)) + 1
    report = explain(y, values=[[-1.0, 2.0]], name="f")
    [f] = [one for one in lines_of(report) if one["kind"] == "function"]
    assert [one["kind"] for one in f["claims"]["untrue"]] == ["declaration"]
    assert f["inputs"] == [
        {
            "name": "x",
            "type": "TensorType(float64, (None,))",
            "dtype": "float64",
            "shape": [2],
            "state": False,
        }
    ]
    assert f["formulas_after"] == ["result = x + 1.0"]
    assert f["assumptions"][0]["declared"]


def test_nodes_know_costs_shapes_and_lines():
    y = pt.exp(m) * m
    report = explain(rw.grad(y.sum(), m) * 2, values=[[[0.0] * 3] * 2])
    graph = graph_of(lines_of(report))
    exp = next(node for node in graph["nodes"] if node["op"] == "exp")
    assert exp["flops"] == 60
    assert graph["variables"][exp["outputs"][0]]["shape"] == [2, 3]
    assert any(node["forward"] for node in graph["nodes"])
