"""Determinants: logarithms of them do not overflow, and what is known of the matrix says how they
are computed.

Normal forms: `log`, `sign` and `abs` of a determinant are made of the outputs of `SLogDet`; the
determinants of products, inverses and Kronecker products are, too.
"""

from typing import Annotated

from rewrite_engine.errors import ShapeError
from rewrite_engine.facts import (
    lower_triangular,
    positive,
    positive_semidefinite,
    square,
    upper_triangular,
)
from rewrite_engine.language import *
from rewrite_engine.rules.diagonals import is_number, one_of, turn
from rewrite_engine.rules.linalg.solves import are_square, by_lengths, nonzero_or_error
from rewrite_engine.tensor import Diagonal, abs, cast, eq, exp, log, mul, neq, prod, sign
from rewrite_engine.tensor import sum as sum_of
from rewrite_engine.tensor.flow.raise_op import CheckAndRaise
from rewrite_engine.tensor.linalg import Cholesky, Det, MatrixInverse, SLogDet
from rewrite_engine.tensor.reduce import Prod, Sum

determinant, of_logarithm, inverse = Det(), SLogDet(), MatrixInverse()
square_or_error = CheckAndRaise(ShapeError, "the matrix is not square")
determinants = {"phase": "canonicalize", "claim": backward(16), "tags": ["before_gradients"]}


# --- logarithms -----------------------------------------------------------------------------------


@rule(phase="canonicalize", tags=["before_gradients"])
def log_of_determinant_of_semidefinite(a: Annotated[Float, Matrix]):
    """The determinant of a large matrix overflows or underflows; its logarithm does not.

    >>> rewritten(log(linalg.det(matrix("a") @ matrix("a").T + eye(3))))
    SLogDet(a @ Transpose{axes=[1, 0]}(a) + float64[3, 3]).logabsdet
    """
    return log(determinant(a)) >> of_logarithm(a)[1], given(positive_semidefinite(a))


@rule(phase="canonicalize", tags=["before_gradients"])
def log_of_determinant(a: Annotated[Float, Matrix]):
    """The determinant of a large matrix overflows or underflows; its logarithm does not. (That of
    the sign is 0, NaN or -inf.)

    >>> rewritten(log(linalg.det(matrix("a"))))
    log(SLogDet(a).sign) + SLogDet(a).logabsdet
    """
    return log(determinant(a)) >> log(of_logarithm(a)[0]) + of_logarithm(a)[1]


@rule(phase="canonicalize", tags=["before_gradients"])
def log_of_size_of_determinant(a: Matrix):
    """The determinant of a large matrix overflows or underflows; its logarithm does not.

    >>> rewritten(log(abs(linalg.det(matrix("a")))))
    SLogDet(a).logabsdet
    """
    return log(abs(determinant(a))) >> of_logarithm(a)[1]


@rule(phase="canonicalize", tags=["before_gradients"])
def sign_of_determinant(a: Matrix):
    """The determinant of a large matrix may underflow to 0; its sign does not.

    >>> rewritten(sign(linalg.det(matrix("a"))))
    SLogDet(a).sign
    """
    return sign(determinant(a)) >> of_logarithm(a)[0]


# --- what is known of the matrix ------------------------------------------------------------------


@fact(depth=2)
def triangular(a):
    """A matrix with zeros above or below its main diagonal, if it is finite."""
    return lower_triangular(a) or upper_triangular(a)


def with_inverse(value, of_sign):
    """Return a value; an error if the sign of a determinant is 0: the matrix has no inverse."""
    return nonzero_or_error(value, neq(of_sign, 0))


def as_number(c):
    """Return a single number without dimensions."""
    return c.dimshuffle()


OUTPUTS = table(
    "slogdet",
    ("sign_of_transpose", lambda a: of_logarithm(turn(a))[0] >> of_logarithm(a)[0],
     backward(16), "A matrix and its transpose have one determinant.",
     "linalg.slogdet(matrix('a').T)[0] -> SLogDet(a).sign"),
    ("logdet_of_transpose", lambda a: of_logarithm(turn(a))[1] >> of_logarithm(a)[1],
     backward(16), "A matrix and its transpose have one determinant.",
     "linalg.slogdet(matrix('a').T)[1] -> SLogDet(a).logabsdet"),
    ("sign_of_inverse", lambda a: of_logarithm(inverse(a))[0] >> compute(
        lambda a: with_inverse(of_logarithm(a)[0], of_logarithm(a)[0])),
     backward(16), "The determinant of an inverse is the inverse of the determinant.",
     "linalg.slogdet(linalg.inv(matrix('a')))[0] -> CheckAndRaise{...}(...)"),
    ("logdet_of_inverse", lambda a: of_logarithm(inverse(a))[1] >> compute(
        lambda a: with_inverse(-of_logarithm(a)[1], of_logarithm(a)[0])),
     backward(16), "The determinant of an inverse is the inverse of the determinant.",
     "linalg.slogdet(linalg.inv(matrix('a')))[1] -> CheckAndRaise{...}(...)"),
    phase="canonicalize",
    tags=["before_gradients"],
    a=Matrix,
)  # fmt: skip


@rule(**determinants)
def determinant_of_transpose(a: Matrix):
    """A matrix and its transpose have one determinant.

    >>> rewritten(linalg.det(matrix("a").T))
    Det(a)
    """
    return determinant(turn(a)) >> determinant(a)


def checked_square(value, a):
    """Return a value of a matrix; an error if the matrix turns out not to be square."""
    return value if square(a) else square_or_error(value, eq(a.shape[0], a.shape[1]))


@rule(**determinants)
def determinant_of_triangle(a: Matrix):
    """The determinant of a triangle is the product of its diagonal.

    >>> rewritten(linalg.det(diag(vector("u"))))
    Prod(u)
    """
    return determinant(a) >> compute(lambda a: checked_square(prod(Diagonal()(a)), a)), given(
        triangular(a)
    )


@rule(**determinants)
def sign_of_triangle(a: Matrix):
    """The determinant of a triangle is the product of its diagonal.

    >>> rewritten(linalg.slogdet(diag(vector("u")))[0])
    Prod(sign(u))
    """
    return of_logarithm(a)[0] >> compute(
        lambda a: checked_square(prod(sign(Diagonal()(a))), a)
    ), given(triangular(a))


@rule(**determinants)
def logdet_of_triangle(a: Matrix):
    """The determinant of a triangle is the product of its diagonal.

    >>> rewritten(linalg.slogdet(diag(vector("u")))[1])
    Sum(log(abs(u)))
    """
    return of_logarithm(a)[1] >> compute(
        lambda a: checked_square(sum_of(log(abs(Diagonal()(a)))), a)
    ), given(triangular(a))


def product_of_both(a, b, i, combined):
    """Return an output of `SLogDet` of a product, combined of those of the factors if these are
    square; there may be no determinant of them otherwise.
    """
    new = combined(of_logarithm(a)[i], of_logarithm(b)[i])
    return by_lengths(are_square([a]), new, SLogDet(as_written=True)(a @ b)[i])


@rule(phase="specialize", claim=backward(16))
def sign_of_product(a: Matrix, b: Matrix):
    """The determinant of a product of square matrices is the product of the determinants.

    >>> low = linalg.cholesky(matrix("k"))
    >>> rewritten(linalg.slogdet(low @ matrix("b"))[0])
    Prod(sign(Diagonal(...))) * SLogDet(b).sign
    """
    return of_logarithm(a @ b)[0] >> compute(
        lambda a, b: product_of_both(a, b, 0, lambda x, y: x * y)
    )


@rule(phase="specialize", claim=backward(16))
def logdet_of_product(a: Matrix, b: Matrix):
    """The determinant of a product of square matrices is the product of the determinants.

    >>> low = linalg.cholesky(matrix("k"))
    >>> rewritten(linalg.slogdet(low @ matrix("b"))[1])
    Sum(log(Diagonal(...))) + SLogDet(b).logabsdet
    """
    return of_logarithm(a @ b)[1] >> compute(
        lambda a, b: product_of_both(a, b, 1, lambda x, y: x + y)
    )


@rule(phase="specialize", claim=backward(16))
def determinant_of_product(a: Matrix, b: Matrix):
    """The determinant of a product of square matrices needs no product. (By logarithms, as one of
    the determinants may overflow.)

    >>> rewritten(linalg.det(linalg.cholesky(matrix("k")) @ matrix("b")))
    Prod(sign(Diagonal(...))) * SLogDet(b).sign * exp(Sum(log(Diagonal(...))) + ...)
    """
    found = of_logarithm(a @ b)
    return determinant(a @ b) >> found[0] * exp(found[1])


@rule(**determinants)
def determinant_of_inverse(a: Matrix):
    """The determinant of an inverse is the inverse of the determinant.

    >>> rewritten(linalg.det(linalg.inv(matrix("a"))))
    CheckAndRaise{...}(SLogDet(a).sign * exp(-SLogDet(a).logabsdet), SLogDet(a).sign != 0.0)
    """
    return determinant(inverse(a)) >> compute(
        lambda a: with_inverse(of_logarithm(a)[0] * exp(-of_logarithm(a)[1]), of_logarithm(a)[0])
    )


# --- multiples ------------------------------------------------------------------------------------


def sign_without(c, rest):
    """Return the sign of the determinant of a number times a matrix, the product of `rest`."""
    a = one_of(rest)
    rows = cast(a.shape[0], a.type.dtype)
    return cast(sign(as_number(c)) ** rows, a.type.dtype) * of_logarithm(a)[0]


def logdet_without(c, rest):
    """Return the logarithm of the determinant of a number times a matrix, the product of `rest`."""
    a = one_of(rest)
    return cast(a.shape[0], a.type.dtype) * log(abs(as_number(c))) + of_logarithm(a)[1]


@rule(**determinants)
def sign_of_multiple(c: is_number, rest: Rest):
    """A number is a factor of each row.

    >>> rewritten(linalg.slogdet(2 * matrix("a"))[0])
    SLogDet(a).sign
    """
    return of_logarithm(mul(c, *rest))[0] >> compute(sign_without)


@rule(**determinants)
def logdet_of_multiple(c: is_number, rest: Rest):
    """A number is a factor of each row.

    >>> rewritten(linalg.slogdet(2 * matrix("a"))[1])
    cast{float64}(Shape_i{i=0}(a)) * 0.6931471805599453 + SLogDet(a).logabsdet
    """
    return of_logarithm(mul(c, *rest))[1] >> compute(logdet_without)


# --- factors --------------------------------------------------------------------------------------


@positive.case(Diagonal)
def diagonal_of_factor(x):
    """Prove that the diagonal of a Cholesky factor is positive."""
    (a,) = x.owner.inputs
    if isinstance(a.head, Cholesky) and x.head.offset == 0:
        return because("the diagonal of a Cholesky factor")
    return None


@rule(phase="canonicalize", claim=backward(16), tags=["before_gradients"])
def log_of_product_of_elements(x: Annotated[Float, Vector]):
    """A product of many numbers overflows or underflows; the sum of their logarithms does not.

    >>> rewritten(log(prod(Diagonal()(linalg.cholesky(matrix("k"))))))
    Sum(log(Diagonal(Cholesky{lower=True, on_error='nan'}(k))))
    """
    return log(Prod()(x)) >> Sum()(log(x)), given(positive(x))


@rule(phase="canonicalize", claim=backward(16), tags=["before_gradients"])
def log_of_size_of_product_of_elements(x: Annotated[Float, Vector]):
    """A product of many numbers overflows or underflows; the sum of their logarithms does not.

    >>> rewritten(log(abs(prod(vector("x")))))
    Sum(log(abs(x)))
    """
    return log(abs(Prod()(x))) >> Sum()(log(abs(x)))
