"""Products of matrices and vectors."""

from typing import Annotated

from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.tensor import DimShuffle, Sum, dot, expand_dims, neg, sqr
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.op import Odd


@rule(phase="canonicalize", claim=backward(4))
def transpose_of_dot(a: Matrix, b: Matrix):
    """A transpose of the factors costs nothing; a transpose of the product slows down later ops.

    >>> a, b = matrices("a b")
    >>> rewritten(dot(a, b).T)
    Transpose{axes=[1, 0]}(b) @ Transpose{axes=[1, 0]}(a)
    """
    turn = DimShuffle(2, (1, 0))
    return turn(dot(a, b)) >> dot(turn(b), turn(a))


@rule(
    phase="canonicalize",
    overlaps={"dot/negative_matrix_times_vector": "the other sign is moved next, and both cancel"},
)
def dot_of_negs(a: Inexact, b: Inexact):
    """Two signs in a matrix product cancel each other.

    >>> a, b = matrices("a b")
    >>> rewritten(dot(-a, -b))
    a @ b
    """
    return dot(-a, -b) >> dot(a, b)


@rule(phase="canonicalize")
def negative_matrix_times_vector(a: Annotated[Inexact, Matrix], b: Vector):
    """The sign of the result changes instead of that of a matrix.

    >>> rewritten(-matrix("a") @ vector("b"))
    -(a @ b)
    """
    return dot(-a, b) >> -dot(a, b)


@rule(phase="canonicalize")
def vector_times_negative_matrix(b: Vector, a: Annotated[Inexact, Matrix]):
    """The sign of the result changes instead of that of a matrix.

    >>> rewritten(vector("b") @ -matrix("a"))
    -(b @ a)
    """
    return dot(b, -a) >> -dot(b, a)


def in_double(x):
    """Return whether sums of such numbers have the same precision."""
    return x.type.dtype == "float64"


@rule(phase="specialize", claim=approx(ulps=8), tags=["reorder"])
def sum_of_squares(x: Vector):
    """One call of a dot product replaces two passes and an array of squares. (No part of a sum of
    squares exceeds the whole, in any order.)

    >>> x = vector("x")
    >>> rewritten(sqr(x - 1).sum()), rewritten((fvector("x") ** 2).sum())
    ((x - 1.0) @ (x - 1.0), Sum(sqr(x)))
    """
    return Sum()(sqr(x)) >> dot(x, x), given(in_double)


def lies_in_memory(x):
    """Return whether an array of several dimensions is computed before a sum of its squares."""
    return x.type.ndim > 1 and not isinstance(x.head, Elemwise | DimShuffle)


def squares_added(x):
    """Return the sum of the squares of all elements."""
    flat = x.flatten()
    return dot(flat, flat)


@rule(phase="specialize", claim=approx(ulps=8), tags=["reorder"], ends=at_most(1))
def sum_of_squares_of_array(x: Float):
    """One call of a dot product replaces two passes and an array of squares.

    >>> x = matrix("x")
    >>> rewritten(sqr(x).sum()), rewritten(sqr(exp(x)).sum())
    (Reshape{-1}(x) @ Reshape{-1}(x), Sum(sqr(exp(x))))
    """
    return Sum()(sqr(x)) >> compute(squares_added), given(in_double, lies_in_memory)


@rule(phase="specialize")
def minus_dot_of_neg(a, b: Inexact, c: Inexact):
    """The sign in a product cancels with the sign of a difference.

    >>> a, b, c = matrices("a b c")
    >>> rewritten(a - dot(-b, c))
    a + b @ c
    """
    return a - dot(-b, c) >> a + dot(b, c)


@rule(phase="specialize", overlaps="either order leaves at most one sign")
def neg_of_dot_of_neg(a: Inexact, b: Inexact):
    """The sign of a factor cancels with the sign of the product.

    >>> a, b = matrices("a b")
    >>> rewritten(-dot(-a, b))
    a @ b
    """
    return -dot(-a, b) >> dot(a, b)


def has_sign(op, seen, distinct):
    """Return whether the last operand has a sign."""
    return head_of(seen[-1]) is neg


@node_rewriter([Odd], phase="specialize", depth=2, when=has_sign)
def odd_of_neg(fgraph, node):
    """Move the sign of floats outside, where it may meet another. Not data: ops of several classes.

    >>> rewritten(1 - (-exp(matrix("x"))).T)
    1.0 + Transpose{axes=[1, 0]}(exp(x))
    """
    *others, x = node.inputs
    if x.type.kind not in "fc":
        return None
    return -node.op(*others, *x.owner.inputs)


def has_one_product(a, b):
    """Return whether each sum of a product has one term."""
    return a.type.shape[1] == b.type.shape[0] == 1


@rule(phase="specialize")
def column_times_row(a: Annotated[Inexact, Matrix], b: Annotated[Inexact, Matrix]):
    """A column times a row is an outer product: nothing is added up.

    >>> rewritten(dot(col("a"), row("b")))
    a * b
    """
    return dot(a, b) >> a * b, given(has_one_product)


def gives_one_number(a, b):
    """Return whether a product of matrices has one element, and its sum more than one term."""
    is_one = a.type.shape[0] == b.type.shape[1] == 1
    return is_one and not (a.type.shape[1] == 1 or b.type.shape[0] == 1)


def product_of_vectors(a, b):
    """Return the product of a row and a column by their elements."""
    return expand_dims(dot(a.squeeze(axis=0), b.squeeze(axis=1)), (0, 1))


@rule(phase="specialize", claim=backward(4), ends=at_most(1))
def row_times_column(a: Annotated[Inexact, Matrix], b: Annotated[Inexact, Matrix]):
    """A row times a column is one product of vectors.

    >>> rewritten(dot(row("a"), col("b")))
    ExpandDims{axes=[0, 1]}(DropDims{axes=[0]}(a) @ DropDims{axes=[1]}(b))
    """
    return dot(a, b) >> compute(product_of_vectors), given(gives_one_number)
