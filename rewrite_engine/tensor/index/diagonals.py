"""Diagonals and triangles: `diagonal`, `diag`, `trace`, `fill_diagonal`, `tri`, `tril`, `triu`.

The op `Diagonal` reads a diagonal as a view; `IncDiagonal` writes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.config import config
from rewrite_engine.errors import AxisError, BroadcastError, NDimError, ShapeError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.batch import batch_ranks, batch_shape, stretched
from rewrite_engine.tensor.constant import as_tensor_variable, constant, weak_constant
from rewrite_engine.tensor.creation import Tri, arange, zeros
from rewrite_engine.tensor.dimshuffle import moveaxis, normalize_axis
from rewrite_engine.tensor.index.subtensor import BaseInc, gradient_zeros
from rewrite_engine.tensor.op import Computed, Linear, Shapes, behind_batch, with_parameters
from rewrite_engine.tensor.reduce import sum_to
from rewrite_engine.tensor.reshape import flatten, reshape
from rewrite_engine.tensor.shape import (
    as_length,
    larger,
    lengths,
    smaller,
    specify_shape,
)
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import DTypeLike, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "Diagonal", "IncDiagonal", "diag", "diagonal", "extract_diag", "fill_diagonal",
    "fill_diagonal_offset", "trace", "tri", "tril", "tril_indices", "tril_indices_from", "triu",
    "triu_indices", "triu_indices_from",
]  # fmt: skip


class Diagonal(Linear):
    """Diagonal of the matrices in two dimensions, as the last dimension of a view.

    offset: number of diagonals above the main one. axis1, axis2: the dimensions of the rows and of
    the columns. Raises `NDimError` for fewer than two dimensions, `AxisError` for axes that are out
    of range or equal.
    """

    moves_only = True
    __props__ = ("offset", "axis1", "axis2")
    view_map = {0: [0]}
    only_lengths = True
    samples: Sequence[Any] = (
        ({}, (3, 4)),
        ({"offset": -1, "axis1": 2, "axis2": 0}, (3, 2, 5)),
        ({"offset": 5}, (2, 2)),
    )

    def __init__(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> None:
        self.offset = int(offset)
        self.axis1 = int(axis1)
        self.axis2 = int(axis2)

    def __str__(self) -> str:
        main = (self.offset, self.axis1, self.axis2) == (0, 0, 1)
        return "Diagonal" if main else super().__str__()

    def axes(self, ndim: int) -> tuple[int, int]:
        """Return both axes as nonnegative integers. Raise `NDimError`, `AxisError`."""
        return normalize_axis(self.axis1, ndim), normalize_axis(self.axis2, ndim)

    def shapes(self, *types: TensorType) -> Shapes:
        (x,) = types
        if x.ndim < 2:
            raise NDimError(f"takes at least two dimensions, but type {x} has {x.ndim}")
        a, b = self.axes(x.ndim)
        if a == b:
            raise AxisError(f"axis1 and axis2 must differ, but both are {a}")
        others = [(0, i) for i in range(x.ndim) if i not in (a, b)]
        return Shapes([[*others, diagonal_length(self.offset, a, b)]])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        own = node.inputs[0].type.ndim
        rows, columns = [axis + inputs[0].type.ndim - own for axis in self.axes(own)]
        return [Diagonal(self.offset, rows, columns)(inputs[0])]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        output_storage[0][0] = self.of(inputs[0])

    def of(self, x: Any) -> Any:
        """Return the diagonal of a value."""
        out = x.diagonal(self.offset, self.axis1, self.axis2)
        if x.flags.writeable:
            out.setflags(True)
        return out

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Write the gradient to the diagonal of an array of zeros."""
        (x,) = inputs
        a, b = self.axes(x.type.ndim)
        blank = moveaxis(gradient_zeros(x), (a, b), (-2, -1))
        written = IncDiagonal(self.offset)(blank, output_gradients[0])
        return [moveaxis(written, (-2, -1), (a, b))]


def _band(offset: int, f: Any, x: Any, y: Any) -> Any:
    return f.one_diagonal(x, offset)


def _fits_square(offset: int, f: Any, x: Any, y: Any) -> Any:
    """Prove that `y` has the length of the main diagonal of a square matrix `x`."""
    if offset or x.type.ndim != 2 or y.type.ndim != 1 or y.type.broadcastable[0]:
        return f.unknown("the length of the diagonal is not known", blame=x)
    return f.both("on a diagonal", f.square(x), f.same_length(x, 1, y, 0))


def _definite(sign: str, f: Any, x: Any, y: Any) -> Any:
    """Prove that a diagonal matrix has no negative eigenvalue, or none up to 0, by the sign of its
    diagonal.
    """
    if x.type.ndim != 2 or x.type.dtype != y.type.dtype:
        return f.unknown("the numbers on the diagonal may be rounded to 0", blame=x)
    zeros = f.one_diagonal(x, 0)
    if not zeros or zeros.value != (0, 0):
        return zeros and f.unknown("there may be numbers beside the diagonal", blame=x)
    return f.both("eigenvalues on a diagonal", zeros, getattr(f, sign)(y))


class IncDiagonal(BaseInc):
    """Copy of the matrices `x` (the last two dimensions) with `y` added to a diagonal, or set on
    it.

    offset: number of diagonals above the main one. set_instead_of_inc: set instead of add. inplace:
    write into `x` itself. `y` has one dimension less than `x` and the diagonal's length, or
    broadcasts to it; it is converted to the dtype of `x`. Raises `DTypeError`, `NDimError`,
    `BroadcastError`.
    """

    __props__ = ("offset", "set_instead_of_inc", "inplace")
    nin = 2
    idx_list = ()
    broadcasts = False
    may_fail = False
    samples: Sequence[Any] = (
        ({}, (3, 4), (3,)),
        ({"offset": -1, "set_instead_of_inc": True}, (2, 3, 5), (2, 2)),
        ({"offset": 1}, (3, 3), ()),
        ({"offset": 5}, (2, 2), (0,)),
    )

    def __init__(
        self, offset: int = 0, set_instead_of_inc: bool = False, inplace: bool = False
    ) -> None:
        self.offset = int(offset)
        super().__init__((), set_instead_of_inc, inplace)
        self.implied = {**self.implied, "band": partial(_band, self.offset)}
        self.implied["fits"] = partial(_fits_square, self.offset)
        if self.set_instead_of_inc and not self.offset:
            self.implied["positive_definite"] = partial(_definite, "positive")
            self.implied["positive_semidefinite"] = partial(_definite, "nonneg")

    def inside(self, args: Sequence[Any]) -> list[Any]:
        """Return the index as formulas write it, such as `[diagonal 1]`."""
        return ["[", f"diagonal {self.offset}" if self.offset else "diagonal", "]"]

    def part(self, x: TensorType, indices: Sequence[TensorType]) -> list[Any]:
        """Return the lengths of the diagonals."""
        if x.ndim < 2:
            raise NDimError(f"takes at least two dimensions, but type {x} has {x.ndim}")
        batch, rows, columns = x.ndim - 2, x.ndim - 2, x.ndim - 1
        each = [(0, i) for i in range(batch)]
        return [*each, diagonal_length(self.offset, rows, columns)]

    def write(self, out: Any, y: Any, exactly: bool = False) -> Any:
        """Write into a value, and return it. exactly: whether to refuse broadcasting."""
        part = out.diagonal(self.offset, -2, -1) if out.ndim > 2 else out.diagonal(self.offset)
        if exactly and (len(y) != len(part) if y.ndim == 1 else y.shape != part.shape):
            raise BroadcastError(self.does_not_fit(y.shape, part.shape))
        part.setflags(True)
        if self.set_instead_of_inc:
            part[...] = y
        else:
            part += y
        return out

    def does_not_fit(self, shape: Any, part: Any) -> str:
        return f"a value of shape {shape} does not broadcast to diagonals of shape {part}"

    def misfit_of(self, values: Sequence[Any]) -> str:
        part = np.diagonal(values[0], self.offset, -2, -1)
        return self.does_not_fit(np.shape(values[1]), part.shape)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        x, y = inputs
        self.check(node, inputs)
        output_storage[0][0] = self.write(x if self.inplace else np.array(x), y)

    def is_total(self, node: Apply) -> bool:
        return True

    def take(self, g: Any, indices: Sequence[Variable]) -> Any:
        return Diagonal(self.offset, -2, -1)(g)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return the gradients of `x` and `y`: a diagonal that was set depends on `y` only."""
        (_, y), (gz,) = inputs, output_gradients
        gx: Any = gz
        if self.set_instead_of_inc:
            gx = IncDiagonal(self.offset, set_instead_of_inc=True)(gz, 0)
        return [gx, sum_to(self.take(gz, ()), y.type)]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to the whole batch at once."""
        ranks = batch_ranks(node, inputs)
        x = stretched(inputs[0], ranks[0], batch_shape(inputs, ranks))
        missing = node.inputs[0].type.ndim - 1 - node.inputs[1].type.ndim
        (y,) = behind_batch(node.inputs[1:], inputs[1:], [missing])
        return [with_parameters(self, inplace=False)(x, y)]

    def __str__(self) -> str:
        name = "SetDiagonal" if self.set_instead_of_inc else "IncDiagonal"
        parts = [f"offset={self.offset}"] * bool(self.offset) + ["inplace"] * self.inplace
        return f"{name}{{{', '.join(parts)}}}" if parts else name


def diagonal_length(offset: int, rows: int, columns: int) -> Computed:
    """Return the length of the diagonals in two dimensions of the first input."""

    def length(rows: Any, columns: Any) -> Any:
        return larger(0, smaller(rows + min(offset, 0), columns - max(offset, 0)))

    return Computed(length, [(0, rows), (0, columns)])


def diagonal(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    """Return the diagonals of the matrices in dimensions `axis1` and `axis2`, as last dimension of
    a view.

    offset: number of diagonals above the main one. Raises `NDimError`, `AxisError`.

    >>> from rewrite_engine.tensor import tensor
    >>> diagonal(tensor(shape=(3, 5))).type
    TensorType(float64, (3,))
    """
    return Diagonal(offset, axis1, axis2)(a)


def diag(v: TensorLike, k: int = 0) -> TensorVariable:
    """Return a square matrix with the vector `v` on its `k`-th diagonal, or the `k`-th diagonal of
    a matrix `v`.

    Raises `NDimError` for other numbers of dimensions.

    >>> from rewrite_engine.tensor import dvector
    >>> v = dvector("v")
    >>> diag(v).eval({v: [1.0, 2.0]})
    array([[1., 0.],
           [0., 2.]])
    """
    v = as_tensor_variable(v)
    if v.type.ndim == 2:
        return diagonal(v, k)
    if v.type.ndim != 1:
        what = f"diag: takes a vector or a matrix, not type {v.type}"
        raise NDimError(located(what, inputs=[v]))
    size = lengths(v)[0] + abs(k)
    blank = zeros((size, size), dtype=v.type.dtype)
    return IncDiagonal(k, set_instead_of_inc=True)(blank, v)


def trace(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    """Return the sum of a diagonal. Raise `NDimError`, `AxisError`.

    >>> from rewrite_engine.tensor import dmatrix
    >>> a = dmatrix("a")
    >>> trace(a).eval({a: [[1.0, 2.0], [3.0, 4.0]]})
    array(5.)
    """
    return diagonal(a, offset, axis1, axis2).sum(axis=-1)


def extract_diag(x: Any) -> TensorVariable:
    """Return the main diagonal of a matrix."""
    return diagonal(x)


def fill_diagonal(a: TensorLike, val: TensorLike) -> TensorVariable:
    """Return a copy of `a` with `val` at all positions whose indices are equal.

    An array of more than two dimensions must have equal lengths. Raises `NDimError`, `ShapeError`.

    >>> fill_diagonal([[1, 2], [3, 4], [5, 6]], 0).eval()
    array([[0, 2],
           [3, 0],
           [5, 6]])
    """
    x = as_tensor_variable(a)
    ndim = x.type.ndim
    if ndim < 2:
        what = "fill_diagonal: takes an array of at least two dimensions"
        raise NDimError(located(what, inputs=[x]))
    n = lengths(x)[-1]
    if ndim > 2:
        known = {s for s in x.type.shape if s is not None}
        if len(known) > 1:
            raise ShapeError(
                located(
                    "fill_diagonal: an array with more than two dimensions must have equal lengths",
                    inputs=[x],
                )
            )
        n = [*known, n][0]
        x = specify_shape(x, (n,) * ndim)
    powers = [n]
    while len(powers) < ndim:
        powers.append(powers[-1] * n)
    step = sum(powers[1:-1], powers[0] + 1)
    # where a matrix has more rows than columns, nothing more is filled
    return reshape(flatten(x)[: powers[-1] : step].set(val), lengths(x))


def fill_diagonal_offset(a: TensorLike, val: TensorLike, offset: TensorLike) -> TensorVariable:
    """Return a copy of the matrix `a` with `val` on the diagonal that is `offset` above the main
    one.

    Raises `NDimError`, `DTypeError`.

    >>> fill_diagonal_offset([[1, 2], [3, 4], [5, 6]], 0, -1).eval()
    array([[1, 2],
           [0, 4],
           [5, 0]])
    """
    x = as_tensor_variable(a)
    if x.type.ndim != 2:
        raise NDimError(located("fill_diagonal_offset: takes a matrix", inputs=[x]))
    rows, columns = [arange(n) for n in lengths(x)]
    there = m.eq(columns - rows[:, None], as_length(offset))
    return m.switch(there, m.cast(as_tensor_variable(val), x.type.dtype), x)


# --- triangles --------------------------------------------------------------------------------


def tri(
    N: TensorLike, M: TensorLike | None = None, k: TensorLike = 0, dtype: DTypeLike = None
) -> TensorVariable:
    """Return an N × M matrix (M = N by default) with ones on and below diagonal `k`, else zeros.

    dtype: floatX by default.

    >>> tri(2, 3, dtype="int8").eval()
    array([[1, 0, 0],
           [1, 1, 0]], dtype=int8)
    """
    sizes = [larger(0, as_length(n)) for n in (N, N if M is None else M)]
    return m.cast(Tri()(*sizes, as_length(k)), dtype or config.floatX)


def _triangle(x: Any, k: Any, upper: bool) -> Any:
    """Return the part on and below a diagonal, or above it, with zeros elsewhere."""
    x = as_tensor_variable(x)
    if x.type.ndim < 1:
        raise NDimError(
            located("tril and triu take an array with at least one dimension", inputs=[x])
        )
    sizes = lengths(x)
    below = Tri()(sizes[-2:][0], sizes[-1], as_length(k))
    zero = weak_constant(0, x.type.dtype)
    return m.switch(below, zero, x) if upper else m.switch(below, x, zero)


def tril(m: TensorLike, k: TensorLike = 0) -> TensorVariable:
    """Return matrices (the last two dimensions) with zeros above diagonal `k`. Raises `NDimError`.

    >>> tril([[1, 2], [3, 4]]).eval()
    array([[1, 0],
           [3, 4]])
    """
    return _triangle(m, k, upper=False)


def triu(m: TensorLike, k: Any = 0) -> TensorVariable:
    """Return matrices (the last two dimensions) with zeros below diagonal `k`. Raises `NDimError`.

    >>> triu([[1, 2], [3, 4]]).eval()
    array([[1, 2],
           [0, 4]])
    """
    return _triangle(m, k - 1, upper=True)


def _triangle_indices(find: Any, *sizes: Any) -> tuple[Any, Any]:
    """Return rows and columns of a triangle, as constants if everything is known."""
    n, k, m = map(as_length, sizes)
    if all([isinstance(v, int) for v in (n, k, m)]):
        rows, columns = find(n, k, m)
        return constant(rows), constant(columns)
    from rewrite_engine.tensor.index.selection import nonzero

    below = tri(n, m, k if find is np.tril_indices else k - 1, dtype="bool")
    rows, columns = nonzero(below if find is np.tril_indices else ~below)
    return rows, columns


def tril_indices(
    n: TensorLike, k: TensorLike = 0, m: TensorLike | None = None
) -> tuple[TensorVariable, TensorVariable]:
    """Return the rows and columns of the elements on and below diagonal `k` of an n × m matrix.

    >>> [i.eval().tolist() for i in tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle_indices(np.tril_indices, n, k, n if m is None else m)


def triu_indices(
    n: TensorLike, k: TensorLike = 0, m: TensorLike | None = None
) -> tuple[TensorVariable, TensorVariable]:
    """Return the rows and columns of the elements on and above diagonal `k` of an n × m matrix."""
    return _triangle_indices(np.triu_indices, n, k, n if m is None else m)


def tril_indices_from(a: TensorLike, k: Any = 0) -> tuple[TensorVariable, TensorVariable]:
    """Return the rows and columns of the elements on and below diagonal `k` of the matrix `a`.
    Raise `NDimError`.
    """
    n, m = _sides(a)
    return tril_indices(n, k, m)


def triu_indices_from(a: TensorLike, k: Any = 0) -> tuple[TensorVariable, TensorVariable]:
    """Return the rows and columns of the elements on and above diagonal `k` of the matrix `a`.
    Raise `NDimError`.
    """
    n, m = _sides(a)
    return triu_indices(n, k, m)


def _sides(a: Any) -> list[Any]:
    x = as_tensor_variable(a)
    if x.type.ndim != 2:
        raise NDimError(located("takes a matrix", inputs=[x]))
    return lengths(x)
