"""What crosses the borders of inner graphs: facts, types and constants; what nobody needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import OpFromGraph
from rewrite_engine.errors import BroadcastError
from rewrite_engine.graph.inner import HasInnerGraph, held, inner_ops
from rewrite_engine.graph.op import Op
from rewrite_engine.language import rule
from rewrite_engine.match import fact as facts
from rewrite_engine.match.fact import fact, unknown
from tests.link.reference import random_graphs, values_for

X, Y = pt.dvectors("x", "y")
A, B = pt.dvectors("a", "b")


def ops(graph: Any) -> list[str]:
    return sorted(str(node.op) for node in graph.apply_nodes)


def inside(y: Any, *given: Any, **options: Any) -> list[list[str]]:
    """The ops in the graphs inside the nodes of a function, node by node."""
    f = rw.function([A, B, *given], y, on_unused_input="ignore", **options)
    nodes = [n for n in f.fgraph.toposort() if isinstance(n.op, HasInnerGraph)]
    return [ops(node.op.fgraph) for node in nodes]


PLAIN = rw.Mode("vm").excluding("inplace")


def test_what_is_known_of_an_argument_holds_inside() -> None:
    f = OpFromGraph([X], [abs(X) * 2.0], name="f")
    assert inside(f(A), mode=PLAIN) == [["abs", "mul"]]
    assert inside(f(pt.exp(A)), mode=PLAIN) == [["mul"]]
    assert inside(f(rw.assume(A, nonneg=True)), mode=PLAIN) == [["mul"]]
    found = rw.function([A], [f(pt.exp(A)), f(A), f(-A)])([-1.0])
    np.testing.assert_allclose(found, [[2 * np.exp(-1)], [2.0], [2.0]])


def test_facts_cross_several_borders() -> None:
    inner = OpFromGraph([X], [abs(X) * 2.0], name="inner")
    outer = OpFromGraph([X], [inner(X + 1.0) * 3.0], name="outer")
    f = rw.function([A], outer(pt.exp(A)), mode=PLAIN)
    assert [ops(op.fgraph) for op in inner_ops(held(f.fgraph))] == [
        ["mul"],
        ["add", "inner", "mul"],
    ]


def test_arguments_of_one_length_have_one_inside() -> None:
    f = OpFromGraph([X, Y], [pt.second(X, pt.exp(Y)) * 2.0], name="f")
    assert inside(f(A, B), mode=PLAIN) == [["exp", "mul", "second"]]
    assert inside(f(pt.sin(A), A), mode=PLAIN) == [["exp", "mul"]]
    assert inside([f(A, A), f(B, A)], mode=PLAIN) == [["exp", "mul"], ["exp", "mul", "second"]]
    outer = OpFromGraph([X, Y], [f(X + 1.0, Y * 3.0)], name="outer")
    found = rw.function([A], outer(A, -A), mode=PLAIN).fgraph
    assert [ops(op.fgraph) for op in inner_ops(held(found))] == [
        ["exp", "mul"],
        ["f", "mul"],  # nothing needs x any more
    ]


def test_one_length_of_several_is_told_from_the_others() -> None:
    M, N, C, D = pt.dmatrices("m", "n", "c", "d")
    pairs = [pt.second(M.sum(axis=i), N.sum(axis=i)) for i in (0, 1)]
    f = OpFromGraph([M, N], pairs, name="f")
    y, z = f(C, pt.dot(D, C))  # as many columns
    graph = rw.function([C, D], [y, z], mode=PLAIN).fgraph
    (op,) = held(graph)
    assert ops(op.fgraph).count("second") == 1
    c, d = np.ones((2, 3)), np.ones((4, 2))
    with pytest.raises(BroadcastError):
        rw.function([C, D], [y, z])(c, d)
    found = rw.function([C, D], [y, z])(c, d[:2])
    assert [v.tolist() for v in found] == [[4.0] * 3, [6.0] * 2]


def test_a_fact_of_a_user_holds_inside() -> None:
    @fact
    def odd(x: Any) -> Any:
        """Something that only a user knows."""
        return unknown("nobody said so")

    @rule(phase="canonicalize")
    def floor_of_odd(x: Any) -> Any:
        """An example."""
        return pt.floor(x) >> x, facts.given(odd(x))

    mode = PLAIN + floor_of_odd
    f = OpFromGraph([X], [pt.floor(X) * 2.0])
    assert inside([f(A), f(rw.assume(B, odd))], mode=mode) == [["floor", "mul"], ["mul"]]


def test_what_is_known_of_a_result_holds_outside() -> None:
    f = OpFromGraph([X, Y], [pt.exp(X) + 1.0, Y], name="f")
    y, z = f(A, B)
    assert ops(rw.function([A, B], abs(y)).fgraph) == ["f"]
    assert ops(rw.function([A, B], [abs(y), abs(z)], mode=PLAIN).fgraph) == ["abs", "f"]
    only = OpFromGraph([X], [X * 2.0], name="only")  # of what is known of the argument
    assert ops(rw.function([A], abs(only(pt.exp(A))), mode=PLAIN).fgraph) == ["exp", "only"]


def test_the_length_of_an_argument_is_known_inside() -> None:
    row = pt.dvector("row", shape=(3,))
    f = OpFromGraph([X], [X.sum() / X.shape[0], X], name="f")
    assert inside(f(row)[0], row, mode=PLAIN) == [["Sum", "true_div"]]
    y = rw.function([row], f(row)[1] + 1.0).fgraph.outputs[0]
    assert y.type.shape == (3,)
    np.testing.assert_allclose(rw.function([row], f(row))([1.0, 2.0, 6.0])[0], 3.0)


def test_constants_move_in() -> None:
    s = pt.dscalar("s")
    f = OpFromGraph([X, s], [X * s], name="f")
    compiled = rw.function([A], [f(A, 4.0), f(A, 2.0), f(A, A.sum())], mode=PLAIN)
    calls = [n for n in compiled.fgraph.apply_nodes if str(n.op) == "f"]
    assert sorted(len(n.inputs) for n in calls) == [1, 1, 2]
    np.testing.assert_allclose(compiled([3.0]), [[12.0], [6.0], [9.0]])


def test_for_many_constants_there_are_few_variants() -> None:
    s = pt.dscalar("s")
    f = OpFromGraph([X, s], [pt.exp(X) * s], name="f")
    compiled = rw.function([A], [f(A, 0.5 + i) for i in range(20)])
    assert len(held(compiled.fgraph)) == 5
    np.testing.assert_allclose(np.ravel(compiled([0.0])), 0.5 + np.arange(20))


def test_variants_that_come_to_the_same_are_one_op() -> None:
    f = OpFromGraph([X], [pt.tanh(X)], name="f")
    assert len(held(rw.function([A], [f(A), f(pt.exp(A))]).fgraph)) == 1


def test_outputs_that_nobody_uses_are_left_out() -> None:
    f = OpFromGraph([X, Y], [pt.tanh(X), pt.sin(Y), pt.cos(Y)], name="f")
    assert inside(f(A, B)[0], mode=PLAIN) == [["tanh"]]
    y = rw.function([A, B], [f(A, B)[2], f(A, B)[0]], mode=PLAIN)
    assert [len(n.outputs) for n in y.fgraph.apply_nodes] == [2]
    np.testing.assert_allclose(y([1.0], [0.0]), [[1.0], [np.tanh(1.0)]])
    y = rw.function([A], f(A, A)[1], mode=PLAIN)
    assert [(len(n.inputs), len(n.outputs)) for n in y.fgraph.apply_nodes] == [(1, 1)]


def test_arguments_that_nobody_needs_are_left_out() -> None:
    f = OpFromGraph([X, Y], [pt.tanh(X) + Y - Y], name="f")
    g = OpFromGraph([X, Y], [pt.tanh(X)], name="g")
    assert ops(rw.function([A, B], g(A, pt.exp(B))).fgraph) == ["g"]
    (call,) = rw.function([A, B], g(A, B), on_unused_input="ignore").nodes
    assert len(call.inputs) == 1
    w = rw.shared(np.ones(2), name="w")
    both = OpFromGraph([X], [X * 2.0, w * 3.0])
    (call,) = rw.function([A], both(A)[1], on_unused_input="ignore", mode=PLAIN).nodes
    assert [v.name for v in call.inputs] == ["w"]
    with pytest.raises(ValueError):  # the lengths have to fit
        rw.function([A, B], f(A, B))([1.0], [1.0, 2.0])


@pytest.mark.on_vm
def test_results_that_are_arguments_or_constants_need_no_call() -> None:
    f = OpFromGraph([X, Y], [pt.log(pt.exp(X)), pt.constant(2.0), pt.tanh(Y)], name="f")
    compiled = rw.function([A, B], f(A, B), mode=PLAIN)
    (call,) = compiled.nodes
    assert ([*call.inputs], len(call.outputs)) == ([compiled.fgraph.inputs[1]], 1)
    given = np.array([5.0])
    found = compiled(given, [0.0])
    assert [v.tolist() for v in found] == [[5.0], 2.0, [0.0]]
    assert not np.shares_memory(found[0], given)
    assert rw.function([A, B], f(A, B)[0] + f(B, A)[1], mode=PLAIN).nodes[0].op == pt.add
    inner = OpFromGraph([X], [X * 1.0], name="inner")
    outer = OpFromGraph([X], [inner(inner(X)) + 0.0], name="outer")
    assert rw.function([A], outer(A)).nodes == []
    n = pt.lscalar("n")
    first = rw.function([A, n], OpFromGraph([X, n], [X, X * n])(A, (A * A[n])[n:].shape[0])[0])
    with pytest.raises(IndexError):
        first([1.0], 3)


def test_errors_of_what_is_left_out_are_kept() -> None:
    n = pt.lscalar("n")
    f = OpFromGraph([X, n], [X * 2.0, X[n]], name="f")
    double = rw.function([A, n], f(A, n)[0])
    same = rw.function([A, n], OpFromGraph([X, n], [X * 1.0, X[n]])(A, n)[0])
    for one in double, same:
        with pytest.raises(IndexError):
            one([1.0], 3)
    g = OpFromGraph([X, Y], [pt.tanh(X)], name="g")
    argument = rw.function([A, n], g(A, A[n:][n] * A))
    with pytest.raises(IndexError):
        argument([1.0], 3)


@pytest.mark.on_vm
def test_each_output_without_an_error_of_its_own_is_left_out() -> None:
    n = pt.lscalar("n")
    outputs = [X * 2.0, X[n], pt.sin(X), pt.exp(X[n]), X + Y, pt.cos(X + Y) * X]
    f = OpFromGraph([X, Y, n], outputs, name="f")
    for used, left in ((0, [0, 1, 3, 4, 5]), (1, [1, 4, 5]), (4, [1, 3, 4]), (5, [1, 3, 5])):
        (call,) = rw.function([A, B, n], f(A, B, n)[used], mode=PLAIN).nodes
        assert len(call.outputs) == len(left), used


def test_errors_of_what_is_inlined_are_kept() -> None:
    n = pt.lscalar("n")
    double = OpFromGraph([X, n], [X * 2.0, X[n]], inline=True)
    tanh = OpFromGraph([X, Y], [pt.tanh(X)], inline=True)
    for out in double(A, n)[0], tanh(A, A[n:][n] * A):
        f = rw.function([A, n], out)
        assert len(held(f.fgraph)) == 1
        with pytest.raises(IndexError):
            f([1.0], 3)
    free = rw.function([A, n], double(A, n)[0], mode=rw.Mode().including("shape_unsafe"))
    assert held(free.fgraph) == []
    two = OpFromGraph([X, Y], [pt.tanh(X), X + Y], inline=True)
    assert len(held(rw.function([A, B], two(A, B)[0]).fgraph)) == 1
    fine = [double(A, n)[0] + double(A, n)[1], tanh(A, pt.exp(A)), tanh(A, A[n] * A) * A[n]]
    for out in (*fine, two(A, pt.exp(A))[0]):
        assert held(rw.function([A, n], out, on_unused_input="ignore").fgraph) == []


def test_what_was_given_for_derivatives_keeps_its_inputs_and_outputs() -> None:
    def pull(inputs: Any, outputs: Any, gradients: Any) -> Any:
        return [gradients[0] * 2.0, gradients[1]]

    f = OpFromGraph([X, Y], [X, pt.sin(Y)], lop_overrides=pull)
    (call,) = rw.function([A, B], f(A, B)[0]).nodes
    assert (len(call.inputs), len(call.outputs)) == (2, 2)


def test_nothing_is_known_inside_of_what_changes_there() -> None:
    class Repeat(HasInnerGraph, Op):
        __props__ = ("structure",)

        def __init__(self, x: Any, y: Any) -> None:
            self.hold([x], [y])

        def infer_types(self, types: Any) -> Any:
            return [self.inner_outputs[0].type]

        def runs(self, node: Any, body: Any) -> Any:
            return lambda value: body(body(value))

    op = Repeat(X, abs(X) - 4.0)
    assert rw.function([A], op(pt.exp(A)))([0.0]).tolist() == [-1.0]


@settings(max_examples=25)
@given(random_graphs(), st.data())
def test_calls_compute_what_their_graphs_do(graph: Any, data: Any) -> None:
    inputs, outputs = graph
    values = dict(zip(inputs, values_for(inputs), strict=True))

    def argument(v: Any) -> Any:
        kind = data.draw(st.sampled_from(["same", "constant", "positive", "shape"]))
        if kind == "constant":
            return v.type.make_constant(values[v])
        if kind == "positive" and v.dtype == "float64":
            return pt.exp(v)
        return pt.specify_shape(v, values[v].shape) if kind == "shape" else v

    given = [[argument(v) for v in inputs] for _ in range(2)]
    used = data.draw(st.lists(st.integers(0, len(outputs) - 1), min_size=1))

    def calls(inline: bool) -> Any:
        inner = OpFromGraph(inputs, outputs, name="inner", inline=inline)
        found = inner(*inputs, return_list=True)
        outer = OpFromGraph(inputs, [found[i] for i in used], name="outer", inline=inline)
        direct = inner(*given[0], return_list=True)
        results = [direct[used[0]], *outer(*given[1], return_list=True)]
        return rw.function(inputs, results, on_unused_input="ignore")(*values.values())

    for a, b in zip(calls(False), calls(True), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        rtol = 1e-4 if a.dtype == "float32" else 1e-9
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def test_what_stays_the_same_in_all_runs_is_known_inside() -> None:
    class Repeat(HasInnerGraph, Op):
        __props__ = ("structure",)
        passed = (None, 1)

        def __init__(self, x: Any, c: Any, y: Any) -> None:
            self.hold([x, c], [y])

        def infer_types(self, types: Any) -> Any:
            return [self.inner_outputs[0].type]

        def runs(self, node: Any, body: Any) -> Any:
            return lambda x, c: body(body(x, c), c)

    op = Repeat(X, Y, abs(X) - abs(Y) * 2.0)
    f = rw.function([A, B], op(pt.exp(A), pt.exp(B)), mode=PLAIN)
    assert ops(held(f.fgraph)[0].fgraph) == ["abs", "mul", "sub"]
    assert f([0.0], [0.0]).tolist() == [-1.0]
    g = rw.function([A], op(A, pt.constant([-1.0])), mode=PLAIN)
    assert ops(held(g.fgraph)[0].fgraph) == ["abs", "sub"]
    assert g([1.0]).tolist() == [-1.0]
