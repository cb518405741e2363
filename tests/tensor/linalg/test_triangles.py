"""Triangular factors and equations: gradients of large factors, one triangle for many sides."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.gradient import grad

L = pt.linalg


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [64, 65, 150])
def test_the_gradient_of_a_large_cholesky_factor(n: int, dtype: str) -> None:
    rng = np.random.default_rng(n)
    low, g = [rng.normal(size=(n, n)).astype(dtype) for _ in range(2)]
    g = g + 1j * rng.normal(size=(n, n)) if dtype == "complex128" else g
    low = np.linalg.cholesky(low @ low.T / n + np.eye(n))
    phi, back = np.tri(n) - np.eye(n) / 2, np.linalg.inv(low).mT.conj()
    half = back @ (phi * (low.mT.conj() @ np.tril(g))) @ back.mT.conj()
    wanted = phi * (half + half.mT.conj())
    found = L.CholeskyGradient()(pt.constant(low), pt.constant(g)).eval()
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_the_gradient_of_a_factor_does_not_read_what_is_above() -> None:
    a = pt.dmatrix("a")
    found = rw.function([a], grad(pt.sqrt(L.cholesky(a)).sum(), a))([[4.0, 0.0], [1.0, 3.0]])
    assert np.isfinite(found).all()


def test_one_triangle_for_many_right_sides() -> None:
    a, b = np.array([[2.0, 9.0], [1.0, 4.0]]), np.random.default_rng(0).normal(size=(3, 4, 2, 5))
    x, y = pt.dmatrix("x"), pt.tensor4("y", dtype="float64")
    f = rw.function([x, y], L.solve_triangular(x, y, lower=True, b_ndim=2))
    np.testing.assert_allclose(np.tril(a) @ f(a, b), b)
    with pytest.raises(L.SingularMatrixError, match=r"of shape \(2, 2\) is singular"):
        f(a * 0, b)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("count", [9, 200])
@pytest.mark.parametrize("n", [1, 16, 17])
def test_many_small_triangles(n: int, count: int, dtype: str) -> None:
    rng = np.random.default_rng(n)
    a = (rng.normal(size=(count, n, n)) / n + np.eye(n) * 2).astype(dtype)
    b = rng.normal(size=(2, 1, n, 2)).astype(dtype)
    if dtype == "complex128":
        a, b = a + 0.1j * a.mT, b * (1 - 2j)
    x, y = pt.tensor3("x", dtype=dtype), pt.tensor("y", dtype=dtype, shape=(None, 1, None, None))
    for lower, trans, unit in itertools.product([False, True], [0, 1, 2], [False, True]):
        options = {"lower": lower, "trans": trans, "unit_diagonal": unit}
        f = rw.function([x, y], L.solve_triangular(x, y, b_ndim=2, **options))
        read = np.tril(a) if lower else np.triu(a)
        read = np.where(np.eye(n) == 1, 1, read).astype(dtype) if unit else read
        unread = np.triu(a * np.nan, 1) if lower else np.tril(a * np.nan, -1)
        turned = [read, read.mT, read.mT.conj()][trans]
        wanted = np.linalg.solve(turned, np.broadcast_to(b, (2, count, n, 2)))
        found = f(np.where(np.isnan(unread), unread, a), b)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted, 1e-3 if dtype == "float32" else 1e-11, 1e-6)
        bad = a.copy()
        bad[count - 2, n // 2, n // 2] = 0
        if not unit:
            where = rf"matrix \(0, {count - 2}\) of the array"
            with pytest.raises(L.SingularMatrixError, match=where):
                f(bad, b)


@pytest.mark.parametrize("op", [pt.Tri(), pt.Eye("float64")], ids=str)
def test_negative_lengths_of_matrices_made_from_nothing(op: Any) -> None:
    n = pt.lscalar("n")
    f = rw.function([n], op(n, 2, 1))
    assert f(3).shape == (3, 2)
    with pytest.raises(ShapeError, match="negative"):
        f(-1)


def test_the_smaller_and_the_larger_of_two_lengths() -> None:
    x = pt.dmatrix("x")
    rows, columns = x.shape
    f = rw.function([x], [pt.minimum(rows, columns), pt.maximum(rows, columns)])
    for shape in ((2, 3), (3, 2), (0, 4)):
        assert [int(n) for n in f(np.ones(shape))] == [min(shape), max(shape)]
