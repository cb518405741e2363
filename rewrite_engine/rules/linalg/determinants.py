"""Determinants: logarithms of them do not overflow, and what is known of the matrix says how they
are computed.

Normal forms: `log`, `sign` and `abs` of a determinant are made of the outputs of `SLogDet`; the
determinants of products, inverses and Kronecker products are, too.
"""

from typing import Annotated

import numpy as np

from rewrite_engine.errors import ShapeError
from rewrite_engine.facts import (
    lower_triangular,
    positive,
    positive_semidefinite,
    square,
    upper_triangular,
)
from rewrite_engine.facts.zeros import is_zero
from rewrite_engine.language import *
from rewrite_engine.rules.diagonals import is_number, one_of, turn
from rewrite_engine.rules.linalg.solves import (
    MANY_TIMES,
    are_square,
    both_may_be_square,
    by_lengths,
    fit,
    late,
    meeting,
    squares_of_floats,
)
from rewrite_engine.rules.powers.known_logs import KNOWN, Log
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.tensor import (
    Diagonal,
    abs,
    cast,
    eq,
    exp,
    join,
    log,
    mul,
    prod,
    sign,
    switch,
)
from rewrite_engine.tensor import sum as sum_of
from rewrite_engine.tensor.flow.raise_op import CheckAndRaise
from rewrite_engine.tensor.linalg import Cholesky, Det, MatrixInverse, SLogDet
from rewrite_engine.tensor.reduce import Prod, Sum

determinant, of_logarithm, inverse = Det(), SLogDet(), MatrixInverse()
square_or_error = CheckAndRaise(ShapeError, "the matrix is not square")
determinants = {
    "phase": "canonicalize",
    "claim": backward(64),
    "tags": ["before_gradients"],
    "overlaps": "a determinant is made of the same determinants in either order",
    "ends": at_most(MANY_TIMES),
}


# --- logarithms -----------------------------------------------------------------------------------


@rule(**determinants)
def log_of_determinant_of_semidefinite(a: Annotated[Float, Matrix]):
    """The determinant of a large matrix overflows or underflows; its logarithm does not.

    >>> a = matrix("a", shape=(3, 5))
    >>> rewritten(log(linalg.det(a @ a.T)))
    SLogDet(a @ Transpose{axes=[1, 0]}(a)).logabsdet
    """
    return log(determinant(a)) >> of_logarithm(a)[1], given(positive_semidefinite(a))


@rule(**determinants)
def log_of_determinant(a: Annotated[Float, Matrix]):
    """The determinant of a large matrix overflows or underflows; its logarithm does not. (That of
    the sign is 0, NaN or -inf.)

    >>> rewritten(log(linalg.det(matrix("a"))))
    log(SLogDet(a).sign) + SLogDet(a).logabsdet
    """
    return log(determinant(a)) >> log(of_logarithm(a)[0]) + of_logarithm(a)[1]


@rule(**determinants)
def log_of_size_of_determinant(a: Matrix):
    """The determinant of a large matrix overflows or underflows; its logarithm does not.

    >>> rewritten(log(abs(linalg.det(matrix("a")))))
    SLogDet(a).logabsdet
    """
    return log(abs(determinant(a))) >> of_logarithm(a)[1]


@rule(**determinants)
def sign_of_determinant(a: Matrix):
    """The determinant of a large matrix may underflow to 0; its sign does not.

    >>> rewritten(sign(linalg.det(matrix("a"))))
    SLogDet(a).sign
    """
    return sign(determinant(a)) >> of_logarithm(a)[0]


def log_of_a_determinant(a):
    """Return the logarithm of a determinant, for products of determinants and other terms."""
    found = Log(lambda: of_logarithm(a)[1], True, True, strict=False)
    if positive_semidefinite(a):
        return found
    return found._replace(certain=False, sign=lambda: of_logarithm(a)[0])


KNOWN[determinant] = log_of_a_determinant


# --- what is known of the matrix ------------------------------------------------------------------


@fact(depth=2)
def triangular(a):
    """A matrix with zeros above or below its main diagonal, if it is finite."""
    return lower_triangular(a) or upper_triangular(a)


def as_number(c):
    """Return a single number without dimensions."""
    return c.dimshuffle()


OF_TRANSPOSES = table(
    "determinants_of_transposes",
    ("determinant_of_transpose", lambda a: determinant(turn(a)) >> determinant(a),
     backward(64), "A matrix and its transpose have one determinant.",
     "linalg.det(matrix('a').T) -> Det(a)"),
    ("sign_of_transpose", lambda a: of_logarithm(turn(a))[0] >> of_logarithm(a)[0],
     backward(64), "A matrix and its transpose have one determinant.",
     "linalg.slogdet(matrix('a').T)[0] -> SLogDet(a).sign"),
    ("logdet_of_transpose", lambda a: of_logarithm(turn(a))[1] >> of_logarithm(a)[1],
     backward(64), "A matrix and its transpose have one determinant.",
     "linalg.slogdet(matrix('a').T)[1] -> SLogDet(a).logabsdet"),
    phase="canonicalize",
    tags=["before_gradients"],
    overlaps=meeting(
        "dot/transpose_of_dot", "structure/transpose_of_kron", "structure/transpose_of_blocks"
    )["overlaps"],
    a=Matrix,
)  # fmt: skip


def checked_square(value, a):
    """Return a value of a matrix; an error if the matrix turns out not to be square."""
    return value if square(a) else square_or_error(value, eq(a.shape[0], a.shape[1]))


@rule(**determinants)
def determinant_of_triangle(a: Annotated[Inexact, Matrix]):
    """The determinant of a triangle is the product of its diagonal.

    >>> rewritten(linalg.det(diag(vector("u"))))
    Prod(u)
    """
    return determinant(a) >> compute(lambda a: checked_square(prod(Diagonal()(a)), a)), given(
        triangular(a)
    )


@rule(**determinants)
def sign_of_triangle(a: Annotated[Inexact, Matrix]):
    """The determinant of a triangle is the product of its diagonal.

    >>> rewritten(linalg.slogdet(diag(vector("u")))[0])
    Prod(sign(u))
    """
    return of_logarithm(a)[0] >> compute(
        lambda a: checked_square(prod(sign(Diagonal()(a))), a)
    ), given(triangular(a))


@rule(**determinants)
def logdet_of_triangle(a: Annotated[Inexact, Matrix]):
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
    return by_lengths([*are_square([a]), *fit(a, b)], new, SLogDet(as_written=True)(a @ b)[i])


@rule(**late)
def sign_of_product(a: Matrix, b: Matrix):
    """The determinant of a product of square matrices is the product of the determinants.

    >>> k, b = [matrix(name, shape=(3, 3)) for name in "kb"]
    >>> rewritten(linalg.slogdet(linalg.cholesky(k) @ b)[0])
    Prod(sign(Diagonal(...))) * SLogDet(b).sign
    """
    return of_logarithm(a @ b)[0] >> compute(
        lambda a, b: product_of_both(a, b, 0, lambda x, y: x * y)
    ), given(both_may_be_square)


@rule(**late)
def logdet_of_product(a: Matrix, b: Matrix):
    """The determinant of a product of square matrices is the product of the determinants.

    >>> k, b = [matrix(name, shape=(3, 3)) for name in "kb"]
    >>> rewritten(linalg.slogdet(linalg.cholesky(k) @ b)[1])
    Sum(log(Diagonal(...))) + SLogDet(b).logabsdet
    """
    return of_logarithm(a @ b)[1] >> compute(
        lambda a, b: product_of_both(a, b, 1, lambda x, y: x + y)
    ), given(both_may_be_square)


@rule(**late)
def determinant_of_product(a: Matrix, b: Matrix):
    """The determinant of a product of square matrices needs no product. (By logarithms, as one of
    the determinants may overflow.)

    >>> k, b = [matrix(name, shape=(3, 3)) for name in "kb"]
    >>> rewritten(linalg.det(linalg.cholesky(k) @ b))
    Prod(sign(Diagonal(...))) * SLogDet(b).sign * exp(Sum(log(Diagonal(...))) + ...)
    """
    found = of_logarithm(a @ b)
    return determinant(a @ b) >> found[0] * exp(found[1]), given(both_may_be_square)


def with_blocks(i, combined):
    """Return a function of the diagonal blocks of a block triangle, and of the others: an output of
    `SLogDet`, combined of those of the diagonal blocks if they are square. A NaN in the other block
    is kept.
    """

    def of_blocks(a, b, c, d):
        old = SLogDet(as_written=True)(join(0, join(1, a, b), join(1, c, d)))[i]
        new = combined(of_logarithm(a)[i], of_logarithm(d)[i])
        for other in (b, c):
            new = new if is_zero(other) else new + abs(sum_of(0 * other))
        return by_lengths(are_square([a, d]), new, old)

    return of_blocks


def is_block_triangle(a, b, c, d):
    """Return whether a block off the diagonal is 0."""
    return squares_of_floats([a, d]) and c.type.dtype == a.type.dtype and (is_zero(b) or is_zero(c))


@rule(**late)
def sign_of_block_triangle(a: Matrix, b: Matrix, c: Matrix, d: Matrix):
    """The determinant of a block triangle is that of its diagonal blocks.

    >>> a, b, c, d = [matrix(name, shape=(3, 3)) for name in "abcd"]
    >>> whole = join(0, join(1, a, zeros_like(b)), join(1, c, d))
    >>> rewritten(linalg.slogdet(whole)[0])
    SLogDet(a).sign * SLogDet(d).sign + abs(Sum(0.0 * c))
    """
    whole = join(0, join(1, a, b), join(1, c, d))
    return of_logarithm(whole)[0] >> compute(with_blocks(0, lambda x, y: x * y)), given(
        is_block_triangle
    )


@rule(**late)
def logdet_of_block_triangle(a: Matrix, b: Matrix, c: Matrix, d: Matrix):
    """The determinant of a block triangle is that of its diagonal blocks.

    >>> a, b, c, d = [matrix(name, shape=(3, 3)) for name in "abcd"]
    >>> whole = join(0, join(1, a, zeros_like(b)), join(1, c, d))
    >>> rewritten(linalg.slogdet(whole)[1])
    SLogDet(a).logabsdet + SLogDet(d).logabsdet + abs(Sum(0.0 * c))
    """
    whole = join(0, join(1, a, b), join(1, c, d))
    return of_logarithm(whole)[1] >> compute(with_blocks(1, lambda x, y: x + y)), given(
        is_block_triangle
    )


# --- multiples ------------------------------------------------------------------------------------


def has_dtype_of_rest(c, rest):
    """Return whether a product has the dtype of its factors without a number, and this is one of
    floats or complex numbers.
    """
    dtypes = {x.type.dtype for x in rest}
    (dtype, *others) = dtypes
    known = not others and rest[0].type.kind in "fc"
    return known and promote(c.type.dtype, dtype) == dtype


def times_length(n, x):
    """Return a length times a number; 0 for a length of 0, also if the number is not finite."""
    found = cast(n, x.type.dtype) * x
    return found if n.head is CONSTANT and n.number > 0 else switch(eq(n, 0), 0, found)


def sign_without(c, rest):
    """Return the sign of the determinant of a number times a matrix, the product of `rest`."""
    a = one_of(rest)
    of_matrix = of_logarithm(a)[0]
    if c.head is CONSTANT and c.type.kind != "c" and (c.data > 0).all():
        return of_matrix
    rows = cast(a.shape[0], a.type.dtype)
    return cast(sign(as_number(c)), a.type.dtype) ** rows * of_matrix


def logdet_without(c, rest):
    """Return the logarithm of the determinant of a number times a matrix, the product of `rest`."""
    a = one_of(rest)
    of_matrix = of_logarithm(a)[1]
    size = cast(log(abs(as_number(c))), of_matrix.type.dtype)
    if c.head is CONSTANT and np.isfinite(c.data).all() and c.data.all():
        return cast(a.shape[0], size.type.dtype) * size + of_matrix
    return times_length(a.shape[0], size) + of_matrix


@rule(**determinants)
def sign_of_multiple(c: is_number, rest: Rest):
    """A number is a factor of each row.

    >>> rewritten(linalg.slogdet(2 * matrix("a"))[0])
    SLogDet(a).sign
    """
    return of_logarithm(mul(c, *rest))[0] >> compute(sign_without), given(has_dtype_of_rest)


@rule(**determinants)
def logdet_of_multiple(c: is_number, rest: Rest):
    """A number is a factor of each row.

    >>> rewritten(linalg.slogdet(2 * matrix("a"))[1])
    Cast{float64}(Shape_i{i=0}(a)) * 0.6931471805599453 + SLogDet(a).logabsdet
    """
    return of_logarithm(mul(c, *rest))[1] >> compute(logdet_without), given(has_dtype_of_rest)


# --- factors --------------------------------------------------------------------------------------


@positive.case(Diagonal)
def diagonal_of_factor(x):
    """Prove that the diagonal of a Cholesky factor is positive."""
    (a,) = x.owner.inputs
    if isinstance(a.head, Cholesky) and x.head.offset == 0:
        return because("the diagonal of a Cholesky factor")
    return None


@rule(**determinants)
def log_of_product_of_elements(x: Annotated[Float, Vector]):
    """A product of many numbers overflows or underflows; the sum of their logarithms does not.

    >>> rewritten(log(prod(Diagonal()(linalg.cholesky(matrix("k"))))))
    Sum(log(Diagonal(Cholesky{lower=True, on_error='nan'}(k))))
    """
    return log(Prod()(x)) >> Sum()(log(x)), given(positive(x))


@rule(**determinants)
def log_of_size_of_product_of_elements(x: Annotated[Float, Vector]):
    """A product of many numbers overflows or underflows; the sum of their logarithms does not.

    >>> rewritten(log(abs(prod(vector("x")))))
    Sum(log(abs(x)))
    """
    return log(abs(Prod()(x))) >> Sum()(log(abs(x)))
