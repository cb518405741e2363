"""Functions made of reductions: means, variances; positions of extrema. Softmax is in
`tensor/special.py`, running sums are in `tensor/running.py`.

Means and variances are written as in a textbook; the stabilising rules (`rules/`) turn them into
forms that neither overflow nor lose digits.
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


def size(x: TensorLike) -> TensorVariable:
    """Number of elements, as an int64 scalar variable."""
    n = count(x)
    return weak_constant(n, "int64") if isinstance(n, int) else n


def mean(
    input: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    keepdims: bool = False,
    acc_dtype: Any = None,
) -> TensorVariable:
    """Mean along axes; float64 for integers and booleans.

    dtype: of the sum and of the result, as NumPy has it: with "int8" the sum wraps around, and its
    quotient is cut off. acc_dtype: of the intermediate results of the sum. float16 is the mean of a
    float32 sum, as the sum may be too large for it.
    """
    x = as_tensor_variable(input)
    own = "float64" if x.type.dtype in DISCRETE else x.type.dtype
    result = own if dtype is None else dtype_name(dtype)
    return divided(x, axis, result, keepdims, count(x, axis), acc_dtype)


def divided(x: Any, axis: Any, dtype: str, keepdims: bool, n: Any, acc_dtype: Any = None) -> Any:
    """The sum along axes divided by n, an int or a variable."""
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
    """Variance along axes: the mean of |x - mean|², divided by n - ddof instead of n. That of
    float16 is computed in float32, as squares may be too large for it.

    corrected: the rounding error of the mean is taken out, by the mean of what is left.
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
    """Standard deviation along axes: the square root of `var`. Where all elements are equal it has
    no slope: its gradient is NaN there.
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
    """Maximum less minimum along axes; dtype of `a`. Raises `AxisError`, `ShapeError` of nothing;
    `DTypeError` for booleans.
    """
    a = as_tensor_variable(a)
    return m.sub(Max(axis, keepdims=keepdims)(a), Min(axis, keepdims=keepdims)(a))


# --- positions of extrema ---------------------------------------------------------------------


class Argmax(Reduction):
    """Position of the maximum along axes, counted in the reduced dimensions taken together; int64.

    Of several, the first; a NaN counts as the maximum. Raises `AxisError`, `ShapeError` for an
    empty array.
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
            self.fail(node, str(error))
        (shape,) = self.checked(node, [x])
        output_storage[0][0] = np.asarray(value, np.int64).reshape(shape)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Zero: the position does not change with small changes of the input."""
        return [zero_gradient(inputs[0])]


class Argmin(Argmax):
    """Position of the minimum; see `Argmax`."""

    find = staticmethod(np.argmin)


def argmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Position (int64) of the first maximum along axes; that of a NaN, if there is one."""
    return Argmax(axis, keepdims)(x)


def argmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Position (int64) of the first minimum along axes; that of a NaN, if there is one."""
    return Argmin(axis, keepdims)(x)


def max_and_argmax(
    a: TensorLike, axis: Axis = None, keepdims: bool = False
) -> list[TensorVariable]:
    """The maximum along axes, and its position (see `argmax`)."""
    return [Max(axis, keepdims=keepdims)(a), argmax(a, axis, keepdims)]
