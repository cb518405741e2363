"""Exact linear algebra: products of the results are the matrices, to all digits."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

import rewrite_engine.tensor as pt
from rewrite_engine.judge import matrix
from rewrite_engine.judge.exact import NotKnown, exact
from rewrite_engine.tensor.linalg.elimination import LUFactor, SolveLUFactor
from rewrite_engine.tensor.linalg.triangular import SolveTriangular

SMALL = mpf(10) ** -55


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(60):
        yield


@pytest.fixture
def a():
    return exact(np.random.default_rng(0).normal(size=(5, 5)))


def error(x, y) -> mpf:
    return max(abs(v) for v in np.ravel(np.asarray(x - y, object)))


def hilbert(n: int):
    """A matrix whose inverse has whole numbers; float64 has no digit of it from n = 13 on."""
    return np.array([[mpf(1) / (i + j + 1) for j in range(n)] for i in range(n)], object)


def test_factors_of_elimination(a):
    both, pivots = matrix.eliminated(a)
    low, up = np.tril(both, -1) + matrix.identity(5), np.triu(both)
    swapped = a.copy()
    for k, p in enumerate(pivots):
        swapped[[k, p]] = swapped[[p, k]]
    assert error(low @ up, swapped) < SMALL


def test_the_inverse_of_a_hilbert_matrix_has_whole_numbers():
    found = matrix.solution(hilbert(14), matrix.identity(14))
    assert error(found, np.vectorize(mp.nint, otypes=[object])(found)) < mpf(10) ** -15
    assert mp.nint(found[0, 0]) == 14**2


def test_determinant_of_a_hilbert_matrix():
    wanted = mp.fprod(mp.factorial(k) ** 4 for k in range(6)) / mp.fprod(
        mp.factorial(k) for k in range(12)
    )
    assert abs(matrix.determinant(hilbert(6)) / wanted - 1) < SMALL


def test_cholesky_factors(a):
    whole = a @ a.T
    low = matrix.factor(whole)
    assert error(low @ low.T, whole) < SMALL
    assert not np.triu(low, 1).astype(float).any()


def test_no_factor_of_an_indefinite_matrix():
    found = matrix.factor(exact(np.array([[1.0, 2.0], [2.0, 1.0]])))
    assert all(x != x for x in found.ravel())


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_equations(a, lower, transpose, unit):
    op = SolveTriangular(lower=lower, transpose=transpose, unit_diagonal=unit)
    b = exact(np.arange(10.0).reshape(5, 2))
    (x,) = matrix.matrix_values(op, [2, 2], [a, b])
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        triangle = triangle - np.diag(np.diag(a)) + matrix.identity(5)
    assert error((triangle.T if transpose else triangle) @ x, b) < SMALL


@pytest.mark.parametrize("transposed", [True, False])
def test_equations_by_factors(a, transposed):
    both, pivots = matrix.matrix_values(LUFactor(), [2], [a])
    b = exact(np.arange(10.0).reshape(5, 2))
    (x,) = matrix.matrix_values(SolveLUFactor(transposed=transposed), [2, 1, 2], [both, pivots, b])
    assert error((a.T if transposed else a) @ x, b) < SMALL


def test_eigenpairs_of_one_triangle(a):
    whole = a + a.T
    for lower, given in ((True, np.tril(whole)), (False, np.triu(whole))):
        values, vectors = matrix.eigenpairs(given, lower)
        assert list(values) == sorted(values)
        assert error(whole @ vectors, vectors * values) < mpf(10) ** -50


def test_batches_and_singular_matrices(a):
    several = np.stack([a, 2 * a])
    (found,) = matrix.matrix_values(pt.linalg.Det(), [2], [several])
    assert found.shape == (2,)
    assert abs(found[1] / found[0] - 32) < SMALL
    with pytest.raises(NotKnown):
        matrix.solution(exact(np.zeros((2, 2))), matrix.identity(2))
    with pytest.raises(NotKnown):
        matrix.matrix_values(pt.linalg.QR(), [2], [a])
