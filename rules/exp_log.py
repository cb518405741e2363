"""Logarithms and exponentials: what cancels, and what keeps its digits."""

from rewrite_engine.rules.facts import finite, nonneg, nonzero, positive, same_dtype
from rewrite_engine.rules.language import *
from rewrite_engine.rules.monomials.linear import MANY
from rewrite_engine.rules.monomials.part import ARITHMETIC, takes_part
from rewrite_engine.rules.reduce import putting_back
from rewrite_engine.tensor import (
    DimShuffle,
    Sum,
    abs,
    cast,
    exp,
    expm1,
    log,
    log1mexp,
    log1p,
    logaddexp,
    mul,
    neg,
    reciprocal,
    second,
    sigmoid,
    softplus,
    sqr,
    sqrt,
    switch,
    true_div,
)


@rule(phase="stabilize", claim=exact)
def exp_of_integer(n: Integer):
    """An exponential of integers is that of floats, about which the other rules know more.

    >>> rewritten(exp(ivector("n")))
    exp(Cast{float64}(n))
    """
    return exp(n) >> compute(lambda n: exp(cast(n, exp(n).type.dtype)))


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
def one_plus_expm1(x: Real):
    """The 1 that was taken away is back.

    >>> rewritten(1 + expm1(vector("x")))
    exp(x)
    """
    return 1 + expm1(x) >> exp(x)


@rule(phase="stabilize")
def one_minus_sigmoid(x: Real):
    """1 - sigmoid(x) loses every digit for large x.

    >>> rewritten(1 - sigmoid(vector("x")))
    sigmoid(-x)
    """
    return 1 - sigmoid(x) >> sigmoid(-x)


@rule(phase="stabilize")
def sigmoid_in_product(x: Real, y: Real):
    """y / (1 + exp(x)) overflows below the bar.

    >>> x, y = vectors("x y")
    >>> rewritten(y / (1 + exp(x)))
    y * sigmoid(-x)
    """
    return y / (1 + exp(x)) >> y * sigmoid(-x)


@rule(phase="stabilize", claim=exact)
def sum_of_choices(condition, x: Real, y: Real, z: Real, w: Real):
    """One question instead of two, so that what is chosen together is seen together.

    >>> c, x, y = bvector("c"), vector("x"), vector("y")
    >>> rewritten(switch(c, x, 1.0) + switch(c, y, 2.0))
    switch(c, x + y, 3.0)
    """
    left = switch(condition, x, y) + switch(condition, z, w)
    same = given(same_dtype(x, y), same_dtype(z, w))
    return left >> switch(condition, x + z, y + w), same


@rule(phase="stabilize", claim=exact)
def difference_of_choices(condition, x: Real, y: Real, z: Real, w: Real):
    """The same for a difference.

    >>> c, x, y = bvector("c"), vector("x"), vector("y")
    >>> rewritten(switch(c, x, 1.0) - switch(c, y, 2.0))
    switch(c, x - y, -1.0)
    """
    left = switch(condition, x, y) - switch(condition, z, w)
    same = given(same_dtype(x, y), same_dtype(z, w))
    return left >> switch(condition, x - z, y - w), same


@rule(phase="stabilize", claim=approx(1 << 10))
def sqrt_of_exp(x: Real):
    """The exponential overflows, its root need not.

    >>> rewritten(sqrt(exp(vector("x"))))
    exp(0.5 * x)
    """
    return sqrt(exp(x)) >> exp(0.5 * x)


@rule(phase="stabilize", claim=approx(1 << 10))
def power_of_exp(x: Real, c: RealConstant):
    """The same for any power but 0.

    >>> rewritten(exp(vector("x")) ** 0.3)
    exp(0.3 * x)
    """
    return exp(x) ** c >> exp(c * x), given(finite(c), nonzero(c))


@rule(phase="stabilize")
def log_of_sqrt(x: Real):
    """Half the logarithm needs no root.

    >>> rewritten(log(sqrt(vector("x"))))
    0.5 * log(x)
    """
    return log(sqrt(x)) >> 0.5 * log(x)


@rule(phase="stabilize")
def log_of_square(x: Real):
    """A square overflows and underflows; its logarithm need not.

    >>> rewritten(log(vector("x") ** 2))
    2.0 * log(abs(x))
    """
    return log(sqr(x)) >> 2 * log(abs(x))


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


def without_sign(x):
    """Whether no element is below 0, nor -0.0."""
    return x.head in (abs, sqr) or positive(x)


@rule(phase="stabilize", claim=approx(2))
def log_of_reciprocal(x: Real):
    """The reciprocal of a subnormal number overflows; the sign of its logarithm does not. At -inf
    and at -0.0 the two differ, so the sign has to be known.

    >>> rewritten(log(reciprocal(sqr(vector("x")))))
    -2.0 * log(abs(x))
    """
    return log(reciprocal(x)) >> -log(x), given(without_sign)


# --- sums of quotients ----------------------------------------------------------------------------


def is_below(q, s, axis, keepdims):
    """Whether the exponential of s, which has the place of a sum of q over `axis`, is a term of
    what is divided by in q.
    """
    order = tuple(range(s.type.ndim)) if keepdims else putting_back(axis, q.type.ndim)
    if s.type.ndim != sum(o != "x" for o in order) or not stands_in(s, order, q, axis):
        return False
    above, below = [q], []
    for v in above:
        if v.head is true_div:
            below.append(v.owner.inputs[1])
        if v.head in (mul, true_div, neg, second) and len(above) < MANY:
            above += v.owner.inputs[: 1 if v.head is true_div else None]
    for v in below:
        if v.head is exp and v.owner.inputs[0] is s:
            return True
        if (v.head in ARITHMETIC or v.head is second or takes_part(v)) and len(below) < MANY:
            below += v.owner.inputs
    return False


def stands_in(s, order, q, axis):
    """Whether s, with dimensions put in, is of length 1 along `axis`."""
    n = q.type.ndim
    axes = range(n) if axis is None else [a % n for a in axis]
    return len(order) == n and all(order[a] == "x" or s.type.broadcastable[order[a]] for a in axes)


def with_exp_inside(q, s, axis, keepdims):
    """The sum of q * exp(s)."""
    order = putting_back(axis, q.type.ndim)
    e = exp(s) if keepdims else DimShuffle(s.type.ndim, order)(exp(s))
    return Sum(axis=axis, keepdims=keepdims)(q * e)


@rule(phase="stabilize", claim=approx(ulps=8), tags=["reorder"])
def sum_meets_exp(q: Real, s: Real, axis: Prop, keepdims: Prop):
    """What is divided by a sum with exp(s) in it meets exp(s) before it is added up, so that
    neither overflows: the slope of log(exp(s) + exp(x)) by a number s.

    >>> x, y, s = vector("x"), vector("y"), scalar("s")
    >>> rewritten((y / (exp(s) + exp(x))).sum() * exp(s))
    Sum(y * sigmoid(s - x))
    """
    total = Sum(axis=axis, keepdims=keepdims)
    right = compute(lambda q, s, axis, keepdims: with_exp_inside(q, s, axis, keepdims))
    return total(q) * exp(s) >> right, given(is_below, same_dtype(q, s))
