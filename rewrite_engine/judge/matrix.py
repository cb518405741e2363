"""Exact meanings of the ops of linear algebra: arrays of real numbers with many digits, of any
length, by elimination. Ops on complex matrices, and eigenvectors, have none.

Each function of `MATRIX` takes an op and single matrices, and returns the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpmath import mp, mpf

from rewrite_engine.judge.binary import root, with_fast_numbers
from rewrite_engine.judge.exact import INF, NAN, NotKnown
from rewrite_engine.tensor.linalg.decomposition import (
    Cholesky,
    CholeskyGradient,
    CovarianceGradient,
)
from rewrite_engine.tensor.linalg.elimination import LUFactor, SolveLUFactor
from rewrite_engine.tensor.linalg.factor import (
    Factor,
    FactorInverse,
    FactorSLogDet,
    FactorSolve,
)
from rewrite_engine.tensor.linalg.solvers import MatrixInverse, Solve
from rewrite_engine.tensor.linalg.spectral import Expm
from rewrite_engine.tensor.linalg.summary import Cofactors, Det, SLogDet
from rewrite_engine.tensor.linalg.triangular import SolveTriangular
from rewrite_engine.tensor.linalg.tridiagonal import SolveTridiagonal

ZERO, ONE = mpf(0), mpf(1)
FAR_EXPONENT = 8.0  # of larger elements 60 digits are too few for the smallest eigenvalues


def zeros(*shape: int) -> Any:
    """Return an array of zeros."""
    return np.full(shape, ZERO, object)


def identity(n: int) -> Any:
    """Return the unit matrix."""
    found = zeros(n, n)
    found[np.arange(n), np.arange(n)] = ONE
    return found


@with_fast_numbers
def product(a: Any, b: Any) -> Any:
    """Return the matrix product, along a batch, if there is one; of vectors, their dot product."""
    return np.asarray(np.matmul(a, b), object)


@with_fast_numbers
def eliminated(a: Any) -> tuple[Any, list[int]]:
    """Return LU factors in one matrix, and the row that each row was swapped with (as `getrf`);
    NaN for a matrix that is not finite.
    """
    a, pivots = np.array(a, object), []
    if not all([x - x == 0 for x in a.flat]):
        return np.full(a.shape, NAN, object), [*range(min(a.shape))]
    for k in range(min(a.shape)):
        p = k + max(range(len(a) - k), key=lambda i: abs(a[k + i, k]))
        pivots.append(p)
        if p != k:
            a[[k, p]] = a[[p, k]]
        if a[k, k] != 0:
            a[k + 1 :, k] = a[k + 1 :, k] / a[k, k]
            a[k + 1 :, k + 1 :] -= np.multiply.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, pivots


@with_fast_numbers
def substituted(a: Any, b: Any, lower: bool, unit: bool = False) -> Any:
    """Return x of a @ x = b, where one triangle of `a` is read."""
    x, n = np.array(b, object), len(b)
    for k in range(n) if lower else reversed(range(n)):
        if not unit:
            if a[k, k] == 0:
                raise NotKnown
            x[k] = x[k] / a[k, k]
        rest = slice(k + 1, n) if lower else slice(0, k)
        x[rest] -= np.multiply.outer(a[rest, k], x[k])
    return x


def solution(a: Any, b: Any) -> Any:
    """Return x of a @ x = b. Raises `NotKnown` for a singular matrix."""
    both, pivots = eliminated(a)
    return _of_factors(both, pivots, b)


def _of_factors(both: Any, pivots: Sequence[int], b: Any, transposed: bool = False) -> Any:
    x = np.array(b, object)
    if transposed:
        x = substituted(both.T, x, lower=True)
        x = substituted(both.T, x, lower=False, unit=True)
        for k, p in reversed([*enumerate(pivots)]):
            x[[k, p]] = x[[p, k]]
        return x
    for k, p in enumerate(pivots):
        x[[k, p]] = x[[p, k]]
    return substituted(both, substituted(both, x, lower=True, unit=True), lower=False)


@with_fast_numbers
def factor(a: Any) -> Any:
    """Return L of L @ L.T; NaN for a matrix that is not positive definite. Reads the lower
    triangle.
    """
    n = len(a)
    low = zeros(n, n)
    for k in range(n):
        left = a[k:, k] - (low[k:, :k] @ low[k, :k] if k else 0)
        if not left[0] > 0:
            return np.full((n, n), NAN, object)
        low[k:, k] = left / root(left[0])
    return low


def _cholesky(op: Any, a: Any) -> list[Any]:
    low = factor(a if op.lower else a.T)
    if op.on_error == "raise" and len(low) and low[0, 0] != low[0, 0]:
        raise NotKnown
    return [low if op.lower else low.T]


def half(a: Any) -> Any:
    """Return the lower triangle with half of the diagonal."""
    found, n = np.where(np.tri(len(a), dtype=bool), a, ZERO), np.arange(len(a))
    found[n, n] = found[n, n] / 2
    return found


def _cholesky_gradient(op: Any, low: Any, g: Any) -> list[Any]:
    inner = half(product(low.T, np.where(np.tri(len(g), dtype=bool), g, ZERO)))
    left = substituted(low.T, inner, lower=False)
    s = substituted(low.T, left.T, lower=False).T
    return [half(s + s.T)]


def _covariance_gradient(op: Any, low: Any, v: Any, a: Any, b: Any) -> list[Any]:
    back = substituted(low, identity(len(low)), lower=True)
    outer = product(v, v.T) if v.shape[1] else zeros(len(v), len(v))
    return [half(a.item() * outer + b.item() * product(back.T, back))]


def determinant(a: Any) -> Any:
    """Return the determinant of a square matrix."""
    both, pivots = eliminated(a)
    sign = (-1) ** sum(k != p for k, p in enumerate(pivots))
    return mp.fprod(both.diagonal()) * sign


def _det(op: Any, a: Any) -> list[Any]:
    return [np.array(determinant(a), object)]


def _slogdet(op: Any, a: Any) -> list[Any]:
    d = determinant(a)
    size = mp.log(abs(d)) if d else -INF
    return [np.array(mpf(mp.sign(d)), object), np.array(size, object)]


def _cofactors(op: Any, a: Any) -> list[Any]:
    return [determinant(a) * solution(a, identity(len(a))).T]


def _lu(op: Any, a: Any) -> list[Any]:
    both, pivots = eliminated(a)
    return [both, np.array(pivots, "int32")]


def _triangular(op: Any, a: Any, b: Any) -> list[Any]:
    turned = a.T if op.transpose else a
    return [substituted(turned, b, op.lower is not op.transpose, op.unit_diagonal)]


def _by_factors(op: Any, both: Any, pivots: Any, b: Any) -> list[Any]:
    return [_of_factors(both, [int(p) for p in pivots], b, op.transposed)]


def _factor(op: Any, a: Any) -> list[Any]:
    """Return the Cholesky factor of a positive definite matrix, with -1 as pivots, next to the
    other triangle of the matrix; else LU factors of the transpose.
    """
    low = factor(a) if (a == a.T).all() else np.full(a.shape, NAN, object)
    if len(a) and low[0, 0] == low[0, 0]:
        return [np.where(np.tri(len(a), dtype=bool), low, a), np.full(len(a), -1, "int32")]
    return _lu(op, a.T)


def _solved_by(both: Any, pivots: Any, b: Any, transposed: bool = False) -> Any:
    """Return x of a @ x = b, from the outputs of `Factor`."""
    if not len(pivots) or pivots[0] == -1:
        return substituted(both.T, substituted(both, b, lower=True), lower=False)
    return _of_factors(both, [int(p) for p in pivots], b, not transposed)


def _logdet_by(op: Any, both: Any, pivots: Any) -> list[Any]:
    definite = not len(pivots) or pivots[0] == -1
    swaps = 0 if definite else sum(k != p for k, p in enumerate(pivots))
    d = mp.fprod(both.diagonal()) * (-1) ** swaps
    size = mp.log(abs(d)) * (2 if definite else 1) if d else -INF
    return [np.array(mpf(mp.sign(d)), object), np.array(size, object)]


def eigenpairs(a: Any, lower: bool) -> tuple[Any, Any]:
    """Return the eigenvalues of a symmetric matrix, rising, and its eigenvectors as columns. Reads
    one triangle.
    """
    half = np.where(np.tri(len(a), dtype=bool), a if lower else a.T, ZERO)
    whole = half + np.where(np.tri(len(a), k=-1, dtype=bool), half, ZERO).T
    values, vectors = mp.eigsy(mp.matrix(whole.tolist()))
    order = sorted(range(len(a)), key=lambda i: values[i])
    columns = [[vectors[i, k] for k in order] for i in range(len(a))]
    return np.array([values[k] for k in order], object), np.array(columns, object)


def _tridiagonal(op: Any, a: Any, b: Any) -> list[Any]:
    n = np.arange(len(a))
    return [solution(np.where(abs(n[:, None] - n) <= 1, a, ZERO), b)]


def _exponential(op: Any, a: Any) -> list[Any]:
    if not all([abs(x) <= FAR_EXPONENT for x in a.ravel()]):
        raise NotKnown  # (of NaN it does not end)
    found = mp.expm(mp.matrix(a.tolist()))
    return [np.array(found.tolist(), object).reshape(a.shape)]


MATRIX: dict[type, Callable[..., list[Any]]] = {
    Cholesky: _cholesky,
    CholeskyGradient: _cholesky_gradient,
    CovarianceGradient: _covariance_gradient,
    Solve: lambda op, a, b: [solution(a, b)],
    SolveTriangular: _triangular,
    SolveTridiagonal: _tridiagonal,
    Expm: _exponential,
    MatrixInverse: lambda op, a: [solution(a, identity(len(a)))],
    Det: _det,
    SLogDet: _slogdet,
    Cofactors: _cofactors,
    LUFactor: _lu,
    SolveLUFactor: _by_factors,
    Factor: _factor,
    FactorSolve: lambda op, both, p, b: [_solved_by(both, p, b, op.transposed)],
    FactorInverse: lambda op, both, p: [_solved_by(both, p, identity(len(both)))],
    FactorSLogDet: _logdet_by,
}


def meaning_of(op: Any) -> Callable[..., list[Any]] | None:
    """Return the function of an op on single matrices, or None."""
    return next((MATRIX[cls] for cls in type(op).__mro__ if cls in MATRIX), None)


def matrix_values(op: Any, ranks: Sequence[int], arrays: Sequence[Any]) -> list[Any]:
    """Return the outputs of an op for arrays of matrices, along their batch. ranks: the number of
    dimensions of each input of one application. Raises `NotKnown`.
    """
    run = meaning_of(op)
    if run is None:
        raise NotKnown
    batch = np.broadcast_shapes(*[a.shape[: a.ndim - n] for a, n in zip(arrays, ranks)])
    if not batch:
        return run(op, *arrays)
    wide = [
        np.broadcast_to(a, (*batch, *a.shape[a.ndim - n :]))
        for a, n in zip(arrays, ranks, strict=True)
    ]
    rows = [run(op, *[a[index] for a in wide]) for index in np.ndindex(batch)]
    return stacked(rows, batch)


def stacked(rows: Sequence[Sequence[Any]], batch: tuple[int, ...]) -> list[Any]:
    """Return the outputs of a batch, from those of each of its elements. Raises `NotKnown` for an
    empty batch.
    """
    if not rows:
        raise NotKnown
    columns = zip(*rows, strict=True)
    return [np.reshape(np.stack(column), (*batch, *column[0].shape)) for column in columns]
