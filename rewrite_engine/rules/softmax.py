"""Softmax written with exponentials, and its gradient: the ops of `tensor/special.py` do not
overflow.

Products like `y / sum(exp(x)) * exp(x)` keep their form (`scaled.py`); the rules here recognise a
whole softmax, and terms that cancel with one.
"""

import math

from rewrite_engine.facts import same_dtype
from rewrite_engine.language import *
from rewrite_engine.rules.reduce import putting_back
from rewrite_engine.tensor import (
    DimShuffle,
    Sum,
    exp,
    exp2,
    log,
)
from rewrite_engine.tensor.special import LogSoftmax, LogSumExp, Softmax, SoftmaxAndLog


def of_all(x, axis):
    """Return whether a sum over `axis` is a single number."""
    return axis is None or len(axis) == x.type.ndim


def stands_beside(x, axis, keepdims):
    """Return whether a sum over `axis` broadcasts against x: with dimensions of length 1, as a
    single number, or over the first dimensions, as the others then stand at their places.
    """
    return keepdims or of_all(x, axis) or is_first(x, axis)


def is_first(x, axis):
    """Return whether axes are the first dimensions."""
    return sorted([a % x.type.ndim for a in axis]) == list(range(len(axis)))


def sum_is_put_back(x, axis, order):
    """Return whether a reordering of dimensions restores the rank of x in a sum over `axis`."""
    return order == putting_back(axis, x.type.ndim)


@rule(phase="stabilize", claim=exact)
def sum_put_back(x: Float, axis: Prop, n: Prop, order: Prop):
    """Write the sum of exponentials in the form that the rules for softmax match. (Elsewhere this
    applies only to sums with one use: `rules/reduce.py`.)

    >>> x = matrix("x")
    >>> s = exp(x).sum(axis=1)
    >>> rewritten(exp(x) / s[:, None], sqrt(s))
    [Softmax{axis=(1,)}(x), sqrt(Sum{axis=1}(exp(x)))]
    """
    e = exp(x)
    left = DimShuffle(n, order)(Sum(axis=axis)(e))
    return left >> Sum(axis=axis, keepdims=True)(e), given(sum_is_put_back)


@rule(phase="stabilize")
def softmax_from_exp(x: Float, axis: Prop, keepdims: Prop):
    """exp(x) / sum(exp(x)) is inf / inf for large x; softmax is not.

    >>> x = matrix("x")
    >>> rewritten(exp(x) / exp(x).sum(axis=1, keepdims=True))
    Softmax{axis=(1,)}(x)
    """
    total = Sum(axis=axis, keepdims=keepdims)
    return exp(x) / total(exp(x)) >> Softmax(axis=axis)(x), given(stands_beside)


@rule(phase="stabilize", claim=approx(1 << 10), tags=["mends_gradients"])
def softmax_from_exp2(x: Float, axis: Prop, keepdims: Prop):
    """Powers of 2 overflow like exponentials; softmax does not.

    >>> x = vector("x")
    >>> rewritten(exp2(x) / exp2(x).sum())
    Softmax{axis=None}(0.6931471805599453 * x)
    """
    total = Sum(axis=axis, keepdims=keepdims)
    right = Softmax(axis=axis)(math.log(2.0) * x)
    return exp2(x) / total(exp2(x)) >> right, given(stands_beside)


def is_base(c):
    """Return whether a number is the base of a growing or shrinking power."""
    return c.number is not None and 0 < c.number < math.inf and c.number != 1


@rule(phase="stabilize", claim=approx(1 << 12), tags=["mends_gradients"])
def softmax_from_power(x: Float, c: FloatConstant, axis: Prop, keepdims: Prop):
    """Powers of a number overflow like exponentials; softmax does not.

    >>> x = vector("x")
    >>> rewritten(10.0 ** x / (10.0 ** x).sum())
    Softmax{axis=None}(2.302585092994046 * x)
    """
    total = Sum(axis=axis, keepdims=keepdims)
    right = compute(lambda x, c, axis: Softmax(axis=axis)(math.log(c.number) * x))
    return c**x / total(c**x) >> right, given(stands_beside, is_base, same_dtype(x, c))


# --- logarithms ---------------------------------------------------------------------------------


@rule(phase="stabilize")
def log_of_softmax(x: Float, axis: Prop):
    """A probability may underflow to 0 when its logarithm does not.

    >>> x = matrix("x")
    >>> rewritten(log(exp(x) / exp(x).sum(axis=1, keepdims=True)))
    LogSoftmax{axis=(1,)}(x)
    """
    return log(Softmax(axis=axis)(x)) >> LogSoftmax(axis=axis)(x)


@rule(
    phase="stabilize",
    claim=approx(ulps=1 << 10),
    overlaps="a softmax is no longer an exponential that may overflow",
)
def exp_of_log_softmax(x: Float, axis: Prop):
    """Softmax computes probabilities directly, without their logarithms.

    >>> rewritten(exp(LogSoftmax(axis=1)(matrix("x"))))
    Softmax{axis=(1,)}(x)
    """
    return exp(LogSoftmax(axis=axis)(x)) >> Softmax(axis=axis)(x)


@rule(phase="stabilize")
def log_softmax_from_difference(x: Float, axis: Prop, keepdims: Prop):
    """The stabilised difference x - log(sum(exp(x))) is the logarithm of a softmax.

    >>> x = matrix("x")
    >>> rewritten(x - log(exp(x).sum(axis=1, keepdims=True)))
    LogSoftmax{axis=(1,)}(x)
    """
    right = LogSoftmax(axis=axis)(x)
    return x - LogSumExp(axis=axis, keepdims=keepdims)(x) >> right, given(stands_beside)


@rule(phase="stabilize")
def log_softmax_from_difference_turned(x: Float, axis: Prop, keepdims: Prop):
    """The difference log(sum(exp(x))) - x shares the logarithm of a softmax with x -
    log(sum(exp(x))).

    >>> x = matrix("x")
    >>> rewritten(log(exp(x).sum(axis=1, keepdims=True)) - x)
    -LogSoftmax{axis=(1,)}(x)
    """
    right = -LogSoftmax(axis=axis)(x)
    return LogSumExp(axis=axis, keepdims=keepdims)(x) - x >> right, given(stands_beside)


@node_rewriter([Softmax], phase="specialize", claim=approx(ulps=1 << 10))
def exponentials_once(fgraph, node):
    """Compute the exponentials once for a softmax and its logarithm, as in a loss and its gradient.
    Not data: it is about two nodes.

    >>> x = matrix("x")
    >>> rewritten(Softmax(1)(x) * LogSumExp(1, keepdims=True)(x))
    SoftmaxAndLog{axis=(1,)}(x).softmax * SoftmaxAndLog{axis=(1,)}(x).log
    """
    op, (x,) = node.op, node.inputs
    for other in fgraph.users[x] if fgraph is not None else ():
        kind = other.op
        if isinstance(kind, LogSoftmax | LogSumExp) and kind.axis == op.axis:
            whole = isinstance(kind, LogSoftmax)
            shares, log = SoftmaxAndLog(op.axis, whole)(x)
            asked = log if whole or kind.keepdims else log.squeeze(axis=kind.axes(x.type.ndim))
            return {node.outputs[0]: shares, other.outputs[0]: asked}
    return None
