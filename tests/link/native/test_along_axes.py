"""What runs along axes natively, beside NumPy: running sums, positions, products, checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.link.native.op import NativeRegion
from tests.link.native.test_indexing import native

x, y = pt.dvectors("x", "y")
m = pt.dmatrix("m")
t, u = pt.dtensor3("t"), pt.dtensor3("u")
T = np.random.default_rng(0).normal(size=(3, 4, 5))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_running_sums(axis: int) -> None:
    whole = pt.ltensor3("whole")
    f = native([t, whole], [pt.cumsum(t, axis), pt.cumprod(pt.exp(t), axis), pt.cumsum(whole, axis),
                            pt.cumsum(t > 0, axis)])  # fmt: skip
    numbers = np.arange(60).reshape(3, 4, 5)
    wanted = [T.cumsum(axis), np.exp(T).cumprod(axis), numbers.cumsum(axis), (T > 0).cumsum(axis)]
    for got, want in zip(f(T, numbers), wanted, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-14)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_positions_of_extrema(axis: Any) -> None:
    f = native([t], [pt.argmax(t, axis), pt.argmin(pt.exp(t), axis), pt.argmax(t > 0, axis),
                     pt.argmax(t, axis, keepdims=True)])  # fmt: skip
    for values in (T, np.where(T > 1, np.nan, T), np.zeros_like(T), np.full_like(T, np.inf)):
        wanted = [values.argmax(axis), np.exp(values).argmin(axis), (values > 0).argmax(axis),
                  values.argmax(axis, keepdims=True)]  # fmt: skip
        for got, want in zip(f(values), wanted, strict=True):
            np.testing.assert_array_equal(got, want)
    with pytest.raises(rw.errors.ShapeError):
        f(T[:0, :0, :0])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_first_positions_of_extrema(dtype: str, axis: Any, texts: list[str]) -> None:
    """The first of several equal extrema is found, also of zeros with both signs, and of NaN."""
    a = pt.matrix("a", dtype=dtype)
    f = native([a], [pt.argmax(a, axis), pt.argmin(a, axis), pt.max(a, axis)])
    assert len(texts) <= 3
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (3, 70), (70, 3), (40, 40)):
        for chosen in ([0, 1], [1], [0, 3, 5], [-0.0, 0.0], [-1, -0.0, 0.0], [1, np.nan],
                       [-np.inf, np.inf], [-np.inf], [np.nan, -np.nan, 0, np.inf]):  # fmt: skip
            if np.dtype(dtype).kind != "f" and not np.isfinite(chosen).all():
                continue
            values = rng.choice(np.array(chosen, "float64"), shape).astype(dtype)
            wanted = (values.argmax(axis), values.argmin(axis), values.max(axis))
            for got, want in zip(f(values), wanted, strict=True):
                np.testing.assert_array_equal(got, want)


def test_positions_along_several_axes() -> None:
    from rewrite_engine.tensor.statistics.moments import Argmax

    f = native([t], [Argmax((0, 2))(t), Argmax((0, 1))(t), Argmax((1,), keepdims=True)(t)])
    for values in (T, T[:1], T[:, :1], T[:, :, :1]):
        _, other, last = values.shape
        middle = values.transpose(1, 0, 2).reshape(other, -1)
        wanted = [middle.argmax(axis=1), values.reshape(-1, last).argmax(axis=0)]
        wanted.append(values.argmax(axis=1, keepdims=True))
        for got, want in zip(f(values), wanted, strict=True):
            np.testing.assert_array_equal(got, want)


def test_products_of_batches() -> None:
    f = native([t, u, m], [pt.matmul(t, u), pt.matmul(m, u), pt.matmul(t, u.mT.mT) * 2,
                           pt.matmul(t.mT, pt.exp(t))])  # fmt: skip
    other, one = np.random.default_rng(1).normal(size=(3, 5, 2)), T[0]
    wanted = [T @ other, one @ other, T @ other * 2, T.swapaxes(1, 2) @ np.exp(T)]
    for got, want in zip(f(T, other, one), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)
    with pytest.raises(rw.errors.RewriteEngineError):
        f(T, other[:2], one)


def test_a_loss_and_its_gradient() -> None:
    loss = pt.special.logsumexp(m, axis=1).sum()
    f = native([m], [loss, rw.grad(loss, m), pt.special.log_softmax(m, axis=0),
                     pt.special.softmax(m, axis=0)])  # fmt: skip
    want = rw.function([m], [loss, rw.grad(loss, m)])
    values = np.array([[1000.0, 0.0, -5.0], [-np.inf, 1.0, 2.0], [-800.0, -801.0, -1e300]])
    for got, wanted in zip(f(values), want(values)):
        np.testing.assert_allclose(got, wanted, rtol=1e-14)


CHECKS = [(pt.Assert, AssertionError), (lambda text: pt.CheckAndRaise(KeyError, text), KeyError)]


@pytest.mark.parametrize(("check", "error"), CHECKS)
def test_conditions_that_do_not_hold(check: Any, error: Any) -> None:
    f = native([x, y], check("y has to be positive")(pt.exp(x), y > 0, pt.all(x > -5)) * 2)
    np.testing.assert_allclose(f([0.0, 1.0], [1.0]), 2 * np.exp([0.0, 1.0]))
    for given in ([1.0, -1.0, 2.0], [np.nan]):
        with pytest.raises(error, match="y has to be positive"):
            f([0.0, 1.0], given)
    with pytest.raises(error):
        f([-6.0], [1.0])
    assert f([], []).size == 0


def test_a_check_in_a_branch_that_is_not_taken() -> None:
    yes = pt.lscalar("yes")
    out = pt.ifelse(pt.eq(yes, 1), pt.Assert("no")(pt.exp(x), x > 0).sum(), x.sum())
    f = rw.function([yes, x], out, mode="native")
    assert any(isinstance(node.op, NativeRegion) for node in f.nodes)
    assert f(0, [-1.0]) == -1.0
    with pytest.raises(AssertionError):
        f(1, [-1.0])


def test_products_of_what_is_filled() -> None:
    n = pt.lscalar("n")
    filled = [pt.alloc(x[0], n), pt.alloc(x[1], 2, n), pt.alloc(x[:1], 3, 2, 1)]
    f = native([x, m, n], [pt.dot(filled[0], filled[0]), pt.dot(m, filled[0]),
                           pt.dot(filled[1], m.T), pt.matmul(filled[2], m[None, :1])])  # fmt: skip
    a, b = np.array([2.0, 5.0]), np.arange(8.0).reshape(2, 4)
    ones = np.ones(4)
    wanted = [16.0, 2 * b @ ones, np.full((2, 4), 5.0) @ b.T, np.full((3, 2, 1), 2.0) @ b[None, :1]]
    for got, want in zip(f(a, b, 4), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)
