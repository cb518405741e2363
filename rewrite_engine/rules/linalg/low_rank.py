"""Diagonal matrices plus products of few columns: equations, inverses and determinants by those of
a matrix with as many rows as there are columns.

Sources: M. A. Woodbury, "Inverting modified matrices" (1950); for determinants the identity of
Sylvester. The smallest singular value of such a sum is at most the largest number of the diagonal
(H. Weyl), as there are fewer columns than rows. So digits are lost only if the numbers of the
diagonal differ much.
"""

from rewrite_engine.language import *
from rewrite_engine.rules.diagonals import as_column, as_row
from rewrite_engine.rules.linalg.solves import MANY_TIMES
from rewrite_engine.rules.updates import low_rank_update
from rewrite_engine.tensor import Diagonal, abs, diag, exp, log, lt, mul, prod, sign
from rewrite_engine.tensor import max as largest
from rewrite_engine.tensor import min as smallest
from rewrite_engine.tensor import sum as sum_of
from rewrite_engine.tensor.creation import Eye, eye
from rewrite_engine.tensor.flow.branches import ifelse
from rewrite_engine.tensor.linalg import Det, MatrixInverse, SLogDet, Solve

inverse, solve, determinant, of_logarithm = MatrixInverse(), Solve(), Det(), SLogDet()
#: the same, which rules leave as they are
INVERSE, SOLVE = MatrixInverse(as_written=True), Solve(as_written=True)
OF_LOGARITHM = SLogDet(as_written=True)
#: how small a number on the diagonal may be, as a share of the largest one (so many times the error
#: may grow)
LEAST_SHARE = 2.0**-12
updates = {"phase": "specialize", "claim": backward(2**14), "ends": at_most(MANY_TIMES)}


class Updated:
    """The matrix diag(d) + u @ v of a term. `small`: the matrix with as many rows as u has columns,
    1 + v @ diag(1 / d) @ u.
    """

    def __init__(self, whole):
        matrix, self.u, self.v = low_rank_update(whole).value
        self.whole, self.d = whole, Diagonal()(matrix)
        self.numbers = factors_of_eye(matrix)

    @property
    def small(self):
        """Matrix with as many rows as u has columns."""
        return eye(self.u.shape[1], dtype=self.u.type.dtype) + self.v @ self.divided(self.u)

    def solved(self, b):
        """Return the solution of the small equations."""
        return (solve if self.is_outer else SOLVE)(self.small, b)

    @property
    def logarithm(self):
        """Sign, and logarithm of the absolute value, of the small determinant."""
        return (of_logarithm if self.is_outer else OF_LOGARITHM)(self.small)

    @property
    def pivots(self):
        """Product of the diagonal."""
        return 1.0 if self.numbers == [] else prod(self.d)

    def divided(self, x):
        """Return the rows of a matrix divided by the diagonal."""
        return x / as_column(self.d)

    @property
    def is_outer(self):
        """Whether u is one column."""
        return self.u.type.broadcastable[1]

    def chosen(self, new, old):
        """Return the new term where it pays and keeps digits, else the old one. (One column always
        pays, if there are rows; digits are kept if the numbers of the diagonal are equal.)
        """
        if self.is_outer and self.numbers is not None:
            return new
        pays = lt(0 if self.is_outer else 2 * self.u.shape[1], self.u.shape[0])
        if self.numbers is not None:
            return ifelse(pays, new, old)
        size = abs(self.d)
        alike = lt(LEAST_SHARE * largest(size), smallest(size))
        return ifelse(ifelse(pays, alike, pays), new, old)


def factors_of_eye(x):
    """Return the numbers by which a unit matrix is multiplied; None for other matrices."""
    if isinstance(x.head, Eye):
        return []
    if x.head is not mul:
        return None
    numbers = [v for v in x.owner.inputs if all(v.type.broadcastable)]
    others = [v for v in x.owner.inputs if not all(v.type.broadcastable)]
    return numbers if len(others) == 1 and isinstance(others[0].head, Eye) else None


def may_be_low(a):
    """Return whether a matrix is not known to be empty."""
    return 0 not in a.type.shape


def solution(a, b):
    """Return the solution of equations with an update."""
    one = Updated(a)
    first = one.divided(b)
    new = first - one.divided(one.u) @ one.solved(one.v @ first)
    return one.chosen(new, SOLVE(a, b))


def inverted(a):
    """Return the inverse of an update."""
    one = Updated(a)
    new = diag(1 / one.d) - one.divided(one.u) @ one.solved(one.v / as_row(one.d))
    return one.chosen(new, INVERSE(a))


def sign_of(a):
    """Return the sign of the determinant of an update."""
    one = Updated(a)
    return one.chosen(prod(sign(one.d)) * one.logarithm[0], OF_LOGARITHM(a)[0])


def logdet_of(a):
    """Return the logarithm of the determinant of an update, in absolute value."""
    one = Updated(a)
    new = sum_of(log(abs(one.d))) + one.logarithm[1]
    return one.chosen(new, OF_LOGARITHM(a)[1])


@rule(**updates)
def solution_of_update(a: Matrix, b: Matrix):
    """Equations with a diagonal matrix and few columns are small.

    >>> d, u = vector("d", shape=(9,)), matrix("u", shape=(9, 2))
    >>> rewritten(linalg.solve(diag(d) + u @ u.T, matrix("b", shape=(9, 4))))
    ifelse(..., b / ExpandDims{axes=[1]}(d) - ..., Solve{as_written}(..., b))
    """
    return solve(a, b) >> compute(solution), given(may_be_low, low_rank_update(a))


@rule(**updates)
def inverse_of_update(a: Matrix):
    """The inverse of a diagonal matrix and few columns is made of small ones.

    >>> d, u = vector("d", shape=(9,)), matrix("u", shape=(9, 2))
    >>> rewritten(linalg.inv(diag(d) + u @ u.T))
    ifelse(..., ..., MatrixInverse{as_written}(...))
    """
    return inverse(a) >> compute(inverted), given(may_be_low, low_rank_update(a))


@rule(**updates)
def sign_of_update(a: Matrix):
    """The determinant of a diagonal matrix and few columns is made of small ones.

    >>> d, u = vector("d", shape=(9,)), matrix("u", shape=(9, 2))
    >>> rewritten(linalg.slogdet(diag(d) + u @ u.T)[0])
    ifelse(..., Prod(sign(d)) * SLogDet{as_written}(...).sign, SLogDet{as_written}(...).sign)
    """
    return of_logarithm(a)[0] >> compute(sign_of), given(may_be_low, low_rank_update(a))


@rule(**updates)
def logdet_of_update(a: Matrix):
    """The determinant of a diagonal matrix and few columns is made of small ones.

    >>> d, u = vector("d", shape=(9,)), matrix("u", shape=(9, 2))
    >>> rewritten(linalg.slogdet(diag(d) + u @ u.T)[1])
    ifelse(..., Sum(log(abs(d))) + SLogDet{as_written}(...).logabsdet, SLogDet{...}(...).logabsdet)
    """
    return of_logarithm(a)[1] >> compute(logdet_of), given(may_be_low, low_rank_update(a))


def determinant_of(a):
    """Return the determinant of an update: by logarithms, unless it is one of an outer product."""
    one, by_logarithm = Updated(a), of_logarithm(a)[0] * exp(of_logarithm(a)[1])
    if not one.is_outer:
        return by_logarithm
    number = 1.0 + one.v.squeeze(axis=0) @ one.divided(one.u).squeeze(axis=1)
    return one.chosen(one.pivots * number, by_logarithm)


@rule(**updates)
def determinant_of_update(a: Matrix):
    """The determinant of a diagonal matrix and few columns is made of small ones, by logarithms.

    >>> d, u, v = vector("d", shape=(9,)), matrix("u", shape=(9, 2)), vector("v", shape=(9,))
    >>> rewritten(linalg.det(diag(d) + u @ u.T))
    ifelse(...) * exp(ifelse(...))
    >>> rewritten(linalg.det(eye(9) + outer(v, v)))
    1.0 + v @ v
    """
    return determinant(a) >> compute(determinant_of), given(may_be_low, low_rank_update(a))
