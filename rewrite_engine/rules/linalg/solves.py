"""Inverses and linear equations: an inverse times something is a solution, and what is known of the
matrix says how it is found.

Normal forms: products with an inverse are `Solve`, of a matrix on the left; a transpose of an
inverse is the inverse of the transpose; vectors are solved for as columns.
"""

from functools import reduce
from typing import Annotated

from rewrite_engine.facts import (
    diagonal,
    invertible,
    lower_triangular,
    orthogonal,
    same_length,
    square,
    symmetric,
    upper_triangular,
)
from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rules.diagonals import (
    as_column,
    is_number,
    is_read_once,
    is_unit_matrix,
    keeps_rows,
    one_of,
    turn,
)
from rewrite_engine.tensor import (
    Diagonal,
    DimShuffle,
    Dot,
    Tri,
    and_,
    diag,
    eq,
    mul,
    neq,
    switch,
)
from rewrite_engine.tensor import all as all_of
from rewrite_engine.tensor.creation import Eye, eye
from rewrite_engine.tensor.dimshuffle import transposes
from rewrite_engine.tensor.flow.branches import ifelse
from rewrite_engine.tensor.flow.raise_op import CheckAndRaise
from rewrite_engine.tensor.linalg import (
    MatrixInverse,
    SingularMatrixError,
    SLogDet,
    Solve,
    SolveTriangular,
)

inverse, solve = MatrixInverse(), Solve()
MANY_TIMES = 100  # how often at most an inverse or a solution in a term is rewritten
column_of = DimShuffle(2, (0,))
#: returns its argument; raises an error if a number in it is 0
nonzero_or_error = CheckAndRaise(SingularMatrixError, "the matrix is singular")
#: of rules that meet others inside of their left sides
EITHER_ORDER = "the same equations are solved in either order, by the same factors"
equations = {
    "phase": "canonicalize",
    "claim": backward(64),
    "tags": ["before_gradients"],
    "overlaps": EITHER_ORDER,
    "ends": at_most(MANY_TIMES),
}


def meeting(*names):
    """Return `equations` for a rule that leads to another end than some named rules, which is as
    good.
    """
    return {**equations, "overlaps": dict.fromkeys(names, EITHER_ORDER)}


#: of rules that wait until the others have found what is known of a matrix
late = {"phase": "specialize", "claim": backward(64), "ends": at_most(MANY_TIMES)}


def by_lengths(conditions, new, old):
    """Return the new term if conditions hold, which are known at the latest when a function is
    called; else the old one.
    """
    return ifelse(reduce(and_, conditions), new, old) if conditions else new


def fit(a, b):
    """Return the condition that the columns of a are as many as the rows of b, unless it is known
    to hold.
    """
    return [] if same_length(a, 1, b, 0) else [eq(a.shape[1], b.shape[0])]


def squares_of_floats(xs):
    """Return whether all are matrices of one dtype of floats or complex numbers, none of which is
    known to have another number of columns than of rows.
    """
    dtypes = {x.type.dtype for x in xs}
    return len(dtypes) == 1 and xs[0].type.kind in "fc" and all(map(may_be_square, xs))


def may_be_square(x):
    """Return whether a matrix is not known to have another number of columns than of rows."""
    rows, columns = x.type.shape
    return None in (rows, columns) or rows == columns


def both_may_be_square(a, b):
    """Return `squares_of_floats` of two matrices."""
    return squares_of_floats([a, b])


def are_square(matrices):
    """Return the conditions that matrices are square, without those that are known to be."""
    return [eq(x.shape[0], x.shape[1]) for x in matrices if not square(x)]


def checked_pivots(a):
    """Return the diagonal of a matrix that is divided by it; an error if the matrix is singular."""
    pivots = Diagonal()(a)
    return nonzero_or_error(pivots, all_of(neq(pivots, 0)))


def with_inverse(value, a):
    """Return a value; an error if the sign of the determinant of a matrix is 0, which may not have
    an inverse.
    """
    return value if invertible(a) else nonzero_or_error(value, neq(SLogDet()(a)[0], 0))


# --- inverses in products -------------------------------------------------------------------------


@rule(
    **meeting(
        "solves/matrix_times_inverse",
        "solves/matrix_times_multiple_of_inverse",
        "structure/array_times_blocks",
        "structure/matrix_times_kron",
    )
)
def inverse_times_matrix(a: Matrix, b: Annotated[Inexact, Matrix]):
    """Equations are solved with a third of the work of an inverse, and more digits.

    >>> rewritten(linalg.inv(matrix("a")) @ matrix("b"))
    Solve(a, b)
    """
    return inverse(a) @ b >> solve(a, b)


@rule(**equations)
def inverse_times_vector(a: Matrix, b: Annotated[Inexact, Vector]):
    """Equations are solved with a third of the work of an inverse, and more digits.

    >>> rewritten(linalg.inv(matrix("a")) @ vector("b"))
    DropDims{axes=[1]}(Solve(a, ExpandDims{axes=[1]}(b)))
    """
    return inverse(a) @ b >> column_of(solve(a, as_column(b)))


@rule(
    **meeting(
        "solves/multiple_of_inverse_times_matrix",
        "structure/kron_times_matrix",
        "structure/blocks_times_array",
        "solves/negative_inverse_times_array",
    )
)
def matrix_times_inverse(b: Annotated[Inexact, Matrix], a: Matrix):
    """A product with an inverse on the right solves equations with the transpose.

    >>> rewritten(matrix("b") @ linalg.inv(matrix("a")))
    Transpose{axes=[1, 0]}(Solve(Transpose{axes=[1, 0]}(a), Transpose{axes=[1, 0]}(b)))
    """
    return b @ inverse(a) >> turn(solve(turn(a), turn(b)))


@rule(**equations)
def vector_times_inverse(b: Annotated[Inexact, Vector], a: Matrix):
    """A product with an inverse on the right solves equations with the transpose.

    >>> rewritten(vector("b") @ linalg.inv(matrix("a")))
    DropDims{axes=[1]}(Solve(Transpose{axes=[1, 0]}(a), ExpandDims{axes=[1]}(b)))
    """
    return b @ inverse(a) >> column_of(solve(turn(a), as_column(b)))


@rule(**meeting("structure/matrix_times_kron", "dot/transpose_of_dot"))
def multiple_of_inverse_times_matrix(c: is_number, a: Matrix, b: Annotated[Inexact, Matrix]):
    """A factor of an inverse is multiplied with the solution.

    >>> rewritten((2 * linalg.inv(matrix("a"))) @ matrix("b"))
    2.0 * Solve(a, b)
    """
    return (c * inverse(a)) @ b >> c * solve(a, b)


@rule(
    **meeting(
        "solves/multiple_of_inverse_times_matrix",
        "structure/kron_times_matrix",
        "dot/transpose_of_dot",
        "solves/negative_inverse_times_array",
    )
)
def matrix_times_multiple_of_inverse(c: is_number, a: Matrix, b: Annotated[Inexact, Matrix]):
    """A factor of an inverse is multiplied with the solution.

    >>> rewritten(matrix("b") @ (2 * linalg.inv(matrix("a"))))
    2.0 * Transpose{axes=[1, 0]}(Solve(Transpose{axes=[1, 0]}(a), Transpose{axes=[1, 0]}(b)))
    """
    return b @ (c * inverse(a)) >> c * (b @ inverse(a))


@rule(**meeting("structure/matrix_times_kron", "structure/array_times_blocks"))
def negative_inverse_times_array(a: Matrix, b: Inexact):
    """The sign of an inverse is that of the solution.

    >>> rewritten(-linalg.inv(matrix("a")) @ matrix("b"))
    -Solve(a, b)
    """
    return (-inverse(a)) @ b >> -(inverse(a) @ b)


@rule(
    **meeting(
        "solves/multiple_of_inverse_times_matrix",
        "solves/negative_inverse_times_array",
        "structure/kron_times_matrix",
        "structure/blocks_times_array",
    )
)
def array_times_negative_inverse(a: Matrix, b: Inexact):
    """The sign of an inverse is that of the solution.

    >>> rewritten(matrix("b") @ -linalg.inv(matrix("a")))
    -Transpose{axes=[1, 0]}(Solve(Transpose{axes=[1, 0]}(a), Transpose{axes=[1, 0]}(b)))
    """
    return b @ (-inverse(a)) >> -(b @ inverse(a))


@rule(**equations)
def transpose_of_inverse(a: Matrix):
    """A transpose of the matrix costs nothing, and meets other rules.

    >>> rewritten(linalg.inv(matrix("a")).T)
    MatrixInverse(Transpose{axes=[1, 0]}(a))
    """
    return turn(inverse(a)) >> inverse(turn(a))


def may_be_unit_matrix(op, seen, distinct):
    """Return whether the right side of equations is a constant or made by `eye`."""
    head = head_of(seen[1])
    return head is CONSTANT or isinstance(head, Eye)


@node_rewriter(
    [Solve], phase="canonicalize", claim=backward(64), depth=2, when=may_be_unit_matrix,
    tags=["before_gradients"],
)  # fmt: skip
def solution_of_unit_matrix(fgraph, node):
    """An inverse meets other rules: in a product, only the equations for the other factor are left.
    Not data: it asks only for constants and results of `eye`.

    >>> k = matrix("k", shape=(3, 3))
    >>> rewritten(linalg.slogdet(linalg.solve(k, eye(3)))[1])
    CheckAndRaise{...}(-SLogDet(k).logabsdet, SLogDet(k).sign != 0.0)
    """
    a, unit = node.inputs
    if a.type.ndim != 2 or unit.type.ndim != 2 or a.type.dtype != node.outputs[0].type.dtype:
        return None
    if not is_unit_matrix(unit):
        return None
    return inverse(a) if same_length.at(fgraph, node, a, 0, unit, 0) else None


# --- products of solutions ------------------------------------------------------------------------


def is_solution(op, seen, distinct):
    """Return whether a factor of a product is a solution of equations, or a transpose of one."""
    heads = [head_of(x) for x in seen]
    return any(isinstance(head, Solve | SolveTriangular | DimShuffle) for head in heads)


@node_rewriter(
    [Dot], phase="canonicalize", claim=backward(64), depth=3, when=is_solution,
    tags=["before_gradients"],
)  # fmt: skip
def one_system(fgraph, node):
    """Solve one system of equations instead of one for each column, if only its product with a
    vector is needed. Not data: solutions that are needed anyway stay.

    >>> a, b, v = matrix("a"), matrix("b"), vector("v")
    >>> rewritten(linalg.solve(a, b) @ v)
    DropDims{axes=[1]}(Solve(a, ExpandDims{axes=[1]}(b @ v)))
    >>> rewritten(b @ linalg.inv(a) @ v)
    b @ DropDims{axes=[1]}(Solve(a, ExpandDims{axes=[1]}(v)))
    """
    x, v = node.inputs
    on_left = x.type.ndim == 1
    x, v = (v, x) if on_left else (x, v)
    if v.type.ndim != 1 or x.type.ndim != 2 or v.type.kind not in "fc":
        return None
    is_turned = isinstance(x.head, DimShuffle) and x.head.new_order == (1, 0)
    inner = x.owner.inputs[0] if is_turned else x
    is_solved = isinstance(inner.head, Solve | SolveTriangular)
    if not is_solved or not (is_read_once(fgraph, x) and is_read_once(fgraph, inner)):
        return None
    a, b = inner.owner.inputs
    if is_turned == on_left:
        return column_of(inner.head(a, as_column(b @ v)))
    return b.T @ column_of(with_transpose(inner.head, a, as_column(v)))


def with_transpose(op, a, b):
    """Return the solution of equations with the transpose of a matrix."""
    if isinstance(op, SolveTriangular):
        return SolveTriangular(op.lower, not op.transpose, op.unit_diagonal)(a, b)
    return op(a.T, b)


def by_transpose(a, b, lower, turned, unit):
    """Return the solution of a triangle, computed from its transpose."""
    return SolveTriangular(not lower, not turned, unit)(a, b)


@rule(
    **meeting(
        "dot/transpose_of_dot", "structure/transpose_of_kron", "structure/transpose_of_blocks"
    )
)
def solution_of_turned_triangle(a: Matrix, b: Matrix, lower: Prop, turned: Prop, unit: Prop):
    """A transpose of a triangle is a parameter of its solution.

    >>> rewritten(linalg.solve_triangular(matrix("a").T, matrix("b")))
    SolveTriangular{lower=True, transpose=True, unit_diagonal=False}(a, b)
    """
    left = SolveTriangular(lower=lower, transpose=turned, unit_diagonal=unit)(turn(a), b)
    return left >> compute(by_transpose)


# --- what is known of the matrix ------------------------------------------------------------------


def reads_half(lower, k):
    """Return whether a triangle up to a diagonal has all that a solution reads."""
    return lower and k.number >= 0


def reads_other_half(lower, k):
    """Return whether what is left of a triangle up to a diagonal has all that a solution reads."""
    return not lower and k.number < 0


@rule(phase="specialize", claim=exact)
def solution_of_lower_half(
    x: Matrix, y: Anything, n: Scalar, m: Scalar, k: Const, b: Matrix,
    lower: Prop, turned: Prop, unit: Prop,
):  # fmt: skip
    """A solution by substitution reads one triangle: the other one need not be removed.

    >>> rewritten(linalg.solve(tril(matrix("a")), matrix("b")))
    SolveTriangular{lower=True, transpose=False, unit_diagonal=False}(a, b)
    """
    op = SolveTriangular(lower=lower, transpose=turned, unit_diagonal=unit)
    return op(switch(Tri()(n, m, k), x, y), b) >> op(x, b), given(reads_half)


@rule(phase="specialize", claim=exact)
def solution_of_upper_half(
    x: Matrix, y: Anything, n: Scalar, m: Scalar, k: Const, b: Matrix,
    lower: Prop, turned: Prop, unit: Prop,
):  # fmt: skip
    """A solution by substitution reads one triangle: the other one need not be removed.

    >>> rewritten(linalg.solve(triu(matrix("a")), matrix("b")))
    SolveTriangular{lower=False, transpose=False, unit_diagonal=False}(a, b)
    """
    op = SolveTriangular(lower=lower, transpose=turned, unit_diagonal=unit)
    return op(switch(Tri()(n, m, k), y, x), b) >> op(x, b), given(reads_other_half)


def divided(c, b, rest):
    """Return the solution of equations with a number times a matrix; an error if it is 0, and NaN
    if it is not finite.
    """
    number = c.dimshuffle()
    factor = 1 / nonzero_or_error(number, neq(number, 0)) + 0 * number
    return solve(one_of(rest), b) * factor


@rule(**equations)
def solution_of_multiple(c: is_number, b: Matrix, rest: Rest):
    """A factor of the matrix divides the solution.

    >>> rewritten(linalg.solve(2 * matrix("a"), matrix("b")))
    Solve(a, b) * 0.5
    """
    return solve(mul(c, *rest), b) >> compute(divided)


@rule(**equations)
def solution_of_negative(a: Matrix, b: Matrix):
    """The sign of the matrix is that of the solution.

    >>> rewritten(linalg.solve(-matrix("a"), matrix("b")))
    -Solve(a, b)
    """
    return solve(-a, b) >> -solve(a, b)


@rule(**equations)
def solution_of_turned_symmetric(a: Matrix, b: Matrix):
    """A symmetric matrix is its own transpose.

    >>> r, v = matrix("r", shape=(3, 3)), vector("v", shape=(3,))
    >>> rewritten(v @ linalg.inv(r + r.T))
    DropDims{axes=[1]}(Solve(r + Transpose{axes=[1, 0]}(r), ExpandDims{axes=[1]}(v)))
    """
    return solve(turn(a), b) >> solve(a, b), given(symmetric(a))


@rule(**equations)
def inverse_of_turned_symmetric(a: Matrix):
    """A symmetric matrix is its own transpose.

    >>> r = matrix("r", shape=(3, 3))
    >>> rewritten(linalg.inv(r + r.T).T)
    MatrixInverse(r + Transpose{axes=[1, 0]}(r))
    """
    return inverse(turn(a)) >> inverse(a), given(symmetric(a))


@rule(**equations)
def solution_of_diagonal(a: Matrix, b: Matrix):
    """Equations with a diagonal matrix are divisions.

    >>> rewritten(linalg.solve(diag(vector("u")), matrix("b")))
    b / ExpandDims{axes=[1]}(CheckAndRaise{...}(u, All(u != 0.0)))
    """
    return solve(a, b) >> compute(lambda a, b: b / as_column(checked_pivots(a))), given(
        keeps_rows, diagonal(a)
    )


@rule(**equations)
def solution_of_lower(a: Matrix, b: Matrix):
    """Equations with a triangle are solved by substitution.

    >>> rewritten(linalg.solve(tril(matrix("a")), matrix("b")))
    SolveTriangular{lower=True, transpose=False, unit_diagonal=False}(..., b)
    """
    return solve(a, b) >> SolveTriangular(lower=True)(a, b), given(lower_triangular(a))


@rule(**equations)
def solution_of_upper(a: Matrix, b: Matrix):
    """Equations with a triangle are solved by substitution.

    >>> rewritten(linalg.solve(triu(matrix("a")), matrix("b")))
    SolveTriangular{lower=False, transpose=False, unit_diagonal=False}(..., b)
    """
    return solve(a, b) >> SolveTriangular(lower=False)(a, b), given(upper_triangular(a))


@rule(**equations)
def solution_of_orthogonal(a: Annotated[Float, Matrix], b: Matrix):
    """The inverse of an orthogonal matrix is its transpose.

    >>> q = linalg.qr(matrix("a"), mode="complete")[0]
    >>> rewritten(linalg.solve(q, matrix("b")))
    Transpose{axes=[1, 0]}(QR{complete=True, pivoting=False}(a).Q) @ b
    """
    return solve(a, b) >> turn(a) @ b, given(orthogonal(a))


@rule(
    **meeting(
        "solves/inverse_times_matrix",
        "solves/multiple_of_inverse_times_matrix",
        "solves/negative_inverse_times_array",
    )
)
def solution_of_product(a: Matrix, b: Matrix, c: Matrix):
    """The equations of a product of square matrices are solved one after the other.

    >>> low = linalg.cholesky(matrix("k"))
    >>> rewritten(linalg.solve(low @ low.T, matrix("c")))
    SolveTriangular{lower=True, transpose=True, ...}(..., SolveTriangular{...}(..., c))
    """
    return solve(a @ b, c) >> solve(b, solve(a, c)), given(square(a))


@rule(**equations)
def inverse_of_diagonal(a: Matrix):
    """The inverse of a diagonal matrix has the reciprocals on its diagonal.

    >>> rewritten(linalg.inv(diag(vector("u"))))
    SetDiagonal(..., 1.0 / CheckAndRaise{...}(u, All(u != 0.0)))
    """
    return inverse(a) >> compute(lambda a: diag(1 / checked_pivots(a))), given(diagonal(a))


def inverse_of_triangle(a):
    """Return the inverse of a triangular matrix."""
    lower = bool(lower_triangular(a))
    return SolveTriangular(lower=lower)(a, eye(a.shape[0], dtype=a.type.dtype))


@rule(**late)
def inverse_of_lower(a: Matrix):
    """The inverse of a triangle is a triangle.

    >>> rewritten(linalg.inv(linalg.cholesky(matrix("a"))))
    SolveTriangular{...}(Cholesky{...}(a), Eye{...}(...))
    """
    return inverse(a) >> compute(inverse_of_triangle), given(lower_triangular(a))


@rule(**late)
def inverse_of_upper(a: Matrix):
    """The inverse of a triangle is a triangle.

    >>> rewritten(linalg.inv(triu(matrix("a"))))
    SolveTriangular{lower=False, ...}(..., Eye{...}(...))
    """
    return inverse(a) >> compute(inverse_of_triangle), given(upper_triangular(a))


@rule(**late)
def inverse_of_orthogonal(a: Annotated[Float, Matrix]):
    """The inverse of an orthogonal matrix is its transpose.

    >>> rewritten(linalg.inv(linalg.qr(matrix("a"), mode="complete")[0]))
    Transpose{axes=[1, 0]}(QR{complete=True, pivoting=False}(a).Q)
    """
    return inverse(a) >> turn(a), given(orthogonal(a))


# --- what lengths decide --------------------------------------------------------------------------


def one_after_the_other(a, b, c):
    """Return the solution of equations with a product: one after the other if both factors are
    square.
    """
    return by_lengths(are_square([a]), solve(b, solve(a, c)), Solve(as_written=True)(a @ b, c))


def are_no_transposes(a, b):
    """Return whether no factor is the transpose of the other, as in normal equations, where both
    are seldom square.
    """
    return not transposes(a, b)


@rule(**late)
def solution_of_square_product(a: Matrix, b: Matrix, c: Matrix):
    """The equations of a product are solved one after the other, if the factors turn out to be
    square.

    >>> rewritten(linalg.inv(matrix("a") @ matrix("b")) @ matrix("c"))
    ifelse(Shape_i{i=0}(a) == Shape_i{i=1}(a), Solve(b, Solve(a, c)), Solve{as_written}(a @ b, c))
    """
    return solve(a @ b, c) >> compute(one_after_the_other), given(
        are_no_transposes, both_may_be_square
    )
