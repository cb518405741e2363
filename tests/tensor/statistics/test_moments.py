"""Means, variances, softmax: values and dtypes against NumPy and SciPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.special

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import AxisError
from tests.tensor.evaluate import evaluate

A = np.random.default_rng(0).normal(size=(3, 4, 2))


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("static", [(None, None, None), (3, None, 2), (3, 4, 2)])
def test_moments(name, axis, keepdims, static):
    x = pt.TensorType("float64", static)("x")
    out = getattr(pt, name)(x, axis=axis, keepdims=keepdims)
    wanted = getattr(np, name)(A, axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(evaluate(out, {x: A}), wanted, atol=1e-15)
    assert getattr(x, name)(axis=axis, keepdims=keepdims).type is out.type


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex64"])
def test_dtypes_of_moments(dtype):
    x = pt.TensorType(dtype, (None, None))("x")
    a = (A[:, :, 0] * 3).astype(dtype)
    for name in ("mean", "var"):
        out = getattr(pt, name)(x, axis=0)
        wanted = getattr(np, name)(a, axis=0)
        assert out.dtype == wanted.dtype.name
        rtol = 1e-2 if dtype == "float16" else 1e-5
        np.testing.assert_allclose(evaluate(out, {x: a}), wanted, rtol=rtol)
    assert pt.mean(x, dtype="complex128").dtype == "complex128"


def test_half_precision_means_do_not_overflow():
    x = pt.tensor("x", dtype="float16", shape=(None,))
    assert evaluate(pt.mean(x), {x: np.full(70_000, 3, "float16")}) == 3


def test_ddof():
    x = pt.matrix("x")
    for static in (x, pt.matrix("y", shape=(3, 4))):
        out = pt.var(static, axis=1, ddof=1)
        np.testing.assert_allclose(
            evaluate(out, {static: A[:, :, 0]}), np.var(A[:, :, 0], axis=1, ddof=1)
        )


def test_counts():
    assert pt.size(pt.matrix(shape=(2, 3))).number == 6
    x = pt.matrix("x", shape=(None, 3))
    assert evaluate(x.size, {x: np.zeros((2, 3))}) == 6
    assert evaluate(pt.size(pt.scalar("s"))) == 1
    with pytest.raises(AxisError):
        pt.mean(x, axis=3)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_softmax(axis):
    x = pt.tensor3("x")
    for ours, theirs in [
        (pt.softmax, scipy.special.softmax),
        (pt.log_softmax, scipy.special.log_softmax),
        (pt.logsumexp, scipy.special.logsumexp),
    ]:
        np.testing.assert_allclose(evaluate(ours(x, axis=axis), {x: A}), theirs(A, axis=axis))
    assert pt.logsumexp(x, axis=1, keepdims=True).type.shape == (None, 1, None)


@pytest.mark.parametrize("values", [[100, 100, 100], [-3, -4], list(range(130))])
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_mean_in_a_dtype_is_that_of_numpy(values, dtype):
    wanted = np.mean(np.array(values, "int16"), dtype=dtype)
    for shape in ((None,), (len(values),)):
        x = pt.tensor(dtype="int16", shape=shape)
        got = evaluate(pt.mean(x, dtype=dtype), {x: np.array(values, "int16")})
        assert got.dtype == wanted.dtype
        assert got == wanted


def test_means_of_integers_are_float64():
    with config.change_flags(floatX="float32"):
        for dtype in ("bool", "int8", "int64"):
            assert pt.mean(pt.tensor(dtype=dtype, shape=(None,))).dtype == "float64"


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_spread_of_float16_is_computed_in_float32(ddof):
    x = pt.tensor(dtype="float16", shape=(None,))
    value = np.array([1000, 2000, 40000], "float16")
    for ours, theirs in ((pt.std, np.std), (pt.var, np.var)):
        got = evaluate(ours(x, ddof=ddof), {x: value})
        assert got.dtype == "float16"
        wanted = theirs(value.astype("float32"), ddof=ddof).astype("float16")
        np.testing.assert_allclose(got, wanted, rtol=2e-3)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_elements_than_are_taken_away_have_no_variance(n: int) -> None:
    x = np.arange(3.0 * n).reshape(n, 3)
    for v in (pt.matrix(), pt.matrix(shape=(n, 3))):
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            wanted = np.var(x, 0, ddof=2)
        np.testing.assert_array_equal(rw.function([v], pt.var(v, 0, ddof=2))(x), wanted)
