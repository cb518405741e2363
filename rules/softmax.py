"""Softmax written with exponentials, and its gradient: what overflows becomes the ops of
`tensor/special.py`.
"""

from rewrite_engine.rules.language import *
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.tensor import DimShuffle, Sum, exp, log, second
from rewrite_engine.tensor.special import LogSoftmax, LogSumExp, Softmax

#: exp(x - max(x)) is off by up to |x - max(x)| / 2 units, exp(x) by one; it is 0 beyond 745
SHIFTED = approx(ulps=1 << 10)


@rule(phase="stabilize", claim=SHIFTED)
def softmax_from_exp(x: Real, axis: Prop):
    """exp(x) / sum(exp(x)) is inf / inf for large x.

    >>> x = matrix("x")
    >>> rewritten(exp(x) / exp(x).sum(axis=1, keepdims=True))
    Softmax{axis=(1,)}(x)
    """
    return exp(x) / Sum(axis=axis, keepdims=True)(exp(x)) >> Softmax(axis=axis)(x)


@rule(phase="stabilize", claim=SHIFTED)
def softmax_in_product(y, x: Real, axis: Prop):
    """y / sum(exp(x)) * exp(x), as gradients write it: the same quotient in another order.

    >>> x, y = matrix("x"), matrix("y")
    >>> rewritten(y / exp(x).sum(axis=1, keepdims=True) * exp(x))
    y * Softmax{axis=(1,)}(x)
    """
    return (y / Sum(axis=axis, keepdims=True)(exp(x))) * exp(x) >> y * Softmax(axis=axis)(x)


def adds_as_well(v, x):
    """Whether a sum of v has all digits that one has of quotients with x."""
    return promote(v.type.dtype, x.type.dtype) == v.type.dtype


def same_rank(v, x):
    """Whether the axes of `x` are axes of `v` too, and sums along them as good."""
    return v.type.ndim == x.type.ndim and adds_as_well(v, x)


@rule(phase="stabilize", claim=SHIFTED)
def softmax_gradient(a, v, x: Real, axis: Prop):
    """The gradient of exp(x) / sum(exp(x)), as the chain rule writes it, overflows for large x.

    a / s is what comes through the numerator, sum(v / s) through the denominator s = sum(exp(x)).

    >>> x, a, v = matrices("x a v")
    >>> e = exp(x)
    >>> s = e.sum(axis=1, keepdims=True)
    >>> rewritten((a / s + second(e, (v / s).sum(axis=1, keepdims=True))) * e)
    a * Softmax{axis=(1,)}(x) + Softmax{axis=(1,)}(x) * Sum{axis=1, keepdims}(v)
    """
    total = Sum(axis=axis, keepdims=True)
    s, p = total(exp(x)), Softmax(axis=axis)(x)
    return (a / s + second(exp(x), total(v / s))) * exp(x) >> a * p + p * total(v), given(same_rank)


@rule(phase="stabilize", claim=SHIFTED)
def softmax_denominator_gradient(v, x: Real, axis: Prop):
    """What comes through the denominator alone, sum(v / s) * exp(x), is 0 * inf for large x.

    >>> x, v = matrices("x v")
    >>> rewritten((v / exp(x).sum(axis=1, keepdims=True)).sum(axis=1, keepdims=True) * exp(x))
    Softmax{axis=(1,)}(x) * Sum{axis=1, keepdims}(v)
    """
    total = Sum(axis=axis, keepdims=True)
    right = Softmax(axis=axis)(x) * total(v)
    return total(v / total(exp(x))) * exp(x) >> right, given(same_rank)


def of_all(x, axis):
    """Whether a sum over `axis` is a single number."""
    return axis is None or len(axis) == x.type.ndim


def puts_back(x, y, axis, n, order):
    """Whether a reordering of dimensions gives a sum over `axis`, and y, the rank of x again."""
    ndim = x.type.ndim
    gone = set(range(ndim) if axis is None else [a % ndim for a in axis])
    kept = iter(range(ndim))
    return y.type.ndim == n and order == tuple(
        "x" if a in gone else next(kept) for a in range(ndim)
    )


@rule(phase="stabilize", claim=SHIFTED)
def softmax_of_all(x: Real, axis: Prop):
    """exp(x) / sum(exp(x)) over everything.

    >>> x = vector("x")
    >>> rewritten(exp(x) / exp(x).sum())
    Softmax{axis=None}(x)
    """
    return exp(x) / Sum(axis=axis)(exp(x)) >> Softmax(axis=axis)(x), given(of_all)


@rule(phase="stabilize", claim=SHIFTED)
def softmax_of_all_in_product(y, x: Real, axis: Prop):
    """The same quotient in another order.

    >>> x, y = vectors("x y")
    >>> rewritten(y / exp(x).sum() * exp(x))
    y * Softmax{axis=None}(x)
    """
    return (y / Sum(axis=axis)(exp(x))) * exp(x) >> y * Softmax(axis=axis)(x), given(of_all)


@rule(phase="stabilize", claim=SHIFTED)
def softmax_of_all_denominator_gradient(v, x: Real, axis: Prop, outer: Prop, n: Prop, order: Prop):
    """What comes through the denominator alone, sum(v / s) * exp(x), is 0 * inf for large x.

    >>> x, v = vectors("x v")
    >>> rewritten((v / exp(x).sum()).sum().dimshuffle("x") * exp(x))
    ExpandDims{axes=[0]}(Sum(v)) * Softmax{axis=None}(x)
    """
    total, turn = Sum(axis=outer), DimShuffle(n, order)
    left = turn(total(v / Sum(axis=axis)(exp(x)))) * exp(x)
    return left >> turn(total(v)) * Softmax(axis=axis)(x), given(of_all, adds_as_well)


@rule(phase="stabilize", claim=SHIFTED)
def logsumexp_gradient(y, x: Real, axis: Prop, n: Prop, order: Prop):
    """The gradient of log(sum(exp(x))), exp(x) / sum(exp(x)), is inf / inf for large x.

    >>> x, y = matrix("x"), vector("y")
    >>> rewritten((y / exp(x).sum(axis=1)).dimshuffle(0, "x") * exp(x))
    ExpandDims{axes=[1]}(y) * Softmax{axis=(1,)}(x)
    """
    turn = DimShuffle(n, order)
    left = turn(y / Sum(axis=axis)(exp(x))) * exp(x)
    return left >> turn(y) * Softmax(axis=axis)(x), given(puts_back)


@rule(phase="stabilize")
def softmax_cancels(y, x: Real, axis: Prop):
    """A probability is positive, also where it underflows to 0.

    >>> x, y = matrices("x y")
    >>> rewritten(y / (exp(x) / exp(x).sum(axis=1, keepdims=True)) * softmax(x, axis=1))
    y
    """
    return (y / Softmax(axis=axis)(x)) * Softmax(axis=axis)(x) >> y


@rule(phase="stabilize")
def softmax_cancels_in_difference(y, z, x: Real, axis: Prop):
    """p (y / p - z), the gradient of the logarithm of a probability p, also where p underflows.

    >>> x, y, z = matrices("x y z")
    >>> p = softmax(x, axis=1)
    >>> rewritten(p * (y / p - z))
    y - Softmax{axis=(1,)}(x) * z
    """
    p = Softmax(axis=axis)(x)
    return p * (y / p - z) >> y - p * z


@rule(phase="stabilize")
def log_of_softmax(x: Real, axis: Prop):
    """A probability underflows to 0; its logarithm need not.

    >>> x = matrix("x")
    >>> rewritten(log(exp(x) / exp(x).sum(axis=1, keepdims=True)))
    LogSoftmax{axis=(1,)}(x)
    """
    return log(Softmax(axis=axis)(x)) >> LogSoftmax(axis=axis)(x)


@rule(phase="stabilize", claim=SHIFTED)
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
