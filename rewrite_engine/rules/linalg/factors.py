"""One factorisation per matrix: where a matrix is used in equations, an inverse or a determinant
more than once, with its transpose, too. Cholesky factors of diagonal matrices, and products of
factors.
"""

from typing import Annotated

from rewrite_engine.facts import diagonal, positive_definite, square
from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.rules.diagonals import as_column, keeps_rows, turn
from rewrite_engine.rules.linalg.solves import checked_pivots
from rewrite_engine.tensor import Diagonal, DimShuffle, IncDiagonal, diag, gt, mul, sqrt, switch
from rewrite_engine.tensor import all as all_of
from rewrite_engine.tensor.creation import Alloc, Eye
from rewrite_engine.tensor.flow.raise_op import CheckAndRaise
from rewrite_engine.tensor.linalg import (
    Cholesky,
    MatrixInverse,
    SingularMatrixError,
    SLogDet,
    Solve,
    SolveTriangular,
)
from rewrite_engine.tensor.linalg.factor import Factor, FactorInverse, FactorSLogDet, FactorSolve

FloatMatrix = Annotated[Float, Matrix]
#: returns its first argument; raises an error if a number on the diagonal is not positive
positive_or_error = CheckAndRaise(SingularMatrixError, "the matrix is not positive definite")
USES = (Solve, MatrixInverse, SLogDet)


@node_rewriter([Solve, MatrixInverse, SLogDet], phase="factorize", claim=backward(16), depth=2)
def one_factorisation(fgraph, node):
    """Factorise a matrix once for all equations, inverses and determinants. Not data: it is about
    several nodes, of which equal factors are then merged.

    >>> k, y = matrix("k"), vector("y")
    >>> rewritten(y @ linalg.inv(k) @ y + linalg.slogdet(k)[1])
    DropDims{...}(FactorSolve{...}(Factor(k).factor, ...)) @ y + FactorSLogDet(...)...
    """
    if fgraph is None:
        return None
    matrix, turned = as_written(node.inputs[0])
    if not factorises(node, node.inputs[0]) or uses_of(fgraph, matrix) < 2:
        return None
    return from_factor(node, turned, *Factor()(matrix))


def as_written(v):
    """Return a matrix, and whether a term is its transpose."""
    if isinstance(v.head, DimShuffle) and v.head.new_order == (1, 0):
        return v.owner.inputs[0], True
    return v, False


def uses_of(fgraph, matrix):
    """Return how many nodes factorise a matrix or its transpose, or have a factor of it already."""
    turned = [v for one in fgraph.users[matrix] for v in one.outputs if is_transpose(v, matrix)]
    users = [(one, v) for v in (matrix, *turned) for one in fgraph.users[v]]
    return sum([is_factor(one) or factorises(one, v) for one, v in users])


def is_transpose(v, matrix):
    """Return whether a term is the transpose of a matrix."""
    return as_written(v) == (matrix, True)


def is_factor(node):
    """Return whether a node is a `Factor`."""
    return isinstance(node.op, Factor)


def factorises(node, matrix):
    """Return whether a node factorises a matrix, its first input, in the dtype of the matrix.
    (Determinants of single precision are computed in double precision.)
    """
    if type(node.op) not in USES or node.inputs[0] is not matrix:
        return False
    dtype = matrix.type.dtype
    if node.outputs[0].type.dtype != dtype:
        return False
    return not isinstance(node.op, SLogDet) or dtype in ("float64", "complex128")


def from_factor(node, turned, factor, pivots):
    """Return the outputs of a node, from the factor of its matrix or, if turned, of the transpose
    of it.
    """
    if isinstance(node.op, Solve):
        return [FactorSolve(turned)(factor, pivots, node.inputs[1])]
    if isinstance(node.op, SLogDet):
        return FactorSLogDet()(factor, pivots)
    inverse = FactorInverse()(factor, pivots)
    return [inverse.T if turned else inverse]


# --- diagonal matrices ----------------------------------------------------------------------------


def may_be_diagonal(op, seen, distinct):
    """Return whether the first operand may be diagonal: a diagonal was set in a matrix of zeros, or
    it is a multiple of a unit matrix.
    """
    head = head_of(seen[0])
    if head is not mul and not isinstance(head, IncDiagonal):
        return False
    if not isinstance(seen[0], tuple):  # (the operands are not known yet)
        return True
    heads = list(map(head_of, seen[0][1]))
    if head is mul:
        return any(h is CONSTANT or isinstance(h, Eye) for h in heads)
    return heads[0] is CONSTANT or isinstance(heads[0], Alloc | Eye | IncDiagonal)


@node_rewriter(
    [SolveTriangular], phase="canonicalize", claim=backward(64), depth=2,
    when=may_be_diagonal, tags=["before_gradients"],
)  # fmt: skip
def substitution_of_diagonal(fgraph, node):
    """Equations with a diagonal matrix are divisions. Not data: it asks only for what may be
    diagonal.

    >>> rewritten(linalg.solve_triangular(diag(vector("u")), matrix("b"), lower=True))
    b / ExpandDims{axes=[1]}(CheckAndRaise{...}(u, All(u != 0.0)))
    """
    a, b = node.inputs
    is_division = not node.op.unit_diagonal and a.type.ndim == b.type.ndim == 2 and keeps_rows(a, b)
    if not is_division or not diagonal.at(fgraph, node, a):
        return None
    return b / as_column(checked_pivots(a))


def root_of_diagonal(fgraph, node, factor):
    """Return the diagonal of the Cholesky factor of a diagonal matrix, with all of what a matrix
    without a factor gives, or None for other matrices.
    """
    op, (k,) = factor.op, factor.inputs
    if not (k.type.kind == "f" and k.type.ndim == 2):
        return None
    if not (diagonal.at(fgraph, node, k) and square.at(fgraph, node, k)):
        return None
    numbers = Diagonal()(k)
    has_factor = all_of(gt(numbers, 0))
    if op.on_error == "raise":
        return sqrt(positive_or_error(numbers, has_factor))
    return sqrt(switch(has_factor, numbers, float("nan")))


of_diagonal = {
    "phase": "canonicalize", "claim": backward(16), "tags": ["before_gradients"],
}  # fmt: skip


@node_rewriter([Cholesky], depth=2, when=may_be_diagonal, **of_diagonal)
def factor_of_diagonal(fgraph, node):
    """The Cholesky factor of a diagonal matrix has the roots on its diagonal. Not data: it asks
    only for what may be diagonal. (A triangle that may be NaN is no diagonal matrix.)

    >>> k = exp(scalar("c")) * eye(2)
    >>> rewritten(linalg.cholesky(k, on_error="raise"))
    SetDiagonal(..., sqrt(CheckAndRaise{...}(..., All(... > 0.0))))
    """
    root = root_of_diagonal(fgraph, node, node) if node.op.on_error == "raise" else None
    return None if root is None else diag(root)


def may_factor_diagonal(op, seen, distinct):
    """Return whether the first operand may be the Cholesky factor of a diagonal matrix."""
    first = seen[0]
    is_deep = isinstance(first, tuple)  # (else the matrix is not known yet)
    is_factor = isinstance(head_of(first), Cholesky)
    return is_factor and (not is_deep or may_be_diagonal(op, first[1], distinct))


@node_rewriter([SolveTriangular, Diagonal], depth=3, when=may_factor_diagonal, **of_diagonal)
def with_factor_of_diagonal(fgraph, node):
    """The diagonal of such a factor, and equations with it, need its diagonal only. Not data: it
    asks only for what may be diagonal.

    >>> low = linalg.cholesky(diag(exp(vector("u"))))
    >>> rewritten(Diagonal()(low))
    sqrt(switch(All(exp(u) > 0.0), exp(u), nan))
    >>> rewritten(linalg.solve_triangular(low, matrix("b"), lower=True))
    b / ExpandDims{axes=[1]}(sqrt(...))
    """
    a, *others = node.inputs
    root = root_of_diagonal(fgraph, node, a.owner)
    if root is None or not others:
        return root if node.op == Diagonal() else None
    (b,) = others
    is_division = not node.op.unit_diagonal and b.type.ndim == 2 and keeps_rows(a, b)
    return b / as_column(root) if is_division else None


# --- a Cholesky factor and its transpose ----------------------------------------------------------
# (Only one triangle of the matrix has a gradient by the factor: gradients are built before.)

of_factor = {"phase": "canonicalize", "claim": backward(64)}


@rule(**of_factor)
def factor_times_its_transpose(k: FloatMatrix, error: Prop):
    """The product of a Cholesky factor and its transpose is the matrix, which has all digits.

    >>> a = matrix("a")
    >>> low = linalg.cholesky(a @ a.T + eye(3))
    >>> rewritten(low @ low.T)
    a @ Transpose{axes=[1, 0]}(a) + ...
    """
    low = Cholesky(lower=True, on_error=error)(k)
    return low @ turn(low) >> k, given(positive_definite(k))


@rule(**of_factor)
def upper_factor_times_itself(k: FloatMatrix, error: Prop):
    """The product of a Cholesky factor and its transpose is the matrix, which has all digits.

    >>> a = matrix("a")
    >>> up = linalg.cholesky(a @ a.T + eye(3), lower=False)
    >>> rewritten(up.T @ up)
    a @ Transpose{axes=[1, 0]}(a) + ...
    """
    up = Cholesky(lower=False, on_error=error)(k)
    return turn(up) @ up >> k, given(positive_definite(k))
