"""Transposing, adding and dropping dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, NDimError, ShapeError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.type import TensorType


def value_of(f, *arrays):
    """The value of a function of variables, at arrays."""
    variables = [TensorType(a.dtype, [1 if n == 1 else None for n in a.shape])() for a in arrays]
    return evaluate([f(*variables)], dict(zip(variables, arrays, strict=True)))[0]


@st.composite
def shuffles(draw):
    """An array, and an order of its dimensions with new and dropped ones."""
    ndim = draw(st.integers(0, 4))
    shape = draw(st.lists(st.integers(0, 3), min_size=ndim, max_size=ndim))
    order = list(draw(st.permutations(range(ndim))))
    order = [d for d in order if shape[d] != 1 or draw(st.booleans())]
    for _ in range(draw(st.integers(0, 2))):
        order.insert(draw(st.integers(0, len(order))), "x")
    return np.arange(np.prod(shape)).reshape(shape), order


@given(shuffles())
def test_dimshuffle_does_what_transpose_and_reshape_do(case):
    array, order = case
    got = value_of(lambda x: pt.dimshuffle(x, *order), array)
    kept = [d for d in order if d != "x"]
    dropped = [d for d in range(array.ndim) if d not in kept]
    want = array.transpose(kept + dropped)
    want = want.reshape([1 if d == "x" else array.shape[d] for d in order])
    np.testing.assert_array_equal(got, want)


@given(shuffles())
def test_static_shape_is_right(case):
    array, order = case
    x = TensorType(array.dtype, array.shape)()
    out = pt.dimshuffle(x, *order)
    assert out.type.shape == evaluate([out], {x: array})[0].shape


def test_equal_ops_are_one():
    assert DimShuffle(2, (1, 0)) is DimShuffle(2, [1, 0])
    assert DimShuffle(2, (1, 0)) is not DimShuffle(2, (0, 1))


def test_the_rank_may_be_given_by_a_pattern():
    x = pt.matrix("x")
    assert DimShuffle(x.broadcastable, (1, "x", 0)) is DimShuffle(2, (1, "x", 0))
    assert DimShuffle((), ("x",))(pt.scalar()).type.shape == (1,)


def test_nothing_to_do_gives_the_variable_itself():
    x = pt.matrix()
    assert pt.dimshuffle(x, 0, 1) is x
    assert pt.transpose(pt.transpose(x)).type is x.type
    v = pt.vector()
    assert v.T is v


def test_the_result_is_a_view():
    x = pt.matrix()
    array = np.zeros((2, 3))
    (got,) = evaluate([x.T], {x: array})
    assert np.shares_memory(got, array)
    assert x.T.owner.op.view_map == {0: [0]}


@pytest.mark.parametrize(
    ("name", "args", "shape"),
    [
        ("transpose", (), (2, 3)),
        ("transpose", ((2, 0, 1),), (2, 3, 4)),
        ("swapaxes", (0, -1), (2, 3, 4)),
        ("moveaxis", (0, -1), (2, 3, 4)),
        ("moveaxis", ((0, 1), (-1, 0)), (2, 3, 4)),
        ("expand_dims", (0,), (2, 3)),
        ("expand_dims", ((0, -1),), (2, 3)),
        ("squeeze", (), (1, 3, 1)),
        ("squeeze", (0,), (1, 3, 1)),
        ("squeeze", ((0, -1),), (1, 3, 1)),
        ("atleast_1d", (), ()),
        ("atleast_2d", (), (3,)),
    ],
)
def test_functions_agree_with_numpy(name, args, shape):
    array = np.random.default_rng(1).normal(size=shape)
    got = value_of(lambda x: getattr(pt, name)(x, *args), array)
    np.testing.assert_array_equal(got, getattr(np, name)(array, *args))


def test_padding():
    x = pt.matrix()
    assert pt.shape_padleft(x, 2).type.shape == (1, 1, None, None)
    assert pt.shape_padright(x).type.shape == (None, None, 1)
    assert pt.shape_padaxis(x, 1).type.shape == (None, 1, None)
    assert pt.atleast_3d(x).type.shape == (1, None, None)
    assert pt.atleast_Nd(x, n=3, left=False).type.shape == (None, None, 1)
    assert [v.type.ndim for v in pt.atleast_2d(pt.scalar(), x)] == [2, 2]


def test_broadcast_to():
    got = value_of(lambda x: pt.broadcast_to(x, (2, 3)), np.arange(3.0))
    np.testing.assert_array_equal(got, np.broadcast_to(np.arange(3.0), (2, 3)))


@pytest.mark.parametrize("order", [(1, 0), ("x", 1, "x", 0), (1, "x", 0, "x")])
def test_gradient(order):
    verify_grad(lambda x: pt.dimshuffle(x, *order), [np.random.default_rng(0).normal(size=(2, 3))])


def test_gradient_of_squeeze_and_broadcast():
    verify_grad(lambda x: pt.squeeze(x), [np.ones((1, 3, 1))])
    verify_grad(lambda x: pt.broadcast_to(x, (4, 2, 3)), [np.ones((2, 1))])


@pytest.mark.parametrize("axis", [None, (), 0, -1, (0,), (-1,)])
def test_squeeze_of_a_number(axis):
    s = pt.dscalar("s")
    assert pt.squeeze(s, axis) is s
    with pytest.raises(AxisError):
        pt.squeeze(s, 1)


def test_dropping_a_long_dimension_is_an_error():
    with pytest.raises(ShapeError, match=r"dimension 0 of a TensorType\(float64, \(3,\)\)"):
        pt.squeeze(pt.tensor(dtype="float64", shape=(3,)), 0)
    x = pt.dvector("x")
    y = pt.squeeze(x, 0)
    assert evaluate([y], {x: [5.0]})[0] == 5
    with pytest.raises(ShapeError, match=r"has length 2, it must be 1[\s\S]*test_dimshuffle"):
        evaluate([y], {x: [5.0, 6.0]})


def test_bad_axes():
    x = pt.matrix()
    with pytest.raises(AxisError, match="out of range for 2 dimensions"):
        pt.dimshuffle(x, 2, 0)
    with pytest.raises(AxisError, match="twice"):
        pt.dimshuffle(x, 0, 0)
    with pytest.raises(AxisError, match="not a permutation of 2 dimensions"):
        pt.transpose(x, [0])
    with pytest.raises(AxisError, match="out of range"):
        pt.swapaxes(x, 0, 2)
    with pytest.raises(AxisError, match="twice"):
        pt.expand_dims(x, (0, 0))
    with pytest.raises(AxisError, match="sources"):
        pt.moveaxis(x, (0, 1), 0)
    with pytest.raises(AxisError, match="'x' and integers"):
        pt.dimshuffle(x, "y", 0)
    with pytest.raises(NDimError, match="must have 3 dimensions"):
        DimShuffle(3, (0, 1, 2))(x)


def test_printed_form():
    x = pt.matrix()
    assert str(x.T.owner.op) == "Transpose{axes=[1, 0]}"
    assert str(pt.expand_dims(x, 1).owner.op) == "ExpandDims{axes=[1]}"
    assert str(pt.dimshuffle(x, 1, "x", 0).owner.op) == "DimShuffle{order=[1,x,0]}"
