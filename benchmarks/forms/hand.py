"""Programs that an expert writes by hand for the forms of linear algebra, over NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl
from scipy.linalg import lapack


def cho(a: Any) -> Any:
    """Return the Cholesky factor in the form that `cho_solve` takes."""
    return sl.cho_factor(a, lower=True, check_finite=False)


def lower_of(a: Any) -> Any:
    """Return the lower Cholesky factor."""
    return sl.cholesky(a, lower=True, check_finite=False)


def solve_pd(a: Any, b: Any) -> Any:
    """Return the solution of a positive definite system."""
    return sl.cho_solve(cho(a), b, check_finite=False)


def solve_low(low: Any, b: Any) -> Any:
    """Return the solution of a lower triangular system."""
    return sl.solve_triangular(low, b, lower=True, check_finite=False)


def cho_inverse(a: Any) -> Any:
    """Return the inverse of a positive definite matrix, by its Cholesky factor."""
    inverse = lapack.dpotri(cho(a)[0], lower=1)[0]
    return np.tril(inverse) + np.tril(inverse, -1).T


def half_log_det(a: Any) -> Any:
    """Return half of the log determinant of a positive definite matrix."""
    return np.log(np.diag(lower_of(a))).sum()


def quadratic(a: Any, b: Any) -> Any:
    """Return b @ inv(a) @ b for a positive definite a."""
    z = solve_low(lower_of(a), b)
    return z @ z


def quadratic_and_log_det(a: Any, b: Any) -> tuple[Any, Any]:
    """Return b @ inv(a) @ b and the log determinant of a, by one Cholesky factor."""
    low = lower_of(a)
    z = solve_low(low, b)
    return z @ z, 2 * np.log(np.diag(low)).sum()


def diagonal_plus_low_rank(d: Any, u: Any, b: Any) -> tuple[Any, Any]:
    """Return b @ inv(s) @ b and the log determinant of s = diag(d) + u @ u.T."""
    v = u / d[:, None]
    low = lower_of(np.eye(u.shape[1]) + u.T @ v)
    z = solve_low(low, v.T @ b)
    return (b * b / d).sum() - z @ z, np.log(d).sum() + 2 * np.log(np.diag(low)).sum()


def kron_solve(a: Any, b: Any, y: Any) -> Any:
    """Return inv(kron(a, b)) @ y for positive definite factors."""
    z = solve_pd(a, y.reshape(len(a), len(b)))
    return solve_pd(b, z.T).T.ravel()
