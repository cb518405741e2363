"""Logarithms and exponentials: what cancels, and what keeps its digits."""

from rewrite_engine.rules.facts import finite, nonneg, nonzero, positive, same_dtype
from rewrite_engine.rules.language import *
from rewrite_engine.tensor import (
    abs,
    cast,
    exp,
    log,
    log1p,
    logaddexp,
    reciprocal,
    sigmoid,
    softplus,
    sqr,
    sqrt,
    switch,
)


@rule(phase="stabilize", claim=exact, ends=at_most(1))
def exp_of_integer(n: Integer):
    """An exponential of integers is that of floats, about which the other rules know more.

    >>> rewritten(exp(ivector("n")))
    exp(Cast{float64}(n))
    """
    return exp(n) >> compute(lambda n: exp(cast(n, exp(n).type.dtype)))


@rule(phase="canonicalize", tags=["before_gradients"])
def log_of_exp(x: Float):
    """The exponential overflows and underflows; its logarithm is the number itself.

    >>> rewritten(log(exp(vector("x"))))
    x
    """
    return log(exp(x)) >> x


@rule(phase="canonicalize", claim=approx(ulps=1 << 16))
def exp_of_log(x: Float):
    """The number itself, where it has a logarithm.

    >>> rewritten(exp(log(sqr(vector("x")))))
    sqr(x)
    """
    return exp(log(x)) >> x, given(nonneg(x))


@rule(phase="stabilize")
def log_of_one_plus(x: Float):
    """log(1 + x) loses every digit of a tiny x; log1p keeps them.

    >>> rewritten(log(1 + vector("x")))
    log1p(x)
    """
    return log(1 + x) >> log1p(x)


@rule(phase="stabilize")
def log_of_one_minus(x: Float):
    """log(1 - x) loses every digit of a tiny x; log1p keeps them.

    >>> rewritten(log(1 - vector("x")))
    log1p(-x)
    """
    return log(1 - x) >> log1p(-x)


@rule(phase="stabilize")
def log1p_of_exp(x: Float):
    """log(1 + exp(x)) overflows for large x; softplus does not.

    >>> rewritten(log(1 + exp(vector("x"))))
    softplus(x)
    """
    return log1p(exp(x)) >> softplus(x)


@rule(phase="stabilize")
def reciprocal_of_one_plus_exp(x: Float):
    """1 / (1 + exp(x)) overflows inside; the sigmoid does not.

    >>> rewritten(reciprocal(1 + exp(vector("x"))))
    sigmoid(-x)
    """
    return reciprocal(1 + exp(x)) >> sigmoid(-x)


@rule(phase="stabilize")
def sigmoid_in_product(x: Float, y: Float):
    """y / (1 + exp(x)) overflows below the bar.

    >>> x, y = vectors("x y")
    >>> rewritten(y / (1 + exp(x)))
    y * sigmoid(-x)
    """
    return y / (1 + exp(x)) >> y * sigmoid(-x)


@rule(phase="stabilize", claim=exact)
def sum_of_choices(condition, x: Float, y: Float, z: Float, w: Float):
    """One question instead of two, so that what is chosen together is seen together.

    >>> c, x, y = bvector("c"), vector("x"), vector("y")
    >>> rewritten(switch(c, x, 1.0) + switch(c, y, 2.0))
    switch(c, x + y, 3.0)
    """
    left = switch(condition, x, y) + switch(condition, z, w)
    same = given(same_dtype(x, y), same_dtype(z, w))
    return left >> switch(condition, x + z, y + w), same


@rule(phase="stabilize", claim=exact)
def difference_of_choices(condition, x: Float, y: Float, z: Float, w: Float):
    """One question instead of two in a difference, so that what is chosen together meets.

    >>> c, x, y = bvector("c"), vector("x"), vector("y")
    >>> rewritten(switch(c, x, 1.0) - switch(c, y, 2.0))
    switch(c, x - y, -1.0)
    """
    left = switch(condition, x, y) - switch(condition, z, w)
    same = given(same_dtype(x, y), same_dtype(z, w))
    return left >> switch(condition, x - z, y - w), same


@rule(phase="stabilize", claim=approx(1 << 10))
def sqrt_of_exp(x: Float):
    """The exponential overflows, its root need not.

    >>> rewritten(sqrt(exp(vector("x"))))
    exp(0.5 * x)
    """
    return sqrt(exp(x)) >> exp(0.5 * x)


def is_no_square(c):
    """Whether a power is another than 2."""
    return c.number != 2


@rule(phase="stabilize", claim=approx(1 << 10))
def power_of_exp(x: Float, c: FloatConstant):
    """The exponential overflows, its power need not. Not for 0; nor for 2, as squares are cheap.

    >>> rewritten(exp(vector("x")) ** 0.3)
    exp(0.3 * x)
    """
    return exp(x) ** c >> exp(c * x), given(finite(c), nonzero(c), is_no_square)


@rule(phase="stabilize")
def log_of_sqrt(x: Float):
    """Half the logarithm needs no root.

    >>> rewritten(log(sqrt(vector("x"))))
    0.5 * log(x)
    """
    return log(sqrt(x)) >> 0.5 * log(x)


@rule(phase="stabilize")
def log_of_square(x: Float):
    """A square overflows and underflows; its logarithm need not.

    >>> rewritten(log(vector("x") ** 2))
    2.0 * log(abs(x))
    """
    return log(sqr(x)) >> 2 * log(abs(x))


@rule(phase="stabilize")
def log_of_sum_of_exps(x: Float, y: Float):
    """log(exp(x) + exp(y)) overflows; logaddexp does not.

    >>> rewritten(log(exp(vector("x")) + exp(vector("y"))))
    logaddexp(x, y)
    """
    return log(exp(x) + exp(y)) >> logaddexp(x, y)


def without_sign(x):
    """Whether no element is below 0, nor -0.0."""
    return x.head in (abs, sqr) or positive(x)


@rule(phase="stabilize", claim=approx(2))
def log_of_reciprocal(x: Float):
    """The reciprocal of a subnormal number overflows; the sign of its logarithm does not. At -inf
    and at -0.0 the two differ, so the sign has to be known.

    >>> rewritten(log(reciprocal(sqr(vector("x")))))
    -2.0 * log(abs(x))
    """
    return log(reciprocal(x)) >> -log(x), given(without_sign)
