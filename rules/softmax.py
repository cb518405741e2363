"""Softmax written with exponentials, and its gradient: what overflows becomes the ops of
`tensor/special.py`.

Products like `y / sum(exp(x)) * exp(x)` stay as they were written (`scaled.py`); here is what
becomes a softmax as a whole, and what cancels with one.
"""

from rewrite_engine.rules.facts import same_dtype
from rewrite_engine.rules.language import *
from rewrite_engine.rules.reduce import putting_back
from rewrite_engine.tensor import (
    DimShuffle,
    Sum,
    exp,
    isnan,
    log,
    second,
    switch,
)
from rewrite_engine.tensor.special import LogSoftmax, LogSumExp, ScaledExp, Softmax


def of_all(x, axis):
    """Whether a sum over `axis` is a single number."""
    return axis is None or len(axis) == x.type.ndim


def stands_beside(x, axis, keepdims):
    """Whether a sum over `axis` has its place beside x: as ones, or as a single number."""
    return keepdims or of_all(x, axis)


def unless_nan(p, y):
    """y, but NaN where p is."""
    return switch(isnan(p), p, y)


def sum_is_put_back(x, axis, order):
    """Whether a reordering of dimensions gives a sum over `axis` the rank of x again."""
    return order == putting_back(axis, x.type.ndim)


@rule(phase="stabilize", claim=exact)
def sum_put_back(x: Real, axis: Prop, n: Prop, order: Prop):
    """The sum of exponentials as the rules below know it (elsewhere only a sum with one use is
    written so: `rules/reduce.py`).

    >>> x = matrix("x")
    >>> s = exp(x).sum(axis=1)
    >>> rewritten(exp(x) / s[:, None], log(s))
    [Softmax{axis=(1,)}(x), LogSumExp{axis=(1,)}(x)]
    """
    e = exp(x)
    left = DimShuffle(n, order)(Sum(axis=axis)(e))
    return left >> Sum(axis=axis, keepdims=True)(e), given(sum_is_put_back)


@rule(phase="stabilize")
def softmax_from_exp(x: Real, axis: Prop, keepdims: Prop):
    """exp(x) / sum(exp(x)) is inf / inf for large x.

    >>> x = matrix("x")
    >>> rewritten(exp(x) / exp(x).sum(axis=1, keepdims=True))
    Softmax{axis=(1,)}(x)
    """
    total = Sum(axis=axis, keepdims=keepdims)
    return exp(x) / total(exp(x)) >> Softmax(axis=axis)(x), given(stands_beside)


def same_slices(v, x):
    """Whether a sum of v / sum(exp(x)) adds up what one of x does: nothing that has another scale,
    and no more terms.
    """
    short, own = x.type.broadcastable, v.type.broadcastable
    return len(own) <= len(short) and not any(
        n and not m for m, n in zip(own[::-1], short[::-1], strict=False)
    )


@rule(phase="stabilize", claim=approx(ulps=8))
def softmax_gradient_of_log(y, v, x: Real, axis: Prop, keepdims: Prop):
    """What comes through numerator and denominator of log(p): there (y / p) / sum(exp(x)) * exp(x)
    cancels. (Without a logarithm: `softmax_gradient`.)

    >>> x, y, v = matrices("x y v")
    >>> e = exp(x)
    >>> s = e.sum(axis=1, keepdims=True)
    >>> rewritten((y / (e / s) / s + second(e, (v / s).sum(axis=1, keepdims=True))) * e)
    y + Sum{axis=1, keepdims}(v / Sum{axis=1, keepdims}(ScaledExp{axis=(1,)}(x)))
        * ScaledExp{axis=(1,)}(x)
    """
    outer, total, e = Sum(axis=axis, keepdims=True), Sum(axis=axis, keepdims=keepdims), exp(x)
    p, scaled = Softmax(axis=axis)(x), ScaledExp(axis=axis)(x)
    left = (y / p / total(e) + second(e, outer(v / total(e)))) * e
    right = y + outer(v / total(scaled)) * scaled
    return left >> right, given(stands_beside, same_slices, same_dtype(x, y))


# --- tests for NaN that something else shows anyway ---------------------------------------------


@rule(phase="stabilize", claim=exact)
def neg_of_nan_kept(p: Real, y: Real):
    """A sign goes to where rules see it.

    >>> x, y = vectors("x y")
    >>> rewritten(-switch(isnan(x), x, y))
    switch(isnan(x), x, -y)
    """
    return -unless_nan(p, y) >> unless_nan(p, -y)


@rule(phase="stabilize", claim=approx(ulps=8), tags=["reorder"])
def nan_in_sum(y, z, x: Real, axis: Prop):
    """The other term is NaN there, too. (Of terms among others the order changes.)

    >>> x, y, z = matrices("x y z")
    >>> e = ScaledExp(1)(x)
    >>> rewritten(switch(isnan(e), e, y) + z * e)
    y + z * ScaledExp{axis=(1,)}(x)
    """
    e = ScaledExp(axis=axis)(x)
    return unless_nan(e, y) + z * e >> y + z * e


@rule(phase="stabilize", claim=exact)
def nan_in_difference(y, z, x: Real, axis: Prop):
    """So in the gradient of a softmax.

    >>> x, y, z = matrices("x y z")
    >>> p = softmax(x, axis=1)
    >>> rewritten(switch(isnan(p), p, y) - p * z)
    y - Softmax{axis=(1,)}(x) * z
    """
    p = Softmax(axis=axis)(x)
    return unless_nan(p, y) - p * z >> y - p * z


@rule(phase="stabilize")
def nan_in_denominator_gradient(v, x: Real, axis: Prop, keepdims: Prop):
    """What the sum is multiplied with is NaN there, too.

    >>> x, v = matrices("x v")
    >>> e, p = ScaledExp(1)(x), softmax(x, axis=1)
    >>> s = e.sum(axis=1, keepdims=True)
    >>> rewritten((switch(isnan(p), p, v) / s).sum(axis=1, keepdims=True) * e)
    Sum{axis=1, keepdims}(second(x, v) / Sum{axis=1, keepdims}(ScaledExp{axis=(1,)}(x)))
        * ScaledExp{axis=(1,)}(x)
    """
    total, e, p = Sum(axis=axis, keepdims=True), ScaledExp(axis=axis)(x), Softmax(axis=axis)(x)
    s = Sum(axis=axis, keepdims=keepdims)(e)
    left, right = total(unless_nan(p, v) / s) * e, total(second(x, v) / s) * e
    return left >> right, given(stands_beside, same_dtype(x, v))


@rule(phase="stabilize")
def nan_in_gradient(v, x: Real, axis: Prop):
    """The same for a softmax.

    >>> x, v = matrices("x v")
    >>> p = softmax(x, axis=1)
    >>> rewritten(p * switch(isnan(p), p, v).sum(axis=1, keepdims=True))
    Softmax{axis=(1,)}(x) * Sum{axis=1, keepdims}(second(x, v))
    """
    total, p = Sum(axis=axis, keepdims=True), Softmax(axis=axis)(x)
    return p * total(unless_nan(p, v)) >> p * total(second(x, v)), given(same_dtype(x, v))


# --- logarithms ---------------------------------------------------------------------------------


@rule(phase="stabilize")
def log_of_softmax(x: Real, axis: Prop):
    """A probability underflows to 0; its logarithm need not.

    >>> x = matrix("x")
    >>> rewritten(log(exp(x) / exp(x).sum(axis=1, keepdims=True)))
    LogSoftmax{axis=(1,)}(x)
    """
    return log(Softmax(axis=axis)(x)) >> LogSoftmax(axis=axis)(x)


@rule(phase="stabilize", claim=approx(ulps=1 << 10))
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
def log_softmax_from_difference(x: Real, axis: Prop, keepdims: Prop):
    """x - log(sum(exp(x))), once the sum is stabilised.

    >>> x = matrix("x")
    >>> rewritten(x - log(exp(x).sum(axis=1, keepdims=True)))
    LogSoftmax{axis=(1,)}(x)
    """
    right = LogSoftmax(axis=axis)(x)
    return x - LogSumExp(axis=axis, keepdims=keepdims)(x) >> right, given(stands_beside)


@rule(phase="stabilize")
def log_softmax_from_difference_turned(x: Real, axis: Prop, keepdims: Prop):
    """log(sum(exp(x))) - x, so that it is computed once with the one above.

    >>> x = matrix("x")
    >>> rewritten(log(exp(x).sum(axis=1, keepdims=True)) - x)
    -LogSoftmax{axis=(1,)}(x)
    """
    right = -LogSoftmax(axis=axis)(x)
    return LogSumExp(axis=axis, keepdims=keepdims)(x) - x >> right, given(stands_beside)
