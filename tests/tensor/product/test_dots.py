"""Products of vectors and matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, BroadcastError, DTypeError, NDimError, ShapeError
from rewrite_engine.gradient import verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.product.dots import Dot, MatMul
from rewrite_engine.tensor.type import TensorType

RNG = np.random.default_rng(0)


def value_of(f, *arrays, known=False):
    """The value of a function of variables, at arrays; and its type."""
    shapes = [a.shape if known else [1 if n == 1 else None for n in a.shape] for a in arrays]
    xs = [TensorType(a.dtype, s)() for a, s in zip(arrays, shapes, strict=True)]
    out = f(*xs)
    return evaluate([out], dict(zip(xs, arrays, strict=True)))[0], out.type


SIZES = st.integers(0, 3)


@given(
    SIZES, SIZES, SIZES, st.sampled_from([(1, 1), (1, 2), (2, 1), (2, 2)]),
    st.tuples(*[st.sampled_from(["float64", "float32", "int32", "int8"])] * 2),
)  # fmt: skip
def test_dot_agrees_with_numpy(m, k, n, ndims, dtypes):
    a = np.arange(m * k).reshape(m, k).astype(dtypes[0])
    b = np.arange(k * n).reshape(k, n).astype(dtypes[1])
    a = a if ndims[0] == 2 else np.arange(k).astype(dtypes[0])
    b = b if ndims[1] == 2 else np.arange(k).astype(dtypes[1])
    want = np.dot(a, b)
    for f in (pt.dot, pt.matmul, lambda x, y: x @ y, lambda x, y: x.dot(y)):
        got, type_ = value_of(f, a, b, known=True)
        np.testing.assert_array_equal(got, want)
        assert type_.dtype == got.dtype == want.dtype
        assert type_.shape == want.shape


def test_scalars_multiply():
    assert value_of(pt.dot, np.array(2.0), np.ones(3))[0].tolist() == [2, 2, 2]
    with pytest.raises(NDimError, match="arrays with at least one dimension"):
        pt.matmul(pt.dscalar(), pt.dvector())


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (3,)), ((3,), (5, 3, 4)), ((2, 1, 2, 3), (4, 3, 2)),
    ],
)  # fmt: skip
def test_batched_matmul(a, b):
    arrays = [RNG.normal(size=a), RNG.normal(size=b)]
    want = np.matmul(*arrays)
    got, type_ = value_of(pt.matmul, *arrays, known=True)
    np.testing.assert_allclose(got, want)
    assert type_.shape == want.shape
    np.testing.assert_allclose(value_of(pt.matmul, *arrays)[0], want)
    verify_grad(pt.matmul, arrays)


def test_gradient_of_a_matrix_with_itself():
    verify_grad(lambda v: pt.dot(v, v.T), [RNG.normal(size=(2, 3))])


def test_other_products():
    a, b = RNG.normal(size=3), RNG.normal(size=4)
    np.testing.assert_allclose(value_of(pt.outer, a, b)[0], np.outer(a, b))
    verify_grad(pt.outer, [a, b])
    m = RNG.normal(size=(2, 3))
    np.testing.assert_allclose(value_of(pt.vdot, m, m)[0], np.vdot(m, m))
    z = RNG.normal(size=3) + 1j * RNG.normal(size=3)
    np.testing.assert_allclose(value_of(pt.vdot, z, a)[0], np.vdot(z, a))
    np.testing.assert_allclose(value_of(pt.inner, m, m)[0], np.inner(m, m))
    np.testing.assert_allclose(value_of(pt.inner, a, a)[0], np.inner(a, a))


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3, 4), (4, 2), ((0, 2), (1, 0))),
        ((2, 3), (4,), 0),
        ((2, 3), (3, 5), 1),
    ],
)
def test_tensordot(a, b, axes):
    arrays = [RNG.normal(size=a), RNG.normal(size=b)]
    for known in (False, True):
        got, type_ = value_of(lambda x, y: pt.tensordot(x, y, axes), *arrays, known=known)
        np.testing.assert_allclose(got, np.tensordot(*arrays, axes))
    assert type_.shape == got.shape
    verify_grad(lambda x, y: pt.tensordot(x, y, axes), arrays)


def test_dot_of_more_dimensions():
    a, b = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(5, 4, 2))
    np.testing.assert_allclose(value_of(pt.dot, a, b)[0], np.dot(a, b))


def test_errors():
    a = TensorType("float64", (2, 3))("a")
    with pytest.raises(ShapeError, match=r"^dot: shapes \(2, 3\) and \(2, 3\)[\s\S]*test_dots.py"):
        pt.dot(a, a)
    with pytest.raises(NDimError, match="two vectors or matrices"):
        Dot()(a, pt.tensor3())
    x, y = pt.dmatrix("x"), pt.dvector("y")
    with pytest.raises(ShapeError, match=r"\(2, 3\) and \(4,\)[\s\S]*test_dots.py"):
        evaluate([x @ y], {x: np.ones((2, 3)), y: np.ones(4)})
    with pytest.raises(ShapeError, match="MatMul"):
        pt.matmul(pt.tensor(dtype="float64", shape=(5, 2, 3)), a)
    with pytest.raises(BroadcastError, match="cannot broadcast"):
        pt.matmul(*[pt.tensor(dtype="float64", shape=(n, 2, 2)) for n in (3, 4)])
    t = pt.tensor3("t", dtype="float64")
    u = pt.tensor3("u", dtype="float64")
    with pytest.raises(BroadcastError, match="cannot broadcast"):
        evaluate([t @ u], {t: np.ones((1, 2, 2)), u: np.ones((3, 2, 2))})
    with pytest.raises(ShapeError, match="have lengths 2 and 3"):
        pt.tensordot(a, a, ((0,), (1,)))
    with pytest.raises(AxisError, match="out of range"):
        pt.tensordot(a, a, ((5,), (1,)))
    for axes in [(0, 1, 2), (), [[0]]]:
        with pytest.raises(ShapeError, match="axes must be a number, or the axes of each factor"):
            pt.tensordot(a, a, axes)
    with pytest.raises(TypeError):
        pt.tensordot(a, a, 1.5)
    assert pt.tensordot(a, a.T, np.int64(1)).type.shape == (2, 2)


def test_flops():
    assert Dot().flops([(2, 3), (3, 4)], [(2, 4)]) == 48
    assert MatMul().flops([(5, 2, 3), (3, 4)], [(5, 2, 4)]) == 240


@pytest.mark.parametrize("dtype", ["float32", "float64", np.complex64, "int64"])
@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((4, 2, 3), (3, 5))])
def test_matmul_is_computed_in_a_dtype(shapes, dtype):
    arrays = [np.arange(1, math.prod(s) + 1, dtype="int8").reshape(s) for s in shapes]
    x = [pt.tensor(dtype="int8", shape=s) for s in shapes]
    (got,) = evaluate([pt.matmul(*x, dtype=dtype)], dict(zip(x, arrays, strict=True)))
    expected = np.matmul(*arrays, dtype=dtype)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_matmul_keeps_the_kind_of_its_factors():
    with pytest.raises(DTypeError, match="float64 cannot be computed in int8"):
        pt.matmul(pt.dmatrix("x"), pt.bmatrix("y"), dtype="int8")
