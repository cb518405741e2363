"""Matrices made of others: Kronecker products, and blocks along the diagonal.

What is computed of such a matrix is computed of its parts. Where lengths decide whether that is
right, and types do not tell them, they decide when the function is called (`by_lengths`).
"""

from functools import partial, reduce
from typing import Annotated

from rewrite_engine.facts import positive_definite, same_length, square
from rewrite_engine.language import *
from rewrite_engine.rules.diagonals import turn
from rewrite_engine.rules.linalg.determinants import times_length
from rewrite_engine.rules.linalg.solves import (
    are_square,
    both_may_be_square,
    by_lengths,
    equations,
    meeting,
    squares_of_floats,
)
from rewrite_engine.tensor import Diagonal, cast, concatenate, exp, neq, outer, reshape
from rewrite_engine.tensor.linalg import (
    Cholesky,
    Det,
    MatrixInverse,
    SLogDet,
    Solve,
    SolveTriangular,
)
from rewrite_engine.tensor.product.blocks import BlockDiag, Kron, starts
from rewrite_engine.tensor.shape import lengths

stable = {**equations, "phase": "stabilize"}
inverse, solve, determinant, of_logarithm = MatrixInverse(), Solve(), Det(), SLogDet()
kron, blocks = Kron(), BlockDiag()


# --- Kronecker products ---------------------------------------------------------------------------


def apply_to_columns(f, g, columns, first, second):
    """Return the matrix of columns after a Kronecker product of two linear maps. f, g: the maps, of
    matrices; first, second: how many elements they take.
    """
    k = lengths(columns)[1]
    apart = reshape(columns, (first, second, k), ndim=3).dimshuffle(1, 0, 2)
    found = g(reshape(apart, (second, first * k), ndim=2))
    rows = lengths(found)[0]
    apart = reshape(found, (rows, first, k), ndim=3).dimshuffle(1, 0, 2)
    found = f(reshape(apart, (first, rows * k), ndim=2))
    return reshape(found, (lengths(found)[0] * rows, k), ndim=2)


def are_regular(matrices):
    """Return the conditions that matrices are square and have rows, without those that are known:
    an inverse of an empty product exists, also if that of a factor does not.
    """
    empty = [x for x in matrices if not (x.type.shape[0] or x.type.shape[1])]
    return [*are_square(matrices), *[neq(x.shape[0], 0) for x in empty]]


def times_columns(a, b, c):
    """Return the Kronecker product of a and b, times the columns of c."""
    taken = [lengths(x)[1] for x in (a, b)]
    return apply_to_columns(lambda x: a @ x, lambda x: b @ x, c, *taken)


def times_elements(a, b, c):
    """Return the Kronecker product of a and b, times a vector."""
    apart = reshape(c, [lengths(x)[1] for x in (a, b)], ndim=2)
    return reshape(a @ (apart @ b.T), (lengths(a)[0] * lengths(b)[0],), ndim=1)


def solve_columns(a, b, c):
    """Return the solutions of equations with the Kronecker product of a and b, for columns of c."""
    parts = partial(solve, a), partial(solve, b)
    found = apply_to_columns(*parts, c, *[lengths(x)[0] for x in (a, b)])
    return by_lengths(are_regular([a, b]), found, Solve(as_written=True)(kron(a, b), c))


def invert_both(a, b):
    """Return the Kronecker product of the inverses of a and b."""
    found = kron(inverse(a), inverse(b))
    return by_lengths(are_regular([a, b]), found, MatrixInverse(as_written=True)(kron(a, b)))


def invert_blocks(xs):
    """Return a block diagonal matrix of inverses."""
    found = blocks(*[inverse(x) for x in xs])
    return by_lengths(are_square(xs), found, MatrixInverse(as_written=True)(blocks(*xs)))


def substitute_columns(a, b, c, lower, turned, unit):
    """Return the solutions of equations with the Kronecker product of triangles."""
    op = SolveTriangular(lower, turned, unit)
    taken = [lengths(x)[0] for x in (a, b)]
    return apply_to_columns(lambda x: op(a, x), lambda x: op(b, x), c, *taken)


def have_rows(a, b):
    """Return whether the types of matrices say that these are not empty."""
    return bool(a.type.shape[0] and b.type.shape[0])


@rule(**equations)
def kron_times_kron(a: Matrix, b: Matrix, c: Matrix, d: Matrix):
    """A product of Kronecker products whose factors fit is one of their products.

    >>> a, b, c, d = [matrix(name, shape=(3, 3)) for name in "abcd"]
    >>> rewritten(kron(a, b) @ kron(c, d))
    Reshape{9, 9}(ExpandDims{axes=[1, 3]}(a @ c) * ExpandDims{axes=[0, 2]}(b @ d))
    """
    return kron(a, b) @ kron(c, d) >> kron(a @ c, b @ d), given(
        same_length(a, 1, c, 0), same_length(b, 1, d, 0)
    )


@rule(**meeting("structure/matrix_times_kron"))
def kron_times_matrix(a: Matrix, b: Matrix, c: Annotated[Inexact, Matrix]):
    """The factors of a Kronecker product are much smaller than the product.

    >>> rewritten(kron(matrix("a"), matrix("b")) @ matrix("c"))
    Reshape{i, i}(a @ Reshape{...}(...), ...)
    """
    return kron(a, b) @ c >> compute(times_columns)


@rule(**equations)
def kron_times_vector(a: Matrix, b: Matrix, c: Annotated[Inexact, Vector]):
    """The factors of a Kronecker product are much smaller than the product.

    >>> rewritten(kron(matrix("a"), matrix("b")) @ vector("c"))
    Reshape{i}(a @ (Reshape{i, i}(c, ...) @ Transpose{axes=[1, 0]}(b)), ...)
    """
    return kron(a, b) @ c >> compute(times_elements)


@rule(**equations)
def vector_times_kron(a: Matrix, b: Matrix, c: Annotated[Inexact, Vector]):
    """The factors of a Kronecker product are much smaller than the product.

    >>> rewritten(vector("c") @ kron(matrix("a"), matrix("b")))
    Reshape{i}(Transpose{axes=[1, 0]}(a) @ (Reshape{i, i}(c, ...) @ b), ...)
    """
    return c @ kron(a, b) >> compute(lambda a, b, c: times_elements(a.T, b.T, c))


@rule(**equations)
def matrix_times_kron(a: Matrix, b: Matrix, c: Annotated[Inexact, Matrix]):
    """The factors of a Kronecker product are much smaller than the product.

    >>> rewritten(matrix("c") @ kron(matrix("a"), matrix("b")))
    Transpose{axes=[1, 0]}(Reshape{i, i}(...))
    """
    return c @ kron(a, b) >> compute(lambda a, b, c: times_columns(a.T, b.T, c.T).T)


@rule(phase="canonicalize", claim=exact, tags=["before_gradients"])
def transpose_of_kron(a: Matrix, b: Matrix):
    """The transpose of a Kronecker product is that of the transposes.

    >>> rewritten(kron(matrix("a"), matrix("b")).T @ vector("c"))
    Reshape{i}(Transpose{axes=[1, 0]}(a) @ (Reshape{i, i}(c, ...) @ b), ...)
    """
    return turn(kron(a, b)) >> kron(turn(a), turn(b))


@rule(**stable)
def inverse_of_kron(a: Matrix, b: Matrix):
    """The inverse of a Kronecker product is that of the inverses.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(linalg.inv(kron(a, b)))
    Reshape{6, 6}(ExpandDims{axes=[1, 3]}(MatrixInverse(a)) * ...)
    """
    return inverse(kron(a, b)) >> compute(invert_both), given(both_may_be_square)


@rule(**stable)
def solution_of_kron(a: Matrix, b: Matrix, c: Matrix):
    """Equations with the factors are much smaller than those with a Kronecker product.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(linalg.solve(kron(a, b), matrix("c", shape=(6, 4))))
    Reshape{6, 4}(Solve(a, ...))
    """
    return solve(kron(a, b), c) >> compute(solve_columns), given(both_may_be_square)


@rule(**equations)
def substitution_of_kron(a: Matrix, b: Matrix, c: Matrix, lower: Prop, turned: Prop, unit: Prop):
    """Equations with the factors are much smaller than those with a Kronecker product.

    >>> a, b = [linalg.cholesky(matrix(name, shape=(3, 3))) for name in "ab"]
    >>> rewritten(linalg.solve_triangular(kron(a, b), matrix("c", shape=(9, 2)), lower=True))
    Reshape{9, 2}(SolveTriangular{...}(...))
    """
    op = SolveTriangular(lower=lower, transpose=turned, unit_diagonal=unit)
    return op(kron(a, b), c) >> compute(substitute_columns), given(have_rows, square(a), square(b))


def kron_sign(a, b):
    """Return the sign of the determinant of a Kronecker product."""
    of_a, of_b = [of_logarithm(x)[0] for x in (a, b)]
    rows = [cast(x.shape[0], of_a.type.dtype) for x in (a, b)]
    old = SLogDet(as_written=True)(kron(a, b))[0]
    return by_lengths(are_square([a, b]), of_a ** rows[1] * of_b ** rows[0], old)


def kron_logdet(a, b):
    """Return the logarithm of the determinant of a Kronecker product, in absolute value."""
    of_a, of_b = [of_logarithm(x)[1] for x in (a, b)]
    new = times_length(b.shape[0], of_a) + times_length(a.shape[0], of_b)
    return by_lengths(are_square([a, b]), new, SLogDet(as_written=True)(kron(a, b))[1])


@rule(**equations)
def sign_of_kron(a: Matrix, b: Matrix):
    """The determinant of a Kronecker product is made of powers of those of the factors.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(linalg.slogdet(kron(a, b))[0])
    sqr(SLogDet(a).sign) * SLogDet(b).sign ** 3.0
    """
    return of_logarithm(kron(a, b))[0] >> compute(kron_sign), given(both_may_be_square)


@rule(**equations)
def logdet_of_kron(a: Matrix, b: Matrix):
    """The determinant of a Kronecker product is made of powers of those of the factors.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(linalg.slogdet(kron(a, b))[1])
    2.0 * SLogDet(a).logabsdet + 3.0 * SLogDet(b).logabsdet
    """
    return of_logarithm(kron(a, b))[1] >> compute(kron_logdet), given(both_may_be_square)


@rule(**equations)
def determinant_of_kron(a: Matrix, b: Matrix):
    """The determinant of a Kronecker product is made of powers of those of the factors, which may
    overflow: by logarithms.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(linalg.det(kron(a, b)))
    sqr(SLogDet(a).sign) * SLogDet(b).sign ** 3.0 * exp(...)
    """
    found = of_logarithm(kron(a, b))
    return determinant(kron(a, b)) >> found[0] * exp(found[1])


@rule(**equations)
def factor_of_kron(a: Matrix, b: Matrix, lower: Prop, error: Prop):
    """The Cholesky factor of a Kronecker product is that of the factors.

    >>> a, b = matrices("a", "b")
    >>> rewritten(linalg.cholesky(kron(a @ a.T + eye(3), b @ b.T + eye(2))) @ vector("c"))
    Reshape{6}(Cholesky{...}(...) @ (Reshape{...}(c) @ Transpose{...}(Cholesky{...}(...))))
    """
    op = Cholesky(lower=lower, on_error=error)
    return op(kron(a, b)) >> kron(op(a), op(b)), given(positive_definite(a), positive_definite(b))


def kron_diagonal(a, b):
    """Return the diagonal of a Kronecker product of square matrices."""
    found = outer(Diagonal()(a), Diagonal()(b))
    return reshape(found, (lengths(a)[0] * lengths(b)[0],), ndim=1)


@rule(**equations)
def diagonal_of_kron(a: Matrix, b: Matrix):
    """The diagonal of a Kronecker product of square matrices is that of the diagonals.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(Diagonal()(kron(a, b)))
    Reshape{6}(ExpandDims{axes=[1]}(Diagonal(a)) * ExpandDims{axes=[0]}(Diagonal(b)))
    """
    return Diagonal()(kron(a, b)) >> compute(kron_diagonal), given(square(a), square(b))


# --- blocks along the diagonal --------------------------------------------------------------------


def parts_of(x, ends, axis=0):
    """Return the pieces of an array that begin at `ends`; the last has all that is left."""
    pieces = [slice(a, b) for a, b in zip(ends, [*ends[1:-1], None], strict=False)]
    return [x[(slice(None),) * axis + (piece,)] for piece in pieces]


def blocks_times(xs, c):
    """Return a block diagonal matrix times a matrix or vector."""
    pieces = zip(xs, parts_of(c, starts(xs, 1)), strict=True)
    return concatenate([x @ piece for x, piece in pieces], axis=0)


def times_blocks(xs, c):
    """Return a matrix or vector times a block diagonal matrix."""
    axis = c.type.ndim - 1
    pieces = zip(xs, parts_of(c, starts(xs, 0), axis), strict=True)
    return concatenate([piece @ x for x, piece in pieces], axis=axis)


def solve_blocks(xs, c):
    """Return the solution of equations with a block diagonal matrix."""
    pieces = zip(xs, parts_of(c, starts(xs, 0)), strict=True)
    found = concatenate([solve(x, piece) for x, piece in pieces], axis=0)
    return by_lengths(are_square(xs), found, Solve(as_written=True)(blocks(*xs), c))


@rule(**meeting("structure/matrix_times_kron", "dot/transpose_of_dot"))
def blocks_times_array(xs: Rest, c: Inexact):
    """The zeros between blocks are not multiplied.

    >>> rewritten(linalg.block_diag(matrix("a"), matrix("b")) @ vector("c"))
    Join{axis=0}(a @ Subtensor{...}(c, ...), b @ Subtensor{...}(c, ...))
    """
    return blocks(*xs) @ c >> compute(blocks_times)


@rule(
    **meeting("structure/kron_times_matrix", "structure/blocks_times_array", "dot/transpose_of_dot")
)
def array_times_blocks(xs: Rest, c: Inexact):
    """The zeros between blocks are not multiplied.

    >>> rewritten(vector("c") @ linalg.block_diag(matrix("a"), matrix("b")))
    Join{axis=0}(Subtensor{...}(c, ...) @ a, Subtensor{...}(c, ...) @ b)
    """
    return c @ blocks(*xs) >> compute(times_blocks)


@rule(phase="canonicalize", claim=exact, tags=["before_gradients"])
def transpose_of_blocks(xs: Rest):
    """The transpose of blocks along a diagonal has the transposed blocks.

    >>> rewritten(linalg.block_diag(matrix("a"), matrix("b")).T @ vector("c"))
    Join{axis=0}(Transpose{...}(a) @ ..., Transpose{...}(b) @ ...)
    """
    return turn(blocks(*xs)) >> compute(lambda xs: blocks(*[x.T for x in xs]))


@rule(**stable)
def inverse_of_blocks(xs: Rest):
    """The inverse of blocks along a diagonal has the inverse blocks.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(linalg.inv(linalg.block_diag(a, b)))
    SetSubtensor{...}(SetSubtensor{...}(..., MatrixInverse(a)), MatrixInverse(b))
    """
    return inverse(blocks(*xs)) >> compute(invert_blocks), given(squares_of_floats)


@rule(**stable)
def solution_of_blocks(xs: Rest, c: Matrix):
    """Equations with each block are solved alone.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(linalg.solve(linalg.block_diag(a, b), matrix("c")))
    Join{axis=0}(Solve(a, Subtensor{:3}(c)), Solve(b, Subtensor{3:}(c)))
    """
    return solve(blocks(*xs), c) >> compute(solve_blocks), given(squares_of_floats)


def slogdet_of_blocks(xs, i, combined):
    """Return an output of `SLogDet` of a block diagonal matrix, from those of the blocks."""
    old = SLogDet(as_written=True)(blocks(*xs))[i]
    return by_lengths(are_square(xs), reduce(combined, [of_logarithm(x)[i] for x in xs]), old)


@rule(**equations)
def sign_of_blocks(xs: Rest):
    """The determinant of blocks along a diagonal is the product of theirs.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(linalg.slogdet(linalg.block_diag(a, b))[0])
    SLogDet(a).sign * SLogDet(b).sign
    """
    return of_logarithm(blocks(*xs))[0] >> compute(
        lambda xs: slogdet_of_blocks(xs, 0, lambda x, y: x * y)
    ), given(squares_of_floats)


@rule(**equations)
def logdet_of_blocks(xs: Rest):
    """The determinant of blocks along a diagonal is the product of theirs.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(linalg.slogdet(linalg.block_diag(a, b))[1])
    SLogDet(a).logabsdet + SLogDet(b).logabsdet
    """
    return of_logarithm(blocks(*xs))[1] >> compute(
        lambda xs: slogdet_of_blocks(xs, 1, lambda x, y: x + y)
    ), given(squares_of_floats)


@rule(**equations)
def determinant_of_blocks(xs: Rest):
    """The determinant of blocks along a diagonal is the product of theirs, which may overflow: by
    logarithms.

    >>> a, b = matrix("a", shape=(3, 3)), matrix("b", shape=(2, 2))
    >>> rewritten(linalg.det(linalg.block_diag(a, b)))
    SLogDet(a).sign * SLogDet(b).sign * exp(SLogDet(a).logabsdet + SLogDet(b).logabsdet)
    """
    found = of_logarithm(blocks(*xs))
    return determinant(blocks(*xs)) >> found[0] * exp(found[1])


# --- what is left ---------------------------------------------------------------------------------


@node_rewriter([Kron, BlockDiag], phase="specialize", claim=exact)
def blocks_written_out(fgraph, node):
    """Write matrices of blocks with ops that all linkers know. Not data: the ops do it.

    >>> rewritten(kron(matrix("a"), matrix("b")))
    Reshape{i, i}(ExpandDims{axes=[1, 3]}(a) * ExpandDims{axes=[0, 2]}(b), ...)
    """
    return node.op.written_out(*node.inputs)
