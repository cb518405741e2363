"""In-place insertion: what is overwritten is nobody's any more, and values stay what they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.errors import RuleError
from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.history import FullHistory
from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import provenance
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.inplace import InplaceOptimizer
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.strategies import seq, try_
from rewrite_engine.rewrite.trace import Trace, brief
from tests.toy import num


def run(graph: FunctionGraph, arrays: Sequence[np.ndarray]) -> list[Any]:
    """Perform the nodes in the graph's order, on the arrays themselves."""
    cells: dict[Any, Any] = dict(zip(graph.inputs, arrays, strict=True))
    for node in graph.toposort():
        storage: list[list[Any]] = [[None] for _ in node.outputs]
        inputs = [v.data if isinstance(v, Constant) else cells[v] for v in node.inputs]
        node.op.perform(node, inputs, storage)
        for o, (i,) in node.op.destroy_map.items():
            assert np.shares_memory(storage[o][0], inputs[i]) or inputs[i].size == 0
        cells.update(zip(node.outputs, [cell[0] for cell in storage], strict=True))
    return [v.data if isinstance(v, Constant) else cells[v] for v in graph.outputs]


def inplace(inputs: Any, outputs: Any, arrays: Any, mutable: Any = ()) -> tuple[int, FunctionGraph]:
    """Insert, check everything that must hold, and return how many nodes work in place."""
    plain, graph = FunctionGraph(inputs, outputs), FunctionGraph(inputs, outputs)
    if mutable:
        graph.attach_feature(DestroyHandler(mutable=[graph.inputs[i] for i in mutable]))
    result = InplaceOptimizer().rewrite(graph)
    graph.check_integrity()
    graph.validate()
    assert result.stopped is StopReason.PASSED
    expected = [np.array(v) for v in run(plain, [a.copy() for a in arrays])]
    mine = [a.copy() for a in arrays]
    found = run(graph, mine)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    for i, (before, after) in enumerate(zip(arrays, mine, strict=True)):
        if i not in mutable:
            np.testing.assert_array_equal(after, before)
    count = sum(bool(n.op.destroy_map) for n in graph.apply_nodes)
    assert count == result.firings
    assert InplaceOptimizer().rewrite(graph).firings == 0
    return count, graph


x, y = pt.vector("x"), pt.vector("y")
X, Y = np.array([0.5, 1.5, 2.0]), np.array([3.0, -1.0, 0.25])


@pytest.mark.parametrize(
    ("outputs", "count"),
    [
        ([pt.exp(pt.sin(x))], 1),
        ([pt.exp(x)], 0),  # an input belongs to the caller
        ([pt.exp(pt.sin(x)), pt.sin(x)], 0),  # an output
        ([pt.sin(x) + y], 1),
        ([pt.exp(pt.sin(x)) + pt.sin(x)], 1),  # read again: only the last reader overwrites
        ([pt.exp(pt.sin(x)) + pt.cos(pt.sin(x))], 2),
        ([pt.sin(x)[1:] + 1, pt.sin(x) * 2], 1),  # a view reads first
        ([pt.exp(pt.sin(x).dimshuffle("x", 0)), pt.sin(x)], 0),  # a view of an output
        ([pt.sin(x).dimshuffle("x", 0), pt.exp(pt.sin(x))], 0),  # an output shows its memory
        ([pt.sin(x) > 0], 0),  # another dtype
        ([pt.sin(x) + pt.matrix("m")], 0) if False else ([pt.sqr(pt.sin(x)).sum()], 1),
        ([pt.sin(x) * pt.sin(x)], 0),  # both operands are the same memory
        ([pt.exp(pt.sin(x) + pt.dot(x, y))], 2),
    ],
)
def test_who_may_overwrite(outputs: Any, count: int) -> None:
    assert inplace([x, y], outputs, [X, Y])[0] == count


def test_a_constant_is_never_overwritten() -> None:
    c = pt.constant(X)
    assert inplace([y], [c + y, pt.exp(c)], [Y])[0] == 0
    np.testing.assert_array_equal(c.data, X)


def test_an_input_the_caller_gave_away() -> None:
    assert inplace([x, y], [pt.exp(x)], [X, Y], mutable=[0])[0] == 1
    assert inplace([x, y], [pt.exp(x), x], [X, Y], mutable=[0])[0] == 0
    assert inplace([x, y], [pt.exp(x), pt.sin(x)], [X, Y], mutable=[0])[0] == 1


def test_a_broadcast_operand_cannot_hold_the_result() -> None:
    row, m = pt.row("row"), pt.matrix("m")
    count, graph = inplace([row, m], [pt.exp(row) + pt.sin(m)], [X.reshape(1, 3), np.outer(Y, Y)])
    assert count == 1
    (node,) = [n for n in graph.apply_nodes if n.op.destroy_map]
    assert node.op.destroy_map == {0: [1]}


def test_a_value_that_many_read() -> None:
    shared = pt.sin(x)
    outputs = [pt.exp(shared) + pt.constant(float(i)) for i in range(5)]
    outputs += [shared * float(i + 2) for i in range(12)]
    count, _ = inplace([x], outputs, [X])
    assert count >= 1


def test_a_trace_of_what_was_inserted() -> None:
    trace = Trace(terms=True)
    graph = FunctionGraph([x], [pt.exp(pt.sin(x))])
    result = InplaceOptimizer("late").rewrite(graph, trace)
    (firing,) = trace
    assert firing.rule_name == "inplace/overwrite_dead_input"
    assert firing.phase == "late"
    assert firing.before == "exp(sin(x))"
    assert result.fired == {"inplace/overwrite_dead_input": 1}


class Halve(Op):
    """A toy op that can work on either input."""

    __props__ = ("where",)
    itypes = (num, num)
    otypes = (num,)

    def __init__(self, where: int | None = None) -> None:
        self.where = where
        self.destroy_map = {} if where is None else {0: [where]}

    def inplace_on_inputs(self, allowed: Sequence[int], node: Apply | None = None) -> Op | None:
        return Halve(allowed[0]) if self.where is None else None


def test_the_protocol_on_toy_ops() -> None:
    a, b = num("a"), num("b")
    halve = Halve()
    graph = FunctionGraph([a, b], [halve(halve(a, b), b), halve(b, halve(b, a))])
    InplaceOptimizer().rewrite(graph)
    graph.check_integrity()
    graph.validate()
    assert [v.owner.op.where for v in graph.outputs] == [0, 1]
    assert [n.op.where for n in graph.apply_nodes if n.inputs[0].owner is None].count(None) == 2


class Picky(Op):
    """A toy op that works on inputs of the type of its output, and counts who asks."""

    __props__ = ("where",)
    asked = 0

    def __init__(self, where: int | None = None) -> None:
        self.where = where
        self.destroy_map = {} if where is None else {0: [where]}

    def infer_types(self, types: tuple[Any, ...]) -> Any:
        return (types[0],)

    def inplace_on_inputs(self, allowed: Sequence[int], node: Apply | None = None) -> Op | None:
        Picky.asked += 1
        assert node is not None
        same = node.inputs[allowed[0]].type is node.outputs[0].type
        return Picky(allowed[0]) if same else None


def test_an_op_is_asked_once_for_all_nodes_with_the_same_types() -> None:
    x, picky = pt.dvector("x"), Picky()
    out, other = pt.sin(x), pt.fvector("y")
    for i in range(20):
        out = picky(pt.fvector(f"f{i}"), picky(out))
        out = picky(pt.cos(other + float(i)), out)
    graph = FunctionGraph(None, [out])
    Picky.asked = 0
    InplaceOptimizer().rewrite(graph)
    nodes = [n for n in graph.apply_nodes if isinstance(n.op, Picky)]
    assert len(nodes) == 60
    for node in nodes:
        first, last = node.inputs[0], node.inputs[-1]
        if len(node.inputs) == 1 or first.owner is not None:
            assert node.op.where == 0
        else:
            assert node.op.where is (1 if last.type is node.outputs[0].type else None)
    assert Picky.asked < 10


def test_what_only_one_node_reads_comes_first() -> None:
    """So no other reader has to come before it, and the other value is left to others."""
    shared = pt.sin(x)
    graph = FunctionGraph([x, y], [shared * pt.cos(x), pt.dot(shared, y)])
    assert InplaceOptimizer().rewrite(graph).firings == 1
    assert graph.outputs[0].owner.op.destroy_map == {0: [1]}
    assert graph.orderings() == {}


OPS1 = [
    pt.exp,
    pt.sin,
    pt.neg,
    lambda v: v[::-1],
    lambda v: v.dimshuffle("x", 0)[0],
    lambda v: v + 1,
]
OPS2 = [pt.add, pt.mul, pt.sub, pt.maximum, pt.second, lambda a, b: pt.switch(a > b, a, b)]


@st.composite
def programs(draw: Any) -> list[Any]:
    """Vectors computed from each other, and some of them as outputs."""
    pool = [x, y]
    for _ in range(draw(st.integers(2, 9))):
        pick = st.sampled_from(pool)
        if draw(st.booleans()):
            pool.append(draw(st.sampled_from(OPS1))(draw(pick)))
        else:
            pool.append(draw(st.sampled_from(OPS2))(draw(pick), draw(pick)))
    outputs = draw(st.lists(st.sampled_from(pool), max_size=2))
    return [pool[-1], *outputs]


@settings(max_examples=80)
@over(programs(), st.sampled_from([(), (0,), (0, 1)]))
def test_random_programs_keep_their_values(outputs: Any, mutable: Any) -> None:
    with np.errstate(all="ignore"):
        inplace([x, y], outputs, [X, Y], mutable)


def overwritten(graph: FunctionGraph) -> list[str]:
    """What every node is, in the graph's order of construction."""
    place = {node: i for i, node in enumerate(toposort(graph.outputs))}
    roots = {v: i for i, v in enumerate(graph.inputs)}
    return [
        f"{node.op}{node.op.destroy_map}"
        f"({[roots.get(v, v if v.owner is None else place[v.owner]) for v in node.inputs]})"
        for node in place
    ]


@settings(max_examples=60)
@over(programs(), st.sampled_from([(), (0,)]))
def test_watched_or_not_the_graph_is_the_same(outputs: Any, mutable: Any) -> None:
    graphs = []
    for trace in (None, Trace()):
        graph = FunctionGraph([x, y], outputs)
        handler = DestroyHandler([graph.inputs[i] for i in mutable])
        graph.attach_feature(handler)
        InplaceOptimizer().rewrite(graph, trace)
        graph.check_integrity()
        graph.validate()
        graphs.append((overwritten(graph), len(handler.orderings(graph)), handler.is_idle()))
    assert graphs[0] == graphs[1]


def test_who_took_nodes_over_keeps_them() -> None:
    """With clone=False the nodes are the user's: they are replaced, not changed."""
    out = pt.exp(pt.sin(x))
    op = out.owner.op
    graph = FunctionGraph([x], [out], clone=False)
    assert InplaceOptimizer().rewrite(graph).firings == 1
    assert out.owner.op is op
    assert graph.outputs[0].owner.op is not op


def test_an_exchanged_node_knows_where_it_came_from() -> None:
    graph = FunctionGraph([x], [pt.exp(pt.sin(x))])
    InplaceOptimizer().rewrite(graph)
    found = provenance(graph.outputs[0])
    assert found.rules == ("inplace/overwrite_dead_input",)
    assert {file for file, _ in found.lines} == {__file__}


def test_what_failed_after_it_gives_the_ops_back() -> None:
    class Fails(GraphRewriter):
        def run(self, fgraph: Any, result: Any) -> None:
            raise RuleError("no")

    graph = FunctionGraph([x], [pt.exp(pt.sin(x))])
    history = FullHistory()
    graph.attach_feature(history)
    before = [node.op for node in graph.toposort()]
    result = try_(seq(InplaceOptimizer(), Fails())).rewrite(graph)
    assert (result.firings, result.taken_back) == (0, 1)
    assert [node.op for node in graph.toposort()] == before
    assert graph.outputs[0].head is pt.exp
    graph.check_integrity()
    InplaceOptimizer().rewrite(graph)
    assert graph.outputs[0].owner.op.destroy_map
    graph.remove_feature(history)


@pytest.mark.parametrize("clone", [True, False])
def test_a_history_steps_through_what_is_to_overwrite(clone: bool) -> None:
    graph = FunctionGraph([x], [pt.exp(pt.sin(pt.cos(x)))], clone=clone)
    history = FullHistory(text=brief)
    graph.attach_feature(history)
    InplaceOptimizer().rewrite(graph)
    assert [step.after for step in history] == [
        "sin{inplace 0<-0}(cos(x))",
        "exp{inplace 0<-0}(sin{inplace 0<-0}(cos(x)))",
    ]
    assert {step.reason for step in history} == {InplaceOptimizer.rule_name}
    for n in (0, 2, 1, 0, 1, 2):
        history.goto(n)
        overwrite = [bool(node.op.destroy_map) for node in graph.toposort()]
        assert overwrite == [False, n > 0, n > 1]
        graph.check_integrity()
        graph.validate()
