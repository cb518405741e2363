"""The order in which nodes run, and who reads a variable last."""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link.plan import END, conditions, dying, last_reads, plan_of, schedule
from tests.growth import exponent

x, y = pt.vector("x"), pt.vector("y")


def order(*outputs: Any) -> list[str]:
    return [str(node.op) for node in schedule(FunctionGraph(None, outputs, clone=False))]


def test_depth_first() -> None:
    a, b = pt.exp(pt.sin(x)), pt.exp(pt.cos(y))
    assert order(a * b) == ["sin", "exp", "cos", "exp", "mul"]
    assert order(b, a) == ["cos", "exp", "sin", "exp"]
    assert order(x) == []


def test_every_node_runs_behind_those_that_it_reads() -> None:
    a = pt.exp(x)
    nodes = schedule(FunctionGraph([x], [pt.sin(a) * a.sum(), a + 1], clone=False))
    place = {v: i for i, node in enumerate(nodes) for v in node.outputs}
    assert all(place.get(v, -1) < i for i, node in enumerate(nodes) for v in node.inputs)
    assert len(nodes) == len(set(nodes)) == 5


def test_what_a_condition_is_computed_from_does_not_wait_for_it() -> None:
    size = pt.abs(x)
    first = pt.gt(x.shape[0], 2)
    both = pt.ifelse(first, pt.max(size) > 1, first)  # size is read by the branch, too
    outputs = [pt.ifelse(both, pt.sin(y) + pt.log(size).sum(), pt.cos(y))]
    graph = FunctionGraph([x, y], outputs, clone=False)
    where = {str(n.op): ways for n, ways in conditions(schedule(graph), outputs).items()}
    assert len(where["sin"]) == len(where["cos"]) == 1


def test_conditions_come_first() -> None:
    s = pt.scalar("s")
    out = pt.ifelse(pt.exp(s) > 1, pt.sin(x), pt.cos(x))
    graph = FunctionGraph([s, x], [out], clone=False)
    nodes = schedule(graph)
    where = {str(node.op): ways for node, ways in conditions(nodes, [out]).items()}
    assert [str(node.op) for node in nodes][:2] == ["exp", "gt"]
    condition = nodes[1].outputs[0]
    assert where == {"sin": (((condition, True),),), "cos": (((condition, False),),)}
    assert set(plan_of(FunctionGraph([s, x], [out], clone=False)).conditions.values()) == set(
        where.values()
    )


def test_last_readers() -> None:
    a, b = pt.exp(x), pt.sin(y)
    out = a * b + a
    nodes = schedule(FunctionGraph([x, y], [out, b], clone=False))
    assert [str(node.op) for node in nodes] == ["exp", "sin", "mul", "add"]
    last = last_reads(nodes, [out, b])
    assert last == {x: 0, y: 1, a: 3, b: END, nodes[2].outputs[0]: 3, out: END}
    assert list(map(set, dying(nodes, last))) == [{x}, {y}, set(), {a, nodes[2].outputs[0]}]


def test_an_output_that_nobody_reads_dies_at_once() -> None:
    first, second = pt.linalg.eigh(pt.matrix("m"))
    plan = plan_of(FunctionGraph(None, [first], clone=False))
    (step,) = [s for s in plan.steps if second.owner is s.node]
    assert second in step.dies
    assert plan.storages.of(second).last == len(plan.steps) - 1


def test_the_plan_of_a_long_chain_takes_time_in_proportion() -> None:
    def prepare(n: int) -> Any:
        out = x
        for _ in range(n):
            out = pt.tanh(out * 1.01 + 0.5)
        graph = FunctionGraph([x], [out], clone=False)
        return lambda: plan_of(graph)

    assert exponent(prepare, 500, 4000) < 1.4
