"""Factors of matrices that are not square, and equations of three diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ShapeError
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.tensor.type import TensorType
from tests.tensor.linalg.test_linalg import ALL, agree, floats, general, rhs, vectors

L = pt.linalg


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (5, 1), (1, 3), (2, 3, 2), (2, 2, 3)], ids=str)
def test_factors_of_matrices_that_are_not_square(shape: Any, dtype: str) -> None:
    a = np.random.default_rng(1).integers(-9, 10, shape).astype(dtype)
    a = a * (1 + 2j) if dtype.startswith("complex") else a
    a = a.astype(dtype)
    for x in (TensorType(dtype, shape)(), TensorType(dtype, (None,) * a.ndim)()):
        for options in ({}, {"permute_l": True}, {"p_indices": True}):
            parts = L.lu(x, **options)
            theirs = [scipy.linalg.lu(v, **options) for v in floats(a).reshape(-1, *shape[-2:])]
            for part, wanted in zip(parts, zip(*theirs, strict=True), strict=True):
                value = np.reshape(wanted, (*shape[:-2], *wanted[0].shape))
                agree(part, [x], [a], value.astype(part.type.dtype))
                assert x.type.shape != shape or part.type.shape == value.shape
        low, up = L.lu(x, permute_l=True)
        agree(low @ up, [x], [a], floats(a), x.type.shape == shape)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (1, 3), (3, 1), (2, 3, 2)], ids=str)
def test_gradients_of_factors_of_matrices_that_are_not_square(shape: Any) -> None:
    a = np.random.default_rng(2).normal(size=shape)

    def of(a: Any) -> Any:
        return vectors([*L.lu(a)[1:], *L.lu(a, permute_l=True), pt.sin(L.lu_factor(a).LU)])

    verify_grad(of, [a])
    verify_grad(lambda a: grad(of(a).sum(), a), [a])
    verify_grad(lambda x, y: vectors(map(pt.imag, L.lu(pt.complex(x, y))[1:])), [a, np.cos(a)])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int8"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 20])
def test_equations_of_three_diagonals(n: int, dtype: str, turned: bool) -> None:
    a, b = general((2,), n, dtype), rhs((2,), n, dtype)
    a[..., 1:2, 0:1] = 50  # so that rows change places
    three = np.triu(np.tril(floats(a), 1), -1)
    whole = np.linalg.solve(three.mT if turned else three, floats(b))
    for x, y in ((a, b), (a[0], b[0])):
        wanted = whole if x.ndim == 3 else whole[0]
        inputs = [TensorType(dtype, (None,) * v.ndim)() for v in (x, y)]
        factors = L.tridiagonal_lu_factor(inputs[0])
        found = L.tridiagonal_lu_solve(factors, inputs[1], b_ndim=2, transposed=turned)
        agree(found, inputs, [x, y], wanted.astype(found.type.dtype), True)
        found = L.solve(*inputs, assume_a="tridiagonal", transposed=turned)
        agree(found, inputs, [x, y], wanted.astype(found.type.dtype), True)


def test_long_equations_of_three_diagonals() -> None:
    n = 2000
    a = np.diag(np.full(n, 5.0)) + np.diag(np.full(n - 1, 2.0), 1) - np.diag(np.ones(n - 1), -1)
    a[1::9, 0::9] *= 30  # so that rows change places
    found = L.solve(a, np.ones(n), assume_a="tridiagonal").eval()
    np.testing.assert_allclose(a @ found, 1, rtol=1e-9)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 6])
def test_gradients_of_factors_of_three_diagonals(n: int, dtype: str, turned: bool) -> None:
    a, b = general((2,), n, dtype), rhs((2,), n, dtype)
    a[0, 1::2, 0::2] *= 9  # so that some rows change places
    x, y = TensorType(dtype, (None,) * 3)(), TensorType(dtype, (None,) * 3)()
    found = L.tridiagonal_lu_solve(L.tridiagonal_lu_factor(x), y, transposed=turned)
    other = L.solve(x, y, assume_a="tridiagonal", transposed=turned)
    sides = []
    for z in (found, other):
        first = grad((pt.real(z) ** 2).sum() + (pt.imag(z) ** 3).sum(), [x, y])
        cost = sum((pt.real(g) ** 2).sum() + pt.imag(g).sum() for g in first)
        sides.append(rw.function([x, y], [*first, *grad(cost, [x, y])])(a, b))
    for one, two in zip(*sides, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-10 * np.abs(two).max(initial=1))


def test_factors_of_a_singular_matrix_of_three_diagonals() -> None:
    with pytest.raises(L.SingularMatrixError):
        L.tridiagonal_lu_solve(L.tridiagonal_lu_factor(np.zeros((3, 3))), np.ones(3)).eval()
    for n in (2, 3):
        with pytest.raises(L.SingularMatrixError, match="singular"):
            L.solve(np.zeros((n, n)), np.ones(n), assume_a="tridiagonal").eval()


@pytest.mark.parametrize("batch", [(), (2,)])
def test_one_call_of_lapack_has_its_gradients(batch: Any) -> None:
    rng = np.random.default_rng(0)
    a, t, s = [rng.normal(size=(*batch, *own)) for own in ((4, 3), (3, 3), (3, 3))]
    s, weights = s @ s.mT + np.eye(3), np.arange(9.0).reshape(3, 3)
    for mode in ("economic", "r"):
        verify_grad(lambda v, mode=mode: L.qr(v, mode, pivoting=True)[-2][..., :3, :] ** 2, [a])
    for lower in (True, False):
        verify_grad(lambda u, v, lower=lower: L.eigh(u, v, lower)[0], [t, s])
        verify_grad(lambda u, v, lower=lower: L.eigh(u, v, lower)[1] ** 2 * weights, [t, s])
    for trans in (0, 1):
        verify_grad(lambda u, v, k=trans: L.lu_solve(L.lu_factor(u), v, k, b_ndim=2), [s, t])


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("wrong", [3, -1])
def test_pivots_that_are_no_rows(batch: Any, wrong: int) -> None:
    both, pivots = np.broadcast_to(np.eye(3), (*batch, 3, 3)), np.zeros((*batch, 3), "int32")
    pivots[..., 1] = wrong
    with pytest.raises(ShapeError, match="pivots of 3 rows must be from 0 to 2"):
        L.lu_solve((both, pivots), np.ones((*batch, 3, 1)), b_ndim=2).eval()
