"""Functions made of reductions: means, variances; running sums; positions of extrema. Softmax is
in `tensor/special.py`.

Means and variances are written as in a textbook; the stabilising rules (`rules/`) turn them into
forms that neither overflow nor lose digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from rewrite_engine.errors import AxisError, ShapeError, message
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.graph.op import Lengths, Op
from rewrite_engine.scalar.dtype import DISCRETE, accumulator, dtype_name
from rewrite_engine.tensor import math as m
from rewrite_engine.tensor.broadcast import build_site
from rewrite_engine.tensor.constant import as_tensor_variable, refuse_truth, weak_constant
from rewrite_engine.tensor.elemwise_grad import gradient_dtype, zero_gradient
from rewrite_engine.tensor.reduce import Sum
from rewrite_engine.tensor.reduction import Reduction, normalize_axes, sorted_axes
from rewrite_engine.tensor.shape import shape_i
from rewrite_engine.tensor.type import TensorType


def count(x: Any, axis: Any = None) -> Any:
    """Number of elements along axes: an int if the type tells, else an int64 scalar variable.

    Raises `AxisError`.
    """
    x = as_tensor_variable(x)
    axes = normalize_axes(sorted_axes(axis), x.type.ndim)
    known, rest = 1, []
    for i in range(x.type.ndim) if axes is None else axes:
        if x.type.shape[i] is None:
            rest.append(shape_i(x, i))
        else:
            known *= x.type.shape[i]
    if not rest:
        return known
    factors = rest if known == 1 else [known, *rest]
    return factors[0] if len(factors) == 1 else m.mul(*factors)


def size(x: Any) -> Any:
    """Number of elements, as an int64 scalar variable."""
    n = count(x)
    return weak_constant(n, "int64") if isinstance(n, int) else n


def mean(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Mean along axes; float64 for integers and booleans.

    dtype: of the sum and of the result, as NumPy has it: with "int8" the sum wraps around, and its
    quotient is cut off. float16 is the mean of a float32 sum, as the sum may be too large for it.
    """
    refuse_truth(x)
    x = as_tensor_variable(x)
    own = "float64" if x.type.dtype in DISCRETE else x.type.dtype
    result = own if dtype is None else dtype_name(dtype)
    return _mean(x, axis, result, keepdims, count(x, axis))


def _mean(x: Any, axis: Any, dtype: str, keepdims: bool, n: Any) -> Any:
    """The sum along axes divided by n, an int or a variable."""
    inner = "float32" if dtype == "float16" else dtype
    total = Sum(axis, dtype=None if inner == x.type.dtype else inner, keepdims=keepdims)(x)
    real = {"complex64": "float32", "complex128": "float64"}.get(inner, inner)
    real = "float64" if inner in DISCRETE else real
    n = weak_constant(n, real) if isinstance(n, int) else m.cast(n, real)
    return m.cast(m.true_div(total, n), dtype)


def var(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Variance along axes: the mean of |x - mean|², divided by n - ddof instead of n. That of
    float16 is computed in float32, as squares may be too large for it.
    """
    refuse_truth(x)
    x = as_tensor_variable(x)
    return _narrowed(_var(x, axis, ddof, keepdims), x)


def std(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """Standard deviation along axes: the square root of `var`."""
    refuse_truth(x)
    x = as_tensor_variable(x)
    return _narrowed(m.sqrt(_var(x, axis, ddof, keepdims)), x)


def _var(x: Any, axis: Any, ddof: int, keepdims: bool) -> Any:
    if x.type.dtype == "float16":
        x = m.cast(x, "float32")
    centred = m.sub(x, mean(x, axis, keepdims=True))
    squares = m.sqr(m.abs(centred) if x.type.kind == "c" else centred)
    n = m.sub(count(x, axis), ddof) if ddof else count(x, axis)
    return _mean(squares, axis, squares.type.dtype, keepdims, n)


def _narrowed(result: Any, x: Any) -> Any:
    return m.cast(result, "float16") if x.type.dtype == "float16" else result


# --- running sums -----------------------------------------------------------------------------

_UFUNC = {"add": np.add, "mul": np.multiply}


class CumOp(Op):
    """Running sums (mode "add") or products ("mul") along an axis >= 0. dtypes, also those in which
    it accumulates, as of `Sum`.

    The gradient of a running product divides by the elements: it is not defined where one is zero.
    """

    __props__ = ("axis", "mode")

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
        """Sum the gradients from every position on (of a product: times the product, divided by
        the element).
        """
        (x,), (z,), (g,) = inputs, outputs, output_gradients
        if is_disconnected(g):
            return [disconnected()]
        if z.type.dtype in DISCRETE:
            return [zero_gradient(x)]
        part = self._from_here_on(g if self.mode == "add" else m.mul(g, z))
        if self.mode == "mul":
            part = m.true_div(part, x)
        return [m.cast(part, gradient_dtype(x.type.dtype))]

    def _from_here_on(self, g: Any) -> Any:
        backwards = (slice(None),) * self.axis + (slice(None, None, -1),)
        return CumOp(self.axis, "add")(g[backwards])[backwards]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Jacobian-vector product."""
        (x,), (v,) = inputs, eval_points
        if v is None:
            return [None]
        if self.mode == "add":
            return [self(v)]
        return [m.mul(self(x), CumOp(self.axis, "add")(m.true_div(v, x)))]


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


# --- positions of extrema ---------------------------------------------------------------------


class Argmax(Reduction):
    """Position of the maximum along axes, counted in the reduced dimensions taken together; int64.

    Of several, the first; a NaN counts as the maximum. Raises `AxisError`, `ShapeError` for an
    empty array.
    """

    __props__ = ("axis", "keepdims")
    find: ClassVar[Any] = staticmethod(np.argmax)
    needs_elements = True

    def __init__(self, axis: Any = None, keepdims: bool = False) -> None:
        super().__init__(axis, keepdims)

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        """int64, in the reduced static shape."""
        (x,) = types
        if 0 in [x.shape[a] for a in self.axes(x.ndim)]:
            raise ShapeError(
                message(
                    "nothing to search: a length is 0", op=self, inputs=types, where=build_site()
                )
            )
        return [TensorType("int64", self.reduced(x.shape))]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute with the reduced dimensions moved to the end and flattened."""
        x = np.asarray(inputs[0])
        axes = self.axes(x.ndim)
        kept = [i for i in range(x.ndim) if i not in axes]
        flat = x.transpose(*kept, *axes).reshape(
            [x.shape[i] for i in kept] + [math.prod(x.shape[a] for a in axes)]
        )
        try:
            value = self.find(flat, axis=-1)
        except ValueError as error:
            raise ShapeError(
                message(str(error), op=self, inputs=[x], where=node.where())
            ) from error
        output_storage[0][0] = np.asarray(value, np.int64).reshape(self.reduced(x.shape))

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Zero: the position does not change with small changes of the input."""
        if is_disconnected(output_gradients[0]):
            return [disconnected()]
        return [zero_gradient(inputs[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Nothing moves."""
        return [None]


class Argmin(Argmax):
    """Position of the minimum; see `Argmax`."""

    find = staticmethod(np.argmin)


def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Position (int64) of the first maximum along axes."""
    return Argmax(axis, keepdims)(x)


def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Position (int64) of the first minimum along axes."""
    return Argmin(axis, keepdims)(x)
