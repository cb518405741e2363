"""Triangular factors and equations: gradients of large factors, one triangle for many sides."""

from __future__ import annotations

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
