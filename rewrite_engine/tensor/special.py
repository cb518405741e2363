"""Softmax and related functions as ops, computed stably: shifted by the maximum.

Written out with `exp`, `sum` and `log` they overflow; rules (`rules/softmax.py`) rewrite the
written-out forms to these ops. Formulas: Blanchard, Higham & Higham, "Accurately computing the
log-sum-exp and softmax functions", IMA J. Numer. Anal. 41 (2021), algorithms 3.1 and 4.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import DTypeError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.lazy import lookup
from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.tensor.op import Shapes, same_shape
from rewrite_engine.tensor.reduce import LeavesOut, Sum
from rewrite_engine.tensor.reduction import AlongAxes, sorted_axes
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Axis, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "LogSoftmax", "LogSumExp", "ScaledExp", "Softmax", "SoftmaxAndLog", "log_softmax", "logsumexp",
    "softmax",
]  # fmt: skip

if TYPE_CHECKING:
    from rewrite_engine.tensor.elementwise import factorial as factorial
    from rewrite_engine.tensor.elementwise import logit as logit
    from rewrite_engine.tensor.math import beta as beta
    from rewrite_engine.tensor.math import betaln as betaln
    from rewrite_engine.tensor.math import poch as poch
    from rewrite_engine.tensor.math import xlog1py as xlog1py
    from rewrite_engine.tensor.math import xlogy as xlogy
else:
    #: elementwise functions that PyTensor has here
    __getattr__ = lookup(
        __name__,
        dict.fromkeys(("beta", "betaln", "factorial", "logit", "poch", "xlog1py", "xlogy"), "."),
    )


def shifted(x: Any, axis: Any) -> Any:
    """Return x minus its maximum along axes, and that maximum, made finite, so that no exponential
    overflows.

    >>> shifted(np.array([1e300, 0.0]), None)[0]
    array([ 0.e+000, -1.e+300])
    """
    if x.size == 0:
        return x, x.dtype.type(0)
    top = np.maximum.reduce(x, axis=axis, keepdims=True)
    info = np.finfo(x.dtype)
    top = np.where(top >= info.min, top, x.dtype.type(0))  # not NaN, not -inf
    top = np.minimum(top, info.max)
    return x - top, top


def total(e: Any, axis: Any) -> Any:
    """Return the sum along axes, kept with length 1, accumulated in double precision."""
    return np.add.reduce(e, axis=axis, keepdims=True, dtype=np.float64).astype(e.dtype, copy=False)


def scaled_exp_array(x: Any, axis: Any, small: bool = False, most: float = 1.0) -> Any:
    """Return (exp(x), its sum along axes) if that keeps all digits, else those of x minus its
    maximum, times a power of 2.

    small: use the inverse power of 2. most: which power of the largest number the sum may reach. x
    is not shifted if the sum does not overflow and no exponential underflows, or only exponentials
    that are negligible in the sum. If there is a NaN, all exponentials are NaN, as are the
    quotients by the sum.

    >>> scaled_exp_array(np.array([[0.0, 0.0], [1000.0, 1000.0]]), (1,))[0]
    array([[1., 1.],
           [2., 2.]])
    """
    with np.errstate(all="ignore"):
        return _scaled(x, axis, small, most)


def _scaled(x: Any, axis: Any, small: bool, most: float) -> Any:
    e = np.exp(x)
    s = total(e, axis)
    good = (s >= 1) & (s <= float(np.finfo(x.dtype).max) ** most)
    if not good.all() and x.size:
        low = np.minimum.reduce(e, axis=axis, keepdims=True)
        good |= (s < 1) & (low >= np.finfo(x.dtype).tiny)
        if not good.all():
            room = _room(x, s)
            e = np.where(good, e, np.exp(shifted(x, axis)[0]) * (1 / room if small else room))
            e = np.where(np.isnan(s), s, e)
            s = total(e, axis)
    return e, s


def _room(x: Any, s: Any) -> Any:
    """Return a power of 2 not below the number n of terms.

    Scaled by it, sums of y / s do not exceed y; scaled by its inverse, sums of y * e do not. (It is
    smaller if n times it would overflow, which occurs only in float16.)
    """
    n = x.size // s.size
    largest = math.floor(math.log2(np.finfo(x.dtype).max / n))
    return x.dtype.type(2.0 ** min(math.ceil(math.log2(n)), max(largest, 0)))


def softmax_array(x: Any, axis: Any) -> Any:
    """Return exp(x) / sum(exp(x)) of an array."""
    e, s = scaled_exp_array(x, axis)
    return e / s


def log_softmax_array(x: Any, axis: Any) -> Any:
    """Return x - log(sum(exp(x))) of an array."""
    d = shifted(x, axis)[0]
    return d - np.log(total(np.exp(d), axis))


def logsumexp_array(x: Any, axis: Any, keepdims: bool) -> Any:
    """Return log(sum(exp(x))) of an array."""
    d, top = shifted(x, axis)
    result = np.log(total(np.exp(d), axis)) + top
    return result if keepdims else np.squeeze(result, axis=axis)


def softmax_and_log_array(x: Any, axis: Any, whole: bool) -> tuple[Any, Any]:
    """Return softmax(x) of an array, and log(softmax(x)) (whole) or log(sum(exp(x))), with axes
    kept.
    """
    d, top = shifted(x, axis)
    e = np.exp(d)
    s = total(e, axis)
    log = np.log(s)
    return e / s, d - log if whole else log + top


class _Exponential(AlongAxes):
    """Base class of softmax ops: one float tensor as input, axes as a sorted tuple (None: all)."""

    __props__: tuple[str, ...] | None = ("axis",)
    only_lengths = True

    def __init__(self, axis: Any = None) -> None:
        self.axis = sorted_axes(axis)

    def convert_inputs(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Convert the argument to a float tensor."""
        tensors: Any = super().convert_inputs(inputs)
        return tuple([m.cast(x, float_dtype(x.type.dtype)) for x in tensors])

    def dtypes(self, *types: TensorType) -> list[str]:
        """Return the dtype of the input. Raise `DTypeError` if it is not a real float."""
        if types[0].kind != "f":
            raise DTypeError("takes a tensor of a real float dtype")
        return [types[0].dtype]

    def shapes(self, *types: TensorType) -> Shapes:
        return same_shape(types[0])

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """Return the gradient of the input, in its shape."""
        if is_disconnected(output_gradients[0]):
            return [disconnected()]
        return [self.slope(inputs[0], outputs[0], output_gradients[0])]

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return operations per element: a maximum, a difference, an exponential (10), a sum, and a
        difference or quotient.
        """
        return 14 * math.prod(inputs[0])

    def slope(self, x: Any, y: Any, g: Any) -> Any:
        raise NotImplementedError

    def total(self, x: Any) -> Any:
        """Return the sum along the axes, kept with length 1."""
        return Sum(axis=self.axis, keepdims=True)(x)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{axis={self.axis}}}"


class Softmax(_Exponential):
    """Softmax exp(x) / sum(exp(x)) along axes, in the shape and dtype of x. Positive, with sum
    1.
    """

    implied = {"positive": True, "finite": "finite"}

    def bounds(self, node: Apply, of: Callable[[Variable], Any]) -> Any:
        """Return 0 and 1: the elements are fractions of 1."""
        return (0, 1) if of(node.inputs[0]) else None

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the softmax of an array."""
        output_storage[0][0] = np.asarray(softmax_array(inputs[0], self.axis))

    def slope(self, x: Any, y: Any, g: Any) -> Any:
        """Return g y - y sum(g y); the product first, so that a gradient divided by y cancels."""
        gy = m.mul(g, y)
        return m.sub(gy, m.mul(y, self.total(gy)))

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangent by the gradient formula, as the Jacobian is symmetric."""
        return [
            None
            if eval_points[0] is None
            else self.slope(inputs[0], self(inputs[0]), eval_points[0])
        ]


#: what power of the largest number a sum may have which others are divided by
ROOM = 7 / 8


class ScaledExp(_Exponential):
    """Scaled exponentials for products and quotients in which a common factor along the axes
    cancels: `y / sum(e) * e`.

    It is exp(x) itself if the sums along the axes are normal numbers, large enough to combine with
    y, else exp(x - max(x)); in the shape and dtype of x. Along axes with a NaN all of it is NaN.
    small: for sums of `y * e` divided by sums of e; otherwise for sums of `y / s`.
    """

    __props__ = ("axis", "small")
    samples = (*_Exponential.samples, ({"axis": 0, "small": True}, (2, 3)))
    implied = {"positive": True}

    def __init__(self, axis: Any = None, small: bool = False) -> None:
        super().__init__(axis)
        self.small = small

    def __str__(self) -> str:
        return f"ScaledExp{{axis={self.axis}{', small' if self.small else ''}}}"

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the scaled exponentials of an array."""
        found = scaled_exp_array(inputs[0], self.axis, self.small, ROOM)
        output_storage[0][0] = np.asarray(found[0])

    def slope(self, x: Any, y: Any, g: Any) -> Any:
        """Return g y: the factor cancels, as do its derivatives."""
        return m.mul(g, y)

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangent by the gradient formula, as the Jacobian is diagonal."""
        v = eval_points[0]
        return [None if v is None else m.mul(self(inputs[0]), v)]


class LogSoftmax(_Exponential):
    """Logarithm of softmax, x - log(sum(exp(x))), along axes, in the shape and dtype of x."""

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the logarithm of softmax of an array."""
        output_storage[0][0] = np.asarray(log_softmax_array(inputs[0], self.axis))

    def slope(self, x: Any, y: Any, g: Any) -> Any:
        """Return g - softmax(x) sum(g)."""
        return m.sub(g, m.mul(Softmax(self.axis)(x), self.total(g)))

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return v - sum(softmax(x) v)."""
        (x,), (v,) = inputs, eval_points
        return [None if v is None else m.sub(v, self.total(m.mul(Softmax(self.axis)(x), v)))]


class LogSumExp(LeavesOut, _Exponential):
    """Logarithm log(sum(exp(x))) along axes (removed, or kept with length 1), in the dtype of x."""

    __props__ = ("axis", "keepdims")
    samples: Sequence[Any] = (*AlongAxes.samples, ({"axis": 0, "keepdims": True}, (2, 3)))

    def __init__(self, axis: Any = None, keepdims: bool = False) -> None:
        super().__init__(axis)
        self.keepdims = bool(keepdims)

    @property
    def sum(self) -> Sum:
        """The sum along the same axes."""
        return Sum(axis=self.axis, keepdims=self.keepdims)

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape of a sum along the axes."""
        return self.sum.shapes(*types)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the logarithm of the sum for an array."""
        output_storage[0][0] = np.asarray(logsumexp_array(inputs[0], self.axis, self.keepdims))

    def slope(self, x: Any, y: Any, g: Any) -> Any:
        """Return softmax(x) g."""
        return m.mul(Softmax(self.axis)(x), self.spread(x, g))

    def spread(self, x: Any, reduced: Any) -> Any:
        """Insert the reduced axes with length 1, as a sum does."""
        return self.sum.spread(x, reduced)

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return sum(softmax(x) v)."""
        (x,), (v,) = inputs, eval_points
        return [None if v is None else self.sum(m.mul(Softmax(self.axis)(x), v))]


class SoftmaxAndLog(_Exponential):
    """Softmax along axes, and its logarithm (whole) or else log(sum(exp(x))) with axes of length 1.

    It serves a loss and its gradient, whose exponentials are then computed once.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ("axis", "whole")
    output_names = ("softmax", "log")
    samples = (*_Exponential.samples, ({"axis": 0, "whole": True}, (2, 3)))

    def __init__(self, axis: Any = None, whole: bool = False) -> None:
        super().__init__(axis)
        self.whole = bool(whole)

    @property
    def log(self) -> Any:
        """The op that computes the logarithm alone."""
        return LogSoftmax(self.axis) if self.whole else LogSumExp(self.axis, keepdims=True)

    def dtypes(self, *types: TensorType) -> list[str]:
        """Return the dtype of the input for both outputs."""
        return super().dtypes(*types) * 2

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape of the input, and that of the logarithm."""
        return Shapes([*same_shape(types[0]).outputs, *self.log.shapes(*types).outputs])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute both outputs of an array."""
        found = softmax_and_log_array(inputs[0], self.axis, self.whole)
        for storage, a in zip(output_storage, found, strict=True):
            storage[0] = np.asarray(a)

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Any]:
        """Return the sum of the gradients through both outputs."""
        (x,), (y, log), (g, g_log) = inputs, outputs, output_gradients
        terms = [] if is_disconnected(g) else [Softmax(self.axis).slope(x, y, g)]
        if not is_disconnected(g_log):
            terms.append(self.log.slope(x, log, g_log))
        return [m.add(*terms) if len(terms) > 1 else terms[0] if terms else disconnected()]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        """Return the tangents of both outputs."""
        return [op.R_op(inputs, eval_points)[0] for op in (Softmax(self.axis), self.log)]


def softmax(c: TensorLike, axis: Axis = None) -> TensorVariable:
    """Return exp(c) / sum(exp(c)) along axes (None: all), without overflow.

    The shape is that of c; floats keep their dtype, integers are converted as by `exp`. Raises
    `AxisError`.
    """
    return Softmax(axis)(c)


def log_softmax(c: TensorLike, axis: Axis = None) -> TensorVariable:
    """Return log(softmax(c)) along axes (None: all), without overflow.

    The shape is that of c; floats keep their dtype, integers are converted as by `exp`. Raises
    `AxisError`.
    """
    return LogSoftmax(axis)(c)


def logsumexp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return log(sum(exp(x))) along axes (None: all), without overflow.

    It is -inf if all elements are. The gradient is NaN then, and if an element is +inf, as the
    function has no slope there. Raises `AxisError`.
    """
    return LogSumExp(axis, keepdims)(x)
