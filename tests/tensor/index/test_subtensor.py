"""Indexing with integers, slices, None and Ellipsis; set and inc."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    AxisError,
    BroadcastError,
    DTypeError,
    ForeignObjectError,
    NDimError,
    OptionError,
)
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.tensor.index.subtensor import IncSubtensor, Subtensor
from rewrite_engine.tensor.index.template import Slice
from rewrite_engine.tensor.type import TensorType

BOUND = st.one_of(st.none(), st.integers(-6, 6))


@st.composite
def indexings(draw):
    """A shape and an index that NumPy accepts."""
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    items = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        if n and draw(st.booleans()):
            items.append(draw(st.integers(-n, n - 1)))
        else:
            step = draw(st.one_of(st.none(), st.integers(-3, 3).filter(bool)))
            items.append(slice(draw(BOUND), draw(BOUND), step))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), None)
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    return shape, tuple(items)


def align(shape, index):
    """Fit an Ellipsis in the middle: the items after it count from the end, so check with NumPy."""
    try:
        return np.zeros(shape)[index]
    except IndexError:
        return None


@given(indexings())
def test_values_and_static_shape_agree_with_numpy(case):
    shape, index = case
    if align(shape, index) is None:
        return
    array = np.arange(float(np.prod(shape))).reshape(shape)
    known = TensorType("float64", shape)("known")
    unknown = TensorType("float64", [None] * len(shape))("unknown")
    want = array[index]
    for x in (known, unknown):
        y = x[index]
        (got,) = evaluate([y], {x: array})
        np.testing.assert_array_equal(got, want)
    assert known[index].type.shape == want.shape
    y = unknown[index]
    assert all(s in (None, n) for s, n in zip(y.type.shape, want.shape, strict=True))


@given(indexings())
def test_infer_shape_agrees_with_the_value(case):
    shape, index = case
    if align(shape, index) is None:
        return
    x = TensorType("float64", [None] * len(shape))("x")
    y = x[index]
    (result,) = y.owner.op.infer_shape(None, y.owner, [pt.shape_tuple(x)])
    array = np.zeros(shape)
    assert tuple(int(n) for n in evaluate(list(result), {x: array})) == array[index].shape


@given(st.integers(-6, 6), st.integers(-6, 6), st.sampled_from([None, 1, 2, -1, -2]))
def test_symbolic_slices(a, b, step):
    x, i, j = pt.dvector("x"), pt.lscalar("i"), pt.lscalar("j")
    array = np.arange(5.0)
    y = x[i:j:step]
    (shape,) = y.owner.op.infer_shape(None, y.owner, [pt.shape_tuple(x)])
    got, n = evaluate([y, shape[0]], {x: array, i: a, j: b})
    np.testing.assert_array_equal(got, array[a:b:step])
    assert n == len(got)


def test_symbolic_step_and_integer():
    x, i, k = pt.dmatrix("x"), pt.lscalar("i"), pt.lscalar("k")
    array = np.arange(12.0).reshape(3, 4)
    got = evaluate([x[i, ::k]], {x: array, i: -1, k: -2})[0]
    np.testing.assert_array_equal(got, array[-1, ::-2])
    assert x[i, ::k].owner.op is Subtensor(("i", Slice(None, None, "i")))


def test_equal_indexings_are_one_op():
    x = pt.dmatrix("x")
    assert x[0].owner.op is x[0, :].owner.op is x[0, ...].owner.op is x[np.int64(0)].owner.op
    assert x[pt.constant(0)].owner.op is x[0].owner.op
    assert x[0:2:1].owner.op is x[:2].owner.op
    assert x[0].owner.op is not x[-1].owner.op


def test_the_result_is_a_view():
    x = pt.dvector("x")
    array = np.arange(4.0)
    assert np.shares_memory(evaluate([x[1:]], {x: array})[0], array)
    assert x[1:].owner.op.view_map == {0: [0]}


def test_errors_while_building():
    x = TensorType("float64", (3, None))("x")
    with pytest.raises(AxisError, match="index 3 is out of range for dimension 0 of length 3"):
        x[3]
    with pytest.raises(AxisError, match="index -4"):
        x[-4]
    with pytest.raises(AxisError, match=r"too many indices: 3 for 2[\s\S]*test_subtensor.py"):
        x[0, 0, 0]
    with pytest.raises(AxisError, match="only one Ellipsis"):
        x[..., 0, ...]
    with pytest.raises(AxisError, match="step of a slice cannot be 0"):
        x[::0]
    for bad in (1.5, "a", True, pt.dscalar()):
        with pytest.raises(DTypeError, match="an index must be"):
            x[bad]
    with pytest.raises(DTypeError, match="an index must be"):
        x[: pt.dscalar()]


def test_errors_while_running():
    x, i = pt.dvector("x"), pt.lscalar("i")
    with pytest.raises(AxisError, match=r"Subtensor\{i\}: index 7 is out of bounds[\s\S]*test_sub"):
        evaluate([x[i]], {x: [1.0], i: 7})
    with pytest.raises(AxisError, match="index 7 is out of bounds"):
        evaluate([x[i].set(0)], {x: [1.0], i: 7})


# --- set and inc ------------------------------------------------------------------------------


@given(indexings(), st.booleans())
def test_set_and_inc_agree_with_numpy(case, is_set):
    shape, index = case
    if align(shape, index) is None:
        return
    array = np.arange(float(np.prod(shape))).reshape(shape)
    x = TensorType("float64", [None] * len(shape))("x")
    part = x[index]
    y = part.type("y")
    value = np.full(array[index].shape, 7.0)
    out = part.set(y) if is_set else part.inc(y)
    (got,) = evaluate([out], {x: array, y: value})
    want = array.copy()
    if is_set:
        want[index] = value
    else:
        want[index] += value
    np.testing.assert_array_equal(got, want)
    assert out.type == x.type
    assert not np.shares_memory(got, array) or not array.size


def test_all_of_an_array_is_set():
    x = pt.dmatrix("x")
    array = np.ones((2, 3))
    (whole, more, parts) = evaluate([x[...].set(2.0), x[:].inc(3.0), x[...].inc(x)], {x: array})
    np.testing.assert_array_equal([whole, more, parts], [array * 2, array * 4, array * 2])


def test_both_spellings_are_the_same():
    x = pt.dvector("x")
    assert pt.set_subtensor(x[0], 1).owner.op is x[0].set(1).owner.op is IncSubtensor((0,), True)
    assert pt.inc_subtensor(x[0], 1).owner.op is x[0].inc(1).owner.op is IncSubtensor((0,))


def test_inplace():
    op = IncSubtensor((0,), set_instead_of_inc=True)
    assert op.destroy_map == {}
    fast = op.inplace_on_inputs([0])
    assert fast is IncSubtensor((0,), True, True)
    assert fast.destroy_map == {0: [0]}
    assert op.inplace_on_inputs([1]) is None
    assert fast.inplace_on_inputs([0]) is None
    x = pt.dvector("x")
    array = np.zeros(3)
    assert evaluate([fast(x, 5)], {x: array})[0] is array
    assert array.tolist() == [5, 0, 0]


def test_inplace_on_a_number():
    node = IncSubtensor((), inplace=True).make_node(pt.dscalar(), 5)
    cells = [[None]]
    node.op.perform(node, [np.float64(2), np.array(5.0)], cells)
    assert cells[0][0] == 7


def test_numbers_are_weak():
    x = pt.fvector("x")
    out = x[0].set(0.1)
    assert out.type.dtype == "float32"
    assert out.owner.inputs[1].type.dtype == "float32"


def test_what_is_written_takes_the_dtype():
    x, i, d = pt.fvector("x"), pt.bvector("i"), pt.dvector("d")
    given = {x: [1.0, 2.0], i: [1, 2], d: [0.1, 3.7]}
    for out, want in [
        (x[:].set(d), np.array([0.1, 3.7], "float32")), (i[:].set(d), np.array([0, 3], "int8")),
        (x[1:].inc(d[1:]), np.array([1, 5.7], "float32")),
        (i[0].set(2.9), np.array([2, 2], "int8")),
        (i[[0, 0]].inc(pt.cast(d, "int64")), np.array([4, 2], "int8")),
        (d[:1].inc(i[:1]), np.array([1.1, 3.7])),
    ]:  # fmt: skip
        (got,) = evaluate([out], given)
        np.testing.assert_array_equal(got, want)
        assert out.type.dtype == got.dtype == want.dtype
    (g,) = evaluate([grad((x[:].set(d) * 2).sum(), d)], given)
    assert (g.tolist(), g.dtype) == ([2, 2], np.float64)


def test_values_that_do_not_fit():
    x = TensorType("float64", (4, None))("x")
    said = r"a value of shape \(3, 1\) does not broadcast to the part \[:2\] of shape \(2, None\)"
    with pytest.raises(BroadcastError, match=said + r"[\s\S]*test_subtensor.py"):
        x[:2].set(np.ones((3, 1)))
    with pytest.raises(NDimError, match="with 1 dimension of"):
        x[0].set(pt.dmatrix())
    with pytest.raises(DTypeError, match="complex128 does not fit into float64"):
        pt.dvector()[0].set(pt.zscalar())
    with pytest.raises(DTypeError, match="float64 does not fit into int64"):
        pt.lvector()[0].inc(0.5)
    with pytest.raises(ForeignObjectError, match=r"expected an expression x\[index\]"):
        pt.set_subtensor(x, 0)


@pytest.mark.parametrize("write", ["set", "inc"])
def test_a_length_that_turns_out_to_be_1_broadcasts(write):
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    out = getattr(x[1:], write)(y)
    a = np.arange(12.0).reshape(4, 3)
    cost = (out * a).sum()
    f = rw.function([x, y], [out, *grad(cost, [x, y])])
    for shape in [(3, 3), (1, 3), (3, 1), (1, 1)]:
        b = np.ones(shape)
        want = a.copy()
        want[1:] = b if write == "set" else want[1:] + b
        axes = tuple(i for i in (0, 1) if shape[i] == 1)
        gx = a.copy()
        gx[1:] *= write == "inc"
        for got in (f(a, b), evaluate([out, *grad(cost, [x, y])], {x: a, y: b})):
            np.testing.assert_array_equal(got[0], want)
            np.testing.assert_array_equal(got[1], gx)
            np.testing.assert_array_equal(got[2], a[1:].sum(axes, keepdims=True))
    for shape in [(2, 3), (0, 3), (3, 2)]:
        with pytest.raises(BroadcastError):
            f(a, np.ones(shape))
        with pytest.raises(BroadcastError):
            evaluate([out], {x: a, y: np.ones(shape)})
    verify_grad(lambda x, y: getattr(x[1:], write)(y[:1] ** 2) * x, [a, a[:2]])


@pytest.mark.parametrize("linker", ["vm", "py"])
def test_what_does_not_fit_names_the_part(linker):
    x, y, i = pt.dmatrix("x"), pt.dvector("y"), pt.lvector("i")
    parts = {
        "[0, :2]": x[0, :2].set(y), "[1:, :2]": x[1:, :2].inc(y), "[i]": x[0][i].set(y),
    }  # fmt: skip
    for part, out in parts.items():
        f = rw.function([x, y, i], out, mode=linker, on_unused_input="ignore")
        shape = r"\(1, 2\)" if "1:" in part else r"\(2,\)"
        said = rf"of shape \(3,\) does not broadcast to the part {re.escape(part)} of shape {shape}"
        with pytest.raises(BroadcastError, match=said + r"[\s\S]*test_subtensor.py"):
            f(np.ones((2, 4)), np.ones(3), [0, 3])


def test_where_lengths_are_seen_to_be_one_no_gradient_is_summed():
    x, y, i = pt.dvector("x"), pt.dvector("y"), pt.lvector("i")

    def sums(out, value):
        nodes = [v.owner for v in ancestors([grad(out.sum(), value)]) if v.owner]
        return len([node for node in nodes if isinstance(node.op, pt.Sum)])

    assert sums(x[1:].set(y), y) == 1
    z = pt.cast(i, "float64")
    assert sums(x[i].inc(z), z) == 0
    for value in (x[1:] * 2, y * x[1:] * 2):
        assert sums(x[1:].set(value), value) == 0
    assert x[1:].set(y).owner.op.broadcasts
    assert not x[1:].set(y[0]).owner.op.broadcasts


def test_empty_parts_take_one_value():
    x, y = pt.dvector("x"), pt.dvector("y")
    f = rw.function([x, y], [x[:0].set(y), grad((x[:0].set(y) * x).sum(), y)])
    for n in (0, 1):
        got, g = f([1.0, 2.0], np.ones(n))
        assert (got.tolist(), g.tolist()) == ([1, 2], [0.0] * n)


def test_only_static_ones_broadcast_in_the_op():
    x, y = pt.dvector("x"), pt.dvector("y")
    out = IncSubtensor((), True)(x, y)
    with pytest.raises(BroadcastError, match=r"shape \(1,\) does not broadcast .* of shape \(3,\)"):
        evaluate([out], {x: np.zeros(3), y: np.ones(1)})
    one = TensorType("float64", (1,))("one")
    got = evaluate([x[:].set(one)], {x: np.zeros(3), one: np.ones(1)})[0]
    assert got.tolist() == [1, 1, 1]


# --- gradients --------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [0, slice(1, None), (slice(None), -1), (None, 1, slice(0, 2))])
def test_gradients(index):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 4))
    b = rng.normal(size=a[index].shape)
    verify_grad(lambda x: x[index] ** 2, [a])
    verify_grad(lambda x, y: x[index].set(y**2) * x, [a, b])
    verify_grad(lambda x, y: x[index].inc(y**2) * x, [a, b])
    verify_grad(lambda x, y: x[index].inc(y**2) * x, [a, np.array(0.5)])


def test_gradient_with_a_symbolic_index():
    x, i = pt.dvector("x"), pt.lscalar("i")
    g = grad(x[i] ** 2, x)
    assert evaluate([g], {x: [1.0, 2.0, 3.0], i: 1})[0].tolist() == [0, 4, 0]


def test_many_gathers_are_written_into_one_array():
    x = pt.dvector("x")
    g = grad(sum([x[i] ** 2 for i in range(5)]), x)
    assert evaluate([g], {x: np.arange(5.0)})[0].tolist() == [0, 2, 4, 6, 8]
    depth = 0
    while isinstance(g.owner.op, IncSubtensor):
        g, depth = g.owner.inputs[0], depth + 1
    assert depth == 5


def test_the_gradient_of_an_array_turned_round_is_turned_round() -> None:
    x = pt.dmatrix("x")
    weights = np.arange(6.0).reshape(2, 1, 3)
    g = grad((x[::-1, None, ::-1] * weights).sum(), x)
    assert not [v for v in ancestors([g]) if "IncSubtensor" in str(v.owner)]
    np.testing.assert_array_equal(g.eval({x: np.zeros((2, 3))}), weights[::-1, 0, ::-1])


def test_memory_that_is_overwritten_is_not_read_afterwards():
    x = pt.vector("x")
    for write in (pt.set_subtensor, pt.inc_subtensor):
        with pytest.raises(OptionError, match="omit inplace=True"):
            write(x[1:], x[:-1], inplace=True, tolerate_inplace_aliasing=True)
        assert write(x[1:], 1.0, tolerate_inplace_aliasing=False).type == x.type


@pytest.mark.parametrize(
    ("index", "order"),
    [
        (None, ("x", 0, 1)),
        ((slice(None), None), (0, "x", 1)),
        ((..., None), (0, 1, "x")),
        ((None, ..., None), ("x", 0, 1, "x")),
        ((slice(None), slice(None), None, None), (0, 1, "x", "x")),
    ],
)
def test_new_dimensions_alone_are_a_dimshuffle(index, order):
    x, a = pt.dmatrix("x"), np.arange(6.0).reshape(2, 3)
    part = x[index]
    assert part.owner.op.new_order == order
    (got,) = evaluate([part], {x: a})
    np.testing.assert_array_equal(got, a[index])
    for made, want in ((part.set(7.0), np.full_like(a, 7.0)), (part.inc(7.0), a + 7.0)):
        assert made.type.ndim == 2
        np.testing.assert_array_equal(evaluate([made], {x: a})[0], want)


def test_other_parts_with_new_dimensions_stay_parts():
    x, a = pt.dmatrix("x"), np.arange(6.0).reshape(2, 3)
    for index in ((0, None), (slice(1, None), None), (None, slice(None, None, -1))):
        assert isinstance(x[index].owner.op, Subtensor)
        np.testing.assert_array_equal(evaluate([x[index]], {x: a})[0], a[index])
        want = a.copy()
        want[index] = 7.0
        np.testing.assert_array_equal(evaluate([x[index].set(7.0)], {x: a})[0], want)
