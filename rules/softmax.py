"""Softmax written with exponentials, and its gradient: what overflows becomes the ops of
`tensor/special.py`.

Products like `y / sum(exp(x)) * exp(x)` stay as they were written (`scaled.py`); here is what
becomes a softmax as a whole, and what cancels with one.
"""

from rewrite_engine.rules.language import *
from rewrite_engine.rules.reduce import putting_back
from rewrite_engine.tensor import (
    DimShuffle,
    Sum,
    exp,
    log,
)
from rewrite_engine.tensor.special import LogSoftmax, LogSumExp, Softmax, SoftmaxAndLog


def of_all(x, axis):
    """Whether a sum over `axis` is a single number."""
    return axis is None or len(axis) == x.type.ndim


def stands_beside(x, axis, keepdims):
    """Whether a sum over `axis` has its place beside x: as ones, or as a single number."""
    return keepdims or of_all(x, axis)


def sum_is_put_back(x, axis, order):
    """Whether a reordering of dimensions gives a sum over `axis` the rank of x again."""
    return order == putting_back(axis, x.type.ndim)


@rule(phase="stabilize", claim=exact)
def sum_put_back(x: Float, axis: Prop, n: Prop, order: Prop):
    """The sum of exponentials as the rules below know it (elsewhere only a sum with one use is
    written so: `rules/reduce.py`).

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
    """exp(x) / sum(exp(x)) is inf / inf for large x.

    >>> x = matrix("x")
    >>> rewritten(exp(x) / exp(x).sum(axis=1, keepdims=True))
    Softmax{axis=(1,)}(x)
    """
    total = Sum(axis=axis, keepdims=keepdims)
    return exp(x) / total(exp(x)) >> Softmax(axis=axis)(x), given(stands_beside)


# --- logarithms ---------------------------------------------------------------------------------


@rule(phase="stabilize")
def log_of_softmax(x: Float, axis: Prop):
    """A probability underflows to 0; its logarithm need not.

    >>> x = matrix("x")
    >>> rewritten(log(exp(x) / exp(x).sum(axis=1, keepdims=True)))
    LogSoftmax{axis=(1,)}(x)
    """
    return log(Softmax(axis=axis)(x)) >> LogSoftmax(axis=axis)(x)


@rule(
    phase="stabilize",
    claim=approx(ulps=1 << 10),
    overlaps="a softmax is no exponential any more that could overflow",
)
def exp_of_log_softmax(x: Float, axis: Prop):
    """Back to probabilities, directly.

    >>> rewritten(exp(LogSoftmax(axis=1)(matrix("x"))))
    Softmax{axis=(1,)}(x)
    """
    return exp(LogSoftmax(axis=axis)(x)) >> Softmax(axis=axis)(x)


@rule(phase="stabilize")
def log_softmax_from_difference(x: Float, axis: Prop, keepdims: Prop):
    """x - log(sum(exp(x))), once the sum is stabilised.

    >>> x = matrix("x")
    >>> rewritten(x - log(exp(x).sum(axis=1, keepdims=True)))
    LogSoftmax{axis=(1,)}(x)
    """
    right = LogSoftmax(axis=axis)(x)
    return x - LogSumExp(axis=axis, keepdims=keepdims)(x) >> right, given(stands_beside)


@rule(phase="stabilize")
def log_softmax_from_difference_turned(x: Float, axis: Prop, keepdims: Prop):
    """log(sum(exp(x))) - x, so that it is computed once with the one above.

    >>> x = matrix("x")
    >>> rewritten(log(exp(x).sum(axis=1, keepdims=True)) - x)
    -LogSoftmax{axis=(1,)}(x)
    """
    right = -LogSoftmax(axis=axis)(x)
    return LogSumExp(axis=axis, keepdims=keepdims)(x) - x >> right, given(stands_beside)


@node_rewriter([Softmax], phase="specialize", claim=approx(ulps=1 << 10))
def exponentials_once(fgraph, node):
    """A softmax and its logarithm, or that of the sum, as a loss and its gradient have them: the
    exponentials are computed once. Not data: it is about two nodes.

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
