"""Running sums and products, and linear recurrences, of which the derivatives of running products
are made.

No quotient of products appears, so elements may be zero; and since the derivative of a recurrence
is one again, that holds to any order. The gradient of `Prod` (`tensor/reduce.py`) is made of this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import AxisError, DTypeError, ShapeError, message
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.op import Lengths, Op
from rewrite_engine.scalar.dtype import DISCRETE, accumulator, promote
from rewrite_engine.tensor import math as m
from rewrite_engine.tensor.broadcast import build_site
from rewrite_engine.tensor.constant import as_tensor_variable, refuse_truth
from rewrite_engine.tensor.elemwise_grad import gradient_dtype, zero_gradient
from rewrite_engine.tensor.type import TensorType

#: with fewer sequences beside each other, Python's numbers are faster than NumPy's arrays
_FEW = 16


class Recurrence(Op):
    """h[i] = a[i] h[i-1] + b[i] along an axis >= 0, from h[0] = b[0] (a[0] is not used).

    a, b: floats of one shape; the result has their shape and common dtype.
    """

    __props__ = ("axis",)

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def convert_input(self, x: Any) -> Variable:
        return as_tensor_variable(x)  # type: ignore[no-any-return]

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        """Raises `ShapeError`, `DTypeError`."""
        a, b = types
        if a.ndim != b.ndim or not 0 <= self.axis < a.ndim:
            what = f"takes two arrays with a dimension {self.axis}"
            raise ShapeError(message(what, op=self, inputs=types, where=build_site()))
        dtype = promote(a.dtype, b.dtype)
        if np.dtype(dtype).kind not in "fc":
            raise DTypeError(message("takes floats", op=self, inputs=types, where=build_site()))
        shape = [t if s is None else s for s, t in zip(a.shape, b.shape, strict=True)]
        return [TensorType(dtype, shape)]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute, in float64 at least. Raises `ShapeError`."""
        wanted = node.outputs[0].type.numpy_dtype
        if inputs[0].shape != inputs[1].shape:
            what = f"shapes {inputs[0].shape} and {inputs[1].shape} are not the same"
            raise ShapeError(message(what, op=self, inputs=node.inputs, where=node.where()))
        inner = np.result_type(wanted, np.float64)
        a, b = [np.moveaxis(x.astype(inner, copy=False), self.axis, 0) for x in inputs]
        h = (_few if b[:1].size < _FEW else _many)(a, b)
        output_storage[0][0] = np.ascontiguousarray(np.moveaxis(h, 0, self.axis), wanted)

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The same shape."""
        return [shapes[1]]

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """A product and a sum per element."""
        return 2 * math.prod(outputs[0])

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """The gradients run backwards: what arrives at h[i] is g[i] + a[i+1] times what arrives at
        h[i+1].
        """
        (g,) = output_gradients
        if is_disconnected(g):
            return [disconnected(), disconnected()]
        arriving = backwards(inputs[0], g, self.axis)
        return [m.mul(arriving, before(outputs[0], self.axis, 0.0)), arriving]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """The same recurrence of the directions."""
        (a, b), (da, db) = inputs, eval_points
        terms = [] if db is None else [db]
        if da is not None:
            terms.append(m.mul(da, before(self(a, b), self.axis, 0.0)))
        return [self(a, terms[0] if len(terms) == 1 else m.add(*terms)) if terms else None]

    def __str__(self) -> str:
        return f"Recurrence{{axis={self.axis}}}"


def _many(a: Any, b: Any) -> Any:
    """Step by step, all sequences at a time."""
    h = b.copy()
    for i in range(1, len(h)):
        h[i] += a[i] * h[i - 1]
    return h


def _few(a: Any, b: Any) -> Any:
    """Sequence by sequence."""
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


class CumOp(Op):
    """Running sums (mode "add") or products ("mul") along an axis >= 0. dtypes, also those in which
    it accumulates, as of `Sum`.
    """

    __props__ = ("axis", "mode")
    implied = {"nonneg": "nonneg"}

    def __init__(self, axis: int, mode: str = "add") -> None:
        if mode not in _UFUNC:
            raise ValueError(f"mode is 'add' or 'mul', not {mode!r}")
        self.axis = axis
        self.mode = mode
        self.moves_only = mode == "add"

    def convert_input(self, x: Any) -> Variable:
        return as_tensor_variable(x)  # type: ignore[no-any-return]

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        """The same shape. Raises `AxisError`."""
        (x,) = types
        if not 0 <= self.axis < x.ndim:
            what = f"axis {self.axis} is out of range for {x.ndim} dimensions"
            raise AxisError(message(what, op=self, inputs=types, where=build_site()))
        return [TensorType(np.cumsum(np.ones(1, x.numpy_dtype)).dtype, x.shape)]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute."""
        wanted = node.outputs[0].type.numpy_dtype
        inner = np.dtype(accumulator(wanted.name))
        value = _UFUNC[self.mode].accumulate(inputs[0], axis=self.axis, dtype=inner)
        output_storage[0][0] = value.astype(wanted, copy=False)

    def equal_lengths(self, node: Apply) -> list[Lengths] | None:
        """It cannot fail."""
        return []

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The same shape."""
        return [shapes[0]]

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """One operation per element."""
        return math.prod(inputs[0])

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """Sum the gradients from every position on; of a product, times what comes between."""
        (x,), (z,), (g,) = inputs, outputs, output_gradients
        if is_disconnected(g):
            return [disconnected()]
        if z.type.dtype in DISCRETE:
            return [zero_gradient(x)]
        if self.mode == "add":
            part = flipped(self(flipped(g, self.axis)), self.axis)
        else:
            part = m.mul(backwards(x, g, self.axis), before(z, self.axis, 1.0))
        return [m.cast(part, gradient_dtype(x.type.dtype))]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Jacobian-vector product."""
        (x,), (v,) = inputs, eval_points
        if v is None:
            return [None]
        if self.mode == "add":
            return [self(v)]
        return [Recurrence(self.axis)(x, m.mul(v, before(self(x), self.axis, 1.0)))]


def _cumulate(x: Any, axis: Any, mode: str) -> Any:
    refuse_truth(x, f"cum{mode}")
    x = as_tensor_variable(x)
    if axis is None:
        x, axis = x.flatten(), 0
    return CumOp(axis % x.ndim if -x.ndim <= axis < 0 else axis, mode)(x)


def cumsum(x: Any, axis: int | None = None) -> Any:
    """Running sums along an axis (None: of the flattened array). Raises `AxisError`."""
    return _cumulate(x, axis, "add")


def cumprod(x: Any, axis: int | None = None) -> Any:
    """Running products along an axis (None: of the flattened array). Raises `AxisError`."""
    return _cumulate(x, axis, "mul")


# --- along an axis ------------------------------------------------------------------------------


def backwards(a: Any, g: Any, axis: int) -> Any:
    """y[i] = g[i] + a[i+1] y[i+1]."""
    a, g = flipped(a, axis), flipped(g, axis)
    return flipped(Recurrence(axis)(before(a, axis, 0.0), g), axis)


def flipped(x: Any, axis: int) -> Any:
    """The elements along an axis in reverse order."""
    return x[(slice(None),) * axis + (slice(None, None, -1),)]


def before(x: Any, axis: int, first: float) -> Any:
    """Each element's predecessor along an axis; `first` has none."""
    from rewrite_engine.tensor.creation import full_like
    from rewrite_engine.tensor.join import Join

    start = (slice(None),) * axis
    lead = full_like(x.sum(axis=axis, keepdims=True), first)
    return Join(axis)(lead, x)[(*start, slice(None, -1))]


def product_of_others(x: Any, axes: Sequence[int]) -> Any:
    """For each element the product of all others along axes."""
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
