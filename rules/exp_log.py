"""Logarithms and exponentials: what cancels, and what keeps its digits."""

from rewrite_engine.rules.facts import nonneg
from rewrite_engine.rules.language import *
from rewrite_engine.tensor import (
    exp,
    expm1,
    log,
    log1mexp,
    log1p,
    logaddexp,
    reciprocal,
    sigmoid,
    softplus,
)


@rule(phase="canonicalize")
def log_of_exp(x: Real):
    """The exponential overflows and underflows; its logarithm is the number itself.

    >>> rewritten(log(exp(vector("x"))))
    x
    """
    return log(exp(x)) >> x


@rule(phase="canonicalize", claim=approx(ulps=1 << 16))
def exp_of_log(x: Real):
    """The number itself, where it has a logarithm.

    >>> rewritten(exp(log(sqr(vector("x")))))
    sqr(x)
    """
    return exp(log(x)) >> x, given(nonneg(x))


@rule(phase="stabilize")
def log_of_one_plus(x: Real):
    """log(1 + x) loses every digit of a tiny x; log1p keeps them.

    >>> rewritten(log(1 + vector("x")))
    log1p(x)
    """
    return log(1 + x) >> log1p(x)


@rule(phase="stabilize")
def log_of_one_minus(x: Real):
    """log(1 - x) loses every digit of a tiny x; log1p keeps them.

    >>> rewritten(log(1 - vector("x")))
    log1p(-x)
    """
    return log(1 - x) >> log1p(-x)


@rule(phase="stabilize")
def exp_minus_one(x: Real):
    """exp(x) - 1 loses every digit of a tiny result; expm1 keeps them.

    >>> rewritten(exp(vector("x")) - 1)
    expm1(x)
    """
    return exp(x) - 1 >> expm1(x)


@rule(phase="stabilize")
def one_minus_exp(x: Real):
    """1 - exp(x) loses every digit of a tiny result; expm1 keeps them.

    >>> rewritten(1 - exp(vector("x")))
    -expm1(x)
    """
    return 1 - exp(x) >> -expm1(x)


@rule(phase="stabilize")
def log1p_of_exp(x: Real):
    """log(1 + exp(x)) overflows for large x; softplus does not.

    >>> rewritten(log(1 + exp(vector("x"))))
    softplus(x)
    """
    return log1p(exp(x)) >> softplus(x)


@rule(phase="stabilize")
def log1p_of_minus_exp(x: Real):
    """log(1 - exp(x)) near 0 and far from it.

    >>> rewritten(log1p(-exp(vector("x"))))
    log1mexp(x)
    """
    return log1p(-exp(x)) >> log1mexp(x)


@rule(phase="stabilize")
def log_of_minus_expm1(x: Real):
    """The same, after the difference was stabilised.

    >>> rewritten(log(1 - exp(vector("x"))))
    log1mexp(x)
    """
    return log(-expm1(x)) >> log1mexp(x)


@rule(phase="stabilize")
def one_over_one_plus_exp(x: Real):
    """1 / (1 + exp(-x)) overflows inside; the sigmoid does not.

    >>> rewritten(1 / (1 + exp(-vector("x"))))
    sigmoid(x)
    """
    return 1 / (1 + exp(-x)) >> sigmoid(x)


@rule(phase="stabilize")
def one_over_one_plus_exp_positive(x: Real):
    """The same without a sign inside.

    >>> rewritten(1 / (1 + exp(vector("x"))))
    sigmoid(-x)
    """
    return 1 / (1 + exp(x)) >> sigmoid(-x)


@rule(phase="stabilize")
def reciprocal_of_one_plus_exp(x: Real):
    """The same as a reciprocal.

    >>> rewritten(reciprocal(1 + exp(vector("x"))))
    sigmoid(-x)
    """
    return reciprocal(1 + exp(x)) >> sigmoid(-x)


@rule(phase="stabilize")
def exp_over_one_plus_exp(x: Real):
    """exp(x) / (1 + exp(x)) is inf / inf for large x.

    >>> x = vector("x")
    >>> rewritten(exp(x) / (1 + exp(x)))
    sigmoid(x)
    """
    return exp(x) / (1 + exp(x)) >> sigmoid(x)


@rule(phase="stabilize")
def sigmoid_in_product(x: Real, y: Float):
    """y / (1 + exp(x)) * exp(x), as gradients write it, is 0 * inf for large x.

    >>> x, y = vectors("x y")
    >>> rewritten(y / (1 + exp(x)) * exp(x))
    y * sigmoid(x)
    """
    return (y / (1 + exp(x))) * exp(x) >> y * sigmoid(x)


@rule(phase="stabilize")
def one_minus_sigmoid(x: Real):
    """1 - sigmoid(x) loses every digit for large x.

    >>> rewritten(1 - sigmoid(vector("x")))
    sigmoid(-x)
    """
    return 1 - sigmoid(x) >> sigmoid(-x)


@rule(phase="stabilize")
def log_of_sigmoid(x: Real):
    """sigmoid underflows to 0; its logarithm need not.

    >>> rewritten(log(sigmoid(vector("x"))))
    -softplus(-x)
    """
    return log(sigmoid(x)) >> -softplus(-x)


@rule(phase="stabilize")
def log_of_sum_of_exps(x: Real, y: Real):
    """log(exp(x) + exp(y)) overflows; logaddexp does not.

    >>> rewritten(log(exp(vector("x")) + exp(vector("y"))))
    logaddexp(x, y)
    """
    return log(exp(x) + exp(y)) >> logaddexp(x, y)


@rule(phase="stabilize", claim=approx(2))
def log_of_reciprocal(x: Real):
    """The reciprocal of a subnormal number overflows; the sign of its logarithm does not. At -inf
    the two differ, so the sign has to be known.

    >>> rewritten(log(reciprocal(sqr(vector("x")))))
    -log(sqr(x))
    """
    return log(reciprocal(x)) >> -log(x), given(nonneg(x))
