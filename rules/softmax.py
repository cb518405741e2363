"""Softmax written with exponentials, and its gradient: what overflows becomes the ops of
`tensor/special.py`.
"""

from rewrite_engine.rules.language import *
from rewrite_engine.tensor import Sum, exp, log
from rewrite_engine.tensor.special import LogSoftmax, LogSumExp, Softmax


@rule(phase="stabilize")
def softmax_from_exp(x: Real, axis: Prop):
    """exp(x) / sum(exp(x)) is inf / inf for large x.

    >>> x = matrix("x")
    >>> rewritten(exp(x) / exp(x).sum(axis=1, keepdims=True))
    Softmax{axis=(1,)}(x)
    """
    return exp(x) / Sum(axis=axis, keepdims=True)(exp(x)) >> Softmax(axis=axis)(x)


@rule(phase="stabilize")
def softmax_in_product(y, x: Real, axis: Prop):
    """y / sum(exp(x)) * exp(x), as gradients write it: the same quotient in another order.

    >>> x, y = matrix("x"), matrix("y")
    >>> rewritten(y / exp(x).sum(axis=1, keepdims=True) * exp(x))
    y * Softmax{axis=(1,)}(x)
    """
    return (y / Sum(axis=axis, keepdims=True)(exp(x))) * exp(x) >> y * Softmax(axis=axis)(x)


@rule(phase="stabilize")
def log_of_softmax(x: Real, axis: Prop):
    """A probability underflows to 0; its logarithm need not.

    >>> x = matrix("x")
    >>> rewritten(log(exp(x) / exp(x).sum(axis=1, keepdims=True)))
    LogSoftmax{axis=(1,)}(x)
    """
    return log(Softmax(axis=axis)(x)) >> LogSoftmax(axis=axis)(x)


@rule(phase="stabilize")
def exp_of_log_softmax(x: Real, axis: Prop):
    """Back to probabilities, directly.

    >>> rewritten(exp(LogSoftmax(axis=1)(matrix("x"))))
    Softmax{axis=(1,)}(x)
    """
    return exp(LogSoftmax(axis=axis)(x)) >> Softmax(axis=axis)(x)


@rule(phase="stabilize")
def log_of_sum_of_exp(x: Real, axis: Prop, keepdims: Prop):
    """The sum of exponentials overflows; its logarithm need not.

    >>> rewritten(log(exp(matrix("x")).sum(axis=0)))
    LogSumExp{axis=(0,)}(x)
    """
    total = Sum(axis=axis, keepdims=keepdims)
    return log(total(exp(x))) >> LogSumExp(axis=axis, keepdims=keepdims)(x)


@rule(phase="stabilize")
def log_softmax_from_difference(x: Real, axis: Prop):
    """x - log(sum(exp(x))), once the sum is stabilised.

    >>> x = matrix("x")
    >>> rewritten(x - log(exp(x).sum(axis=1, keepdims=True)))
    LogSoftmax{axis=(1,)}(x)
    """
    return x - LogSumExp(axis=axis, keepdims=True)(x) >> LogSoftmax(axis=axis)(x)
