"""Triangular equations, and the base class of ops that solve equations.

Gradients: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", Advances in Automatic Differentiation (2008), section 2.2.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.dimshuffle import expand_dims, squeeze
from rewrite_engine.tensor.index.diagonals import tril, triu
from rewrite_engine.tensor.linalg.op import (
    SingularMatrixError,
    _MatrixOp,
    adjoint,
    along,
    floats,
    lapack,
    of_dtype,
    singular,
)
from rewrite_engine.tensor.op import Odd
from rewrite_engine.tensor.product.dots import matmul

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["SolveTriangular", "solve_triangular"]


class _Equations(_MatrixOp, Odd):
    """Base class of ops that find x in a @ x = b, for matrices b."""

    nin = 2
    signature = "(m,m),(m,n)->(m,n)"

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients; that of b solves the equations with the transpose (Giles, 2.2.3 for the
        inverse).
        """
        gb = self(adjoint(inputs[0]), output_gradients[0])
        return [self.of_read(m.neg(matmul(gb, adjoint(outputs[0])))), gb]

    def of_read(self, g: Any) -> Any:
        """Return the gradient of the elements of `a` that are read, from the gradient of all."""
        return g


#: rows up to which, and how many times as many matrices from which on, equations are solved row by
#: row for all of them
_FEW_ROWS, _MANY = 16, 10


def _like_right_side(name: str, f: Any, a: Any, b: Any) -> Any:
    """Prove a fact of a solution that holds if it holds of the right side."""
    return getattr(f, name)(b)


class SolveTriangular(_Equations):
    """Solution x of a @ x = b, where one triangle of `a` is read.

    lower: which triangle. transpose: use its transpose. unit_diagonal: use ones in place of the
    diagonal. Raises `SingularMatrixError` for a 0 on the diagonal.
    """

    __props__ = ("lower", "transpose", "unit_diagonal")
    samples: Sequence[Any] = (
        ({"lower": True}, (2, 2), (2, 3)),
        ({"lower": False}, (3, 3), (3, 1)),
        ({"lower": True, "transpose": True, "unit_diagonal": True}, (3, 3), (3, 2)),
        ({"lower": False, "transpose": True}, (2, 2), (2, 2)),
        ({"lower": True}, (0, 0), (0, 2)),
    )

    def __init__(
        self, lower: bool = False, transpose: bool = False, unit_diagonal: bool = False
    ) -> None:
        self.lower = lower
        self.transpose = transpose
        self.unit_diagonal = unit_diagonal
        below = lower != transpose
        triangle = "lower_triangular" if below else "upper_triangular"
        self.implied = {triangle: partial(_like_right_side, triangle)}
        # the transpose of what is in rows is in columns, as LAPACK has it
        self._options = not lower, not transpose, unit_diagonal

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by LAPACK's `trtrs`."""
        trtrs = lapack("trtrs", dtype)
        upper, turned, ones = self._options
        lower, as_is = not upper, not turned

        def run(a: Any, b: Any) -> Any:
            if a.flags.c_contiguous:
                x, info = trtrs(a.T, b, upper, turned, ones)
            else:
                x, info = trtrs(a, b, lower, as_is, ones)
            return None if info else x

        return run

    def batched(self, *arrays: Any) -> Any:
        """Solve by LAPACK's `trtrs`, triangle by triangle; many small triangles row by row, each
        row of all at once.

        Neither NumPy nor SciPy has a function that substitutes for many triangles.
        """
        a, b = of_dtype(*arrays)
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if a.ndim == 2 < b.ndim and b.size:  # the columns of all at once
            n, columns = b.shape[-2:]
            x = self.batched(a, np.moveaxis(b, -2, 0).reshape(n, -1))
            return np.moveaxis(x.reshape(n, *batch, columns), 0, -2)
        a, b = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b)]
        out, trtrs = np.empty(b.shape, b.dtype), lapack("trtrs", b.dtype)
        if not out.size:
            return out
        if a.shape[-1] <= _FEW_ROWS and math.prod(batch) >= _MANY * a.shape[-1]:
            return self._row_by_row(a, b)
        for index, (x, *given) in zip(np.ndindex(batch), along(batch, out, a.mT, b), strict=True):
            x[...], info = trtrs(*given, *self._options)
            if info:
                raise SingularMatrixError(singular(a, index))
        return out

    def _row_by_row(self, a: Any, b: Any) -> Any:
        """Solve by substitution, with the batch as last dimension. Raise `SingularMatrixError`."""
        n, columns = b.shape[-2:]
        if not self.unit_diagonal:
            apart = np.argwhere((a.diagonal(0, -2, -1) == 0).any(-1))
            if len(apart):
                raise SingularMatrixError(singular(a, tuple(apart[0].tolist())))
        flat = (a.mT if self.transpose else a).reshape(-1, n, n)
        rows = np.ascontiguousarray(np.moveaxis(flat, 0, -1))
        x = np.moveaxis(b.reshape(-1, n, columns), 0, -1).copy()
        first = self.lower != self.transpose  # whether the first row is known first
        for k in range(n) if first else reversed(range(n)):
            known = slice(k) if first else slice(k + 1, n)
            x[k] -= np.einsum("ji,jci->ci", rows[k, known], x[known])
            if not self.unit_diagonal:
                x[k] /= rows[k, k]
        return np.ascontiguousarray(np.moveaxis(x, -1, 0)).reshape(b.shape)

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients as for `Solve`, in the triangle that is read."""
        (a, _), (x,), (g,) = inputs, outputs, output_gradients
        gb = SolveTriangular(self.lower, not self.transpose, self.unit_diagonal)(m.conjugated(a), g)
        ga = matmul(m.conjugated(x), gb.mT) if self.transpose else matmul(gb, adjoint(x))
        strict = int(self.unit_diagonal)
        return [m.neg(tril(ga, -strict) if self.lower else triu(ga, strict)), gb]


def columns(a: Any, b: Any, b_ndim: int | None) -> tuple[Any, Any, bool]:
    """Return both operands in one float dtype, `b` as matrices, and whether it holds vectors. Raise
    `ValueError`.
    """
    a, b = floats(a, b)
    b_ndim = min(b.type.ndim, 2) if b_ndim is None else b_ndim
    if b_ndim not in (1, 2):
        raise ValueError(located(f"b_ndim must be 1 for vectors or 2 for matrices, not {b_ndim!r}"))
    vector = b_ndim == 1 and b.type.ndim > 0
    return a, expand_dims(b, -1) if vector else b, vector


def solve_triangular(
    a: TensorLike,
    b: TensorLike,
    *,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    check_finite: bool = True,
    b_ndim: int | None = None,
) -> TensorVariable:
    """Return the x of a @ x = b for a triangular `a`, whose other triangle is not read.

    Shapes and b_ndim are described in `solve`. trans: 0 or "N"; 1 or "T" for a.T @ x = b; 2 or "C"
    for the conjugate transpose. unit_diagonal: use ones in place of the diagonal. check_finite has
    no effect. Raises `ValueError`, `NDimError`, `ShapeError`; `SingularMatrixError` at run time.

    >>> from rewrite_engine.tensor.linalg import solve_triangular
    >>> solve_triangular([[2.0, 7.0], [0.0, 1.0]], [4.0, 3.0]).eval()
    array([-8.5,  3. ])
    """
    a, b, vector = columns(a, b, b_ndim)
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(located(f"trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}"))
    if trans in (2, "C"):
        a = m.conjugated(a)
    op = SolveTriangular(bool(lower), trans not in (0, "N"), bool(unit_diagonal))
    x = op.lifted(a, b)
    return squeeze(x, -1) if vector else x
