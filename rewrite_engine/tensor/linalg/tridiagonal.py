"""Equations with tridiagonal matrices, solved in a number of steps proportional to their length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import arange, ones_like, zeros_like
from rewrite_engine.tensor.dimshuffle import squeeze
from rewrite_engine.tensor.index.diagonals import IncDiagonal, tril, triu
from rewrite_engine.tensor.linalg.op import (
    SingularMatrixError,
    _MatrixOp,
    connected,
    floats,
    lapack,
    of_dtype,
    singular,
    solved,
    working_dtype,
)
from rewrite_engine.tensor.linalg.triangular import _Equations, columns
from rewrite_engine.tensor.op import Computed, Shapes
from rewrite_engine.tensor.shape import larger, lengths
from rewrite_engine.tensor.shaping.joins import concatenate
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike, TridiagonalFactors
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "LUFactorTridiagonal", "SolveLUFactorTridiagonal", "SolveTridiagonal", "tridiagonal_lu_factor",
    "tridiagonal_lu_solve",
]  # fmt: skip

#: up to which length `numpy.linalg.solve` of a batch is faster
_SMALL = 16


class SolveTridiagonal(_Equations):
    """Solution x of a @ x = b, where three diagonals of `a` are read. Raises
    `SingularMatrixError`.
    """

    __props__ = ()
    samples: Sequence[Any] = (
        ({}, (2, 2), (2, 3)),
        ({}, [[1.0, 2.0, 9.0], [4.0, 1.0, 3.0], [9.0, 1.0, 1.0]], (3, 2)),
        ({}, (1, 1), (1, 1)),
        ({}, (0, 0), (0, 2)),
    )

    def batched(self, *arrays: Any) -> Any:
        """Solve by LAPACK's `gttrf` and `gttrs`, matrix by matrix; small ones all at once, as full
        matrices.
        """
        a, b = of_dtype(*arrays)
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if a.shape[-1] < (_SMALL if batch else 3):
            return solved(np.triu(np.tril(a, 1), -1), b)
        a, b = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b)]
        out = np.empty_like(b, subok=False)
        for index in np.ndindex(batch if b.size else (0,)):
            factors = _factors(a[index])
            if (factors[1] == 0).any():
                raise SingularMatrixError(singular(a, index))
            out[index] = _solved(factors, b[index], False)
        return out

    def of_read(self, g: Any) -> Any:
        return triu(tril(g, 1), -1)


def _without(n: Any, less: int) -> Any:
    """Return the length of a diagonal `less` places away from one of length n."""
    return larger(n - less, 0)


class LUFactorTridiagonal(_MatrixOp):
    """LU factors of square matrices, as LAPACK's `gttrf` returns them; three diagonals are read.

    The outputs are the diagonal of L below the main one, the main diagonal of U and the two above
    it, and the row that each row was swapped with, counted from 1.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ()
    signature = "(m,m)->(k),(m),(k),(l),(m)"
    lengths = {name: Computed(_without, [(0, 0), n]) for name, n in (("k", 1), ("l", 2))}
    output_names = ("dl", "d", "du", "du2", "ipiv")
    only_lengths = True
    samples: Sequence[Any] = (({}, (4, 4)), ({}, (2, 2)), ({}, (1, 1)), ({}, (0, 0)))

    def dtypes(self, *types: TensorType) -> list[str]:
        return [*super().dtypes(*types)[:4], "int32"]

    def batched(self, *arrays: Any) -> Any:
        """Compute the factors matrix by matrix; a singular matrix has factors, too."""
        (a,) = of_dtype(*arrays)
        batch, n = a.shape[:-2], a.shape[-1]
        outs = [
            np.empty((*batch, max(n - k, 0)), a.dtype if i < 4 else "int32")
            for i, k in enumerate((1, 0, 1, 2, 0))
        ]
        for index in np.ndindex(batch if a.size else (0,)):
            for out, part in zip(outs, _factors(a[index]), strict=True):
                out[index] = part[: out.shape[-1]]
        return tuple(outs)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Disconnect the swaps of rows, which small changes leave constant."""
        return [[True, True, True, True, False]]

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient by reversing each step of `gttrf`, from the last row.

        Each new row is a combination of two rows; `first` and `second` are the gradients of its
        first two elements. A singular matrix is an error at run time.
        """
        *factors, rows = outputs
        low, d, du, du2 = map(m.conjugated, factors)
        of_low, of_d, of_du, of_du2 = connected(factors, output_gradients[:4])
        swapped, top = _swapped(rows), d[:-1]
        at_end = zeros_like(du[: lengths(du)[0] - lengths(du2)[0]])
        # second = start + slope * (first of the next row)
        start, slope = m.switch(swapped, 0, of_du), m.switch(swapped, 1, -low)
        own = m.switch(swapped, of_low / top, of_d[:-1] - low * of_low / top)
        to_first = m.switch(swapped, -du, low * du) / top
        to_second = m.switch(swapped, -concatenate([du2, at_end]), 0) / top
        own = own + to_second * concatenate([start[1:], at_end])
        own = concatenate([own, of_d[-1:]])[:, None]
        first = _upper(ones_like(d), -to_first, -(to_second[:-1] * slope[1:]), own)[:, 0]
        after = first[1:]
        second = start + slope * after
        below = m.switch(swapped, of_d[:-1] - low * first[:-1], (of_low - du * after) / top)
        middle = concatenate([first[:1], m.switch(swapped, of_du - low * after, after)])
        behind = m.switch(swapped[:-1], of_du2 - low[:-1] * second[1:], second[1:])
        above = concatenate([second[:1], behind])
        whole = zeros_like(inputs[0], dtype=d.type.dtype)
        for k, part in enumerate((below, middle, above), -1):
            whole = IncDiagonal(k, set_instead_of_inc=True)(whole, part)
        return [whole]


class SolveLUFactorTridiagonal(_MatrixOp):
    """Solution x of a @ x = b, from the factors of `a`. transposed: solve with its transpose.
    Raises `SingularMatrixError`.
    """

    __props__ = ("transposed",)
    nin = 6
    signature = "(k),(m),(k),(l),(m),(m,n)->(m,n)"
    _factors = ([0.5, 0.25], [4.0, 3.0, 2.0], [1.0, 3.0], [2.0], [2, 2, 3])
    samples: Sequence[Any] = (
        ({}, *_factors, (3, 2)),
        ({"transposed": True}, *_factors, (3, 1)),
    )

    def __init__(self, transposed: bool = False) -> None:
        self.transposed = transposed

    def dtypes(self, *types: TensorType) -> list[str]:
        return [working_dtype(*[t.dtype for k, t in enumerate(types) if k != 4])]

    def shapes(self, *types: TensorType) -> Shapes:
        self.check_ranks(types)
        k, short = [Computed(_without, [(1, 0), n]) for n in (1, 2)]
        equal: list[Any] = [[(1, 0), (4, 0), (5, 0)], [(0, 0), (2, 0), k], [(3, 0), short]]
        return Shapes([[(5, 0), (5, 1)]], equal)

    def batched(self, *arrays: Any) -> Any:
        """Solve by LAPACK's `gttrs`, matrix by matrix."""
        *factors, b = of_dtype(*arrays[:4], arrays[5])
        factors.append(np.asarray(arrays[4], "int32"))
        batch = np.broadcast_shapes(*[x.shape[:-1] for x in factors], b.shape[:-2])
        factors = [np.broadcast_to(x, (*batch, x.shape[-1])) for x in factors]
        b = np.broadcast_to(b, (*batch, *b.shape[-2:]))
        out = np.empty_like(b, subok=False)
        for index in np.ndindex(batch if b.size else (0,)):
            own = [x[index] for x in factors]
            if (own[1] == 0).any():
                raise SingularMatrixError("the matrix with these factors is singular")
            out[index] = _solved(own, b[index], self.transposed)
        return out

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Disconnect the swaps of rows, which small changes leave constant."""
        return [[i != 4] for i in range(6)]

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients: for U as in triangular equations (Giles, 2.2.3), for L step by step,
        from the last one.
        """
        (*factors, rows, b), (x,), (g,) = inputs, outputs, output_gradients
        low, d, du, du2 = factors
        turned = SolveLUFactorTridiagonal(not self.transposed)
        gb = m.conjugated(turned(*factors, rows, m.conjugated(g)))
        if self.transposed:  # b and g change places
            x, g = m.conjugated(gb), m.conjugated(b)
        own = [m.conjugated(v) for v in (d, du, du2)]
        half = _upper(own[0], own[1], own[2], g, transposed=True)
        conj, swapped = m.conjugated(x), _swapped(rows)
        more = du2[:, None] * x[2:]
        at_end = zeros_like(x[: lengths(du)[0] - lengths(du2)[0]])
        before = d[:-1, None] * x[:-1] + du[:, None] * x[1:] + concatenate([more, at_end])
        kept = m.switch(swapped[:, None], 0, half[:-1])
        steps = _upper(
            ones_like(d),
            m.switch(swapped, -1, m.conjugated(low)),
            zeros_like(du2),
            concatenate([kept, half[-1:]]),
        )
        pairs = [(steps[1:], m.conjugated(before))]
        pairs += [(half[: lengths(half)[0] - k] if k else half, conj[k:]) for k in range(3)]
        return [*[m.neg(m.mul(u, v).sum(axis=1)) for u, v in pairs], disconnected(), gb]


def _swapped(rows: Any) -> Any:
    """Return whether each row of the factors, except the last, was swapped with the next."""
    return m.neq(rows[:-1], arange(1, lengths(rows)[0]))


def _upper(d: Any, du: Any, du2: Any, b: Any, transposed: bool = False) -> Any:
    """Return the x of u @ x = b for a matrix u with these diagonals."""
    rows = arange(1, lengths(d)[0] + 1, dtype="int32")
    return SolveLUFactorTridiagonal(transposed)(zeros_like(du), d, du, du2, rows, b)


def _long(x: Any, n: int, value: int) -> Any:
    """Return a vector of at least n elements: SciPy's routines need that many."""
    return x if len(x) >= n else np.append(x, np.full(n - len(x), value, x.dtype))


def _factors(a: Any) -> Any:
    """Return the factors of one matrix, padded with rows of the unit matrix if it is too small."""
    dl, d, du = [_long(np.diagonal(a, k), 3 - abs(k), k == 0) for k in (-1, 0, 1)]
    return lapack("gttrf", d.dtype)(dl, d, du)[:5]


def _solved(factors: Any, b: Any, transposed: bool) -> Any:
    """Return the solution, from the factors of one matrix."""
    n = len(b)
    dl, d, du, du2, ipiv = factors
    rows = np.append(ipiv[:n], np.arange(n + 1, max(n, 3) + 1, dtype="int32"))
    full = [_long(dl, 2, 0), _long(d, 3, 1), _long(du, 2, 0), _long(du2, 1, 0), rows]
    more = np.zeros((max(3 - n, 0), b.shape[1]), b.dtype)
    b = np.concatenate([b, more]) if n < 3 else b
    return lapack("gttrs", b.dtype)(*full, b, "T" if transposed else "N")[0][:n]


# --- functions --------------------------------------------------------------------------------


def tridiagonal_lu_factor(a: TensorLike) -> TridiagonalFactors:
    """Return the LU factors of tridiagonal matrices, as `tridiagonal_lu_solve` takes them.

    a: shape (…, n, n), floats; three diagonals are read. The outputs are `dl`, `d`, `du`, `du2`,
    and int32 `ipiv`, as LAPACK's `gttrf` returns them. The gradient exists for matrices that are
    not singular. Raises `NDimError`, `ShapeError`.

    >>> from rewrite_engine.tensor.linalg import tridiagonal_lu_factor
    >>> tridiagonal_lu_factor([[2.0, 1.0], [1.0, 2.0]]).d.eval()
    array([2. , 1.5])
    """
    return LUFactorTridiagonal().lifted(*floats(a))


def tridiagonal_lu_solve(
    a_diagonals: Any, b: TensorLike, *, b_ndim: int | None = None, transposed: bool = False
) -> TensorVariable:
    """Return the x of a @ x = b, from the outputs of `tridiagonal_lu_factor` of `a`.

    Shapes and b_ndim are described in `solve`. transposed: solve a.T @ x = b. Raises `ValueError`,
    `NDimError`, `ShapeError`; `SingularMatrixError` at run time.

    >>> from rewrite_engine.tensor.linalg import tridiagonal_lu_factor, tridiagonal_lu_solve
    >>> factors = tridiagonal_lu_factor([[2.0, 1.0], [1.0, 2.0]])
    >>> tridiagonal_lu_solve(factors, [4.0, 5.0]).eval()
    array([1., 2.])
    """
    parts = [as_tensor_variable(x) for x in a_diagonals]
    if len(parts) != 5:
        what = f"takes the five outputs of tridiagonal_lu_factor, not {len(parts)}"
        raise ValueError(located(f"tridiagonal_lu_solve: {what}"))
    d, b, vector = columns(parts[1], b, b_ndim)
    x = SolveLUFactorTridiagonal(bool(transposed)).lifted(parts[0], d, *parts[2:], b)
    return squeeze(x, -1) if vector else x
