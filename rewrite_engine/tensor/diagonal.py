"""Diagonals: `diagonal`, `diag`, `trace`, and the op `Diagonal` that reads one as a view.

Writing a diagonal is a strided `set_subtensor` on the flattened matrix; there is no op for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import AxisError, NDimError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import zeros
from rewrite_engine.tensor.dimshuffle import moveaxis, normalize_axis
from rewrite_engine.tensor.index import gradient_zeros
from rewrite_engine.tensor.op import Computed, Linear, Shapes
from rewrite_engine.tensor.reshape import reshape
from rewrite_engine.tensor.shape import larger, shape_tuple, smaller
from rewrite_engine.tensor.type import TensorType

__all__ = ["Diagonal", "diag", "diagonal", "trace"]


class Diagonal(Linear):
    """The diagonal of the matrices in two dimensions, as the last dimension of a view.

    offset: how far above the main diagonal. axis1, axis2: the dimensions of the rows and of the
    columns. Raises `NDimError` below two dimensions, `AxisError` for axes that are not two of them.
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
        """Both dimensions, counted from the front."""
        return normalize_axis(self.axis1, ndim), normalize_axis(self.axis2, ndim)

    def shapes(self, *types: TensorType) -> Shapes:
        (x,) = types
        if x.ndim < 2:
            raise NDimError(f"takes at least two dimensions, and a {x} has {x.ndim}")
        a, b = self.axes(x.ndim)
        if a == b:
            raise AxisError(f"both axes are {a}")
        others = [(0, i) for i in range(x.ndim) if i not in (a, b)]
        return Shapes([[*others, Computed(self.length, [(0, a), (0, b)])]])

    def length(self, rows: Any, columns: Any) -> Any:
        """How long the diagonal is."""
        return larger(0, smaller(rows + min(self.offset, 0), columns - max(self.offset, 0)))

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        x = inputs[0]
        out = np.diagonal(x, self.offset, self.axis1, self.axis2)
        out.flags.writeable = x.flags.writeable
        output_storage[0][0] = out

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """The gradient goes back to where each element came from."""
        (x,) = inputs
        a, b = self.axes(x.type.ndim)
        blank = moveaxis(gradient_zeros(x), (a, b), (-2, -1))
        return [
            moveaxis(put_on_diagonal(blank, output_gradients[0], self.offset), (-2, -1), (a, b))
        ]


def put_on_diagonal(x: Any, y: Any, offset: int) -> Any:
    """A copy of matrices (the last two dimensions) with `y` on a diagonal."""
    *others, rows, columns = shape_tuple(x)
    first = offset if offset >= 0 else -offset * columns
    stop = first + y.shape[-1] * (columns + 1)
    flat = reshape(x, (*others, rows * columns), ndim=x.type.ndim - 1)
    filled = flat[..., first : stop : columns + 1].set(y)
    return reshape(filled, (*others, rows, columns), ndim=x.type.ndim)


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonals of the matrices in dimensions `axis1` and `axis2`, in the last dimension of the
    result. A view. Raises `NDimError`, `AxisError`.

    >>> from rewrite_engine.tensor import tensor
    >>> diagonal(tensor(shape=(3, 5))).type
    TensorType(float64, (3,))
    """
    return Diagonal(offset, axis1, axis2)(x)


def diag(v: Any, k: int = 0) -> Any:
    """Of a vector, the square matrix with it on the `k`-th diagonal; of a matrix, that diagonal.
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
        what = f"diag: takes a vector or a matrix, not a {v.type}"
        raise NDimError(located(what, inputs=[v]))
    size = shape_tuple(v)[0] + abs(k)
    return put_on_diagonal(zeros((size, size), dtype=v.type.dtype), v, k)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of a diagonal. Raises `NDimError`, `AxisError`.

    >>> from rewrite_engine.tensor import dmatrix
    >>> a = dmatrix("a")
    >>> trace(a).eval({a: [[1.0, 2.0], [3.0, 4.0]]})
    array(5.)
    """
    return diagonal(x, offset, axis1, axis2).sum(axis=-1)
