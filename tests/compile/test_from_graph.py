"""`OpFromGraph`: ops made of graphs, what they compute, their derivatives, and what they refuse."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import OpFromGraph
from rewrite_engine.errors import (
    AssumptionError,
    DisconnectedInputError,
    DuplicateInputError,
    ForeignObjectError,
    GradientError,
    InconsistencyError,
    InputError,
    MissingInputError,
    NullTypeGradError,
    OptionError,
    ReadOnlyError,
    TypeMismatchError,
)
from rewrite_engine.gradient import Rop, verify_grad
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import Structure, inlined
from rewrite_engine.graph.null import DisconnectedType, NullType
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.replace import clone_replace
from rewrite_engine.pipeline.phases import optimizer
from rewrite_engine.rewrite.inplace import InplaceOptimizer
from rewrite_engine.scalar import ops as scalar
from rewrite_engine.tensor import Elemwise

X, Y = pt.dvectors("x", "y")
A, B = pt.dvectors("a", "b")
VALUES = {A: np.array([0.5, -1.0, 2.0]), B: np.array([3.0, 0.25, -1.0])}

both_ways = pytest.mark.parametrize("inline", [False, True])


def two(inline: bool = False, **options: Any) -> Any:
    """An op of two inputs and two outputs."""
    return OpFromGraph([X, Y], [pt.exp(X) * Y, X + Y], inline=inline, **options)


def value(*outputs: Any, **options: Any) -> list[Any]:
    f = rw.function([A, B], list(outputs), on_unused_input="ignore", **options)
    return f(VALUES[A], VALUES[B])


# --- values ---------------------------------------------------------------------------------------


@both_ways
@pytest.mark.parametrize("mode", [rw.Mode(), rw.Mode(optimizer=None), rw.Mode("fast_compile")])
def test_it_computes_what_its_graph_does(inline: bool, mode: Any) -> None:
    z, w = two(inline)(A, B)
    a, b = VALUES[A], VALUES[B]
    for got, wanted in zip(value(z, w, mode=mode), (np.exp(a) * b, a + b), strict=True):
        np.testing.assert_allclose(got, wanted)
    assert (z.type, w.type) == (X.type, X.type)


def test_equal_graphs_make_equal_ops_whatever_their_variables_are_called() -> None:
    f, g = two(), OpFromGraph([B, A], [pt.exp(B) * A, B + A])
    assert f is g
    assert f(A, B)[0].owner.op is f
    assert OpFromGraph([X, Y], [pt.exp(X) * Y]) is not f
    assert OpFromGraph([X, Y], [X + Y]) is OpFromGraph([X, Y], [Y + X])
    mixed = pt.exp(X) * pt.sin(Y) + 2.0, 2.0 + pt.sin(Y) * pt.exp(X)
    assert OpFromGraph([X, Y], mixed[:1]) is OpFromGraph([X, Y], mixed[1:])
    assert OpFromGraph([X, Y], [X - Y]) is not OpFromGraph([X, Y], [Y - X])
    assert two(inline=True) is not f
    assert two(name="other") is not f
    assert OpFromGraph([X], [X * 2.0]) is not OpFromGraph([X], [X * 3.0])
    single = pt.fvector("s")
    assert OpFromGraph([X], [-X]) is not OpFromGraph([single], [-single])


def test_calls_of_equal_ops_are_merged() -> None:
    other = OpFromGraph([B, A], [pt.exp(B) * A, B + A])
    f = rw.function([A, B], [two()(A, B)[0], other(A, B)[1]])
    assert len(f.fgraph) == 1


def test_an_input_may_be_an_output_and_an_output_a_constant() -> None:
    f = OpFromGraph([X, Y], [Y, X, X, pt.constant(3.0)])
    found = value(*f(A, B))
    np.testing.assert_array_equal(found[0], VALUES[B])
    np.testing.assert_array_equal(found[1], VALUES[A])
    assert found[3] == 3.0
    assert not np.shares_memory(found[1], found[2])


def test_inputs_may_be_computed() -> None:
    inner = pt.exp(X)
    f = OpFromGraph([inner], [inner * 2.0])
    np.testing.assert_allclose(value(f(A))[0], VALUES[A] * 2.0)


def test_values_become_constants() -> None:
    f = OpFromGraph([X, (s := pt.dscalar("s"))], [X * s])
    np.testing.assert_allclose(value(f([1.0, 2.0], 3))[0], [3.0, 6.0])
    assert len(rw.function([], f([1.0, 2.0], 3)).fgraph) == 0  # folded


def test_a_more_precise_type_may_be_given() -> None:
    row = pt.dvector("row", shape=(3,))
    f = OpFromGraph([X], [X + 1.0])
    np.testing.assert_allclose(f(row).eval({row: [1.0, 2.0, 3.0]}), [2.0, 3.0, 4.0])
    g = OpFromGraph([row], [row + 1.0])
    np.testing.assert_allclose(g(X).eval({X: [1.0, 2.0, 3.0]}), [2.0, 3.0, 4.0])


def test_shared_variables_are_implicit_inputs() -> None:
    s = rw.shared(np.array([1.0, 2.0, 3.0]), name="s")
    f = OpFromGraph([X], [X * s], name="f")
    assert f.shared_inputs == (s,)
    y = f(A)
    assert y.owner.inputs == (A, s)
    compiled = rw.function([A], [y, rw.grad(y.sum(), s)])
    np.testing.assert_allclose(compiled(VALUES[A])[0], VALUES[A] * [1, 2, 3])
    s.set_value(np.zeros(3))
    np.testing.assert_allclose(compiled(VALUES[A])[0], np.zeros(3))
    np.testing.assert_allclose(compiled(VALUES[A])[1], VALUES[A])
    with pytest.raises(MissingInputError, match="strict"):
        OpFromGraph([X], [X * s], strict=True)
    assert OpFromGraph([X, s], [X * s]).shared_inputs == ()


@pytest.mark.on_vm  # (native code may write results into the memory of a mutable argument)
def test_what_is_given_is_never_overwritten() -> None:
    f = OpFromGraph([X], [pt.exp(X) + 1.0, X * 2.0])
    given = VALUES[A].copy()
    compiled = rw.function([rw.In(A, mutable=True)], [*f(A), A.sum()])
    compiled(given)
    np.testing.assert_array_equal(given, VALUES[A])


# --- copies ---------------------------------------------------------------------------------------


def test_pickling_and_copying() -> None:
    outer = OpFromGraph([X], [two()(X, X)[0] + 1.0], name="outer")
    y = outer(A)
    assert pickle.loads(pickle.dumps(outer)) is outer
    assert copy.deepcopy(outer) is copy.copy(outer) is outer
    assert copy.deepcopy(y).owner.op is outer
    compiled = pickle.loads(pickle.dumps(rw.function([A], y)))
    np.testing.assert_allclose(compiled(VALUES[A]), np.exp(VALUES[A]) * VALUES[A] + 1)


def test_an_equal_op_is_made_where_the_old_one_is_gone() -> None:
    text = pickle.dumps(OpFromGraph([X], [pt.sin(X) * 0.125], name="once"))
    read = pickle.loads(text)
    np.testing.assert_allclose(value(read(A))[0], np.sin(VALUES[A]) / 8)
    assert pickle.loads(text) is read


def test_the_inner_graph_does_not_change() -> None:
    f = two()
    with pytest.raises(ReadOnlyError, match="cannot be changed"):
        f.fgraph.replace(f.inner_outputs[0], f.inner_inputs[0])
    graph = f.fgraph.clone()
    graph.replace(graph.outputs[0], graph.inputs[0])
    g = f.clone(graph)
    np.testing.assert_array_equal(value(g(A, B)[0])[0], VALUES[A])
    assert f.clone() is f
    assert f.clone(f.fgraph.clone()) is f


# --- derivatives ----------------------------------------------------------------------------------


@both_ways
def test_gradients(inline: bool) -> None:
    f = two(inline)
    verify_grad(lambda a, b: f(a, b)[0] * f(b, a)[1], list(VALUES.values()))
    verify_grad(lambda a, b: f(a, b)[1], list(VALUES.values()))


def test_a_gradient_is_an_inner_graph_and_is_built_once() -> None:
    f = two(name="f")
    first = rw.grad(f(A, B)[0].sum(), A)
    again = rw.grad(f(B, B)[0].sum() + f(A, A)[0].sum(), [A, B])
    (kept,) = {node.op for node in _nodes([first]) if str(node.op) == "pull_f"}
    assert kept.inner_outputs
    assert len(f.derivatives) == 2  # for one input, for both
    assert _ops(again) == {"pull_f"}


def _nodes(outputs: Any) -> list[Any]:
    from rewrite_engine.graph.traverse import toposort

    return toposort(outputs)


def _ops(outputs: Any) -> set[str]:
    return {str(n.op) for n in _nodes(outputs) if "pull" in str(n.op)}


@both_ways
def test_second_derivatives(inline: bool) -> None:
    f = two(inline)

    def slope(a: Any, b: Any) -> Any:
        return rw.grad((f(a, b)[0] * f(a, b)[1]).sum(), a)

    verify_grad(slope, list(VALUES.values()))


@both_ways
def test_forward_derivatives(inline: bool) -> None:
    f = two(inline)
    t = np.array([1.0, 2.0, -1.0])
    found = value(*Rop(f(A, B), A, pt.constant(t)))
    a, b = VALUES[A], VALUES[B]
    np.testing.assert_allclose(found[0], np.exp(a) * b * t)
    np.testing.assert_allclose(found[1], t)


def test_gradients_through_nested_ops() -> None:
    inner = OpFromGraph([X, Y], [pt.tanh(X * Y)])
    outer = OpFromGraph([X, Y], [inner(inner(X, Y), Y) + X])
    verify_grad(outer, list(VALUES.values()))
    t = pt.constant(np.ones(3))
    direct = pt.tanh(pt.tanh(A * B) * B) + A
    np.testing.assert_allclose(
        value(Rop(outer(A, B), A, t))[0], value(Rop(direct, A, t))[0], rtol=1e-12
    )


def test_inputs_that_do_not_matter_are_disconnected() -> None:
    f = OpFromGraph([X, Y], [X * 2.0, pt.zeros_like(Y)])
    assert f.connection_pattern() == [[True, False], [False, False]]
    with pytest.raises(DisconnectedInputError):
        rw.grad(f(A, B)[0].sum(), B)
    np.testing.assert_array_equal(value(rw.grad(f(A, B)[0].sum(), A))[0], [2.0, 2.0, 2.0])


def test_integers_have_the_gradient_that_the_graph_gives_them() -> None:
    n, i = pt.lvector("n"), pt.lscalar("i")
    f = OpFromGraph([X, n, i], [X[i] * n])
    cost = f(A, n, i).sum()
    da, dn = rw.grad(cost, [A, n])
    given = {A: VALUES[A], n: [2, 3], i: 1}
    np.testing.assert_allclose(da.eval(given), [0.0, 5.0, 0.0])
    direct = rw.grad((A[i] * n).sum(), n)
    np.testing.assert_allclose(dn.eval(given), direct.eval(given))
    assert dn.type == direct.type
    with pytest.raises(DisconnectedInputError):
        rw.grad(cost, i)


def test_discrete_outputs() -> None:
    f = OpFromGraph([X], [pt.gt(X, 0.0), X * 2.0])
    positive, double = f(A)
    np.testing.assert_allclose(
        value(rw.grad((pt.switch(positive, double, -double)).sum(), A))[0], [2.0, -2.0, 2.0]
    )


class NoGradient(Op):
    """An op that nobody can differentiate."""

    __props__ = ()

    def infer_types(self, types: Any) -> Any:
        return types

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0].copy()


def test_an_op_inside_without_a_gradient_is_named() -> None:
    f = OpFromGraph([X, Y], [NoGradient()(X) + Y])
    with pytest.raises(GradientError, match="NoGradient"):
        rw.grad(f(A, B).sum(), A)
    np.testing.assert_array_equal(value(rw.grad(f(A, B).sum(), B))[0], np.ones(3))


# --- overrides ------------------------------------------------------------------------------------


@both_ways
def test_a_function_in_the_place_of_the_gradient(inline: bool) -> None:
    f = two(inline, lop_overrides=lambda ins, outs, gs: [gs[0] * 10.0, ins[0] + outs[1]])
    da, db = rw.grad(f(A, B)[0].sum(), [A, B])
    np.testing.assert_allclose(value(da)[0], [10.0] * 3)
    np.testing.assert_allclose(value(db)[0], 2 * VALUES[A] + VALUES[B])


def test_an_op_in_the_place_of_the_gradient() -> None:
    g = pt.dvectors("x0", "x1", "z0", "z1", "g0", "g1")
    pull = OpFromGraph(g, [g[4] * 2.0 + g[5], g[3]])
    f = two(lop_overrides=pull)
    da, db = rw.grad(f(A, B)[0].sum(), [A, B])
    np.testing.assert_allclose(value(da)[0], [2.0] * 3)
    np.testing.assert_allclose(value(db)[0], VALUES[A] + VALUES[B])


def test_a_list_of_overrides() -> None:
    f = two(lop_overrides=[lambda ins, outs, gs: gs[0] * 7.0, "default"])
    da, db = rw.grad(f(A, B)[0].sum(), [A, B])
    np.testing.assert_allclose(value(da)[0], [7.0] * 3)
    np.testing.assert_allclose(value(db)[0], np.exp(VALUES[A]))
    g = two(lop_overrides=[DisconnectedType()(), NullType("no such thing")()])
    with pytest.raises(DisconnectedInputError):
        rw.grad(g(A, B)[0].sum(), A)
    with pytest.raises(NullTypeGradError, match="no such thing"):
        rw.grad(g(A, B)[0].sum(), B)


def test_overrides_forwards() -> None:
    one = pt.constant(np.ones(3))
    f = two(rop_overrides=lambda ins, ts: [ts[0] * 5.0, None])
    assert value(*Rop(f(A, B), A, one))[0].tolist() == [5.0] * 3
    g = two(rop_overrides=[None, lambda ins, ts: ts[0] * 4.0])
    found = value(*Rop(g(A, B), A, one))
    np.testing.assert_allclose(found[0], np.exp(VALUES[A]) * VALUES[B])
    np.testing.assert_allclose(found[1], [4.0] * 3)
    t = pt.dvectors("x0", "x1", "t0", "t1")
    h = two(rop_overrides=OpFromGraph(t, [t[2] - t[3], t[2] * t[0]]))
    np.testing.assert_allclose(value(*Rop(h(A, B), A, one))[1], VALUES[A])


def test_overrides_have_the_names_of_what_they_replace() -> None:
    f = two(
        pullback=lambda ins, outs, gs: [gs[0] * 10.0, ins[0]],
        pushforward=[None, lambda ins, ts: ts[0] * 4.0],
    )
    np.testing.assert_allclose(value(rw.grad(f(A, B)[0].sum(), A))[0], [10.0] * 3)
    np.testing.assert_allclose(value(*Rop(f(A, B), A, pt.constant(np.ones(3))))[1], [4.0] * 3)
    with pytest.raises(OptionError, match="older names"):
        two(pullback=[None, None], lop_overrides=[None, None])
    with pytest.raises(TypeError, match="the outputs of an OpFromGraph must be a list"):
        OpFromGraph([X], X)


def test_overrides_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="pullback: a list must have 2 entries, not 1"):
        two(lop_overrides=[None])
    with pytest.raises(InputError, match="entry 1 is neither a function nor None"):
        two(lop_overrides=[None, 3])
    with pytest.raises(InputError, match="must have 6 inputs, not 1"):
        two(lop_overrides=OpFromGraph([X], [X]))
    six = pt.dvectors("p", "q", "r", "s", "t", "u")
    with pytest.raises(InputError, match="must have 2 outputs, not 1"):
        two(lop_overrides=OpFromGraph(six, six[:1]))
    with pytest.raises(InputError, match="outputs 1 of"):
        two(lop_overrides=OpFromGraph(six, [six[0], six[0].sum()]))
    with pytest.raises(InputError, match="pushforward: a function"):
        two(rop_overrides=3)
    short = two(lop_overrides=lambda ins, outs, gs: gs[:1])
    with pytest.raises(GradientError, match="pullback must return 2 variables, not 1"):
        rw.grad(short(A, B)[0].sum(), A)
    wrong = two(lop_overrides=lambda ins, outs, gs: [gs[0].sum(), gs[0]])
    with pytest.raises(TypeError, match="has 0 dimensions"):
        rw.grad(wrong(A, B)[0].sum(), A)


def test_a_connection_pattern_of_ones_own() -> None:
    f = two(connection_pattern=[[True, True], [False, False]])
    with pytest.raises(DisconnectedInputError):
        rw.grad(f(A, B)[0].sum(), B)
    np.testing.assert_allclose(value(rw.grad(f(A, B)[1].sum(), A))[0], np.ones(3))


# --- constants among the inputs -------------------------------------------------------------------


@both_ways
def test_a_constant_among_the_inputs_stands_for_what_is_given(inline: bool) -> None:
    c, w = pt.constant(2.0), pt.constant([1.0, 2.0])
    op = OpFromGraph([X, c, w], [X * c + w + 2.0], inline=inline)
    assert op.input_types == [X.type, c.type, w.type]
    f = rw.function([X], [op(X, c, w), op(X, 3.0, w), op(X, c, [0.0, 5.0])])
    same, other, third = f([1.0, 1.0])
    assert (same.tolist(), other.tolist(), third.tolist()) == ([5, 6], [6, 7], [4, 9])
    slope = rw.grad(op(X, c, w).sum(), X)
    assert rw.function([X], slope)([1.0, 1.0]).tolist() == [2, 2]


def test_the_graph_inside_can_be_bound_and_copied() -> None:
    op = OpFromGraph([X], [pt.exp(X) + pt.exp(X)])
    (bound,) = op.fgraph.bind([Y])
    np.testing.assert_allclose(bound.eval({Y: [0.0]}), [2.0])
    copy = op.fgraph.unfreeze()
    x = copy.inputs[0]
    copy.replace(copy.outputs[0], x + 1.0)
    assert [str(node.op) for node in copy.toposort()] == ["add"]
    assert len(op.fgraph.toposort()) == 2
    with pytest.raises(ReadOnlyError):
        op.fgraph.replace(op.fgraph.outputs[0], X)


# --- errors ---------------------------------------------------------------------------------------


def test_what_is_bound_shares_no_node_with_the_op() -> None:
    x, y = pt.dvectors("x", "y")
    op = OpFromGraph([x], [x + 1, pt.log(pt.exp(pt.constant([1.0, 2.0])))])
    for outputs in (op.fgraph.bind([y]), inlined(op(y)[0].owner)):
        graph = FunctionGraph([y], outputs, clone=False)
        assert graph.apply_nodes.isdisjoint(op.fgraph.apply_nodes)
        optimizer().rewrite(graph)
        op.fgraph.check_integrity()
        assert Structure(op.fgraph) == op.structure


CHANGES: list[Any] = [
    lambda graph: graph.replace(graph.outputs[0], graph.inputs[0]),
    lambda graph: graph.change_node_input(graph.get_output_client(0)[0], 0, graph.outputs[1]),
    lambda graph: graph.add_input(pt.dvector()),
    lambda graph: graph.add_output(graph.inputs[0]),
    lambda graph: graph.remove_input(0),
    lambda graph: graph.remove_output(1),
    lambda graph: InplaceOptimizer().rewrite(graph),
]


@pytest.mark.parametrize("change", CHANGES)
def test_nobody_changes_the_graph_inside(change: Any) -> None:
    op = OpFromGraph([X, Y], [pt.exp(pt.sin(X)), X + 1])
    with pytest.raises((ReadOnlyError, ForeignObjectError)):
        change(op.fgraph)
    op.fgraph.check_integrity()
    assert not op.fgraph.order.extra
    assert Structure(op.fgraph) == op.structure


def test_graphs_that_are_refused() -> None:
    with pytest.raises(MissingInputError, match="y") as info:
        OpFromGraph([X], [X + Y], name="f")
    assert "in making f" in info.value.__notes__
    with pytest.raises(DuplicateInputError):
        OpFromGraph([X, X], [X])
    with pytest.raises(MissingInputError):
        OpFromGraph([pt.constant(1.0)], [X])
    with pytest.raises(ForeignObjectError):
        OpFromGraph([X], [3.0])
    with pytest.raises(OptionError, match="a list"):
        OpFromGraph(X, [X])
    with pytest.raises(InputError, match="needs at least one output"):
        OpFromGraph([X], [])
    with pytest.raises(OptionError, match="did you mean inline"):
        OpFromGraph([X], [X], inlined=True)
    with pytest.raises(InconsistencyError):
        OpFromGraph([X, Y], [Elemwise(scalar.add, {0: 0})(X, Y)])


def test_calls_that_are_refused() -> None:
    f = two(name="f")
    with pytest.raises(TypeError, match="f: takes 2 inputs, not 1") as info:
        f(A)
    assert "test_from_graph.py" in str(info.value)
    with pytest.raises(TypeMismatchError) as other:
        f(A, pt.dmatrix("m"))
    assert "f: raised for input 1" in other.value.__notes__[0]
    with pytest.raises(TypeError):
        f(A, "text")


def test_errors_in_a_call_name_the_op_inside_and_the_line() -> None:
    f = OpFromGraph([X, Y], [pt.exp(X) * Y], name="f")
    run = rw.function([A, B], f(A, B))
    with pytest.raises(ValueError) as info:
        run([1.0, 2.0], [1.0, 2.0, 3.0])
    text = str(info.value) + "".join(getattr(info.value, "__notes__", []))
    assert "mul" in text
    assert "test_from_graph.py" in text


# --- branches not taken ---------------------------------------------------------------------------

Make = Any
BRANCHES: dict[str, Any] = {
    "outside": lambda box: pt.switch(A > 0, box(pt.sqrt, A), 0.0),
    "inside": lambda box: box(lambda x: pt.switch(x > -5, x, 0.0), pt.log(A)),
    "both": lambda box: pt.switch(A > 0, box(lambda x: x * 2, box(pt.log, A)), 0.0),
    "maximum": lambda box: box(lambda x: pt.maximum(x, -3.0), pt.log(A)),
    "index outside": lambda box: box(pt.log, A)[1],
    "index inside": lambda box: box(lambda x: x[1], pt.log(A)),
    "one number": lambda box: pt.switch(B[0] > 0, box(lambda x: pt.log(x).sum(), A), 0.0),
    "nested": lambda box: box(lambda x: box(lambda x: pt.switch(x > 0, pt.log(x), 0), x) * 2, A),
    "two": lambda box: pt.switch(A > 0, box(lambda x, y: pt.sqrt(x) * pt.sqrt(y), A, B), 0.0),
}


@both_ways
@pytest.mark.parametrize("name", BRANCHES)
def test_zeros_of_branches_not_taken_are_no_factors(name: str, inline: bool) -> None:
    def box(make: Make, *inputs: Any) -> Any:
        own = [X, Y][: len(inputs)]
        return OpFromGraph(own, [make(*own)], inline=inline)(*inputs)

    made, direct = (
        rw.grad(BRANCHES[name](wrap).sum(), A)
        for wrap in (box, lambda make, *inputs: make(*inputs))
    )
    f = rw.function([A, B], [made, direct], on_unused_input="ignore")
    for a, b in (([0.0, 4.0, 2.0], [-1.0, 0.0, 3.0]), ([1.0, 0.0, 0.0], [1.0, 0.0, 2.0])):
        found, wanted = f(a, b)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_what_is_declared_inside_is_checked() -> None:
    inner = OpFromGraph([X], [pt.log(rw.assume(X, nonneg=True))])
    outer = OpFromGraph([X], [inner(inner(X)) + X])
    f = rw.function([A], outer(A), check=True)
    np.testing.assert_allclose(f([9.0]), np.log(np.log(9.0)) + 9.0)
    with pytest.raises(AssumptionError, match="nonneg"):
        f([-1.0])
    with pytest.raises(AssumptionError, match="nonneg"):
        f([0.5])  # the logarithm of it


def test_derivatives_are_as_those_of_the_graph_where_outputs_overflow() -> None:
    """exp(x) is an output, and infinite; as a part of the derivative of log(1 + exp(x)) it is not
    computed.
    """
    x, w = pt.vector("x"), pt.vector("w")
    value = np.array([0.0, 1000.0, -1000.0])
    for inline in (False, True):
        op = OpFromGraph([x], [pt.log(1 + pt.exp(x)), pt.exp(x)], inline=inline)
        found = rw.function([w], rw.grad(op(w)[0].sum(), w))(value)
        np.testing.assert_allclose(found, [0.5, 1.0, 0.0])
        second = rw.grad(rw.grad(op(w)[0].sum(), w).sum(), w)
        np.testing.assert_allclose(rw.function([w], second)(value), [0.25, 0.0, 0.0])


def test_inputs_that_are_computed_stay_whole_beside_constants() -> None:
    """One computed from a constant that is an input, too, is an input, and nothing of the graph."""
    root, two = pt.dscalar("root"), pt.constant(2.0)
    size = root * two
    op = OpFromGraph([size, two], [size + two], strict=True)
    assert op.inner_outputs[0].owner.inputs == tuple(op.inner_inputs)
    assert op(3.0, 4.0).eval() == 7.0


class Picked(OpFromGraph):
    """A part of some data, to be found and replaced by all of them."""


def test_ones_own_graph_may_be_replaced_by_longer_values() -> None:
    data, at = pt.constant(np.arange(20.0)), pt.constant(np.arange(5))
    whole = pt.dvector("whole")
    part = Picked([whole], [whole[at]], inline=True)(data)
    assert part.type.shape == (None,)
    read = [part.mean(), pt.ones(part.shape[0]).sum(), (part - part.std()).reshape((-1, 1)).sum()]
    np.testing.assert_allclose(rw.function([], read)(), [2.0, 5.0, 10.0 - 5 * np.std(range(5))])
    new = clone_replace(read, {part: data}, rebuild_strict=False)
    every = [9.5, 20.0, 190.0 - 20 * np.std(range(20))]
    np.testing.assert_allclose(rw.function([], new)(), every)
