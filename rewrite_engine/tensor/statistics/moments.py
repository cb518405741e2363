"""Statistics built from reductions: means, variances, positions of extrema.

Softmax is in `tensor/special.py`, running sums are in `tensor/running.py`. Means and variances are
written as in a textbook; the stabilizing rules (`rules/`) rewrite them to forms that neither
overflow nor lose digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.scalar.bounds import LONGEST
from rewrite_engine.scalar.dtype import DISCRETE, dtype_name
from rewrite_engine.tensor import math as m
from rewrite_engine.tensor.constant import as_tensor_variable, weak_constant
from rewrite_engine.tensor.elemwise_grad import zero_gradient
from rewrite_engine.tensor.reduce import Max, Min, Sum
from rewrite_engine.tensor.reduction import Reduction, normalize_axes, sorted_axes
from rewrite_engine.tensor.shape import larger, shape_i
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Axis, DTypeLike, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "Argmax", "Argmin", "argmax", "argmin", "max_and_argmax", "mean", "ptp", "size", "std", "var",
]  # fmt: skip


def count(x: Any, axis: Any = None) -> Any:
    """Return the number of elements along axes: an int if the type has it, else an int64 scalar
    variable.

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


def size(x: TensorLike) -> TensorVariable:
    """Return the number of elements, as an int64 scalar variable."""
    n = count(x)
    return weak_constant(n, "int64") if isinstance(n, int) else n


def mean(
    input: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    keepdims: bool = False,
    acc_dtype: Any = None,
) -> TensorVariable:
    """Return means along axes (None: all); float64 for integers and booleans.

    dtype: of the sum and of the result, as in NumPy: with "int8" the sum wraps around, and the
    quotient is truncated. acc_dtype: of intermediate results of the sum. The mean of float16 uses a
    float32 sum, as the sum may be too large for float16. Raises `AxisError`.
    """
    x = as_tensor_variable(input)
    own = "float64" if x.type.dtype in DISCRETE else x.type.dtype
    result = own if dtype is None else dtype_name(dtype)
    return divided(x, axis, result, keepdims, count(x, axis), acc_dtype)


def divided(x: Any, axis: Any, dtype: str, keepdims: bool, n: Any, acc_dtype: Any = None) -> Any:
    """Return the sum along axes divided by n, an int or a variable."""
    inner = "float32" if dtype == "float16" else dtype
    total = Sum(axis, None if inner == x.type.dtype else inner, acc_dtype, keepdims)(x)
    real = {"complex64": "float32", "complex128": "float64"}.get(inner, inner)
    real = "float64" if inner in DISCRETE else real
    n = weak_constant(n, real) if isinstance(n, int) else m.cast(n, real)
    return m.cast(m.true_div(total, n), dtype)


def var(
    input: TensorLike,
    axis: Axis = None,
    ddof: int = 0,
    keepdims: bool = False,
    corrected: bool = False,
) -> TensorVariable:
    """Return variances along axes: the mean of |x - mean|², divided by n - ddof instead of n.

    Variances of float16 are computed in float32, as squares may be too large for float16.
    corrected: remove the rounding error of the mean, by the mean of the differences. Raises
    `AxisError`.
    """
    x = as_tensor_variable(input)
    return _narrowed(_var(x, axis, ddof, keepdims, corrected), x)


def std(
    input: TensorLike,
    axis: Axis = None,
    ddof: int = 0,
    keepdims: bool = False,
    corrected: bool = False,
) -> TensorVariable:
    """Return standard deviations along axes: the square root of `var`.

    The gradient is NaN where all elements are equal, as there is no slope. Raises `AxisError`.
    """
    x = as_tensor_variable(input)
    return _narrowed(m.sqrt(_var(x, axis, ddof, keepdims, corrected)), x)


def _var(x: Any, axis: Any, ddof: int, keepdims: bool, corrected: bool) -> Any:
    if x.type.dtype == "float16":
        x = m.cast(x, "float32")
    centred = m.sub(x, mean(x, axis, keepdims=True))
    if corrected:
        centred = m.sub(centred, mean(centred, axis, keepdims=True))
    squares = m.sqr(m.abs(centred) if x.type.kind == "c" else centred)
    n = larger(count(x, axis) - ddof, 0) if ddof else count(x, axis)
    return divided(squares, axis, squares.type.dtype, keepdims, n)


def _narrowed(result: Any, x: Any) -> Any:
    return m.cast(result, "float16") if x.type.dtype == "float16" else result


def ptp(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return maximum minus minimum along axes, in the dtype of `a`.

    Raises `AxisError`, `ShapeError` for an empty array; `DTypeError` for booleans.
    """
    a = as_tensor_variable(a)
    return m.sub(Max(axis, keepdims=keepdims)(a), Min(axis, keepdims=keepdims)(a))


# --- positions of extrema ---------------------------------------------------------------------


class Argmax(Reduction):
    """Position of the maximum along axes, counted in the joined reduced dimensions; int64.

    Of several maxima it is the first; a NaN counts as the maximum. Raises `AxisError`, `ShapeError`
    for an empty array.
    """

    __props__ = ("axis", "keepdims")
    limits = (0, LONGEST)
    find: ClassVar[Any] = staticmethod(np.argmax)
    needs_elements = True
    may_fail = True

    def __init__(self, axis: Any = None, keepdims: bool = False) -> None:
        super().__init__(axis, keepdims)

    def dtypes(self, *types: TensorType) -> list[str]:
        return ["int64"]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the positions, with the reduced dimensions moved to the end and flattened."""
        x = np.asarray(inputs[0])
        axes = self.axes(x.ndim)
        kept = [i for i in range(x.ndim) if i not in axes]
        flat = x.transpose(*kept, *axes).reshape(
            [x.shape[i] for i in kept] + [math.prod(x.shape[a] for a in axes)]
        )
        try:
            value = self.find(flat, axis=-1)
        except ValueError as error:
            self.fail(node, str(error))
        (shape,) = self.checked(node, [x])
        output_storage[0][0] = np.asarray(value, np.int64).reshape(shape)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return zero: the position does not change with small changes of the input."""
        return [zero_gradient(inputs[0])]


class Argmin(Argmax):
    """Position of the minimum along axes, counted in the joined reduced dimensions; int64 (see
    `Argmax`).
    """

    find = staticmethod(np.argmin)


def argmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return the position (int64) of the first maximum along axes; of the first NaN if there is
    one.

    axis=None: the position in the flattened array. Raises `AxisError`, `ShapeError` for an empty
    array.
    """
    return Argmax(axis, keepdims)(x)


def argmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return the position (int64) of the first minimum along axes; of the first NaN if there is
    one.

    axis=None: the position in the flattened array. Raises `AxisError`, `ShapeError` for an empty
    array.
    """
    return Argmin(axis, keepdims)(x)


def max_and_argmax(
    a: TensorLike, axis: Axis = None, keepdims: bool = False
) -> list[TensorVariable]:
    """Return the maximum along axes, and its position (see `argmax`)."""
    return [Max(axis, keepdims=keepdims)(a), argmax(a, axis, keepdims)]
