"""Fourier transforms of real arrays: `pt.fft`, loaded at its first use.

All dimensions but the first, which counts the arrays, are transformed. A complex number is a pair
(real, imaginary) in the last dimension.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import DTypeError, NDimError, dimensions
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
    """Return the number of frequencies of n real numbers."""
    return n // 2 + 1


class _Transform(Linear):
    """Base class of transforms along the last `ndim` dimensions, of real floats."""

    __props__ = ("ndim",)

    def __init__(self, ndim: int = 1) -> None:
        self.ndim = ndim

    def dtypes(self, *types: TensorType) -> list[str]:
        if types[0].kind == "c":
            raise DTypeError(f"takes real numbers, not type {types[0]}")
        return [working_dtype(types[0].dtype)]

    def needs(self, t: TensorType, ndim: int) -> None:
        """Raise `NDimError` for an array of fewer dimensions."""
        if t.ndim < ndim:
            raise NDimError(f"takes an array with {dimensions(ndim)} or more, not type {t}")

    @property
    def axes(self) -> tuple[int, ...]:
        """The transformed dimensions, as NumPy's argument `axes`."""
        return tuple(range(-self.ndim, 0))

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return 5/2 n log2(n) operations per transform of n real numbers (Van Loan 1992, section
        4.3).
        """
        real = self.real_shape(inputs, outputs)
        n = math.prod(real[-self.ndim :])
        return round(2.5 * math.prod(real) * math.log2(n)) if n else 0

    def real_shape(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[int, ...]:
        """Return the shape of the array of real numbers."""
        raise NotImplementedError


class RFFTOp(_Transform):
    """Fourier transform of real arrays along the last `ndim` dimensions.

    Of the n frequencies in the last dimension only those up to n // 2 are computed.
    """

    samples: Sequence[Any] = (({}, (5,)), ({}, (3, 4)), ({"ndim": 2}, (2, 3, 4)), ({}, (1,)))

    def shapes(self, *types: TensorType) -> Shapes:
        self.needs(types[0], self.ndim)
        last = types[0].ndim - 1
        kept = [(0, i) for i in range(last)]
        return Shapes([[*kept, Computed(_half, [(0, last)]), 2]])

    def real_shape(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[int, ...]:
        return inputs[0]  # type: ignore[no-any-return]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Transform a batch: an array with more leading dimensions."""
        return self.make_node(*inputs).outputs

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the transforms by `numpy.fft.rfftn`. Raise `ShapeError` for a dimension of length
        0.
        """
        x = np.asarray(inputs[0], node.outputs[0].type.numpy_dtype)
        if 0 in x.shape[-self.ndim :]:
            self.fail(node, f"a transform needs positive lengths, but the shape is {x.shape}")
        found = np.fft.rfftn(x, axes=self.axes)
        output_storage[0][0] = np.stack([found.real, found.imag], -1)

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the inverse transform; a frequency that represents two counts twice."""
        n = lengths(inputs[0])[-1]
        return [IRFFTOp(self.ndim)(m.true_div(output_gradients[0], _count(outputs[0], n)), n)]


class IRFFTOp(_Transform):
    """Inverse of `RFFTOp`, times the number of elements. Inputs: an output of `RFFTOp`, and the
    length of the last dimension.
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
            raise DTypeError(f"takes an integer as length, not type {types[1]}")
        kept = [(0, i) for i in range(last)]
        equal: list[Any] = [[(0, last), Computed(_half, [Value(1)])], [(0, last + 1), 2]]
        return Shapes([[*kept, Value(1)]], equal)

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op to a tensor and a length."""
        variables = self.convert_inputs(inputs)
        numbers = tuple([getattr(v, "number", None) for v in variables])
        types = self.output_types(tuple([v.type for v in variables]), numbers)
        return build_node(self, variables, types, user_origin())

    def real_shape(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[int, ...]:
        return outputs[0]  # type: ignore[no-any-return]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Transform a batch with one length: an array with more leading dimensions."""
        return None if inputs[1].type.ndim else self.make_node(*inputs).outputs

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the arrays by `numpy.fft.irfftn`. Raise `ShapeError`."""
        self.check(node, inputs)
        x, n = np.asarray(inputs[0], node.outputs[0].type.numpy_dtype), int(inputs[1])
        shape = (*x.shape[x.ndim - 1 - self.ndim : -2], n)
        if 0 in shape:
            self.fail(node, f"a transform needs positive lengths, but the shape is {x.shape}")
        found = np.fft.irfftn(x[..., 0] + 1j * x[..., 1], shape, self.axes, norm="forward")
        output_storage[0][0] = found.astype(x.dtype, copy=False)

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the transform of the gradient; a frequency that represents two counts twice."""
        x, n = inputs
        found = RFFTOp(self.ndim)(output_gradients[0])
        return [m.mul(found, _count(x, n)), disconnected()]


def _count(x: Any, n: Any) -> Any:
    """Return how many of n frequencies each entry in the second last dimension of `x`
    represents.
    """
    k = arange(lengths(x)[-2])
    alone = m.or_(m.eq(k, 0), m.eq(m.mul(k, 2), n))
    return m.cast(m.switch(alone, 1, 2), working_dtype(x.type.dtype))[:, None]


# --- functions --------------------------------------------------------------------------------


def _scaled(x: Any, norm: str | None, default: str, shape: Sequence[Any]) -> Any:
    """Return a transform divided as `norm` says. Raise `ValueError`."""
    if norm not in (None, "ortho", "no_norm"):
        raise ValueError(located(f'norm must be None, "ortho" or "no_norm", not {norm!r}'))
    norm = norm or default
    if norm == "no_norm":
        return x
    n = m.cast(as_tensor_variable(math.prod(shape)), x.type.dtype)
    return m.true_div(x, m.sqrt(n) if norm == "ortho" else n)


def _real(name: str, x: Any, ndim: int) -> Any:
    (x,) = floats(x)
    if x.type.ndim < ndim:
        what = f"{name}: takes {dimensions(ndim)} or more, the first of which counts the arrays"
        raise NDimError(located(what, inputs=[x]))
    return x


def rfft(inp: TensorLike, norm: str | None = None) -> TensorVariable:
    """Return the Fourier transforms of real arrays along all dimensions but the first.

    inp: floats of shape (m, …, n), m arrays. The result has shape (m, …, n // 2 + 1, 2):
    frequencies up to n // 2 as pairs (real, imaginary). norm: None does not scale, "ortho" divides
    by the square root of the number of elements of an array, "no_norm" does not scale. Raises
    `NDimError`, `DTypeError` for complex numbers, `ValueError`; `ShapeError` at run time for a
    length of 0.

    >>> rfft([[1.0, 1.0, 1.0]]).eval()
    array([[[3., 0.],
            [0., 0.]]])
    """
    x = _real("rfft", inp, 2)
    return _scaled(RFFTOp(x.type.ndim - 1)(x), norm, "no_norm", lengths(x)[1:])


def irfft(inp: TensorLike, norm: str | None = None, is_odd: bool = False) -> TensorVariable:
    """Return the real arrays whose Fourier transforms are given: the inverse of `rfft`.

    inp: floats of shape (m, …, k, 2). The result has shape (m, …, n), where n is 2 * k - 2, or 2 *
    k - 1 if is_odd. norm: None divides by the number of elements of an array, "ortho" by its square
    root, "no_norm" does not scale. Raises `NDimError`, `DTypeError` for complex numbers,
    `ValueError`; `ShapeError`, at run time at the latest, if the last dimension is not a pair, and
    for a length of 0.

    >>> irfft([[[3.0, 0.0], [0.0, 0.0]]], is_odd=True).eval()
    array([[1., 1., 1.]])
    """
    if is_odd not in (True, False):
        raise ValueError(located(f"is_odd must be True or False, not {is_odd!r}"))
    x = _real("irfft", inp, 3)
    *shape, k = lengths(x)[1:-1]
    n = 2 * k - 2 + int(is_odd)
    return _scaled(IRFFTOp(x.type.ndim - 2)(x, n), norm, "all", [*shape, n])
