"""The functions of `theano.tensor.nnet`, made of ops that are here. Gradients, and what is mended
where exponentials saturate, are those of the formulas.
"""

from __future__ import annotations

from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.errors import NDimError, message
from rewrite_engine.tensor import special

__all__ = [
    "binary_crossentropy",
    "categorical_crossentropy",
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
