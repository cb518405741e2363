"""Floating-point operations of the algorithms of linear algebra, as functions of lengths.

Sources: G. Golub & C. Van Loan, "Matrix Computations", 4th edition (2013), for orthogonal
decompositions and eigenvalues; S. Blackford & J. Dongarra, "Installation guide for LAPACK", LAPACK
Working Note 41 (1999), for the others; N. Higham, "The scaling and squaring method for the matrix
exponential revisited" (2005). Leading terms, of real numbers; iterations count as on average.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any


def count(op: Any, lengths: Mapping[str, int]) -> int:
    """Return the operations of an op, by its class or the nearest base class that has a count; 0
    if none has. lengths: those of the names in the signature of the op.
    """
    rule = next((COUNTS[c.__name__] for c in type(op).__mro__ if c.__name__ in COUNTS), None)
    if rule is None:
        return 0
    known = {"n": lengths.get("m"), **lengths, "op": op}
    return round(rule(*[known[name] for name in signature(rule).parameters]))


def _lu(m: float, n: float) -> float:
    k = min(m, n)
    return 2 * m * n * k - (m + n) * k**2 + 2 * k**3 / 3


def _svd(m: float, n: float, op: Any) -> float:
    if op.full_matrices:
        return 4 * max(m, n) ** 2 * min(m, n) + 22 * min(m, n) ** 3
    return _singular(m, n)


def _pinv(m: float, n: float, op: Any) -> float:
    """Return the operations of a decomposition (of a Hermitian matrix: `eigh`) and of a product."""
    found = 9 * m**3 if op.hermitian else _singular(m, n)
    return found + 2 * m * n * min(m, n)


def _singular(m: float, n: float) -> float:
    """Return the operations of as many singular vectors as there are singular values, without or
    with a QR decomposition first (Golub & Van Loan, figure 8.6.1).
    """
    m, n = max(m, n), min(m, n)
    return min(14 * m * n**2 + 8 * n**3, 6 * m * n**2 + 20 * n**3)


def _lstsq(m: float, n: float, p: float) -> float:
    return _singular(m, n) + 2 * (m + n) * min(m, n) * p


def _qr(m: float, n: float, op: Any) -> float:
    """Return the operations for R (`geqrf`) and for the columns of Q that are kept (`orgqr`)."""
    k = min(m, n)
    return _reflected(m, n, k) + _reflected(m, m if op.complete else k, k)


def _reflected(m: float, n: float, k: float) -> float:
    """Return the operations of k reflections of m rows and n columns, each one shorter."""
    return 4 * m * n * k - 2 * (m + n) * k**2 + 4 * k**3 / 3


def _sylvester(m: float, n: float) -> float:
    """Return the operations of Bartels & Stewart: two Schur decompositions, four products, and the
    equations of two triangles.
    """
    return 25 * (m**3 + n**3) + 5 * m * n * (m + n)


def _riccati(m: float, n: float) -> float:
    """Return the operations of a QR decomposition that removes n unknowns from a pencil of 2m + n
    rows, of an ordered QZ decomposition of what is left, and of a solution with a part of it.
    """
    rows = 2 * m + n
    return 2 * rows * n**2 + 66 * (2 * m) ** 3 + 8 * m**3 / 3


#: name of a class: operations as a function of lengths in its signature, and of the op
COUNTS: dict[str, Callable[..., float]] = {
    # triangles and elimination
    "Cholesky": lambda m: m**3 / 3,
    "CholeskyGradient": lambda m: 2 * m**3,
    "CovarianceGradient": lambda m, n: 2 * m**3 / 3 + m**2 * n,
    "LUFactor": _lu,
    "PivotToPermutations": lambda m: m,
    "SolveTriangular": lambda m, n: m**2 * n,
    "SolveLUFactor": lambda m, n: 2 * m**2 * n,
    "Solve": lambda m, n: 2 * m**3 / 3 + 2 * m**2 * n,
    "MatrixInverse": lambda m: 2 * m**3,
    "Det": lambda m: 2 * m**3 / 3 + m,
    "SLogDet": lambda m: 2 * m**3 / 3 + 12 * m,  # (a logarithm counts as 10)
    "Cofactors": lambda m: 8 * m**3 / 3 + m**2,  # inverse and determinant
    "Factor": lambda m: 2 * m**3 / 3,  # (half of it for a definite matrix)
    "FactorSolve": lambda m, n: 2 * m**2 * n,
    "FactorInverse": lambda m: 4 * m**3 / 3,
    "FactorSLogDet": lambda m: 12 * m,
    "LUFactorTridiagonal": lambda m: 5 * m,
    "SolveLUFactorTridiagonal": lambda m, n: 7 * m * n,
    "SolveTridiagonal": lambda m, n: 5 * m + 7 * m * n,
    # orthogonal matrices
    "QR": _qr,
    "SVD": _svd,
    "MatrixPinv": _pinv,
    "Lstsq": _lstsq,
    # eigenvalues
    "Eigh": lambda m: 9 * m**3,
    "EighPair": lambda m: 14 * m**3,
    "Schur": lambda m: 25 * m**3,
    "Eig": lambda m: 79 * m**3 / 3,  # Schur decomposition, and vectors of a triangle
    "QZ": lambda m: 66 * m**3,
    # functions and equations of matrices
    "Expm": lambda m: 44 * m**3 / 3,  # six products and a solution, without squarings
    "SolveSylvester": _sylvester,
    "SolveDiscreteARE": _riccati,
}
