"""Convolutions: `pt.signal`, loaded at its first use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import NDimError, ShapeError, dimensions
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import zeros
from rewrite_engine.tensor.linalg.op import _MatrixOp
from rewrite_engine.tensor.op import Computed, Shapes, with_parameters
from rewrite_engine.tensor.shape import larger, lengths, smaller
from rewrite_engine.tensor.shaping.joins import upcast
from rewrite_engine.tensor.shaping.padding import pad
from rewrite_engine.tensor.shaping.rearrange import flip
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["Convolve1d", "Convolve2d", "convolve1d", "convolve2d"]


def _whole(n: Any, k: Any) -> Any:
    return n + k - 1


def _inner(n: Any, k: Any) -> Any:
    return larger(n, k) - smaller(n, k) + 1


class _Convolve(_MatrixOp):
    """Base class of convolutions: sums of products of one array with the other, reversed and
    shifted.

    mode: "full" for all positions where they overlap, "valid" for those where the smaller is inside
    the larger. Raises `ShapeError` for an array without elements, and in mode "valid" if neither
    fits into the other.
    """

    nin = 2
    ndim: int
    mode: str

    def dtypes(self, *types: TensorType) -> list[str]:
        return [upcast(types)]

    def shapes(self, *types: TensorType) -> Shapes:
        if any([t.ndim != self.ndim for t in types]):
            a, b = types
            raise NDimError(f"takes two arrays of {dimensions(self.ndim)}, not types {a} and {b}")
        self.fits(*[t.shape for t in types])
        rule = _whole if self.mode == "full" else _inner
        return Shapes([[Computed(rule, [(0, i), (1, i)]) for i in range(self.ndim)]])

    def fits(self, a: Sequence[Any], b: Sequence[Any]) -> None:
        """Raise `ShapeError` for shapes that are known not to fit."""
        if 0 in (*a, *b):
            raise ShapeError(f"takes arrays with elements, but the shapes are {a} and {b}")
        known = [(n, k) for n, k in zip(a, b, strict=True) if None not in (n, k)]
        if self.mode == "valid" and {n > k for n, k in known if n != k} == {True, False}:
            raise ShapeError(
                f"mode 'valid' needs one array that fits into the other, but the shapes are {a} "
                f"and {b}"
            )

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return a product and a sum for each pair of elements that meet."""
        (a, b), (out,) = inputs, outputs
        if self.mode == "full":
            return 2 * math.prod(a) * math.prod(b)
        return 2 * math.prod(out) * math.prod(map(min, a, b))

    def batched(self, *arrays: Any) -> Any:
        """Compute by `convolve` for a single pair, else by `along`."""
        n, dtype = self.ndim, np.result_type(*arrays)
        if dtype.kind == "b":
            return self.batched(*[x.astype("int64") for x in arrays]) > 0
        a, b = [np.asarray(x, dtype) for x in arrays]
        self.fits(a.shape[-n:], b.shape[-n:])
        if a.ndim == b.ndim == n:
            return self.convolve(a, b)
        return self.along(a, b)

    def convolve(self, a: Any, b: Any) -> Any:
        """Return the convolution of one pair."""
        raise NotImplementedError

    def along(self, a: Any, b: Any) -> Any:
        """Return the convolutions along a batch."""
        raise NotImplementedError

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients: convolutions of the output gradient with the other operand,
        reversed.
        """
        (a, b), (g,), n = inputs, output_gradients, self.ndim
        if self.mode == "valid":  # the gradient of the full one: 0 elsewhere
            sizes = [*zip(lengths(a), lengths(b), strict=True)]
            room = zeros([_whole(*pair) for pair in sizes], dtype=g.type.dtype)
            parts = [(smaller(*pair) - 1, larger(*pair)) for pair in sizes]
            g = room[tuple([slice(*part) for part in parts])].set(g)
        back = with_parameters(self, mode="valid")
        turned = [flip(m.conjugated(x), tuple(range(n))) for x in (b, a)]
        return [back(g, x) for x in turned]


class Convolve1d(_Convolve):
    """Convolution of vectors (see `convolve1d`). mode: "full" or "valid"."""

    __props__ = ("mode",)
    signature = "(n),(k)->(o)"
    ndim = 1
    samples: Sequence[Any] = (
        ({}, (4,), (3,)),
        ({"mode": "valid"}, (5,), (2,)),
        ({"mode": "valid"}, (2,), (3,)),
        ({"mode": "valid"}, (3,), (3,)),
    )

    def __init__(self, mode: str = "full") -> None:
        self.mode = mode

    def convolve(self, a: Any, b: Any) -> Any:
        """Return the convolution of one pair by `numpy.convolve`."""
        run: Any = np.convolve
        return run(a, b, self.mode)

    def along(self, a: Any, b: Any) -> Any:
        """Return the convolutions by products with sliding windows."""
        if b.shape[-1] > a.shape[-1]:
            a, b = b, a
        k = b.shape[-1]
        if self.mode == "full":
            a = np.pad(a, [(0, 0)] * (a.ndim - 1) + [(k - 1, k - 1)])
        seen = np.lib.stride_tricks.sliding_window_view(a, k, -1)
        return np.einsum("...ik,...k->...i", seen, b[..., ::-1])


class Convolve2d(_Convolve):
    """Convolution of matrices (see `convolve2d`). mode: "full" or "valid"."""

    __props__ = ("mode", "method")
    signature = "(n,m),(k,l)->(o,p)"
    ndim = 2
    samples: Sequence[Any] = (
        ({}, (3, 4), (2, 2)),
        ({"mode": "valid"}, (3, 4), (2, 2)),
        ({"mode": "valid", "method": "direct"}, (1, 2), (3, 2)),
        ({"method": "fft"}, (1, 2), (3, 2)),
    )

    def __init__(self, mode: str = "full", method: str = "auto") -> None:
        self.mode = mode
        self.method = method

    def convolve(self, a: Any, b: Any) -> Any:
        """Return the convolution of one pair by `scipy.signal.convolve`."""
        from scipy.signal import convolve

        return convolve(a, b, self.mode, self.method)

    def along(self, a: Any, b: Any) -> Any:
        """Return the convolutions all at once by Fourier transforms (method "fft"), else pair by
        pair.
        """
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if 0 not in batch and self.method == "fft" and a.dtype.kind in "fc":
            from scipy.signal import fftconvolve

            return fftconvolve(*_alike(a, b), self.mode, (-2, -1))
        rule = _whole if self.mode == "full" else _inner
        shape = [rule(n, k) for n, k in zip(a.shape[-2:], b.shape[-2:], strict=True)]
        out = np.empty((*batch, *shape), a.dtype)
        a, b = [np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b)]
        for index in np.ndindex(batch):
            out[index] = self.convolve(a[index], b[index])
        return out


def _alike(a: Any, b: Any) -> list[Any]:
    """Return both operands with equally many dimensions."""
    ndim = max(a.ndim, b.ndim)
    return [x.reshape((1,) * (ndim - x.ndim) + x.shape) for x in (a, b)]


# --- functions --------------------------------------------------------------------------------


def _operands(in1: Any, in2: Any, mode: str) -> list[Any]:
    """Return both operands in one dtype. Raise `ValueError` for an unknown mode."""
    if mode not in ("full", "valid", "same"):
        raise ValueError(located(f'mode must be "full", "valid" or "same", not {mode!r}'))
    tensors = [as_tensor_variable(x) for x in (in1, in2)]
    dtype = upcast([x.type for x in tensors])
    return [x if x.type.dtype == dtype else m.cast(x, dtype) for x in tensors]


def _centre(x: Any, a: Any, b: Any, ndim: int) -> Any:
    """Return the central part of a full convolution, as large as `a`."""
    pairs = zip(lengths(a)[-ndim:], lengths(b)[-ndim:], strict=True)
    parts = [slice((k - 1) // 2, (k - 1) // 2 + n) for n, k in pairs]
    return x[(..., *parts)]


def convolve1d(in1: TensorLike, in2: TensorLike, mode: str = "full") -> TensorVariable:
    """Return the convolutions of vectors of n and k elements, in the last dimension.

    mode: "full": n + k - 1 elements; "valid": those where the shorter one is inside the longer one;
    "same": the central n elements of the full one. Dtypes are promoted. Raises `ValueError`,
    `NDimError`; `ShapeError`, at run time at the latest, for an empty vector.

    >>> convolve1d([1, 2, 3], [1, 1]).eval()
    array([1, 3, 5, 3])
    """
    a, b = _operands(in1, in2, mode)
    found = Convolve1d("valid" if mode == "valid" else "full").lifted(a, b)
    return _centre(found, a, b, 1) if mode == "same" else found


#: what `pad` calls the ways to go on behind the boundary
_PADS = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def convolve2d(
    in1: TensorLike,
    in2: TensorLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: Any = 0,
    method: str = "auto",
) -> TensorVariable:
    """Return the convolutions of n by m and k by l matrices, in the last two dimensions.

    mode: "full": n + k - 1 by m + l - 1 elements; "valid": those where one is inside the other;
    "same": the central n by m elements of the full one. boundary: values outside of in1 in the
    modes "full" and "same": "fill" (the fillvalue), "wrap" (in1 repeated), "symm" (in1 reflected).
    method: "direct", "fft", or "auto", whichever is faster. Dtypes are promoted. Raises
    `ValueError`, `NDimError`; `ShapeError`, at run time at the latest, for an empty matrix, and in
    mode "valid" if neither is inside the other.

    >>> convolve2d([[1, 2], [3, 4]], [[1, 1]], mode="same", boundary="wrap").eval()
    array([[3, 3],
           [7, 7]])
    """
    if boundary not in _PADS:
        raise ValueError(located(f'boundary must be "fill", "wrap" or "symm", not {boundary!r}'))
    if method not in ("direct", "fft", "auto"):
        raise ValueError(located(f'method must be "direct", "fft" or "auto", not {method!r}'))
    a, b = _operands(in1, in2, mode)
    plain = boundary == "fill" and isinstance(fillvalue, int | float) and fillvalue == 0
    if mode == "valid" or plain:
        found = Convolve2d("valid" if mode == "valid" else "full", method).lifted(a, b)
        return _centre(found, a, b, 2) if mode == "same" else found
    if a.type.ndim < 2 or b.type.ndim < 2:
        raise NDimError(located("convolve2d: takes matrices, the last two dimensions"))
    sides = [(k // 2, (k - 1) // 2) if mode == "same" else (k - 1, k - 1) for k in lengths(b)[-2:]]
    options = {"constant_values": fillvalue} if boundary == "fill" else {}
    a = pad(a, [(0, 0)] * (a.type.ndim - 2) + sides, _PADS[boundary], **options)
    return Convolve2d("valid", method).lifted(a, b)
