"""Functions of `theano.tensor.nnet`, built from this library's ops. Gradients, and rewrites that
avoid saturation of exponentials, are those of the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.errors import NDimError, message, refuse_options
from rewrite_engine.tensor import signal, special

__all__ = [
    "batch_normalization",
    "batch_normalization_test",
    "batch_normalization_train",
    "binary_crossentropy",
    "categorical_crossentropy",
    "confusion_matrix",
    "conv2d",
    "crossentropy_categorical_1hot",
    "elu",
    "hard_sigmoid",
    "logsoftmax",
    "relu",
    "selu",
    "sigmoid_binary_crossentropy",
    "softmax",
    "softmax_with_bias",
    "softsign",
]


def relu(x: Any, alpha: Any = 0) -> Any:
    """Return `x` where it is positive, `alpha * x` elsewhere."""
    x = pt.as_tensor_variable(x)
    return (
        pt.maximum(x, 0)
        if isinstance(alpha, int) and alpha == 0
        else pt.switch(x > 0, x, alpha * x)
    )


def elu(x: Any, alpha: Any = 1) -> Any:
    """Return `x` where it is positive, `alpha * (exp(x) - 1)` elsewhere."""
    x = pt.as_tensor_variable(x)
    return pt.switch(x > 0, x, alpha * pt.expm1(x))


def selu(x: Any) -> Any:
    """Return `elu` with the scales of G. Klambauer and others, "Self-normalizing neural networks"
    (2017), whose activations keep mean 0 and variance 1.
    """
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def softsign(x: Any) -> Any:
    """Return `x / (1 + |x|)`."""
    x = pt.as_tensor_variable(x)
    return x / (1 + abs(x))


def hard_sigmoid(x: Any) -> Any:
    """Return `0.2 x + 0.5`, clipped to the range from 0 to 1."""
    return pt.clip(pt.as_tensor_variable(x) * 0.2 + 0.5, 0, 1)


def softmax(c: Any, axis: Any = -1) -> Any:
    """Return `exp(c) / sum(exp(c))` along an axis. (Theano's result for a vector was a matrix.)"""
    return special.softmax(c, axis=axis)


def softmax_with_bias(x: Any, b: Any) -> Any:
    """Return the `softmax` of the rows of a matrix, with a vector added to each."""
    return softmax(pt.as_tensor_variable(x) + b)


def logsoftmax(c: Any, axis: Any = -1) -> Any:
    """Return the logarithm of `softmax`."""
    return special.log_softmax(c, axis=axis)


def binary_crossentropy(output: Any, target: Any) -> Any:
    """Return `-(t log o + (1 - t) log(1 - o))`, element by element."""
    o, t = pt.as_tensor_variable(output), pt.as_tensor_variable(target)
    return -(t * pt.log(o) + (1 - t) * pt.log(1 - o))


def sigmoid_binary_crossentropy(output: Any, target: Any) -> Any:
    """Return `binary_crossentropy(sigmoid(output), target)`."""
    return binary_crossentropy(pt.sigmoid(output), target)


def categorical_crossentropy(coding_dist: Any, true_dist: Any) -> Any:
    """Return `-sum(p log q)` along the last axis; `true_dist` may be the numbers of the true
    classes. Raises `NDimError` for other dimensions.
    """
    q, p = pt.as_tensor_variable(coding_dist), pt.as_tensor_variable(true_dist)
    if p.ndim == q.ndim:
        return -(p * pt.log(q)).sum(axis=-1)
    if p.ndim == q.ndim - 1:
        return -pt.log(pt.take_along_axis(q, p[..., None], axis=-1)[..., 0])
    raise NDimError(message("true_dist must have as many dimensions, or one less", inputs=[q, p]))


def crossentropy_categorical_1hot(coding_dist: Any, true_one_of_n: Any) -> Any:
    """Return the `categorical_crossentropy` for the numbers of the true classes."""
    return categorical_crossentropy(coding_dist, true_one_of_n)


def confusion_matrix(actual: Any, pred: Any) -> list[Any]:
    """Return how often each class (rows, in the order of the numbers) is predicted as each class
    (columns), and the numbers of the classes. Takes vectors of integers; returns int64.

    >>> confusion_matrix([0, 2, 2], [2, 2, 0])[0].eval()
    array([[0, 1],
           [1, 1]])
    """
    actual, pred = pt.as_tensor_variable(actual), pt.as_tensor_variable(pred)
    order = pt.unique(pt.concatenate([actual.flatten(), pred.flatten()]))
    rows, columns = [pt.eq(order[:, None], v[None]).astype("int64") for v in (actual, pred)]
    return [pt.dot(rows, columns.T), order]


def batch_normalization(
    inputs: Any, gamma: Any, beta: Any, mean: Any, std: Any, mode: str = "low_mem"
) -> Any:
    """Return `(inputs - mean) * gamma / std + beta`; mode has no effect."""
    x = pt.as_tensor_variable(inputs)
    return (x - mean) * (pt.as_tensor_variable(gamma) / std) + beta


def batch_normalization_train(
    inputs: Any,
    gamma: Any,
    beta: Any,
    axes: Any = "per-activation",
    epsilon: float = 1e-4,
    running_average_factor: float = 0.1,
    running_mean: Any = None,
    running_var: Any = None,
) -> tuple[Any, ...]:
    """Normalize `inputs` to mean `beta` and standard deviation `gamma` over axes. Also returns the
    means and the inverses of the standard deviations (of the variance plus `epsilon`); and if both
    are passed, the updated running_mean and running_var, which include those of these inputs with
    the weight `running_average_factor`.

    axes: dimensions to average over; "per-activation": the first, "spatial": all but the second.
    gamma, beta and the running averages have length 1 along these, or have no more dimensions than
    the others.
    """
    x = pt.as_tensor_variable(inputs)
    over = _normalized_axes(x, axes)
    gamma, beta = [_fitted(v, x, over) for v in (gamma, beta)]
    mean, var = x.mean(over, keepdims=True), x.var(over, keepdims=True)
    inverse = 1 / pt.sqrt(var + epsilon)
    found = ((x - mean) * (gamma * inverse) + beta, mean, inverse)
    if running_mean is None or running_var is None:
        return found
    part, size = running_average_factor, pt.cast(x.size / mean.size, x.dtype)
    fitted = [_fitted(v, x, over) for v in (running_mean, running_var)]
    news = (mean, size / (size - 1) * var)
    moved = [old * (1 - part) + new * part for old, new in zip(fitted, news, strict=True)]
    given = [pt.as_tensor_variable(v) for v in (running_mean, running_var)]
    return (*found, *[m.reshape(v.shape, ndim=v.ndim) for m, v in zip(moved, given, strict=True)])


def batch_normalization_test(
    inputs: Any,
    gamma: Any,
    beta: Any,
    mean: Any,
    var: Any,
    axes: Any = "per-activation",
    epsilon: float = 1e-4,
) -> Any:
    """Normalize `inputs` as `batch_normalization_train` does, with a known mean and variance."""
    x = pt.as_tensor_variable(inputs)
    over = _normalized_axes(x, axes)
    gamma, beta, mean, var = [_fitted(v, x, over) for v in (gamma, beta, mean, var)]
    return (x - mean) * (gamma / pt.sqrt(var + epsilon)) + beta


def _normalized_axes(x: Any, axes: Any) -> tuple[int, ...]:
    """Return the dimensions to average over. Raises `ValueError`."""
    named = {"per-activation": (0,), "spatial": (0, *range(2, x.ndim))}
    if isinstance(axes, str) and axes not in named:
        raise ValueError(f"axes must be dimensions, 'per-activation' or 'spatial', not {axes!r}")
    found = named[axes] if isinstance(axes, str) else axes
    return tuple(int(k) for k in ([found] if isinstance(found, int) else found))


def _fitted(v: Any, x: Any, over: tuple[int, ...]) -> Any:
    """Return a parameter in a shape that broadcasts with the inputs."""
    v = pt.as_tensor_variable(v)
    if v.ndim < x.ndim:
        others = iter(range(v.ndim))
        v = v.dimshuffle(*["x" if k in over else next(others) for k in range(x.ndim)])
    return pt.specify_broadcastable(v, *over)


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
    image_shape: Any = None,
    **unknown: Any,
) -> Any:
    """Convolve images (batch, channels, rows, columns) with filters (features, channels, rows,
    columns), summed over the channels: (batch, features, rows, columns).

    border_mode: "valid", "full", "half" (zeros around, half as many as the filter is long), or the
    number of zeros, as one number or one for each dimension. subsample: the steps. filter_flip:
    False computes a correlation. filter_dilation: the distance between the filter's elements.
    input_shape, filter_shape: known parts of the shapes (image_shape: an older name). Raises
    `NDimError`, `ShapeError`, `ValueError` for a border_mode, `OptionError` for groups and filters
    that are not shared.
    """
    input_shape = input_shape or image_shape
    groups = None if num_groups == 1 else num_groups
    refuse_options("conv2d", "convolve each group, and join them", num_groups=groups)
    refuse_options("conv2d", "filters are always shared", unshared=unshared, **unknown)
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
    """Return the zeros before and after rows and columns. Raises `ValueError`."""
    if mode == "half":
        return [(n // 2, n // 2) for n in filters.shape[2:]]
    if isinstance(mode, int):
        mode = (mode, mode)
    if isinstance(mode, str) or len(mode) != 2:
        raise ValueError(f'border_mode is "valid", "full", "half", or one or two numbers: {mode!r}')
    return [(n, n) if isinstance(n, int) else tuple(n) for n in mode]
