"""Derivatives of products of many elements, where some are zero; linear recurrences."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, ShapeError
from rewrite_engine.gradient import Lop, Rop, grad, hessian, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.running import Recurrence

ZEROS = [[2.0, 3, 4], [0.0, 3, 4], [0.0, 3, 0], [0.0, 0, 0], [1e-200, 1e-200, 3]]


def mixed(x: Any, indices: tuple[int, ...]) -> float:
    """The derivative of the product of `x` by several different elements."""
    return float(np.prod([v for i, v in enumerate(x) if i not in indices]))


@pytest.mark.parametrize("row", ZEROS)
def test_derivatives_of_a_product_to_any_order(row: list[float]):
    x = pt.tensor("x", dtype="float64", shape=(3,))
    cost = pt.prod(x)
    g = grad(cost, x)
    third = grad(grad(g[0], x)[1], x)
    got = evaluate([g, hessian(cost, x), third], {x: row})
    np.testing.assert_allclose(got[0], [mixed(row, (i,)) for i in range(3)])
    wanted = np.zeros((3, 3))
    for i, j in combinations(range(3), 2):
        wanted[i, j] = wanted[j, i] = mixed(row, (i, j))
    np.testing.assert_allclose(got[1], wanted)
    np.testing.assert_allclose(got[2], [0, 0, 1])
    compiled = rw.function([x], [g, hessian(cost, x)])(row)
    for a, b in zip(got, compiled, strict=False):
        np.testing.assert_allclose(a, b)


def test_the_second_gradient_with_a_zero():
    x = pt.dvector("x")
    second = grad(grad(pt.prod(x), x).sum(), x)
    np.testing.assert_array_equal(evaluate([second], {x: [0.0, 3, 4]})[0], [7, 4, 3])


@pytest.mark.parametrize("row", ZEROS)
def test_derivatives_of_running_products(row: list[float]):
    x, w, v = pt.dvector("x"), pt.dvector("w"), pt.dvector("v")
    z = pt.cumprod(x)
    jac = np.array(
        [[mixed(row[: k + 1], (i,)) if i <= k else 0 for i in range(3)] for k in range(3)]
    )
    weights, direction = np.array([0.5, -1, 2]), np.array([1.0, 2, -3])
    at = {x: row, w: weights, v: direction}
    got = evaluate([Lop(z, x, w), Rop(z, x, v)], at)
    np.testing.assert_allclose(got[0], weights @ jac)
    np.testing.assert_allclose(got[1], jac @ direction)
    for again in (Rop(Lop(z, x, w), x, v), grad((Lop(z, x, w) * v).sum(), x)):
        got = evaluate([again], at)[0]
        wanted = [
            sum(
                weights[k] * direction[j] * mixed(row[: k + 1], (i, j))
                for k in range(3)
                for j in range(k + 1)
                if j != i and i <= k
            )
            for i in range(3)
        ]
        np.testing.assert_allclose(got, wanted)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize(
    "cost",
    [
        lambda z: pt.switch(z < 100, z, 1).sum(),
        lambda z: pt.switch(z < 100, z**2, 1).sum(),
        lambda z: pt.switch(z < 100, pt.sin(z), 0).sum(),
        lambda z: z[1],
    ],
)
def test_products_that_do_not_count_have_no_part_in_derivatives(cost: Any, bad: float):
    """Only the first two products do; the third has a factor that is NaN or too large."""
    x, row = pt.tensor("x", dtype="float64", shape=(3,)), [0.5, -0.25, 2.0]
    whole = cost(pt.cumprod(pt.concatenate([pt.exp(x[:2]), bad * x[2:]])))
    first = cost(pt.concatenate([pt.cumprod(pt.exp(x[:2])), [200.0]]))
    for mode in (None, rw.Mode(optimizer=None)):
        for d in (lambda c: grad(c, x), lambda c: hessian(c, x)):
            wanted = evaluate([d(first)], {x: row})[0]
            assert np.isfinite(wanted).all()
            np.testing.assert_allclose(rw.function([x], d(whole), mode=mode)(row), wanted)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (1, 2), (0, 1, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes(axis: Any, keepdims: bool):
    values = np.arange(24.0).reshape(2, 3, 4) % 7 - 2
    verify_grad(lambda x: pt.prod(x, axis=axis, keepdims=keepdims), [values])
    verify_grad(lambda x: grad(pt.sqr(pt.prod(x, axis=axis)).sum(), x), [values / 4])
    x, v = pt.dtensor3("x"), pt.dtensor3("v")
    got = evaluate([Rop(pt.prod(x, axis=axis), x, v)], {x: values, v: values})[0]
    count = np.prod([values.shape[a] for a in range(3)]) if axis is None else None
    if count is not None:
        np.testing.assert_allclose(got, count * values.prod(), atol=1e-300)


@pytest.mark.parametrize("shape", [(0,), (1,), (0, 3), (3, 0)])
def test_few_elements(shape: tuple[int, ...]):
    x = pt.tensor("x", dtype="float64", shape=(None,) * len(shape))
    for out in (pt.prod(x), pt.cumprod(x, axis=0), pt.prod(x, axis=0)):
        got = evaluate([grad(out.sum(), x)], {x: np.full(shape, 2.0)})[0]
        np.testing.assert_array_equal(got, np.ones(shape))


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
def test_dtypes(dtype: str):
    x = pt.vector("x", dtype=dtype)
    cost = pt.prod(x)
    (g,) = cost.owner.op.L_op([x], [cost], [pt.constant(1, dtype=dtype)])
    got = evaluate([g], {x: np.array([3e3, 2e4, 1e-4], dtype)})[0]
    assert got.dtype == dtype
    if dtype != "float16":
        np.testing.assert_allclose(got, [2, 0.3, 6e7], rtol=1e-3)


def test_integers():
    x, n = pt.dvector("x"), pt.lvector("n")
    np.testing.assert_array_equal(
        evaluate([grad(pt.prod(x * n), n)], {x: [2.0, 3], n: [0, 4]})[0], [24.0, 0]
    )


@pytest.mark.parametrize("shape", [(5,), (5, 3), (40, 5), (5, 40)])
@pytest.mark.parametrize("axis", [0, 1])
def test_recurrences(shape: tuple[int, ...], axis: int):
    if axis >= len(shape):
        return
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=shape), rng.normal(size=shape)
    wanted = np.moveaxis(b.copy(), axis, 0)
    for i in range(1, len(wanted)):
        wanted[i] += np.moveaxis(a, axis, 0)[i] * wanted[i - 1]
    x, y = pt.dvectors("x", "y") if len(shape) == 1 else pt.dmatrices("x", "y")
    h = Recurrence(axis)(x, y)
    np.testing.assert_allclose(rw.function([x, y], h)(a, b), np.moveaxis(wanted, 0, axis))
    if len(shape) == 1 or 40 not in shape:
        verify_grad(Recurrence(axis), [a, b])


def test_what_a_recurrence_refuses():
    x, y = pt.dvectors("x", "y")
    with pytest.raises(ShapeError):
        Recurrence(1)(x, y)
    with pytest.raises(DTypeError):
        Recurrence(0)(pt.lvector("n"), pt.lvector("k"))
    with pytest.raises(ShapeError):
        rw.function([x, y], Recurrence(0)(x, y))([1.0], [1.0, 2])
