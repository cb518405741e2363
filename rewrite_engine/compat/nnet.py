"""The functions of `theano.tensor.nnet`, made of ops that are here. Gradients, and what is mended
where exponentials saturate, are those of the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.errors import NDimError, message, refuse_options
from rewrite_engine.tensor import signal, special

__all__ = [
    "binary_crossentropy",
    "categorical_crossentropy",
    "conv2d",
    "elu",
    "hard_sigmoid",
    "logsoftmax",
    "relu",
    "sigmoid_binary_crossentropy",
    "softmax",
    "softsign",
]


def relu(x: Any, alpha: Any = 0) -> Any:
    """`x` where it is positive, `alpha * x` elsewhere."""
    x = pt.as_tensor_variable(x)
    return (
        pt.maximum(x, 0)
        if isinstance(alpha, int) and alpha == 0
        else pt.switch(x > 0, x, alpha * x)
    )


def elu(x: Any, alpha: Any = 1) -> Any:
    """`x` where it is positive, `alpha * (exp(x) - 1)` elsewhere."""
    x = pt.as_tensor_variable(x)
    return pt.switch(x > 0, x, alpha * pt.expm1(x))


def softsign(x: Any) -> Any:
    """`x / (1 + |x|)`."""
    x = pt.as_tensor_variable(x)
    return x / (1 + abs(x))


def hard_sigmoid(x: Any) -> Any:
    """`0.2 x + 0.5`, cut off at 0 and 1."""
    return pt.clip(pt.as_tensor_variable(x) * 0.2 + 0.5, 0, 1)


def softmax(c: Any, axis: Any = -1) -> Any:
    """`exp(c) / sum(exp(c))` along an axis. (Of a vector, Theano made a matrix.)"""
    return special.softmax(c, axis=axis)


def logsoftmax(c: Any, axis: Any = -1) -> Any:
    """Logarithms of `softmax`."""
    return special.log_softmax(c, axis=axis)


def binary_crossentropy(output: Any, target: Any) -> Any:
    """`-(t log o + (1 - t) log(1 - o))`, element by element."""
    o, t = pt.as_tensor_variable(output), pt.as_tensor_variable(target)
    return -(t * pt.log(o) + (1 - t) * pt.log(1 - o))


def sigmoid_binary_crossentropy(output: Any, target: Any) -> Any:
    """`binary_crossentropy(sigmoid(output), target)`."""
    return binary_crossentropy(pt.sigmoid(output), target)


def categorical_crossentropy(coding_dist: Any, true_dist: Any) -> Any:
    """`-sum(p log q)` along the last axis; `true_dist` may be the numbers of the true classes.
    Raises `NDimError` for other dimensions.
    """
    q, p = pt.as_tensor_variable(coding_dist), pt.as_tensor_variable(true_dist)
    if p.ndim == q.ndim:
        return -(p * pt.log(q)).sum(axis=-1)
    if p.ndim == q.ndim - 1:
        return -pt.log(pt.take_along_axis(q, p[..., None], axis=-1)[..., 0])
    raise NDimError(message("true_dist has to have as many dimensions, or one less", inputs=[q, p]))


def conv2d(
    input: Any,
    filters: Any,
    input_shape: Any = None,
    filter_shape: Any = None,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
    **unknown: Any,
) -> Any:
    """Convolutions of images (batch, channels, rows, columns) with filters (features, channels,
    rows, columns), summed over the channels: (batch, features, rows, columns).

    border_mode: "valid", "full", "half" (zeros around, half as many as the filter is long), or how
    many zeros, as one number or one for each dimension. subsample: the steps. filter_flip: False is
    a correlation. filter_dilation: the distance of the filter's elements. input_shape,
    filter_shape: what is known of the shapes. Raises `NDimError`, `ShapeError`, `ValueError` for a
    border_mode, `OptionError` for groups and filters that are not shared.
    """
    groups = None if num_groups == 1 else num_groups
    refuse_options("conv2d", "convolve each group, and join them", num_groups=groups)
    refuse_options("conv2d", "filters are the same everywhere", unshared=unshared, **unknown)
    x = pt.specify_shape(input, input_shape) if input_shape else pt.as_tensor_variable(input)
    w = pt.specify_shape(filters, filter_shape) if filter_shape else pt.as_tensor_variable(filters)
    if x.ndim != 4 or w.ndim != 4:
        raise NDimError(message("conv2d: takes images and filters of 4 dimensions", inputs=[x, w]))
    if not filter_flip:
        w = w[:, :, ::-1, ::-1]
    if tuple(filter_dilation) != (1, 1):
        rows, columns = filter_dilation
        long = [(n - 1) * d + 1 for n, d in zip(w.shape[2:], filter_dilation, strict=True)]
        w = pt.zeros((*w.shape[:2], *long), dtype=w.dtype)[:, :, ::rows, ::columns].set(w)
    if border_mode not in ("valid", "full"):
        x = pt.pad(x, [(0, 0), (0, 0), *_border(border_mode, w)])
    mode = "full" if border_mode == "full" else "valid"
    found = signal.convolve2d(x[:, None], w[None], mode).sum(axis=2)
    return found[:, :, :: subsample[0], :: subsample[1]]


def _border(mode: Any, filters: Any) -> list[Any]:
    """The zeros before and after rows, and columns. Raises `ValueError`."""
    if mode == "half":
        return [(n // 2, n // 2) for n in filters.shape[2:]]
    if isinstance(mode, int):
        mode = (mode, mode)
    if isinstance(mode, str) or len(mode) != 2:
        raise ValueError(f'border_mode is "valid", "full", "half", or one or two numbers: {mode!r}')
    return [(n, n) if isinstance(n, int) else tuple(n) for n in mode]
