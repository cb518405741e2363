"""Operators and methods of tensor variables: each against NumPy's of the same name."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    DTypeError,
    ForeignObjectError,
    ItemAssignmentError,
    NotConstantError,
)
from tests.tensor.evaluate import evaluate

A = np.array([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]])
B = np.array([[2.0, 3.0, -1.0], [1.0, 2.0, 4.0]])
N = np.array([[5, 2, 3], [4, 1, 6]])


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "le", "gt", "ge"]
)
def test_binary_operators(name):
    op = getattr(operator, name)
    x, y = pt.matrices("x y")
    np.testing.assert_array_equal(evaluate(op(x, y), {x: A, y: B}), op(A, B))
    np.testing.assert_array_equal(evaluate(op(x, 2), {x: A}), op(A, 2))
    np.testing.assert_array_equal(evaluate(op(2, x), {x: A}), op(2, A))
    np.testing.assert_array_equal(evaluate(op(B, x), {x: A}), op(B, A))
    np.testing.assert_array_equal(evaluate(op(np.float64(2), x), {x: A}), op(2, A))


@pytest.mark.parametrize("change", [operator.setitem, lambda x, i, y: exec("x[i] += y")])
def test_a_part_is_not_assigned_to(change):
    """The error shows what to write, with the variable's name and the user's line."""
    x = pt.matrix("weights")
    with pytest.raises(ItemAssignmentError) as info:
        change(x, 0, 1.0)
    first, place, hint = str(info.value).splitlines()
    assert first == "weights of type TensorType(float64, (None, None)) cannot be changed"
    assert place.startswith("    built at ")
    assert hint == (
        "    write weights = pt.set_subtensor(weights[…], value) or weights = "
        "weights[…].set(value); inc_subtensor and .inc add a value"
    )
    with pytest.raises(TypeError, match=r"write x = pt\.set_subtensor\(x\[…\], value\) or x = x\["):
        pt.vector()[:] = 0.0


def test_powers():
    x = pt.matrix("x")
    np.testing.assert_array_equal(evaluate(x**2, {x: A}), A**2)
    np.testing.assert_array_equal(evaluate(2**x, {x: A}), 2**A)
    q, r = divmod(x, 2)
    np.testing.assert_array_equal(evaluate(q, {x: A}), A // 2)
    np.testing.assert_array_equal(evaluate(r, {x: A}), A % 2)
    assert [v.owner.op for v in divmod(7, x)] == [pt.floor_div, pt.mod]


@pytest.mark.parametrize("name", ["and_", "or_", "xor"])
def test_logic(name):
    op = getattr(operator, name)
    x = pt.lmatrix("x")
    np.testing.assert_array_equal(evaluate(op(x, 3), {x: N}), op(N, 3))
    np.testing.assert_array_equal(evaluate(op(3, x), {x: N}), op(3, N))
    np.testing.assert_array_equal(evaluate(~(x < 4), {x: N}), ~(N < 4))


def test_unary_operators():
    x = pt.matrix("x")
    for f in (operator.neg, abs, math.floor, math.ceil, math.trunc):
        g = {math.floor: np.floor, math.ceil: np.ceil, math.trunc: np.trunc}.get(f, f)
        np.testing.assert_array_equal(evaluate(f(x), {x: A}), g(A))
    assert +x is x


def test_matmul():
    x = pt.matrix("x")
    np.testing.assert_allclose(evaluate(x @ B.T, {x: A}), A @ B.T)
    np.testing.assert_allclose(evaluate(B.T @ x, {x: A}), B.T @ A)
    np.testing.assert_allclose(evaluate(x.dot(B.T), {x: A}), A @ B.T)


@pytest.mark.parametrize(
    "method",
    [
        lambda x: x.T,
        lambda x: x.sum(),
        lambda x: x.sum(axis=0),
        lambda x: x.sum(axis=1, keepdims=True),
        lambda x: x.mean(axis=1),
        lambda x: x.max(),
        lambda x: x.min(axis=0),
        lambda x: x.prod(axis=0),
        lambda x: x.std(axis=0),
        lambda x: x.var(axis=0, ddof=1),
        lambda x: x.argmax(axis=1),
        lambda x: x.argmin(),
        lambda x: x.all(axis=0),
        lambda x: x.any(),
        lambda x: x.clip(-1, 2),
        lambda x: x.round(),
        lambda x: x.astype("int32"),
        lambda x: x.copy(),
        lambda x: x.reshape(3, 2),
        lambda x: x.reshape((3, -1)),
        lambda x: x.flatten(),
        lambda x: x.ravel(),
        lambda x: x.transpose(),
        lambda x: x.transpose(1, 0),
        lambda x: x.transpose((1, 0)),
        lambda x: x.swapaxes(0, 1),
        lambda x: x[1],
        lambda x: x[:, ::2],
        lambda x: x[..., None],
        lambda x: x[:, None].squeeze(),
        lambda x: x.cumsum(axis=1),
        lambda x: x.cumprod(),
        lambda x: x.size,
    ],
)
def test_methods_are_numpys(method):
    x = pt.matrix("x")
    got, wanted = evaluate(method(x), {x: A}), method(A)
    np.testing.assert_allclose(got, wanted)
    assert method(x).dtype == np.asarray(wanted).dtype.name


def test_methods_that_numpy_has_not():
    x = pt.matrix("x")
    assert x.dimshuffle(1, "x", 0).type.shape == (None, 1, None)
    assert evaluate(x.shape, {x: A}).tolist() == [2, 3]
    assert evaluate(x.mT, {x: A}).tolist() == A.T.tolist()
    assert evaluate(x.zeros_like(), {x: A}).tolist() == np.zeros((2, 3)).tolist()
    assert evaluate(x.ones_like("int8"), {x: A}).dtype == "int8"
    assert evaluate(x.fill(2), {x: A}).tolist() == np.full((2, 3), 2).tolist()
    assert evaluate(x[0].set(1.0), {x: A})[0].tolist() == [1, 1, 1]
    assert evaluate(x[0].inc(1.0), {x: A})[0].tolist() == (A[0] + 1).tolist()
    assert x.copy(name="y").name == "y"


def test_attributes():
    x = pt.TensorType("int8", (1, None))("x")
    assert (x.dtype, x.ndim, x.broadcastable) == ("int8", 2, (True, False))


def test_equality_is_identity():
    x, y = pt.vectors("x y")
    assert (x == x) is True
    assert (x == y) is False
    assert x in [y, x]
    assert len({x, y, x}) == 2


def test_no_truth_value():
    x = pt.scalar("x")
    with pytest.raises(NotConstantError, match="use `switch`"):
        bool(x > 0)
    with pytest.raises(NotConstantError):
        0 < x < 1  # noqa: B015


def test_iteration():
    x = pt.matrix("x", shape=(2, None))
    _, b = x
    assert evaluate(b, {x: A}).tolist() == A[1].tolist()
    with pytest.raises(NotConstantError, match=r"use `.shape\[0\]`"):
        list(pt.vector("v"))


@pytest.mark.parametrize(
    "build",
    [
        lambda x: pt.switch(x == 1, x, 0),
        lambda x: pt.where(x == 1, x, 0),
        lambda x: pt.and_(x == 1, x > 0),
        lambda x: (x == 1) & (x > 0),
        lambda x: (x > 0) | (x == 1),
        lambda x: (x != 1) ^ (x > 0),
        lambda x: pt.invert(x == 1),
        lambda x: x * (x == 1),
        lambda x: (x == 1) + x,
        lambda x: pt.maximum(x == 1, x),
        lambda x: pt.cast(x == 1, "float64"),
        lambda x: pt.sum(x == 1),
        lambda x: pt.any(x != 1),
        lambda x: pt.mean(x == 1),
        lambda x: pt.var(x == 1),
        lambda x: pt.cumsum(x == 1),
        lambda x: pt.argmax(x == 1),
        lambda x: pt.switch(x > 1, x == 1, x > 2),
        lambda x: pt.eq(x == 1, x > 2),
        lambda x: pt.softmax(x == 1),
        lambda x: pt.dot(x == 1, x),
        lambda x: pt.outer(x, x == 1),
        lambda x: x[x == 1],
        lambda x: x[x == 1].set(0),
        lambda x: x[(x != 1,)].inc(0),
        lambda x: pt.set_subtensor(x[x == 1], 0),
        lambda x: x[0].set(x == 1),
        lambda x: pt.inc_subtensor(x[:1], x == 1),
        lambda x: pt.flatnonzero(x == 1),
        lambda x: pt.nonzero_values(x == 1),
        lambda x: pt.zeros_like(x == 1),
        lambda x: pt.reshape(x == 1, (1,)),
        lambda x: pt.specify_shape(x == 1, ()),
        lambda x: pt.alloc(x == 1, 3),
        lambda x: pt.expand_dims(x == 1, 0),
        lambda x: pt.stack([x == 1, x > 1]),
        lambda x: pt.fill_diagonal(pt.outer(x, x), x == 1),
        lambda x: pt.tile(x == 1, 2),
        lambda x: pt.nan_to_num(x == 1),
        lambda x: pt.as_tensor_variable(x == 1),
    ],
)
def test_a_comparison_of_objects_is_no_mask(build):
    with pytest.raises((ForeignObjectError, DTypeError), match=r"`pt.eq\(x, 1\)`"):
        build(pt.vector("x"))


def test_truth_values_that_are_meant():
    x = pt.vector("x")
    assert pt.switch(pt.constant(True), x, 0).type == x.type
    assert pt.switch(x > 0, pt.constant(True), np.False_).dtype == "bool"
    assert pt.second(x, True).dtype == pt.full((2,), True).dtype == "bool"
    assert pt.full_like(x > 0, True).dtype == "bool"
    assert pt.constant([False, False])[0].set(True).eval().tolist() == [True, False]
    assert pt.eq(x > 0, pt.constant(True)).dtype == "bool"
    assert pt.and_(x > 0, np.True_).dtype == "bool"
