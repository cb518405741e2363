"""LU decomposition of matrices, by elimination: `lu`, `lu_factor`, `lu_solve`.

Gradients: F. de Hoog, R. Anderssen & M. Lukas, "Differentiation of matrix functionals using
triangular factorization", Math. Comp. 80 (2011).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import DTypeError, ShapeError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import arange, eye
from rewrite_engine.tensor.dimshuffle import broadcast_to, squeeze
from rewrite_engine.tensor.elemwise_grad import zero_gradient
from rewrite_engine.tensor.index.diagonals import tril, triu
from rewrite_engine.tensor.linalg.op import (
    SingularMatrixError,
    _MatrixOp,
    adjoint,
    along,
    floats,
    lapack,
    of_dtype,
    real_dtype,
    rows_of,
    singular,
    unit,
    working_dtype,
)
from rewrite_engine.tensor.linalg.triangular import SolveTriangular, columns
from rewrite_engine.tensor.op import NoGradient
from rewrite_engine.tensor.product.dots import matmul
from rewrite_engine.tensor.shape import lengths
from rewrite_engine.tensor.shaping.joins import concatenate
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import LUFactors, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "LUFactor", "PivotToPermutations", "SolveLUFactor", "lu", "lu_factor", "lu_solve",
    "pivot_to_permutation",
]  # fmt: skip


class LUFactor(_MatrixOp):
    """LU factors of matrices with reordered rows: U in the upper triangle, L below it without its
    ones; and the pivots.

    The pivots give, for each row from the first to the last, the row that it was swapped with.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ()
    signature = "(m,n)->(m,n),(k)"
    output_names = ("LU", "pivots")
    only_lengths = True
    samples: Sequence[Any] = (({}, (3, 3)), ({}, (4, 2)), ({}, (2, 3)), ({}, (0, 0)))

    def dtypes(self, *types: TensorType) -> list[str]:
        return [super().dtypes(*types)[0], "int32"]

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by LAPACK's `getrf`; a singular matrix has factors,
        too.
        """
        getrf = lapack("getrf", dtype)
        return lambda a: getrf(a)[:2]

    def batched(self, *arrays: Any) -> Any:
        """Compute the factors matrix by matrix."""
        (a,) = of_dtype(*arrays)
        out, pivots = np.empty_like(a), np.empty((*a.shape[:-2], min(a.shape[-2:])), "int32")
        one = self.single(a.dtype)
        for index in np.ndindex(a.shape[:-2] if a.size else (0,)):
            out[index], pivots[index] = one(a[index])
        return out, pivots

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Disconnect the pivots, which small changes leave constant."""
        return [[True, False]]

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients by de Hoog, Anderssen & Lukas, for the leading square block; the others
        are products with it.

        At run time a singular block is an error.
        """
        (both, pivots), g = outputs, output_gradients[0]
        if is_disconnected(g):
            return [zero_gradient(inputs[0])]
        k = lengths(pivots)[0]
        first, of_first, wide, tall = both[:k, :k], g[:k, :k], g[:k, k:], g[k:, :k]
        low, up = tril(first, -1) + unit(first), triu(first)
        inner, outer = matmul(adjoint(low), tril(of_first)), matmul(triu(of_first), adjoint(up))
        square = both.type.shape == (k, k)
        if not square:
            inner = inner - matmul(wide, adjoint(both[:k, k:]))
            outer = outer - matmul(adjoint(both[k:, :k]), tall)
        back = tril(inner, -1) + triu(outer)
        back = back if square else concatenate([back, tall], axis=0)
        back = adjoint(SolveTriangular(lower=False)(first, adjoint(back)))
        back = back if square else concatenate([back, g[:, k:]], axis=1)
        top = SolveTriangular(lower=True, transpose=True, unit_diagonal=True)(
            m.conjugated(first), back[:k]
        )
        top = top if square else concatenate([top, back[k:]], axis=0)
        return [rows_of(top, _order(both, pivots))]


def _order(both: Any, pivots: Any) -> Any:
    """Return the position of each row of the matrices in the product of the factors.

    A matrix with more rows than columns has no pivots for its last rows, which then keep their
    positions.
    """
    (rows, columns), k = lengths(both)[-2:], lengths(pivots)[-1]
    if not (isinstance(rows, int) and isinstance(columns, int) and rows <= columns):
        more = arange(k, rows, dtype="int32")
        more = broadcast_to(more, (*lengths(pivots)[:-1], rows - k))
        pivots = concatenate([pivots, more], axis=-1)
    return pivot_to_permutation(pivots)


class PivotToPermutations(NoGradient, _MatrixOp):
    """Order of rows that results from swaps applied to 0, 1, 2, … (inverse), or the order that
    undoes them.

    Raises `ShapeError` for a row that does not exist.
    """

    __props__ = ("inverse",)
    signature = "(m)->(m)"
    samples: Sequence[Any] = (({}, [1, 2, 2]), ({"inverse": False}, [2, 2, 3, 3]))

    def __init__(self, inverse: bool = True) -> None:
        self.inverse = inverse

    def dtypes(self, *types: TensorType) -> list[str]:
        if types[0].kind not in "iu":
            raise DTypeError(f"takes pivots of an integer dtype, not type {types[0]}")
        return ["int64"]

    def batched(self, *arrays: Any) -> Any:
        """Apply the swaps one by one, for each vector."""
        (pivots,) = arrays
        n = pivots.shape[-1]
        out = np.empty(pivots.shape, "int64")
        for index in np.ndindex(pivots.shape[:-1]):
            order, swaps = [*range(n)], pivots[index].tolist()
            if swaps and not 0 <= min(swaps) <= max(swaps) < n:
                raise ShapeError(f"pivots of {n} rows must be from 0 to {n - 1}")
            for i, k in enumerate(swaps):
                order[i], order[k] = order[k], order[i]
            out[index] = order
        return out if self.inverse else np.argsort(out, -1)


class SolveLUFactor(_MatrixOp):
    """Solution x of a @ x = b, from the two outputs of `LUFactor` of a square `a`.

    transposed: solve with the transpose of `a`. Raises `SingularMatrixError`, `ShapeError` for a
    pivot that is not a row.
    """

    __props__ = ("transposed",)
    nin = 3
    signature = "(m,m),(m),(m,n)->(m,n)"
    _factors = ([[4.0, 1.0, 2.0], [0.5, 3.0, 1.0], [-0.25, 0.5, 2.0]], [1, 2, 2])
    samples: Sequence[Any] = (({}, *_factors, (3, 2)), ({"transposed": True}, *_factors, (3, 1)))

    def __init__(self, transposed: bool = False) -> None:
        self.transposed = transposed

    def dtypes(self, *types: TensorType) -> list[str]:
        if types[1].kind not in "iu":
            raise DTypeError(f"takes pivots of an integer dtype, not type {types[1]}")
        return [working_dtype(types[0].dtype, types[2].dtype)]

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by LAPACK's `getrs`, which checks nothing."""
        getrs, transposed = lapack("getrs", dtype), self.transposed
        largest: Any = np.maximum.reduce

        def run(both: Any, pivots: Any, b: Any) -> Any:
            n = len(b)
            if np.count_nonzero(both.diagonal()) < n or largest(pivots.astype("uint64")) >= n:
                return None
            return getrs(both, pivots, b, transposed)[0]

        return run

    def batched(self, *arrays: Any) -> Any:
        """Solve matrix by matrix; all columns at once if there is one matrix."""
        both, b = of_dtype(arrays[0], arrays[2])
        pivots, n = arrays[1], b.shape[-2]
        batch = np.broadcast_shapes(both.shape[:-2], pivots.shape[:-1], b.shape[:-2])
        if both.ndim == 2 and pivots.ndim == 1 and b.ndim > 2 and b.size:
            x = self.batched(both, pivots, np.moveaxis(b, -2, 0).reshape(n, -1))
            return np.moveaxis(x.reshape(n, *batch, b.shape[-1]), 0, -2)
        both, b = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (both, b)]
        pivots = np.broadcast_to(pivots, (*batch, n))
        if pivots.size and not 0 <= pivots.min() <= pivots.max() < n:
            raise ShapeError(f"pivots of {n} rows must be from 0 to {n - 1}")
        out, getrs = np.empty(b.shape, b.dtype), lapack("getrs", b.dtype)
        if not out.size:
            return out
        apart = (np.diagonal(both, axis1=-2, axis2=-1) == 0).any(-1)
        if apart.any():
            raise SingularMatrixError(singular(both, tuple(np.argwhere(apart)[0].tolist())))
        for x, *given in along(batch, out, both, pivots, b):
            x[...] = getrs(*given, self.transposed)[0]
        return out

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect all inputs but the pivots."""
        return [[True], [False], [True]]

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients of two triangular equations (Giles, 2.2.3) with the intermediate
        solution `half`.
        """
        (both, pivots, _), (x,), (g,) = inputs, outputs, output_gradients
        turned, low = m.conjugated(both), {"lower": True, "unit_diagonal": True}
        gb = SolveLUFactor(not self.transposed)(turned, pivots, g)
        if self.transposed:
            order = pivot_to_permutation(pivots, inverse=True)
            v, g_half = rows_of(x, order), SolveTriangular(**low)(turned, rows_of(g, order))
            half = matmul(tril(both, -1).mT + unit(both), v)
            of_low, of_up = matmul(m.conjugated(v), g_half.mT), matmul(m.conjugated(half), gb.mT)
        else:
            g_half = SolveTriangular(transpose=True)(turned, g)
            g_b = SolveTriangular(transpose=True, **low)(turned, g_half)
            half = matmul(triu(both), x)
            of_low, of_up = matmul(g_b, adjoint(half)), matmul(g_half, adjoint(x))
        return [m.neg(m.add(tril(of_low, -1), triu(of_up))), disconnected(), gb]


# --- functions --------------------------------------------------------------------------------


def pivot_to_permutation(p: TensorLike, inverse: bool = False) -> TensorVariable:
    """Return the order of rows that the pivots of `lu_factor` make, as int64.

    p: vectors of integers in the last dimension. With order = pivot_to_permutation(p), a = (L @
    U)[order]; inverse: a[order] = L @ U. Raises `DTypeError`, `NDimError`; `ShapeError` at run
    time.

    >>> from rewrite_engine.tensor.linalg import pivot_to_permutation
    >>> pivot_to_permutation([1, 2, 2], inverse=True).eval()
    array([1, 2, 0])
    """
    return PivotToPermutations(bool(inverse)).lifted(as_tensor_variable(p))


def lu_factor(a: TensorLike, *, check_finite: bool = True, overwrite_a: bool = False) -> LUFactors:
    """Return the LU factors of matrices, as `lu_solve` takes them for square matrices.

    a: shape (…, m, n), floats. `LU` has that shape: a lower triangular matrix without the ones of
    its diagonal, and an upper triangular one. `pivots` is int32, of length min(m, n). A singular
    matrix has factors, too, but its gradient raises `SingularMatrixError`. check_finite and
    overwrite_a have no effect. Raises `NDimError`.

    >>> from rewrite_engine.tensor.linalg import lu_factor
    >>> lu_factor([[1.0, 3.0], [2.0, 4.0]]).LU.eval()
    array([[2. , 4. ],
           [0.5, 1. ]])
    """
    return LUFactor().lifted(*floats(a))


def lu(
    a: TensorLike,
    permute_l: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
    overwrite_a: bool = False,
) -> tuple[TensorVariable, ...]:
    """Return matrices of shape (…, m, n) as P @ L @ U.

    With k = min(m, n), P is a permutation (…, m, m), L a lower triangular matrix with ones on the
    diagonal (…, m, k), and U an upper triangular one (…, k, n); floats. permute_l: two outputs, P @
    L and U. p_indices: integers in place of P: a = (L @ U)[p]. check_finite and overwrite_a have no
    effect. Raises `ValueError` if both are true, `NDimError`; the gradient raises
    `SingularMatrixError` at run time.

    >>> from rewrite_engine.tensor.linalg import lu
    >>> lu([[1.0, 3.0], [2.0, 4.0]], p_indices=True)[0].eval().tolist()
    [1, 0]
    """
    if permute_l and p_indices:
        raise ValueError(located("lu: only one of permute_l and p_indices can be true"))
    both, pivots = lu_factor(a)
    order, k, rows = _order(both, pivots), lengths(pivots)[-1], lengths(both)[-2]
    low = m.add(tril(both[..., :k], -1), eye(rows, k, dtype=both.type.dtype))
    up = triu(both[..., :k, :])
    if permute_l:
        return rows_of(low, order), up
    if p_indices:
        return m.cast(order, "int32"), low, up
    return eye(rows, dtype=real_dtype(both.type.dtype))[order], low, up


def lu_solve(
    LU_and_pivots: Any,
    b: TensorLike,
    trans: bool | int = False,
    b_ndim: int | None = None,
    check_finite: bool = True,
    overwrite_b: bool = False,
) -> TensorVariable:
    """Return the x of a @ x = b, from the two outputs of `lu_factor` of `a`.

    Shapes and b_ndim are described in `solve`. trans: 1 for a.T @ x = b, 2 for the conjugate
    transpose. check_finite and overwrite_b have no effect. Raises `ValueError`, `NDimError`,
    `ShapeError`, `DTypeError`; `SingularMatrixError` at run time.

    >>> from rewrite_engine.tensor.linalg import lu_factor, lu_solve
    >>> lu_solve(lu_factor([[2.0, 0.0], [1.0, 1.0]]), [4.0, 3.0]).eval()
    array([2., 1.])
    """
    if trans not in (0, 1, 2):
        raise ValueError(located(f"lu_solve: trans must be 0, 1 or 2, not {trans!r}"))
    both, pivots = LU_and_pivots
    both, b, vector = columns(both, b, b_ndim)
    both = m.conjugated(both) if trans == 2 else both
    x = SolveLUFactor(bool(trans)).lifted(both, as_tensor_variable(pivots), b)
    return squeeze(x, -1) if vector else x
