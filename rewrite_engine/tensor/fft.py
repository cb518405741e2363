"""Fourier transforms of real arrays: `pt.fft`, loaded when it is first used.

All dimensions but the first, which counts the arrays, are transformed. A complex number is a pair
(real, imaginary) in the last dimension.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import DTypeError, NDimError
from rewrite_engine.graph.node import Apply, build_node
from rewrite_engine.graph.null import disconnected
from rewrite_engine.graph.origin import located, user_origin
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import arange
from rewrite_engine.tensor.linalg.op import floats, working_dtype
from rewrite_engine.tensor.op import Computed, Linear, Shapes, Value
from rewrite_engine.tensor.shape import lengths
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["IRFFTOp", "RFFTOp", "irfft", "rfft"]


def _half(n: Any) -> Any:
    """How many frequencies of n real numbers there are."""
    return n // 2 + 1


class _Transform(Linear):
    """A transform along the last `ndim` dimensions, of real floats."""

    __props__ = ("ndim",)

    def __init__(self, ndim: int = 1) -> None:
        self.ndim = ndim

    def dtypes(self, *types: TensorType) -> list[str]:
        if types[0].kind == "c":
            raise DTypeError(f"takes real numbers, not a {types[0]}")
        return [working_dtype(types[0].dtype)]

    def needs(self, t: TensorType, ndim: int) -> None:
        """Raise `NDimError` for an array of fewer dimensions."""
        if t.ndim < ndim:
            raise NDimError(f"takes an array of {ndim} dimensions or more, not a {t}")

    @property
    def axes(self) -> tuple[int, ...]:
        """The dimensions of the arrays, in the words of NumPy."""
        return tuple(range(-self.ndim, 0))


class RFFTOp(_Transform):
    """The transforms of real arrays along the last `ndim` dimensions: of the last of n only the
    frequencies up to n // 2.
    """

    samples: Sequence[Any] = (({}, (5,)), ({}, (3, 4)), ({"ndim": 2}, (2, 3, 4)), ({}, (1,)))

    def shapes(self, *types: TensorType) -> Shapes:
        self.needs(types[0], self.ndim)
        last = types[0].ndim - 1
        kept = [(0, i) for i in range(last)]
        return Shapes([[*kept, Computed(_half, [(0, last)]), 2]])

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """The transforms of a batch: of an array with more dimensions in front."""
        return self.make_node(*inputs).outputs

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """By `numpy.fft.rfftn`. Raises `ShapeError` for a dimension of length 0."""
        x = np.asarray(inputs[0], node.outputs[0].type.numpy_dtype)
        if 0 in x.shape[-self.ndim :]:
            self.fail(node, f"there is no transform of length 0: the shape is {x.shape}")
        found = np.fft.rfftn(x, axes=self.axes)
        output_storage[0][0] = np.stack([found.real, found.imag], -1)

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """The transform back, where frequencies that stand for two count twice."""
        n = lengths(inputs[0])[-1]
        return [IRFFTOp(self.ndim)(m.true_div(output_gradients[0], _count(outputs[0], n)), n)]


class IRFFTOp(_Transform):
    """The transforms back, times the number of elements: given what `RFFTOp` gives, and the length
    of the last dimension.
    """

    nin = 2
    samples: Sequence[Any] = (
        ({}, (3, 2), 5),
        ({}, (2, 3, 2), 4),
        ({"ndim": 2}, (2, 3, 3, 2), 4),
        ({}, (1, 2), 1),
    )

    def shapes(self, *types: TensorType) -> Shapes:
        self.needs(types[0], self.ndim + 1)
        last = types[0].ndim - 2
        if types[1].ndim or types[1].kind not in "iu":
            raise DTypeError(f"takes an integer as length, not a {types[1]}")
        kept = [(0, i) for i in range(last)]
        equal: list[Any] = [[(0, last), Computed(_half, [Value(1)])], [(0, last + 1), 2]]
        return Shapes([[*kept, Value(1)]], equal)

    def make_node(self, *inputs: Any) -> Apply:
        """Apply to a tensor and a length."""
        variables = self.convert_inputs(inputs)
        numbers = tuple([getattr(v, "number", None) for v in variables])
        types = self.output_types(tuple([v.type for v in variables]), numbers)
        return build_node(self, variables, types, user_origin())

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """The transforms of a batch, if all have one length: of an array with more dimensions in
        front.
        """
        return None if inputs[1].type.ndim else self.make_node(*inputs).outputs

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """By `numpy.fft.irfftn`. Raises `ShapeError`."""
        self.check(node, inputs)
        x, n = np.asarray(inputs[0], node.outputs[0].type.numpy_dtype), int(inputs[1])
        shape = (*x.shape[x.ndim - 1 - self.ndim : -2], n)
        if 0 in shape:
            self.fail(node, f"there is no transform of length 0: the shape is {x.shape}")
        found = np.fft.irfftn(x[..., 0] + 1j * x[..., 1], shape, self.axes, norm="forward")
        output_storage[0][0] = found.astype(x.dtype, copy=False)

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """The transform, where frequencies that stand for two count twice."""
        x, n = inputs
        found = RFFTOp(self.ndim)(output_gradients[0])
        return [m.mul(found, _count(x, n)), disconnected()]


def _count(x: Any, n: Any) -> Any:
    """How many frequencies each of the last but one dimension of `x` stands for, of n numbers."""
    k = arange(lengths(x)[-2])
    alone = m.or_(m.eq(k, 0), m.eq(m.mul(k, 2), n))
    return m.cast(m.switch(alone, 1, 2), working_dtype(x.type.dtype))[:, None]


# --- functions --------------------------------------------------------------------------------


def _scaled(x: Any, norm: str | None, default: str, shape: Sequence[Any]) -> Any:
    """A transform divided by what `norm` says. Raises `ValueError`."""
    if norm not in (None, "ortho", "no_norm"):
        raise ValueError(located(f'norm is None, "ortho" or "no_norm", not {norm!r}'))
    norm = norm or default
    if norm == "no_norm":
        return x
    n = m.cast(as_tensor_variable(math.prod(shape)), x.type.dtype)
    return m.true_div(x, m.sqrt(n) if norm == "ortho" else n)


def _real(name: str, x: Any, ndim: int) -> Any:
    (x,) = floats(x)
    if x.type.ndim < ndim:
        what = f"{name}: takes {ndim} dimensions or more, the first of which counts the arrays"
        raise NDimError(located(what, inputs=[x]))
    return x


def rfft(inp: TensorLike, norm: str | None = None) -> TensorVariable:
    """The Fourier transforms of real arrays, along all dimensions but the first, which counts them:
    (m, …, n) makes (m, …, n // 2 + 1, 2), frequencies up to n // 2 as pairs (real, imaginary).
    Floats.

    norm: None does not scale, "ortho" divides by the root of the number of elements of an array,
    "no_norm" does not scale. Raises `NDimError`, `DTypeError` for complex numbers, `ValueError`;
    `ShapeError` when it runs, for a length of 0.

    >>> rfft([[1.0, 1.0, 1.0]]).eval()
    array([[[3., 0.],
            [0., 0.]]])
    """
    x = _real("rfft", inp, 2)
    return _scaled(RFFTOp(x.type.ndim - 1)(x), norm, "no_norm", lengths(x)[1:])


def irfft(inp: TensorLike, norm: str | None = None, is_odd: bool = False) -> TensorVariable:
    """The arrays of which `rfft` gives the transforms: (m, …, k, 2) makes (m, …, n), where n is
    2 * k - 2, or, if is_odd, 2 * k - 1. Floats.

    norm: None divides by the number of elements of an array, "ortho" by its root, "no_norm" does
    not scale. Raises `NDimError`, `DTypeError` for complex numbers, `ValueError`; `ShapeError`, at
    the latest when it runs, where the last dimension is no pair, and for a length of 0.

    >>> irfft([[[3.0, 0.0], [0.0, 0.0]]], is_odd=True).eval()
    array([[1., 1., 1.]])
    """
    if is_odd not in (True, False):
        raise ValueError(located(f"is_odd is True or False, not {is_odd!r}"))
    x = _real("irfft", inp, 3)
    *shape, k = lengths(x)[1:-1]
    n = 2 * k - 2 + int(is_odd)
    return _scaled(IRFFTOp(x.type.ndim - 2)(x, n), norm, "all", [*shape, n])
