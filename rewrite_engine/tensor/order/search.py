"""Positions and counts of values: `searchsorted`, `digitize`, `unique`, `bincount`; and
interpolation: `interp`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import AxisError, DTypeError, NDimError, ShapeError, dimensions
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.null import is_disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.bounds import LONGEST
from rewrite_engine.scalar.dtype import DISCRETE
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import zeros_like
from rewrite_engine.tensor.dimshuffle import normalize_axis, slice_at_axis
from rewrite_engine.tensor.elemwise_grad import zero_gradient
from rewrite_engine.tensor.index.subtensor import inc_subtensor
from rewrite_engine.tensor.op import Shapes, TensorOp
from rewrite_engine.tensor.order.sorting import argsort, comparisons
from rewrite_engine.tensor.reduce import any as reduce_any
from rewrite_engine.tensor.reshape import reshape_like
from rewrite_engine.tensor.shape import shape_i, specify_shape
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "BinCount", "SearchsortedOp", "Unique", "bincount", "digitize", "interp", "interpolate1d",
    "searchsorted", "unique",
]  # fmt: skip


class SearchsortedOp(TensorOp):
    """Positions (int64) of values in a sorted vector: `SearchsortedOp()(x, v)`, in the shape of v.

    side: "left", before all equal elements, or "right", after them.
    """

    __props__ = ("side",)
    nin = 2
    only_lengths = True
    limits = (0, LONGEST)
    samples: Sequence[Any] = (
        ({}, [-1.5, 0.0, 1.0], (2, 3)),
        ({"side": "right"}, [-1.5, 0.0, 1.0], ()),
    )

    def __init__(self, side: str = "left") -> None:
        if side not in ("left", "right"):
            raise ValueError(located(f"side must be 'left' or 'right', not {side!r}"))
        self.side = side

    def dtypes(self, *types: TensorType) -> list[str]:
        return ["int64"]

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape of the values. Raise `ShapeError`."""
        x, v = types
        if x.ndim != 1:
            raise ShapeError(f"searches a vector, not type {x}")
        return Shapes([[(1, i) for i in range(v.ndim)]])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Search all values at once; one by one if there are several vectors."""
        return None if inputs[0].type.ndim > 1 else [self(*inputs)]

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return the comparisons of a binary search for each value."""
        return math.prod(inputs[1]) * inputs[0][0].bit_length()

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the positions by `numpy.searchsorted`."""
        side: Any = self.side
        output_storage[0][0] = np.asarray(np.searchsorted(inputs[0], inputs[1], side), "int64")


class Unique(TensorOp):
    """Distinct elements of an array in order, or distinct parts along an axis.

    Optional outputs: the position of the first occurrence of each, the number of the distinct
    element for each element, and the counts.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ("return_index", "return_inverse", "return_counts", "axis")
    nout = None
    only_lengths = True
    samples: Sequence[Any] = (
        ({}, (5,)),
        ({"return_index": True, "return_inverse": True, "return_counts": True}, (2, 3)),
        ({"return_inverse": True, "axis": 1}, (2, 3)),
        ({"return_counts": True, "axis": 0}, (3, 2)),
    )

    def __init__(
        self,
        return_index: bool = False,
        return_inverse: bool = False,
        return_counts: bool = False,
        axis: int | None = None,
    ) -> None:
        self.return_index = bool(return_index)
        self.return_inverse = bool(return_inverse)
        self.return_counts = bool(return_counts)
        self.axis = axis
        self.nout = 1 + self.more

    @property
    def more(self) -> int:
        """The number of outputs after the elements."""
        return self.return_index + self.return_inverse + self.return_counts

    def dtypes(self, *types: TensorType) -> list[str]:
        return [types[0].dtype, *["int64"] * self.more]

    def shapes(self, *types: TensorType) -> Shapes:
        """Return unknown lengths, which depend on the values."""
        (x,) = types
        whole = [(0, i) for i in range(x.ndim)]
        if self.axis is None:
            several: list[Any] = [None]
        elif 0 <= self.axis < x.ndim:
            several = [None if i == self.axis else n for i, n in enumerate(whole)]
            whole = [(0, self.axis)]
        else:
            raise AxisError(f"axis {self.axis} is out of range for {dimensions(x.ndim)}")
        more = [[None]] * self.return_index + [whole] * self.return_inverse
        return Shapes([several, *more, *[[None]] * self.return_counts])

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return n log2(n) comparisons to sort n elements, or n parts of an array."""
        axis = self.axis
        whole = inputs[0] if axis is not None else (math.prod(inputs[0]),)
        return comparisons(whole, axis or 0)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the elements by `numpy.unique`."""
        options: Any = (self.return_index, self.return_inverse, self.return_counts, self.axis)
        found = np.unique(inputs[0], *options)
        for cell, value in zip(output_storage, found if self.more else (found,), strict=True):
            cell[0] = value

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """Send the gradient to the first occurrence of each element."""
        (x,), g = inputs, output_gradients[0]
        if is_disconnected(g) or x.type.dtype in DISCRETE:
            return [zero_gradient(x)]
        return [reshape_like(inc_subtensor(self.first(x, zeros_like(x)), g), x)]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangent at the first occurrence of each element."""
        (x,), (v,) = inputs, eval_points
        return [None if v is None else self.first(x, v), *[None] * self.more]

    def first(self, x: Any, y: Any) -> Any:
        """Return the elements of y at the first occurrence of each distinct element of x."""
        positions = Unique(return_index=True, axis=self.axis)(x)[1]
        if self.axis is None:
            return y.flatten()[positions]
        return y[slice_at_axis(positions, self.axis)]


class BinCount(TensorOp):
    """Counts of the numbers 0, 1, … in a vector of integers: `BinCount()(x, minlength)`, int64.

    With weights as third input it returns sums of weights, as floats.
    """

    __props__ = ()
    nin = None
    samples: Sequence[Any] = (
        ({}, [3, 1, 1], 0),
        ({}, [3, 1, 1], 6),
        ({}, [0, 2, 2, 0, 1], 2, (5,)),
    )

    def dtypes(self, *types: TensorType) -> list[str]:
        """Return int64, or the float dtype of the weights. Raise `DTypeError`."""
        x, minlength, *weights = types
        if x.kind not in "biu" or minlength.kind not in "iu":
            raise DTypeError(
                f"x and minlength must be integers, not {x.dtype} and {minlength.dtype}"
            )
        if [w.dtype for w in weights if w.kind not in "biuf"]:
            raise DTypeError(f"weights must be real numbers, not {weights[0].dtype}")
        return [w.dtype if w.kind == "f" else "float64" for w in weights] or ["int64"]

    def shapes(self, *types: TensorType) -> Shapes:
        """Return an unknown length, which depends on the values. Raise `NDimError`."""
        if [t.ndim for t in types] not in ([1, 0], [1, 0, 1]):
            raise NDimError("takes a vector, a single number, and optionally a vector of weights")
        return Shapes([[None]], [[(0, 0), (2, 0)]] if len(types) > 2 else [])

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return one sum per number."""
        return math.prod(inputs[0])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the counts. Raise `ShapeError` for a negative number."""
        self.check(node, inputs)
        x, minlength, weights = (*inputs, None)[:3]
        try:
            found = np.bincount(x.astype("int64", copy=False), weights, int(minlength))
        except ValueError as error:
            self.fail(node, str(error))
        output_storage[0][0] = found.astype(node.outputs[0].type.numpy_dtype, copy=False)

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """Return the gradients of the weights: each has the gradient of its sum."""
        (x, minlength, *weights), g = inputs, cast(Any, output_gradients[0])
        flat = [zero_gradient(x), zero_gradient(minlength)]
        if not weights:
            return flat
        if is_disconnected(g) or weights[0].type.dtype in DISCRETE:
            return [*flat, zero_gradient(weights[0])]
        return [*flat, m.cast(g[m.cast(x, "int64")], weights[0].type.dtype)]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangent, which is linear in the weights."""
        *fixed, v = [*inputs[:2], *eval_points[2:]] if len(inputs) > 2 else [None]
        return [None if v is None else self(*fixed, v)]


# --- for users ------------------------------------------------------------------------------


def searchsorted(
    x: TensorLike, v: TensorLike, side: str = "left", sorter: TensorLike | None = None
) -> TensorVariable:
    """Return the position (int64) in the sorted vector `x` of each element of `v`, in the shape of
    `v`.

    It is the number of elements that are smaller (side "left"), or not larger (side "right").
    sorter: the positions that sort `x`, if it is not sorted. Raises `ShapeError` unless `x` is a
    vector; `DTypeError`; `ValueError` for another side.

    >>> from rewrite_engine.tensor import searchsorted
    >>> searchsorted([1, 2, 2, 5], [0, 2, 9]).eval(), searchsorted([1, 2, 2, 5], 2, "right").eval()
    (array([0, 1, 4]), array(3))
    """
    x = as_tensor_variable(x)
    return SearchsortedOp(side)(x if sorter is None else x[as_tensor_variable(sorter)], v)


def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> TensorVariable:
    """Return the number (int64) of the interval between `bins` for each element of `x`.

    bins: a rising or falling vector. right: whether the right end belongs to an interval. Raises
    `ValueError` for constant bins that both rise and fall.

    >>> from rewrite_engine.tensor import digitize
    >>> [digitize([0.5, 2.0, 9.0], bins).eval().tolist() for bins in ([1, 2, 3], [3, 2, 1])]
    [[0, 2, 3], [3, 1, 0]]
    """
    bins = as_tensor_variable(bins)
    back = bins[::-1]
    if isinstance(bins, Constant) and not np.array_equal(np.sort(bins.data), bins.data):
        if not np.array_equal(np.sort(bins.data), bins.data[::-1]):
            raise ValueError(located("digitize: bins must rise or fall, not both"))
    falls = reduce_any(m.lt(bins[1:], bins[:-1]))
    found = searchsorted(m.switch(falls, back, bins), x, "left" if right else "right")
    return m.switch(falls, m.sub(shape_i(bins, 0), found), found)


@overload
def unique(
    ar: TensorLike,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
) -> TensorVariable: ...
@overload
def unique(
    ar: TensorLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Any: ...
def unique(
    ar: TensorLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Any:
    """Return the distinct elements of an array in order, as a vector; or its distinct parts along
    an axis.

    return_index, return_inverse, return_counts: return a list with additional int64 outputs: the
    position of the first occurrence of each; the number of the distinct element for each element
    (in the shape of `ar`, or a vector along the axis); the counts. The gradient goes to the first
    occurrences. Raises `AxisError`.

    >>> from rewrite_engine.tensor import unique
    >>> [v.eval() for v in unique([3.0, 1.0, 3.0], return_inverse=True, return_counts=True)]
    [array([1., 3.]), array([1, 0, 1]), array([1, 2])]
    """
    ar = as_tensor_variable(ar)
    axis = None if axis is None else normalize_axis(axis, ar.type.ndim)
    return Unique(return_index, return_inverse, return_counts, axis)(ar)


def bincount(
    x: TensorLike,
    weights: TensorLike | None = None,
    minlength: Any = None,
    assert_nonneg: bool = False,
) -> TensorVariable:
    """Return how often each number 0, 1, … occurs in a vector of integers >= 0, as int64.

    weights: return the sums of these weights (in their dtype, float64 for integers). The result has
    at least `minlength` elements. assert_nonneg has no effect: a negative number always raises
    `ShapeError`. Raises `DTypeError`, `NDimError`.

    >>> from rewrite_engine.tensor import bincount
    >>> bincount([3, 1, 1]).eval(), bincount([0, 1, 1], [0.5, 1, 2], minlength=3).eval()
    (array([0, 2, 0, 1]), array([0.5, 3. , 0. ]))
    """
    more = () if weights is None else (weights,)
    return BinCount()(x, 0 if minlength is None else minlength, *more)


def interp(
    x: Any,
    xp: Any,
    fp: Any,
    left: Any = None,
    right: Any = None,
    period: Any = None,
) -> TensorVariable:
    """Return linear interpolations at `x` between the points (xp, fp), in the shape of `x`, as
    floats.

    xp, fp: vectors, `xp` rising. left, right: the values outside of the points; by default those at
    the first and at the last point. period: the period of x, instead of left and right; `xp` may
    then be in any order. There are gradients for `x`, `xp` and `fp`; at a point the slope is that
    of the line after it. Raises `NDimError`; `ShapeError` if xp and fp have different lengths,
    `AxisError` if they are empty.

    >>> from rewrite_engine.tensor import interp
    >>> interp([0.0, 1.5, 9.0], [1.0, 2.0, 3.0], [3.0, 2.0, 0.0]).eval()
    array([3. , 2.5, 0. ])
    """
    x, xp, fp = as_tensor_variable(x), as_tensor_variable(xp), as_tensor_variable(fp)
    if xp.type.ndim != 1 or fp.type.ndim != 1:
        raise NDimError(
            located(f"interp takes vectors of points, not types {xp.type} and {fp.type}")
        )
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, abs(period))
        left = right = None
    fp = specify_shape(fp, (shape_i(xp, 0),))
    behind = m.clip(SearchsortedOp("right")(xp, x), 1, shape_i(xp, 0) - 1)
    x0, x1, y0, y1 = xp[behind - 1], xp[behind], fp[behind - 1], fp[behind]
    between = m.add(m.mul(m.true_div(m.sub(y1, y0), m.sub(x1, x0)), m.sub(x, x0)), y0)
    found = m.switch(m.ge(x, xp[-1]), fp[-1], between)
    if right is not None:
        found = m.switch(m.gt(x, xp[-1]), right, found)
    return m.switch(m.lt(x, xp[0]), fp[0] if left is None else left, found)


#: what is between two points, at a share of the way
_BETWEEN: dict[str, Callable[..., Any]] = {
    "linear": lambda low, high, share: m.add(low, m.mul(share, m.sub(high, low))),
    "nearest": lambda low, high, share: m.switch(m.le(share, 0.5), low, high),
    "first": lambda low, high, share: low,
    "last": lambda low, high, share: high,
    "mean": lambda low, high, share: m.true_div(m.add(low, high), 2),
}


def interpolate1d(
    x: TensorLike,
    y: TensorLike,
    method: str = "linear",
    left_pad: Any = None,
    right_pad: Any = None,
    extrapolate: bool = True,
) -> Callable[[Any], Any]:
    """Return a function that interpolates between the points (x, y): vectors, `x` rising.

    method: "linear"; "nearest", "first" or "last" of the two points around (a point of `x` belongs
    to the interval before it); or their "mean". extrapolate: continue the lines and means beyond
    the ends; the other methods return the first or last `y` there. Without extrapolate the value is
    left_pad up to the first point, and right_pad beyond the last; by default the first and last
    `y`. Raises `ValueError` for another method.

    >>> from rewrite_engine.tensor import interpolate1d
    >>> interpolate1d([0.0, 1.0, 2.0], [1.0, 3.0, 7.0])([0.5, 3.0]).eval()
    array([ 2., 11.])
    """
    if method not in _BETWEEN:
        raise ValueError(located(f"method must be one of {[*_BETWEEN]}, not {method!r}"))
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    ends = extrapolate and method in ("linear", "mean")

    def at(points: Any) -> Any:
        points = as_tensor_variable(points)
        behind = m.clip(SearchsortedOp()(x, points), 1, shape_i(x, 0) - 1)
        start, end = x[behind - 1], x[behind]
        share = m.true_div(m.sub(points, start), m.sub(end, start))
        found = _BETWEEN[method](y[behind - 1], y[behind], share)
        if ends:
            return found
        left, right = (None, None) if extrapolate else (left_pad, right_pad)
        found = m.switch(m.gt(points, x[-1]), y[-1] if right is None else right, found)
        return m.switch(m.le(points, x[0]), y[0] if left is None else left, found)

    return at


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """Return x and the points reduced to one period, in order, with one more point at each end."""
    from rewrite_engine.tensor.shaping.joins import concatenate

    x, xp = m.mod(x, period), m.mod(xp, period)
    order = argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = concatenate([m.sub(xp[-1:], period), xp, m.add(xp[:1], period)])
    return x, xp, concatenate([fp[-1:], fp, fp[:1]])
