"""Sorting along an axis: sorted arrays, their positions, and the largest elements.

NaN comes last, as in NumPy. The gradient of a sorted array goes back to the original positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import AxisError, ForeignObjectError, ShapeError, dimensions
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.bounds import LONGEST
from rewrite_engine.scalar.dtype import DISCRETE
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import arange
from rewrite_engine.tensor.dimshuffle import slice_at_axis
from rewrite_engine.tensor.elemwise_grad import zero_gradient
from rewrite_engine.tensor.flow.branches import ifelse
from rewrite_engine.tensor.flow.raise_op import CheckAndRaise
from rewrite_engine.tensor.index.selection import take_along_axis
from rewrite_engine.tensor.running import AlongOneAxis, flipped, one_axis
from rewrite_engine.tensor.shape import shape_i
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Axis, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "ArgSortOp", "SortOp", "argsort", "argtopk", "largest", "smallest", "sort", "topk",
    "topk_and_argtopk",
]  # fmt: skip


def comparisons(shape: Sequence[int], axis: int) -> int:
    """Return how many comparisons it takes to sort arrays of this shape along an axis."""
    return round(math.prod(shape) * math.log2(max(shape[axis], 1)))


class ArgSortOp(AlongOneAxis):
    """Positions (int64) that sort an array along an axis.

    kind: NumPy's algorithm; "stable" keeps equal elements in their order.
    """

    __props__ = ("axis", "kind")
    limits = (0, LONGEST)

    def __init__(self, axis: int, kind: str = "quicksort") -> None:
        self.axis = axis
        self.kind = kind

    def dtypes(self, *types: TensorType) -> list[str]:
        return ["int64"]

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return n log2(n) comparisons per row of n elements."""
        return comparisons(inputs[0], self.axis)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the positions by `numpy.argsort`."""
        kind: Any = self.kind
        output_storage[0][0] = np.argsort(inputs[0], self.axis, kind=kind)

    def __str__(self) -> str:
        return f"ArgSortOp{{axis={self.axis}}}"


class SortOp(AlongOneAxis):
    """Array sorted along an axis, NaN last."""

    __props__ = ("axis",)
    moves_only = True
    elements = slice(0, 1)
    implied = {"distinct": "distinct", "increasing": "finite"}

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return n log2(n) comparisons per row of n elements."""
        return comparisons(inputs[0], self.axis)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the sorted array by `numpy.sort`."""
        output_storage[0][0] = np.sort(inputs[0], self.axis)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return the gradient at the original positions; equal elements keep separate gradients."""
        (x,), (g,) = inputs, output_gradients
        if is_disconnected(g):
            return [disconnected()]
        if x.type.dtype in DISCRETE:
            return [zero_gradient(x)]
        positions = ArgSortOp(self.axis)(x)
        return [take_along_axis(g, ArgSortOp(self.axis)(positions), self.axis)]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangent, reordered as the elements are."""
        (x,), (v,) = inputs, eval_points
        return [None if v is None else take_along_axis(v, ArgSortOp(self.axis)(x), self.axis)]


_KINDS = {
    None: "quicksort", "quicksort": "quicksort", "stable": "stable", "mergesort": "stable",
    "heapsort": "heapsort",
}  # fmt: skip


def _check(kind: str | None, order: Any, stable: bool | None) -> str:
    """Return the algorithm for the arguments of NumPy's functions. Raise `ValueError`."""
    if kind not in _KINDS:
        raise ValueError(located(f"kind must be one of {[*_KINDS]}, not {kind!r}"))
    if order is not None:
        raise ValueError(
            located(f"order={order!r} is not supported: arrays of numbers have no fields")
        )
    if stable is not None and kind is not None:
        raise ValueError(located("kind and stable have the same meaning: pass only one of them"))
    return "stable" if stable else _KINDS[kind]


def sort(
    a: TensorLike,
    axis: Axis = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> TensorVariable:
    """Return a copy sorted along an axis, NaN last; dtype of `a`.

    axis: an integer, a 0-d integer variable, or None for the flattened array. kind, stable:
    accepted as in NumPy; the result does not depend on them. Raises `AxisError`; `ValueError` for
    another kind, kind and stable together, or an `order`.

    >>> from rewrite_engine.tensor import sort
    >>> sort([[3, 1], [2, 5]], axis=0).eval()
    array([[2, 1],
           [3, 5]])
    """
    _check(kind, order, stable)
    return _along(as_tensor_variable(a), axis, SortOp)


def argsort(
    a: TensorLike,
    axis: Axis = -1,
    kind: str | None = None,
    order: None = None,
    stable: bool | None = None,
) -> TensorVariable:
    """Return the positions (int64) along an axis that sort `a`, NaN last.

    axis: an integer, a 0-d integer variable, or None for the flattened array. kind: "quicksort",
    "stable" (as `stable=True`; equal elements keep their order), "heapsort". Raises `AxisError`;
    `ValueError` for another kind, or an `order`.
    """
    algorithm = _check(kind, order, stable)
    return _along(as_tensor_variable(a), axis, lambda k: ArgSortOp(k, algorithm))


def _along(x: Any, axis: Any, op: Callable[[int], Any]) -> Any:
    """Apply the op of an axis to `x`; for a variable axis, one branch for each axis."""
    if not isinstance(axis, Variable) or isinstance(axis, Constant):
        x, axis = one_axis(x, axis)
        return op(axis)(x)
    ndim = x.type.ndim
    if axis.type.ndim or axis.type.kind not in "iu" or not ndim:
        what = f"the axis for type {x.type} must be a 0-d integer or None, not type {axis.type}"
        raise AxisError(located(what, inputs=[x, axis]))
    check = CheckAndRaise(AxisError, f"the axis is out of range for {dimensions(ndim)}")
    axis = check(axis, m.and_(m.ge(axis, -ndim), m.lt(axis, ndim)))
    found = op(ndim - 1)(x)
    for k in range(ndim - 1):
        found = ifelse(m.eq(m.mod(axis, ndim), k), op(k)(x), found)
    return found


def argtopk(
    x: TensorLike, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: Any = "int64"
) -> TensorVariable:
    """Return the positions of the `kth` largest elements along an axis, largest first.

    NaN counts as the largest. kth: an int other than 0, or a 0-d integer variable above 0; for kth
    < 0 the positions of the -kth smallest elements, smallest first, NaN last. Of equal elements the
    first ones count. axis: None for the flattened array. sorted: False allows another order. Raises
    `ShapeError` for more elements than there are (`AxisError` if only values determine that).
    """
    x, axis = one_axis(as_tensor_variable(x), axis)
    return m.cast(_best(x, kth, axis), idx_dtype)


def topk(
    x: TensorLike,
    kth: TensorLike,
    axis: int | None = -1,
    sorted: bool = True,
    idx_dtype: Any = "int64",
) -> TensorVariable:
    """Return the `kth` largest elements along an axis, largest first (arguments: see `argtopk`)."""
    return topk_and_argtopk(x, kth, axis, sorted, idx_dtype)[0]


def topk_and_argtopk(
    x: TensorLike, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: Any = "int64"
) -> list[TensorVariable]:
    """Return the `kth` largest elements along an axis, and their positions (arguments: see
    `argtopk`).

    >>> from rewrite_engine.tensor import topk_and_argtopk
    >>> [v.eval() for v in topk_and_argtopk([3.0, 5.0, 1.0, 5.0], 3)]
    [array([5., 5., 3.]), array([1, 3, 0])]
    """
    x, axis = one_axis(as_tensor_variable(x), axis)
    positions = _best(x, kth, axis)
    return [take_along_axis(x, positions, axis), m.cast(positions, idx_dtype)]


def _best(x: Any, kth: Any, axis: int) -> Any:
    """Return the positions of the largest elements (kth > 0), or of the smallest."""
    largest, n = True, x.type.shape[axis]
    if not isinstance(kth, Variable):
        if isinstance(kth, bool) or not isinstance(kth, int | np.integer):
            raise ForeignObjectError(located(f"topk takes an integer, not {kth!r}"))
        largest, kth = bool(kth > 0), abs(int(kth))
        if not kth or (n is not None and kth > n):
            what = f"topk takes at most the {n} elements along axis {axis}, not {kth}"
            raise ShapeError(located(what))
    first = slice_at_axis(arange(kth), axis)
    if not largest:
        return ArgSortOp(axis, "stable")(x)[first]
    rising = ArgSortOp(axis, "stable")(flipped(x, axis))
    return m.sub(shape_i(x, axis) - 1, flipped(rising, axis)[first])


def largest(*args: Any) -> TensorVariable:
    """Return the largest of several arrays, element by element (they broadcast)."""
    return m.maximum(*args)


def smallest(*args: Any) -> TensorVariable:
    """Return the smallest of several arrays, element by element (they broadcast)."""
    return m.minimum(*args)
