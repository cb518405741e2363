"""`DimShuffle` and functions built on it: transposing, and adding or dropping dimensions of length
1.

No elements are moved or copied here. Other changes of shape are in `tensor/reshape.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rewrite_engine.errors import AxisError, AxisTypeError, NDimError, dimensions
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import ATOM
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.op import Linear, Odd, Shapes
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Axis, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "DimShuffle",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "atleast_Nd",
    "broadcast_to",
    "dimshuffle",
    "expand_dims",
    "matrix_transpose",
    "moveaxis",
    "normalize_axes",
    "normalize_axis",
    "shape_padaxis",
    "shape_padleft",
    "shape_padright",
    "slice_at_axis",
    "squeeze",
    "swapaxes",
    "transpose",
]


def _turned_band(f: Any, x: Any) -> Any:
    return f.across(f.band(x))


#: what holds of a matrix, and of its transpose
_TRANSPOSED: dict[str, Any] = {
    name: name
    for name in (
        "distinct", "symmetric", "diagonal", "positive_semidefinite", "positive_definite", "square",
        "unit_diagonal", "orthogonal", "invertible",
    )
}  # fmt: skip
_TRANSPOSED |= {"lower_triangular": "upper_triangular", "upper_triangular": "lower_triangular"}
_TRANSPOSED["band"] = _turned_band


class DimShuffle(Linear, Odd):
    """Reordering of the dimensions of an array, as a view.

    new_order: for each dimension of the result, its dimension of the input, or "x" for a new one of
    length 1. A dimension of the input that does not occur is dropped; it must have length 1
    (`ShapeError` while building the graph if the length is known, else at run time). input_ndim: a
    number, or a sequence with an entry per dimension such as `x.broadcastable`.
    """

    moves_only = True
    elements = slice(0, 1)
    implied = {"distinct": "distinct"}
    __props__ = ("input_ndim", "new_order")
    view_map = {0: [0]}
    must_view_map = {0: 0}
    only_lengths = True
    samples: Sequence[Any] = (
        ({"input_ndim": 2, "new_order": (1, "x", 0)}, (2, 3)),
        ({"input_ndim": 3, "new_order": (2, 0)}, (2, 1, 3)),
        ({"input_ndim": 0, "new_order": ("x",)}, ()),
        ({"input_ndim": 2, "new_order": (1, 0)}, (0, 3)),
    )

    def __init__(self, input_ndim: int | Sequence[Any], new_order: Sequence[int | str]) -> None:
        if not isinstance(input_ndim, int):
            input_ndim = len(input_ndim)
        order = tuple([o if isinstance(o, str) else int(o) for o in new_order])
        kept = [o for o in order if o != "x"]
        if any(isinstance(o, str) or not 0 <= o < input_ndim for o in kept):
            what = f"new_order {order} must be made of 'x' and integers from 0 to {input_ndim - 1}"
            error = AxisTypeError if any(isinstance(o, str) for o in kept) else AxisError
            raise error(located(f"DimShuffle: {what}"))
        if len(set(kept)) != len(kept):
            raise AxisError(located(f"DimShuffle: new_order {order} contains a dimension twice"))
        self.input_ndim = input_ndim
        self.new_order = order
        if order == (1, 0):
            self.implied = _TRANSPOSED

    @cached_property
    def shuffle(self) -> tuple[int, ...]:
        """The dimensions of the input that stay, in their new order."""
        return tuple([o for o in self.new_order if not isinstance(o, str)])

    @cached_property
    def drop(self) -> tuple[int, ...]:
        """The dimensions of the input that are dropped."""
        return tuple([i for i in range(self.input_ndim) if i not in self.new_order])

    @cached_property
    def augment(self) -> tuple[int, ...]:
        """The new dimensions of the result."""
        return tuple([i for i, o in enumerate(self.new_order) if o == "x"])

    @property
    def is_transpose(self) -> bool:
        """Whether the op only reorders dimensions, without dropping or adding any."""
        return len(self.shuffle) == self.input_ndim == len(self.new_order)

    @cached_property
    def _index(self) -> tuple[Any, ...]:
        """The index of the reordered array, whose dropped dimensions are last."""
        kept = [None if o == "x" else slice(None) for o in self.new_order]
        return (*kept, ..., *[0] * len(self.drop))

    def notation(self, args: Sequence[Any]) -> Any:
        """Return `x.T` for a matrix transpose."""
        return [(args[0], ATOM), ".T"] if self.new_order == (1, 0) else None

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape rule: a dropped dimension must have length 1."""
        (x,) = types
        if x.ndim != self.input_ndim:
            raise NDimError(f"the input must have {dimensions(self.input_ndim)}, but has type {x}")
        return Shapes(
            [[1 if isinstance(o, str) else (0, o) for o in self.new_order]],
            [[(0, i), 1] for i in self.drop],
        )

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        self.check(node, inputs)
        x = np.asarray(inputs[0]).transpose(self.shuffle + self.drop)
        output_storage[0][0] = x[self._index]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        n = inputs[0].type.ndim - self.input_ndim
        order = [o if isinstance(o, str) else o + n for o in self.new_order]
        return [DimShuffle(n + self.input_ndim, [*range(n), *order])(inputs[0])]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        back = [
            self.new_order.index(i) if i in self.new_order else "x" for i in range(self.input_ndim)
        ]
        return [DimShuffle(len(self.new_order), back)(output_gradients[0])]

    def __str__(self) -> str:
        order, n = self.new_order, self.input_ndim
        if not self.augment and not self.drop:
            return f"Transpose{{axes={list(order)}}}"
        if self.shuffle == tuple(range(n)):
            return f"ExpandDims{{axes={list(self.augment)}}}"
        if not self.augment and list(self.shuffle) == sorted(self.shuffle):
            return f"DropDims{{axes={list(self.drop)}}}"
        return f"DimShuffle{{order=[{','.join(map(str, order))}]}}"


def transposes(a: Variable, b: Variable) -> bool:
    """Return whether one of two matrices is written as the transpose of the other."""
    for x, y in ((a, b), (b, a)):
        if isinstance(x.head, DimShuffle) and x.head.new_order == (1, 0):
            if x.owner is not None and x.owner.inputs[0] is y:
                return True
    return False


def normalize_axis(axis: Any, ndim: int, what: str = "axis") -> int:
    """Return an axis as an integer from 0 to ndim - 1. Raise `AxisError` if it is out of range."""
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise AxisError(located(f"{what} {number} is out of range for {dimensions(ndim)}"))
    return number % ndim


def normalize_axes(axes: Any, ndim: int, what: str = "axis") -> tuple[int, ...]:
    """Return one or several axes as integers from 0 to ndim - 1. Raise `AxisError` if one is out of
    range or repeated.
    """
    many = list(axes) if isinstance(axes, (tuple, list, range)) else [axes]
    result = tuple([normalize_axis(a, ndim, what) for a in many])
    if len(set(result)) != len(result):
        raise AxisError(located(f"{what} {axes} occurs twice"))
    return result


def slice_at_axis(sl: Any, axis: int) -> tuple[Any, ...]:
    """Return an index with `sl` (a slice or any other index) at one dimension, and all of the
    others.

    >>> slice_at_axis(slice(1), -2)
    (Ellipsis, slice(None, 1, None), slice(None, None, None))
    """
    whole = slice(None)
    return (*[whole] * axis, sl) if axis >= 0 else (..., sl, *[whole] * (-axis - 1))


def dimshuffle(x: TensorLike, *pattern: Any) -> TensorVariable:
    """Return `x` with dimensions reordered, dropped (length 1) and added ("x"); `x` itself if
    unchanged.

    >>> from rewrite_engine.tensor import matrix
    >>> dimshuffle(matrix("x"), 1, "x", 0).type
    TensorType(float64, (None, 1, None))
    """
    x = as_tensor_variable(x)
    order = pattern[0] if len(pattern) == 1 and isinstance(pattern[0], (tuple, list)) else pattern
    ndim = x.ndim
    order = [o if isinstance(o, str) else normalize_axis(o, ndim, "dimension") for o in order]
    return x if order == list(range(ndim)) else DimShuffle(ndim, order)(x)


def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> TensorVariable:
    """Reorder the dimensions; reverse them if no axes are given.

    Raises `AxisError` if axes are not a permutation.
    """
    x = as_tensor_variable(x)
    ndim = x.ndim
    if axes is None:
        return dimshuffle(x, *range(ndim)[::-1])
    order = normalize_axes(axes, ndim, "axes")
    if len(order) != ndim:
        raise AxisError(
            located(
                f"axes {axes} are not a permutation of {dimensions(ndim)}",
                inputs=[x],
            )
        )
    return dimshuffle(x, *order)


def matrix_transpose(x: TensorLike) -> TensorVariable:
    """Swap the last two dimensions (`x.mT`)."""
    return swapaxes(x, -1, -2)


def swapaxes(a: TensorLike, axis1: int, axis2: int) -> TensorVariable:
    """Exchange two dimensions of an array. Raise `AxisError`."""
    a = as_tensor_variable(a)
    order = list(range(a.ndim))
    i, j = normalize_axis(axis1, len(order)), normalize_axis(axis2, len(order))
    order[i], order[j] = order[j], order[i]
    return dimshuffle(a, *order)


def moveaxis(a: TensorLike, source: Any, destination: Any) -> TensorVariable:
    """Move dimensions to other positions; the others keep their order. Raise `AxisError` if
    `source` and `destination` differ in length.
    """
    a = as_tensor_variable(a)
    ndim = a.ndim
    src, dst = (
        normalize_axes(source, ndim, "source"),
        normalize_axes(destination, ndim, "destination"),
    )
    if len(src) != len(dst):
        raise AxisError(located(f"moveaxis: {len(src)} sources but {len(dst)} destinations"))
    order = [i for i in range(ndim) if i not in src]
    for to, axis in sorted(zip(dst, src, strict=True)):
        order.insert(to, axis)
    return dimshuffle(a, *order)


def expand_dims(a: TensorLike, axis: Axis) -> TensorVariable:
    """Insert dimensions of length 1. axis: one or several positions, counted in the result.

    >>> from rewrite_engine.tensor import matrix
    >>> expand_dims(matrix("x"), (0, -1)).type
    TensorType(float64, (1, None, None, 1))
    """
    a = as_tensor_variable(a)
    many = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    new = normalize_axes(many, a.ndim + len(many))
    old = iter(range(a.ndim))
    return dimshuffle(a, *["x" if i in new else next(old) for i in range(a.ndim + len(many))])


def squeeze(x: TensorLike, axis: Axis = None) -> TensorVariable:
    """Drop dimensions of length 1.

    axis: the dimensions to drop; by default all with static length 1. Raises `ShapeError` if one of
    them has another length. For a 0-d array axis 0 and -1 are allowed, as in NumPy.
    """
    x = as_tensor_variable(x)
    ndim = x.ndim
    if axis is None or (not ndim and axis in (0, -1, (0,), (-1,))):
        drop = tuple([i for i, s in enumerate(x.type.shape) if s == 1])
    else:
        drop = normalize_axes(axis, ndim)
    return dimshuffle(x, *[i for i in range(ndim) if i not in drop])


def shape_padleft(t: TensorLike, n_ones: int = 1) -> TensorVariable:
    """Add `n_ones` dimensions of length 1 on the left."""
    t = as_tensor_variable(t)
    return dimshuffle(t, *["x"] * n_ones, *range(t.ndim))


def shape_padright(t: TensorLike, n_ones: int = 1) -> TensorVariable:
    """Add `n_ones` dimensions of length 1 on the right."""
    t = as_tensor_variable(t)
    return dimshuffle(t, *range(t.ndim), *["x"] * n_ones)


def shape_padaxis(t: TensorLike, axis: int) -> TensorVariable:
    """Add one dimension of length 1."""
    return expand_dims(t, axis)


@overload
def atleast_Nd(array: TensorLike, /, *, n: int = 1, left: bool = True) -> TensorVariable: ...
@overload
def atleast_Nd(
    first: TensorLike, second: TensorLike, /, *arrays: TensorLike, n: int = 1, left: bool = True
) -> list[TensorVariable]: ...
def atleast_Nd(*arrays: Any, n: int = 1, left: bool = True) -> Any:
    """Add dimensions of length 1, on the left or the right, until there are `n`. Several arrays
    return a list.
    """
    results = []
    for x in map(as_tensor_variable, arrays):
        missing = max(0, n - x.ndim)
        results.append(shape_padleft(x, missing) if left else shape_padright(x, missing))
    return results[0] if len(results) == 1 else results


@overload
def atleast_1d(array: TensorLike, /, *, n: int = 1, left: bool = True) -> TensorVariable: ...
@overload
def atleast_1d(
    first: TensorLike, second: TensorLike, /, *arrays: TensorLike, n: int = 1, left: bool = True
) -> list[TensorVariable]: ...
def atleast_1d(*arrays: Any, n: int = 1, left: bool = True) -> Any:
    """Convert 0-d arrays to vectors of length 1. Several arrays return a list."""
    return atleast_Nd(*arrays, n=n, left=left)


@overload
def atleast_2d(array: TensorLike, /, *, n: int = 2, left: bool = True) -> TensorVariable: ...
@overload
def atleast_2d(
    first: TensorLike, second: TensorLike, /, *arrays: TensorLike, n: int = 2, left: bool = True
) -> list[TensorVariable]: ...
def atleast_2d(*arrays: Any, n: int = 2, left: bool = True) -> Any:
    """Add dimensions of length 1, on the left by default, until there are two."""
    return atleast_Nd(*arrays, n=n, left=left)


@overload
def atleast_3d(array: TensorLike, /, *, n: int = 3, left: bool = True) -> TensorVariable: ...
@overload
def atleast_3d(
    first: TensorLike, second: TensorLike, /, *arrays: TensorLike, n: int = 3, left: bool = True
) -> list[TensorVariable]: ...
def atleast_3d(*arrays: Any, n: int = 3, left: bool = True) -> Any:
    """Add dimensions of length 1, on the left by default, until there are three."""
    return atleast_Nd(*arrays, n=n, left=left)


def broadcast_to(x: TensorLike, shape: Any) -> TensorVariable:
    """Broadcast `x` to the given shape by NumPy's rules."""
    from rewrite_engine.tensor.creation import alloc
    from rewrite_engine.tensor.shape import shape_dims

    return alloc(x, *shape_dims(shape))
