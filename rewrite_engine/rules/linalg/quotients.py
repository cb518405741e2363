"""Quotients: inverses of inverses and of solutions, and their determinants; the same of matrix
exponentials. Where an inverse goes, a check that there was one stays: a fifth of its work.
"""

from typing import Annotated

import numpy as np

from rewrite_engine.facts import positive_definite
from rewrite_engine.language import *
from rewrite_engine.rules.linalg.determinants import checked_square, determinants
from rewrite_engine.rules.linalg.solves import are_square, by_lengths, equations, fit, with_inverse
from rewrite_engine.tensor import Diagonal, as_tensor, exp
from rewrite_engine.tensor import sum as sum_of
from rewrite_engine.tensor.linalg import Det, Expm, MatrixInverse, SLogDet, Solve

determinant, of_logarithm = Det(), SLogDet()
inverse, solve, exponential = MatrixInverse(), Solve(), Expm()
InexactMatrix = Annotated[Inexact, Matrix]
FloatMatrix = Annotated[Float, Matrix]


# --- inverses and solutions -----------------------------------------------------------------------


@rule(**equations)
def inverse_of_inverse(a: InexactMatrix):
    """One inverse undoes another, if there is one.

    >>> rewritten(linalg.inv(linalg.inv(matrix("a"))))
    CheckAndRaise{...}(a, SLogDet(a).sign != 0.0)
    """
    return inverse(inverse(a)) >> compute(lambda a: with_inverse(a, a))


@rule(**equations)
def solution_with_inverse(a: InexactMatrix, b: Matrix):
    """Equations with an inverse are a product, if there is one.

    >>> k = linalg.qr(matrix("a"), mode="complete")[0]
    >>> rewritten(linalg.solve(linalg.inv(k), matrix("b")))
    QR{complete=True, pivoting=False}(a).Q @ b
    """
    return solve(inverse(a), b) >> compute(lambda a, b: with_inverse(a @ b, a))


@rule(**equations)
def inverse_of_solution(a: InexactMatrix, b: Matrix):
    """The inverse of a quotient is the quotient of the other order, if there is one.

    >>> a, b = matrices("a b")
    >>> rewritten(linalg.inv(linalg.inv(a @ a.T + eye(3)) @ b))
    Solve(b, ...)
    """
    return inverse(solve(a, b)) >> compute(lambda a, b: with_inverse(solve(b, a), a))


# --- determinants ---------------------------------------------------------------------------------


@rule(**determinants)
def sign_of_inverse(a: FloatMatrix):
    """The determinant of an inverse is the inverse of the determinant.

    >>> rewritten(linalg.slogdet(linalg.inv(matrix("a")))[0])
    CheckAndRaise{...}(SLogDet(a).sign, SLogDet(a).sign != 0.0)
    """
    return of_logarithm(inverse(a))[0] >> compute(lambda a: with_inverse(of_logarithm(a)[0], a))


@rule(**determinants)
def logdet_of_inverse(a: Matrix):
    """The determinant of an inverse is the inverse of the determinant.

    >>> rewritten(linalg.slogdet(linalg.inv(matrix("a")))[1])
    CheckAndRaise{...}(-SLogDet(a).logabsdet, SLogDet(a).sign != 0.0)
    """
    return of_logarithm(inverse(a))[1] >> compute(lambda a: with_inverse(-of_logarithm(a)[1], a))


def reciprocal_determinant(a):
    """Return the reciprocal of a determinant; an error if it may be 0, and is."""
    size = exp(-of_logarithm(a)[1])
    return with_inverse(size if positive_definite(a) else of_logarithm(a)[0] * size, a)


@rule(**{**determinants, "tags": ["values_only"]})
def determinant_of_inverse(a: FloatMatrix):
    """The determinant of an inverse is the inverse of the determinant.

    >>> rewritten(linalg.det(linalg.inv(matrix("a"))))
    CheckAndRaise{...}(SLogDet(a).sign * exp(-SLogDet(a).logabsdet), SLogDet(a).sign != 0.0)
    """
    return determinant(inverse(a)) >> compute(reciprocal_determinant)


def of_both(a, b, i, combined):
    """Return an output of `SLogDet` of a solution, combined of those of both matrices if the right
    side is a square of the same size; there is no determinant otherwise.
    """
    new = with_inverse(combined(of_logarithm(a)[i], of_logarithm(b)[i]), a)
    return by_lengths([*are_square([b]), *fit(a, b)], new, SLogDet(as_written=True)(solve(a, b))[i])


@rule(**determinants)
def sign_of_solution(a: FloatMatrix, b: FloatMatrix):
    """The determinant of a quotient is the quotient of the determinants.

    >>> a, b = [matrix(name, shape=(3, 3)) for name in "ab"]
    >>> rewritten(linalg.slogdet(linalg.solve(a @ a.T + eye(3), b))[0])
    SLogDet{...}(...).sign * SLogDet(b).sign
    """
    return of_logarithm(solve(a, b))[0] >> compute(
        lambda a, b: of_both(a, b, 0, lambda x, y: x * y)
    )


@rule(**determinants)
def logdet_of_solution(a: InexactMatrix, b: InexactMatrix):
    """The determinant of a quotient is the quotient of the determinants.

    >>> a, b = [matrix(name, shape=(3, 3)) for name in "ab"]
    >>> rewritten(linalg.slogdet(linalg.inv(a @ a.T + eye(3)) @ b)[1])
    SLogDet(b).logabsdet - SLogDet{...}(...).logabsdet
    """
    return of_logarithm(solve(a, b))[1] >> compute(
        lambda a, b: of_both(a, b, 1, lambda x, y: y - x)
    )


# --- exponentials ---------------------------------------------------------------------------------


def trace_of(a):
    """Return the sum of the diagonal of a square matrix."""
    return checked_square(sum_of(Diagonal()(a)), a)


@rule(**determinants)
def logdet_of_exponential(a: FloatMatrix):
    """The determinant of an exponential is that of the trace (Jacobi's formula).

    >>> rewritten(linalg.slogdet(linalg.expm(matrix("a", shape=(3, 3))))[1])
    Sum(Diagonal(a))
    """
    return of_logarithm(exponential(a))[1] >> compute(trace_of)


@rule(**determinants)
def sign_of_exponential(a: FloatMatrix):
    """The determinant of an exponential is positive.

    >>> rewritten(log(linalg.det(linalg.expm(matrix("a", shape=(3, 3))))))
    Sum(Diagonal(a))
    """
    one = compute(lambda a: checked_square(as_tensor(np.ones((), a.type.dtype)), a))
    return of_logarithm(exponential(a))[0] >> one
