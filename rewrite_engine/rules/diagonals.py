"""Diagonals: of matrices that are known, and of matrices that are diagonal.

A matrix that is known to be diagonal is read by `Diagonal`, and the rules here take that apart:
what was written as a matrix becomes a vector.
"""

from typing import Annotated

import numpy as np

from rewrite_engine.facts import band, diagonal, same_length, square
from rewrite_engine.facts.arrays import length_read
from rewrite_engine.facts.zeros import is_zero
from rewrite_engine.graph.assume import Assume
from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.language import *
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.tensor import (
    Diagonal,
    DimShuffle,
    Dot,
    IncDiagonal,
    Sum,
    Tri,
    add,
    alloc,
    cast,
    mul,
    neg,
    sub,
    switch,
    true_div,
)
from rewrite_engine.tensor.creation import Eye
from rewrite_engine.tensor.dimshuffle import transposes
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.index.gather import AdvancedSubtensor

turn = DimShuffle(2, (1, 0))
Length = Annotated[Integer, Scalar]
as_column = DimShuffle(1, (0, "x"))
as_row = DimShuffle(1, ("x", 0))


scalings = {
    "phase": "canonicalize",
    "claim": backward(16),
    "tags": ["before_gradients"],
    "ends": at_most(100),
}


# --- reading a diagonal ---------------------------------------------------------------------------


def fills(x, y):
    """Return whether a vector is as long as the main diagonal of a square matrix."""
    return y.type.dtype == x.type.dtype and bool(same_length(x, 0, x, 1))


@rule(phase="canonicalize", claim=exact)
def diagonal_that_was_set(x: Matrix, y: Vector):
    """Read the vector that was written on a diagonal.

    >>> rewritten(Diagonal()(diag(vector("v"))))
    v
    """
    written = IncDiagonal(0, set_instead_of_inc=True)
    return Diagonal()(written(x, y)) >> y, given(fills, same_length(x, 0, y, 0))


@rule(
    phase="canonicalize",
    claim=exact,
    overlaps=dict.fromkeys(
        ["dot/transpose_of_dot", "structure/transpose_of_kron", "structure/transpose_of_blocks"],
        "the diagonal of either matrix is read from the same parts",
    ),
)
def diagonal_of_transpose(x: Matrix):
    """A matrix and its transpose have one diagonal.

    >>> rewritten(Diagonal()(matrix("x").T))
    Diagonal(x)
    """
    return Diagonal()(turn(x)) >> Diagonal()(x)


def reaches_diagonal(k):
    """Return whether a triangle up to a diagonal has the main one."""
    return k.number >= 0


@rule(phase="canonicalize", claim=exact)
def diagonal_of_eye(dtype: Prop, n: Scalar):
    """The diagonal of a unit matrix is a vector of ones.

    >>> rewritten(Diagonal()(eye(iscalar("n"))))
    Alloc(1.0, n)
    """
    return Diagonal()(Eye(dtype)(n, n, 0)) >> compute(lambda dtype, n: alloc(cast(1, dtype), n))


@rule(phase="canonicalize", claim=exact)
def diagonal_of_triangle(x: Matrix, y, n: Length, m: Length, k: Annotated[Integer, Const]):
    """The diagonal of a triangle is that of the matrix.

    >>> rewritten(Diagonal()(tril(matrix("x"))))
    Diagonal(x)
    """
    return Diagonal()(switch(Tri()(n, m, k), x, y)) >> Diagonal()(x), given(reaches_diagonal)


def is_elementwise(op):
    """Return whether an op works element by element."""
    return isinstance(op, Elemwise)


@node_rewriter([Diagonal], phase="canonicalize", claim=exact, depth=2)
def diagonal_of_elements(fgraph, node):
    """Compute elements of the diagonal alone. Not data: it holds for every elementwise op.

    >>> x, y = [matrix(name, shape=(3, 4)) for name in "xy"]
    >>> rewritten(Diagonal()(exp(x) * y))
    exp(Diagonal(x)) * Diagonal(y)
    """
    (x,) = node.inputs
    inner = x.owner
    if inner is None or not is_elementwise(inner.op) or len(inner.outputs) > 1:
        return None
    if x.type.ndim != 2 or not (is_read_once(fgraph, x) or diagonal.ask(fgraph, x)):
        return None
    if node.op.offset and all(
        x.type.broadcastable
    ):  # (beside the only element, a diagonal is empty)
        return None
    parts = [diagonal_part(node.op, v, square.ask(fgraph, x)) for v in inner.inputs]
    return None if None in parts else inner.op(*parts)


def is_read_once(fgraph, x):
    """Return whether a term has one use, also outside of a graph."""
    return fgraph is None or x not in fgraph.users or len(fgraph.get_clients(x)) == 1


def diagonal_part(read, v, is_square):
    """Return the diagonal of an operand of an elementwise op; None for a row or a column of a
    matrix that is not square.
    """
    if all(v.type.broadcastable):
        return v.squeeze(axis=0) if v.type.ndim == 2 else v
    if v.type.ndim == 1:
        return v if is_square else None
    if any(v.type.broadcastable):
        return v.squeeze(axis=v.type.broadcastable.index(True)) if is_square else None
    return read(v)


on_diagonal = IncDiagonal(0, set_instead_of_inc=True)


def has_zeros_elsewhere(x, axis):
    """Return whether a matrix consists of zeros, and is summed up along one axis."""
    return axis is not None and len(axis) == 1 and bool(is_zero(x))


@rule(phase="canonicalize")
def sum_of_diagonal_matrix(x: Matrix, y: Vector, axis: Prop):
    """Each row and each column of a diagonal matrix has one element.

    >>> rewritten(diag(vector("v")).sum(axis=0))
    v
    """
    return Sum(axis=axis)(on_diagonal(x, y)) >> y, given(
        has_zeros_elsewhere, fills, same_length(x, 0, y, 0)
    )


# --- products with diagonal matrices --------------------------------------------------------------

#: ops whose result is diagonal if one operand is; if all are; what may be for other reasons
IF_ONE = (mul, true_div, neg, switch)
IF_ALL = (add, sub)
KINDS_OF_DIAGONALS = (Assume, Eye, IncDiagonal)


def is_worth_asking(fgraph, x):
    """Return whether it is worth asking if a matrix is diagonal: it is made of one, as far as a few
    levels tell, or somebody has declared something.
    """
    if fgraph is not None and fgraph.facts is not None and fgraph.facts.declared:
        return x.type.ndim == 2
    return may_be_diagonal(x)


def may_be_diagonal(x, levels=3):
    """Return whether a matrix may be diagonal, by the ops that it is made of."""
    head = x.head
    if x.type.ndim != 2 or head is None:
        return False
    if head is CONSTANT or isinstance(head, KINDS_OF_DIAGONALS):
        return True
    if getattr(head, "has_structure", False):
        return True
    if not levels or x.owner is None:
        return False
    below = (may_be_diagonal(v, levels - 1) for v in x.owner.inputs)
    if head in IF_ALL or isinstance(head, Dot):
        return all(below)
    return (head in IF_ONE or isinstance(head, DimShuffle)) and any(below)


def fits_diagonal(a, b, axis):
    """Return whether nothing is repeated if b, along an axis, is multiplied by the elements of the
    diagonal of a.
    """
    return (a.type.shape[0] == 1) == (b.type.shape[axis] == 1)


def keeps_rows(a, b):
    """Return `fits_diagonal` along the rows of b."""
    return fits_diagonal(a, b, 0)


@node_rewriter([Dot], phase="canonicalize", claim=backward(4), depth=3, tags=["before_gradients"])
def product_with_diagonal(fgraph, node):
    """Multiply rows, columns or elements by the diagonal of a diagonal matrix. Not data: it asks
    first whether one may be diagonal at all, as products are frequent.

    >>> u, v, x = vector("u"), vector("v"), matrix("x")
    >>> rewritten(diag(u) @ x, x @ diag(u), diag(u) @ v)
    [ExpandDims{axes=[1]}(u) * x, x * ExpandDims{axes=[0]}(u), u * v]
    """
    a, b = node.inputs
    if is_worth_asking(fgraph, a) and b.type.kind in "fc" and fits_diagonal(a, b, 0):
        if diagonal.at(fgraph, node, a):
            factor = Diagonal()(a)
            return (as_column(factor) if b.type.ndim == 2 else factor) * b
    if is_worth_asking(fgraph, b) and a.type.kind in "fc" and fits_diagonal(b, a, -1):
        if diagonal.at(fgraph, node, b):
            factor = Diagonal()(b)
            return a * (as_row(factor) if a.type.ndim == 2 else factor)
    return None


# --- products with chosen rows of a unit matrix --------------------------------------------------


def takes_rows(index):
    """Return whether an index takes whole rows by one array."""
    return len(index) == 1 and index[0] is not Ellipsis and not isinstance(index[0], slice)


def is_unit_matrix(unit):
    """Return whether a matrix is square with ones on the diagonal and zeros elsewhere."""
    if unit.head is CONSTANT:
        rows, columns = unit.data.shape
        is_diagonal = rows == columns == np.count_nonzero(unit.data)
        return is_diagonal and bool((np.diagonal(unit.data) == 1).all())
    if not isinstance(unit.head, Eye):
        return False
    rows, columns, above = unit.owner.inputs
    is_square = length_read(rows) == length_read(columns) is not None
    return is_square and above.head is CONSTANT and above.number == 0


def is_as_long(unit, b):
    """Return whether the first dimension of b is as long as a matrix."""
    return bool(same_length(unit, 0, b, 0))


def is_as_wide(unit, b):
    """Return whether the last dimension of b is as long as a matrix."""
    return bool(same_length(unit, 0, b, b.type.ndim - 1))


def is_narrow(unit, b):
    """Return whether a product with a unit matrix has the dtype of b."""
    return promote(unit.type.dtype, b.type.dtype) == b.type.dtype


@rule(**{**scalings, "claim": backward(4)})
def chosen_rows(unit: Matrix, index: Prop, p: Annotated[Integer, Vector], b: Inexact):
    """Rows of a unit matrix choose rows of the other factor.

    >>> a = matrix("a")
    >>> rewritten(eye(a.shape[0])[lvector("p")] @ a)
    AdvancedSubtensor{i}(a, p)
    """
    left = AdvancedSubtensor(index)(unit, p) @ b
    fits = given(takes_rows, is_as_long, is_narrow, is_unit_matrix)
    return left >> compute(lambda p, b: b[p]), fits


@rule(**{**scalings, "claim": backward(4)})
def chosen_columns(unit: Matrix, index: Prop, p: Annotated[Integer, Vector], b: Inexact):
    """Rows of a unit matrix, transposed, choose columns of the other factor.

    >>> a = matrix("a")
    >>> rewritten(a @ eye(a.shape[1])[lvector("p")].T)
    AdvancedSubtensor{:, i}(a, p)
    """
    left = b @ turn(AdvancedSubtensor(index)(unit, p))
    fits = given(takes_rows, is_as_wide, is_narrow, is_unit_matrix)
    return left >> compute(lambda p, b: b[..., p]), fits


# --- products of scaled matrices and vectors ------------------------------------------------------


def one_of(factors):
    """Return the product of one factor or more."""
    return factors[0] if len(factors) == 1 else mul(*factors)


def is_row(u):
    """Return whether a factor multiplies the columns of a matrix: a vector, or a row."""
    return u.type.broadcastable in ((False,), (True, False))


def is_column(u):
    """Return whether a factor multiplies the rows of a matrix."""
    return u.type.broadcastable == (False, True)


def elements(u):
    """Return the elements of a vector, a row or a column as a vector."""
    return u.squeeze(axis=u.type.broadcastable.index(True)) if u.type.ndim == 2 else u


def are_whole(rest):
    """Return whether the product of the other factors is a matrix without repeated rows or
    columns.
    """
    shapes = [v.type.broadcastable for v in rest if v.type.ndim == 2]
    return bool(shapes) and not any([False not in flags for flags in zip(*shapes, strict=True)])


def in_floats(u, rest):
    """Return whether at most one factor has integers, whose products may wrap."""
    kinds = [v.type.kind in "fc" for v in (u, *rest)]
    return kinds.count(False) < 2 and True in kinds


@rule(**scalings)
def scaled_columns_times_vector(u: is_row, v: Annotated[Inexact, Vector], rest: Rest):
    """The elements of the vector are scaled instead of the columns of the matrix.

    >>> a, u, v = matrix("a"), vector("u"), vector("v")
    >>> rewritten((a * u) @ v, a @ diag(u) @ v)
    [a @ (u * v), a @ (u * v)]
    """
    return mul(u, *rest) @ v >> compute(lambda u, v, rest: one_of(rest) @ (elements(u) * v)), given(
        are_whole, in_floats
    )


@rule(**scalings)
def scaled_rows_times_vector(u: is_column, v: Annotated[Inexact, Vector], rest: Rest):
    """The elements of the product are scaled instead of the rows of the matrix.

    >>> a, u, v = matrix("a"), vector("u"), vector("v")
    >>> rewritten((u[:, None] * a) @ v)
    u * (a @ v)
    """
    return mul(u, *rest) @ v >> compute(lambda u, v, rest: elements(u) * (one_of(rest) @ v)), given(
        are_whole, in_floats
    )


@rule(**scalings)
def vector_times_scaled_rows(u: is_column, v: Annotated[Inexact, Vector], rest: Rest):
    """The elements of the vector are scaled instead of the rows of the matrix.

    >>> a, u, v = matrix("a"), vector("u"), vector("v")
    >>> rewritten(v @ (u[:, None] * a))
    v * u @ a
    """
    return v @ mul(u, *rest) >> compute(lambda u, v, rest: (v * elements(u)) @ one_of(rest)), given(
        are_whole, in_floats
    )


@rule(**scalings)
def vector_times_scaled_columns(u: is_row, v: Annotated[Inexact, Vector], rest: Rest):
    """The elements of the product are scaled instead of the columns of the matrix.

    >>> a, u, v = matrix("a"), vector("u"), vector("v")
    >>> rewritten(v @ (a * u))
    v @ a * u
    """
    return v @ mul(u, *rest) >> compute(lambda u, v, rest: (v @ one_of(rest)) * elements(u)), given(
        are_whole, in_floats
    )


def is_number(c):
    """Return whether a factor is a single number."""
    return False not in c.type.broadcastable


def number_in_floats(c, rest):
    """Return `in_floats` of a number and other factors."""
    return in_floats(c, rest)


def multiple_of_product(c, v, rest):
    """Return a number times the product of a matrix and a vector."""
    return c.dimshuffle() * (one_of(rest) @ v)


@rule(**scalings)
def multiple_times_vector(c: is_number, v: Annotated[Inexact, Vector], rest: Rest):
    """A number is multiplied with the elements of the product instead of those of the matrix.

    >>> c, a, v = scalar("c"), matrix("a"), vector("v")
    >>> rewritten((c * a) @ v)
    c * (a @ v)
    """
    return mul(c, *rest) @ v >> compute(multiple_of_product), given(are_whole, number_in_floats)


@rule(**scalings)
def vector_times_multiple(c: is_number, v: Annotated[Inexact, Vector], rest: Rest):
    """A number is multiplied with the elements of the product instead of those of the matrix.

    >>> c, a, v = scalar("c"), matrix("a"), vector("v")
    >>> rewritten(v @ (c * a))
    c * (v @ a)
    """
    return v @ mul(c, *rest) >> compute(
        lambda c, v, rest: c.dimshuffle() * (v @ one_of(rest))
    ), given(are_whole, number_in_floats)


def is_transpose(b, rest):
    """Return whether the other factor is the transpose of a matrix."""
    return len(rest) == 1 and transposes(rest[0], b)


def multiple_of_both(c, b, rest):
    """Return a number times the product of two matrices."""
    return c.dimshuffle() * (rest[0] @ b)


@rule(**scalings)
def multiple_of_matrix_and_transpose(c: is_number, b: Annotated[Inexact, Matrix], rest: Rest):
    """The product of a matrix and its transpose is symmetric, which takes half of the work.

    >>> c, a = scalar("c"), matrix("a")
    >>> rewritten((c * a.T) @ a)
    c * (Transpose{axes=[1, 0]}(a) @ a)
    """
    return mul(c, *rest) @ b >> compute(multiple_of_both), given(is_transpose)


@rule(**scalings)
def matrix_and_multiple_of_transpose(c: is_number, b: Annotated[Inexact, Matrix], rest: Rest):
    """The product of a matrix and its transpose is symmetric, which takes half of the work.

    >>> c, a = scalar("c"), matrix("a")
    >>> rewritten(a.T @ (c * a))
    c * (Transpose{axes=[1, 0]}(a) @ a)
    """
    return b @ mul(c, *rest) >> compute(lambda c, b, rest: c.dimshuffle() * (b @ rest[0])), given(
        is_transpose
    )


# --- outer products -------------------------------------------------------------------------------


def are_columns(rest):
    """Return whether the other factors are columns and numbers, at least one column."""
    shapes = [v.type.broadcastable for v in rest]
    return (False, True) in shapes and all(
        [flags == (False, True) or False not in flags for flags in shapes]
    )


def outer_times(u, b, rest):
    """Return the product of an outer product and a vector or matrix."""
    column, found = one_of(rest), elements(u) @ b
    return column * as_row(found) if found.type.ndim else elements(column) * found


def times_outer(u, b, rest):
    """Return the product of a vector or matrix and an outer product."""
    found = b @ elements(one_of(rest))
    row = elements(u)
    return as_column(found) * as_row(row) if found.type.ndim else found * row


@rule(**scalings)
def outer_product_times_array(u: is_row, b: Inexact, rest: Rest):
    """An outer product needs not be formed to be multiplied.

    >>> u, v, b = vectors("u", "v", "b")
    >>> rewritten(outer(u, v) @ b, outer(u, v) @ matrix("c"))
    [u * (v @ b), ExpandDims{axes=[1]}(u) * ExpandDims{axes=[0]}(v @ c)]
    """
    return mul(u, *rest) @ b >> compute(outer_times), given(are_columns, in_floats)


@rule(**scalings)
def array_times_outer_product(u: is_row, b: Inexact, rest: Rest):
    """An outer product needs not be formed to be multiplied.

    >>> u, v, b = vectors("u", "v", "b")
    >>> rewritten(b @ outer(u, v), matrix("c") @ outer(u, v))
    [b @ u * v, ExpandDims{axes=[1]}(c @ u) * ExpandDims{axes=[0]}(v)]
    """
    return b @ mul(u, *rest) >> compute(times_outer), given(are_columns, in_floats)


# --- triangles ----------------------------------------------------------------------------------


@node_rewriter([switch], phase="canonicalize", depth=2)
def triangle_of_triangle(fgraph, node):
    """Remove a mask if the elements that it hides are already 0. Not data: the matrix may be on
    either side.

    >>> from rewrite_engine.tensor import diag, tril
    >>> rewritten(tril(diag(vector("v"))))
    SetDiagonal(Alloc(0.0, Shape_i{i=0}(v), Shape_i{i=0}(v)), v)
    """
    mask, x, y = node.inputs
    k = mask.owner.inputs[2] if isinstance(mask.head, Tri) else None
    if k is None or k.head is not CONSTANT:
        return None
    kept, left = (x, y) if y.head is CONSTANT else (y, x)
    found = band(kept) if left.head is CONSTANT and left.number == 0 else None
    if not found:
        return None
    lower, upper = found.value
    return kept if (upper <= k.number if kept is x else lower > k.number) else None
