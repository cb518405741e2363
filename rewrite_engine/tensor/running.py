"""Running sums and products, and linear recurrences, from which the derivatives of running products
are built.

No quotient of products appears, so elements may be zero. The derivative of a recurrence is again
one, so derivatives of any order exist. The gradient of `Prod` (`tensor/reduce.py`) uses this.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rewrite_engine.errors import AxisError, AxisTypeError, DTypeError, ShapeError, dimensions
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.dtype import DISCRETE, accumulator, promote
from rewrite_engine.tensor import math as m
from rewrite_engine.tensor.batch import all_stretched
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.dimshuffle import normalize_axis, slice_at_axis
from rewrite_engine.tensor.elemwise_grad import gradient_dtype, zero_gradient
from rewrite_engine.tensor.op import Shapes, TensorOp, same_shape, with_parameters
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["CumOp", "cumprod", "cumsum", "diff"]

#: with fewer sequences beside each other, Python's numbers are faster than NumPy's arrays
_FEW = 16


class Recurrence(TensorOp):
    """Linear recurrence h[i] = a[i] h[i-1] + b[i] along an axis >= 0, from h[0] = b[0] (a[0] is not
    used).

    a, b: floats of one shape; the result has their shape and common dtype.
    """

    __props__ = ("axis",)
    nin = 2
    only_lengths = True
    samples: Sequence[Any] = (({"axis": 1}, (2, 4), (2, 4)), ({"axis": 0}, (4, 20), (4, 20)))

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def dtypes(self, *types: TensorType) -> list[str]:
        dtype = promote(*[t.dtype for t in types])
        if np.dtype(dtype).kind not in "fc":
            raise DTypeError("takes arrays of a float dtype")
        return [dtype]

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape rule: both inputs have one shape, as has the result."""
        a, b = types
        if a.ndim != b.ndim or not 0 <= self.axis < a.ndim:
            raise ShapeError(f"takes two arrays that have dimension {self.axis}")
        axes = range(a.ndim)
        return Shapes([[(1, i) for i in axes]], [[(0, i), (1, i)] for i in axes])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to a batch, with both inputs broadcast to it."""
        n, wide = all_stretched(node, inputs)
        return [Recurrence(self.axis + n)(*wide)]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the recurrence, in float64 at least. Raise `ShapeError`."""
        wanted = node.outputs[0].type.numpy_dtype
        self.check(node, inputs)
        inner = np.result_type(wanted, np.float64)
        a, b = [np.moveaxis(x.astype(inner, copy=False), self.axis, 0) for x in inputs]
        h = (_few if b[:1].size < _FEW else _many)(a, b)
        output_storage[0][0] = np.ascontiguousarray(np.moveaxis(h, 0, self.axis), wanted)

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return two operations per element: a product and a sum."""
        return 2 * math.prod(outputs[0])

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """Return gradients by a backward recurrence: the total gradient of h[i] is g[i] + a[i+1]
        times that of h[i+1].
        """
        (g,) = output_gradients
        if is_disconnected(g):
            return [disconnected(), disconnected()]
        arriving = backwards(m.conjugated(inputs[0]), g, self.axis)
        slope = m.mul(arriving, m.conjugated(before(outputs[0], self.axis, 0.0)))
        return [m.as_gradient_of(x, g) for x, g in zip(inputs, (slope, arriving), strict=True)]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangent: a recurrence of the tangents with the same factors."""
        (a, b), (da, db) = inputs, eval_points
        terms = [] if db is None else [db]
        if da is not None:
            terms.append(m.mul(da, before(self(a, b), self.axis, 0.0)))
        return [self(a, terms[0] if len(terms) == 1 else m.add(*terms)) if terms else None]

    def __str__(self) -> str:
        return f"Recurrence{{axis={self.axis}}}"


def _many(a: Any, b: Any) -> Any:
    """Compute step by step, for all sequences at once."""
    h = b.copy()
    for i in range(1, len(h)):
        h[i] += a[i] * h[i - 1]
    return h


def _few(a: Any, b: Any) -> Any:
    """Compute sequence by sequence."""
    h = b.copy()
    for index in np.ndindex(b.shape[1:]):
        place = (slice(None), *index)
        last, found = 0.0, list[Any]()
        for x, y in zip(a[place].tolist(), b[place].tolist(), strict=True):
            last = x * last + y if found else y
            found.append(last)
        h[place] = found
    return h


_UFUNC = {"add": np.add, "mul": np.multiply}


class AlongOneAxis(TensorOp):
    """Base class of ops along an axis >= 0 of an array, with a result of the same shape."""

    axis: int
    only_lengths = True
    samples: Sequence[Any] = (({"axis": 0}, (3, 2)), ({"axis": 1}, (2, 3)), ({"axis": 0}, (0, 2)))

    def shapes(self, *types: TensorType) -> Shapes:
        (x,) = types
        if not 0 <= self.axis < x.ndim:
            raise AxisError(f"axis {self.axis} is out of range for {dimensions(x.ndim)}")
        return same_shape(x)

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op along the corresponding axis, after the batch."""
        more = inputs[0].type.ndim - node.inputs[0].type.ndim
        return [with_parameters(self, axis=self.axis + more)(*inputs)]


class CumOp(AlongOneAxis):
    """Running sums (mode "add") or products ("mul") along an axis >= 0, with the dtypes of
    `Sum`.
    """

    __props__ = ("axis", "mode")
    implied = {"nonneg": "nonneg"}
    samples: Sequence[Any] = (
        ({"axis": 0}, (3, 2)),
        ({"axis": 1, "mode": "mul"}, (2, 3)),
        ({"axis": 0}, (0, 2)),
    )

    def __init__(self, axis: int, mode: str = "add") -> None:
        if mode not in _UFUNC:
            raise ValueError(f"mode must be 'add' or 'mul', not {mode!r}")
        if not hasattr(axis, "__index__"):
            raise AxisTypeError(f"the axis of CumOp must be an integer >= 0, not {axis!r}")
        self.axis = axis
        self.mode = mode
        self.moves_only = mode == "add"
        self.takes_partial = not self.moves_only

    def dtypes(self, *types: TensorType) -> list[str]:
        return [np.cumsum(np.ones(1, types[0].numpy_dtype)).dtype.name]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute by `numpy.cumsum` or `numpy.cumprod`."""
        wanted = node.outputs[0].type.numpy_dtype
        inner = np.dtype(accumulator(wanted.name))
        value = _UFUNC[self.mode].accumulate(inputs[0], axis=self.axis, dtype=inner)
        output_storage[0][0] = value.astype(wanted, copy=False)

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return one operation per element."""
        return math.prod(inputs[0])

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """Return the sum of the gradients from each position on; for products, times the factors in
        between.
        """
        (x,), (z,), (g,) = inputs, outputs, output_gradients
        if is_disconnected(g):
            return [disconnected()]
        if z.type.dtype in DISCRETE:
            return [zero_gradient(x)]
        if self.mode == "add":
            part = flipped(self(flipped(g, self.axis)), self.axis)
        else:
            arriving = backwards(m.conjugated(x), g, self.axis)
            part = m.mul(arriving, m.conjugated(before(z, self.axis, 1.0)))
        return [m.cast(part, gradient_dtype(x.type.dtype))]

    def input_gradients(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        gs: Sequence[Any],
        wanted: Sequence[int],
        kept: Sequence[int] = (),
    ) -> Sequence[Any]:
        """Return the gradients of `L_op`, also for a `Partial` output gradient.

        Factors after the last product that the gradient includes are not multiplied, whatever their
        values.
        """
        (g,) = gs
        if not hasattr(g, "where"):
            return self.L_op(inputs, outputs, gs)
        (x,), (z,) = inputs, outputs
        counts = m.second(z, g.where if g.taken else m.eq(g.where, 0))
        behind = CumOp(self.axis)(flipped(m.neq(counts, 0), self.axis))
        live = m.gt(flipped(behind, self.axis), 0)
        g = g.value if g.clean else m.switch(counts, g.value, 0.0)
        (part,) = self.L_op([m.switch(live, x, 0)], outputs, [g])
        return [m.switch(live, part, 0.0)]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the Jacobian-vector product."""
        (x,), (v,) = inputs, eval_points
        if v is None:
            return [None]
        if self.mode == "add":
            return [self(v)]
        return [Recurrence(self.axis)(x, m.mul(v, before(self(x), self.axis, 1.0)))]


def one_axis(x: Any, axis: Any) -> tuple[Any, int]:
    """Return an array and an axis >= 0 of it; for None all elements as a vector, and 0. Raise
    `AxisError`.
    """
    if axis is None:
        return x.flatten(), 0
    try:
        return x, normalize_axis(operator.index(axis), x.type.ndim)
    except TypeError:
        raise AxisTypeError(located(f"axis must be None or an integer, not {axis!r}")) from None


def cumsum(x: TensorLike, axis: int | None = None) -> TensorVariable:
    """Return running sums along an axis (None: of the flattened array). Raise `AxisError`."""
    x, axis = one_axis(as_tensor_variable(x), axis)
    return CumOp(axis)(x)


def cumprod(x: TensorLike, axis: int | None = None) -> TensorVariable:
    """Return running products along an axis (None: of the flattened array). Raise `AxisError`."""
    x, axis = one_axis(as_tensor_variable(x), axis)
    return CumOp(axis, "mul")(x)


def diff(
    x: Any,
    n: int = 1,
    axis: int = -1,
    prepend: Any = None,
    append: Any = None,
) -> TensorVariable:
    """Return the n-th differences of neighbours along an axis, which becomes n shorter (or empty).

    For booleans: whether neighbours differ. The dtype is that of x. prepend, append: arrays, or
    numbers, to put before and after `x` along the axis. Raises `AxisError`; `ShapeError` for n < 0.

    >>> from rewrite_engine.tensor import diff
    >>> diff([1, 4, 9, 16], n=2).eval()
    array([2, 2])
    """
    x, axis = one_axis(as_tensor_variable(x), axis)
    if operator.index(n) < 0:
        raise ShapeError(located(f"diff: n must be an integer >= 0, not {n}"))
    if prepend is not None or append is not None:
        x = _lengthened(x, axis, prepend, append)
    for _ in range(n):
        below, above = [x[slice_at_axis(s, axis)] for s in (slice(None, -1), slice(1, None))]
        x = (m.neq if x.type.dtype == "bool" else m.sub)(above, below)
    return x


def _lengthened(x: Any, axis: int, prepend: Any, append: Any) -> Any:
    """Return an array with other arrays, or numbers, before and after it along an axis."""
    from rewrite_engine.tensor.creation import alloc
    from rewrite_engine.tensor.shaping.joins import join

    parts = [x if v is None else as_tensor_variable(v) for v in (prepend, x, append)]
    one = [1 if i == axis else x.shape[i] for i in range(x.type.ndim)]
    parts = [v if v.type.ndim else alloc(v, *one) for v in parts]
    kept = [v for v, given in zip(parts, (prepend, x, append), strict=True) if given is not None]
    return join(axis, *kept)


# --- along an axis ------------------------------------------------------------------------------


def backwards(a: Any, g: Any, axis: int) -> Any:
    """Return the solution of y[i] = g[i] + a[i+1] y[i+1]."""
    a, g = flipped(a, axis), flipped(g, axis)
    return flipped(Recurrence(axis)(before(a, axis, 0.0), g), axis)


def flipped(x: Any, axis: int) -> Any:
    """Return the elements along an axis in reverse order."""
    return x[slice_at_axis(slice(None, None, -1), axis)]


def before(x: Any, axis: int, first: float) -> Any:
    """Return the predecessor of each element along an axis, with `first` for the first."""
    from rewrite_engine.tensor.creation import full_like
    from rewrite_engine.tensor.shaping.joins import Join

    lead = full_like(x.sum(axis=axis, keepdims=True), first)
    return Join(axis)(lead, x)[slice_at_axis(slice(None, -1), axis)]


def product_of_others(x: Any, axes: Sequence[int]) -> Any:
    """Return, for each element, the product of all others along axes."""
    from rewrite_engine.tensor.creation import ones_like
    from rewrite_engine.tensor.reshape import reshape_like

    if not axes:
        return ones_like(x)
    if len(axes) == 1:
        return _product_of_others(x, axes[0])
    kept = [i for i in range(x.type.ndim) if i not in axes]
    order = [*kept, *axes]
    turned = x.dimshuffle(*order)
    others = _product_of_others(turned.flatten(len(kept) + 1), len(kept))
    return reshape_like(others, turned).dimshuffle(*[order.index(i) for i in range(len(order))])


def _product_of_others(x: Any, axis: int) -> Any:
    products = CumOp(axis, "mul")
    left = products(before(x, axis, 1.0))
    right = products(before(flipped(x, axis), axis, 1.0))
    return m.mul(left, flipped(right, axis))
