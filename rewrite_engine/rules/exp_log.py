"""Logarithms and exponentials: functions that cancel, and forms that keep precision."""

import math

from rewrite_engine.facts import finite, nonneg, nonzero, positive, same_dtype, used_once
from rewrite_engine.language import *
from rewrite_engine.rules.powers.logs import log_of
from rewrite_engine.tensor import (
    abs,
    cast,
    exp,
    exp2,
    log,
    log1mexp,
    log1p,
    log2,
    log10,
    log_odds,
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
    """Convert integers to floats before the exponential, as other rules cover floats.

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
    """The exponential of a logarithm is the number itself, if the logarithm exists.

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
    """The exponential in 1 / (1 + exp(x)) overflows; the sigmoid does not.

    >>> rewritten(reciprocal(1 + exp(vector("x"))))
    sigmoid(-x)
    """
    return reciprocal(1 + exp(x)) >> sigmoid(-x)


@rule(phase="stabilize", overlaps="a sigmoid has the digits of 1 minus another one")
def sigmoid_in_product(x: Float, y: Float):
    """The denominator of y / (1 + exp(x)) overflows; the sigmoid does not.

    >>> x, y = vectors("x y")
    >>> rewritten(y / (1 + exp(x)))
    y * sigmoid(-x)
    """
    return y / (1 + exp(x)) >> y * sigmoid(-x)


@rule(phase="stabilize", claim=exact)
def sum_of_choices(condition, x: Float, y: Float, z: Float, w: Float):
    """One choice instead of two puts the operands of a sum next to each other, for other rules.

    >>> c, x, y = bvector("c"), vector("x"), vector("y")
    >>> rewritten(switch(c, x, 1.0) + switch(c, y, 2.0))
    switch(c, x + y, 3.0)
    """
    left = switch(condition, x, y) + switch(condition, z, w)
    same = given(same_dtype(x, y), same_dtype(z, w))
    return left >> switch(condition, x + z, y + w), same


@rule(phase="stabilize", claim=exact)
def difference_of_choices(condition, x: Float, y: Float, z: Float, w: Float):
    """One choice instead of two puts the operands of a difference next to each other, for other
    rules.

    >>> c, x, y = bvector("c"), vector("x"), vector("y")
    >>> rewritten(switch(c, x, 1.0) - switch(c, y, 2.0))
    switch(c, x - y, -1.0)
    """
    left = switch(condition, x, y) - switch(condition, z, w)
    same = given(same_dtype(x, y), same_dtype(z, w))
    return left >> switch(condition, x - z, y - w), same


@rule(phase="stabilize", claim=approx(1 << 10))
def sqrt_of_exp(x: Float):
    """The exponential may overflow when its root does not.

    >>> rewritten(sqrt(exp(vector("x"))))
    exp(0.5 * x)
    """
    return sqrt(exp(x)) >> exp(0.5 * x)


def is_no_square(c):
    """Return whether a power is other than 2."""
    return c.number != 2


@rule(phase="stabilize", claim=approx(1 << 10))
def power_of_exp(x: Float, c: FloatConstant):
    """The exponential may overflow when its power does not. Excluded are the powers 0 and 2, as
    squares are cheap.

    >>> rewritten(exp(vector("x")) ** 0.3)
    exp(0.3 * x)
    """
    return exp(x) ** c >> exp(c * x), given(finite(c), nonzero(c), is_no_square)


@rule(phase="stabilize")
def log_of_sqrt(x: Float):
    """Half the logarithm gives the same result without a root.

    >>> rewritten(log(sqrt(vector("x"))))
    0.5 * log(x)
    """
    return log(sqrt(x)) >> 0.5 * log(x)


@rule(phase="stabilize")
def log_of_square(x: Float):
    """A square may overflow or underflow when its logarithm does not.

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
    """Return whether no element is below 0 or is -0.0."""
    return x.head in (abs, sqr) or positive(x)


@rule(phase="stabilize", claim=approx(2))
def log_of_reciprocal(x: Float):
    """The reciprocal of a subnormal number overflows; the negated logarithm does not. The two
    differ at -inf and at -0.0, so the sign has to be known.

    >>> rewritten(log(reciprocal(sqr(vector("x")))))
    -2.0 * log(abs(x))
    """
    return log(reciprocal(x)) >> -log(x), given(without_sign)


@rule(phase="stabilize", claim=approx(2))
def log_of_one_over(x: Float):
    """The quotient of 1 and a subnormal number overflows; the negated logarithm does not. (As
    `log_of_reciprocal`.)

    >>> rewritten(log(1 / sqr(vector("x"))))
    -2.0 * log(abs(x))
    """
    return log(1 / x) >> -log(x), given(without_sign)


@fact(cost=5)
def exp_used_once(fgraph, x):
    """exp(x) has one use in its graph, if there is one, so a rule that replaces this use removes
    it.
    """
    if fgraph is None or x not in fgraph.users:
        return because("there is no graph")
    found = [node for node, _ in fgraph.get_clients(x) if getattr(node, "op", None) == exp]
    known = [used_once.ask(fgraph, v) for node in found for v in node.outputs]
    return known[0] if len(known) == 1 else unknown(f"exp(x) is computed {len(known)} times")


@rule(phase="stabilize")
def reciprocal_of_exp(x: Float):
    """The exponential of -x takes the place of a function and a reciprocal, if the function has no
    other use.

    >>> rewritten(reciprocal(exp(vector("x"))))
    exp(-x)
    """
    return reciprocal(exp(x)) >> exp(-x), given(exp_used_once(x))


@rule(phase="stabilize")
def one_over_exp(x: Float):
    """The exponential of -x takes the place of a function and a quotient, if the function has no
    other use.

    >>> rewritten(1 / exp(vector("x")))
    exp(-x)
    """
    return 1 / exp(x) >> exp(-x), given(exp_used_once(x))


@rule(phase="stabilize")
def log1p_of_less_one(x: Float):
    """The difference x - 1 loses the digits of a tiny x, and of its logarithm.

    >>> rewritten(log1p(vector("x") - 1))
    log(x)
    """
    return log1p(x - 1) >> log(x)


def is_unread(x):
    """Return whether a float has no better logarithm than the one written, as exp(x) has."""
    found = log_of(x) if x.type.kind == "f" else None
    return x.type.kind == "f" and (found is None or not found.better)


@rule(phase="stabilize")
def log_odds_of_exp(x: Float):
    """The exponential of a logarithm near 0 is nearly 1, and that of a large negative one is 0.

    >>> rewritten(log_odds(exp(vector("x"))))
    x - log1mexp(x)
    """
    return log_odds(exp(x)) >> x - log1mexp(x)


def is_one(c):
    """Return whether a term is the number 1."""
    return getattr(c, "number", None) == 1


ODDS = table(
    "log_odds",
    (
        "log_odds_of_quotient",
        lambda x, c: (log(x / (c - x)) >> log_odds(x), given(same_dtype(x, c))), approx(4),
        "The quotient is nearly 1 for an x near 1/2.",
        """log((x := vector("x")) / (1 - x)) -> log_odds(x)""",
    ),
    (
        "log_odds_against",
        lambda x, c: (log((c - x) / x) >> -log_odds(x), given(same_dtype(x, c))), approx(4),
        "The quotient is nearly 1 for an x near 1/2.",
        """log((1 - (x := vector("x"))) / x) -> -log_odds(x)""",
    ),
    (
        "log_odds_of_reciprocal",
        lambda x, c: (log(c / x - c) >> -log_odds(x), given(same_dtype(x, c))), approx(4),
        "The reciprocal of x is nearly 2 for an x near 1/2, and nearly 1 for one near 1.",
        """log(1 / vector("x") - 1) -> -log_odds(x)""",
    ),
    (
        "difference_of_log_odds", lambda x: log(x) - log1p(-x) >> log_odds(x), approx(4),
        "Both logarithms are nearly the same for an x near 1/2.",
        """log((x := vector("x"))) - log(1 - x) -> log_odds(x)""",
    ),
    (
        "difference_of_log_odds_against", lambda x: log1p(-x) - log(x) >> -log_odds(x), approx(4),
        "Both logarithms are nearly the same for an x near 1/2.",
        """log(1 - (x := vector("x"))) - log(x) -> -log_odds(x)""",
    ),
    phase="stabilize", x=is_unread, c=is_one,
)  # fmt: skip

#: the reciprocals of natural logarithms of bases
PER_LN2, PER_LN10 = 1 / math.log(2.0), 1 / math.log(10.0)

BASES = table(
    "bases",
    (
        "log2_of_exp2", lambda x: log2(exp2(x)) >> x, refines,
        "The power overflows and underflows; its logarithm is the number itself.",
        """log2(exp2(vector("x"))) -> x""",
    ),
    (
        "log2_of_power", lambda x: log2(2**x) >> x, refines,
        "The power overflows and underflows; its logarithm is the number itself.",
        """log2(2.0 ** vector("x")) -> x""",
    ),
    (
        "log10_of_power", lambda x: log10(10**x) >> x, refines,
        "The power overflows and underflows; its logarithm is the number itself.",
        """log10(10.0 ** vector("x")) -> x""",
    ),
    (
        "log2_of_exp", lambda x: log2(exp(x)) >> PER_LN2 * x, approx(4),
        "The exponential overflows and underflows; its logarithm is a multiple of the number.",
        """log2(exp(vector("x"))) -> 1.4426950408889634 * x""",
    ),
    (
        "log10_of_exp", lambda x: log10(exp(x)) >> PER_LN10 * x, approx(4),
        "The exponential overflows and underflows; its logarithm is a multiple of the number.",
        """log10(exp(vector("x"))) -> 0.43429448190325176 * x""",
    ),
    (
        "log2_of_one_plus", lambda x: log2(1 + x) >> PER_LN2 * log1p(x), approx(4),
        "log2(1 + x) loses every digit of a tiny x; log1p keeps them.",
        """log2(1 + vector("x")) -> 1.4426950408889634 * log1p(x)""",
    ),
    (
        "log10_of_one_plus", lambda x: log10(1 + x) >> PER_LN10 * log1p(x), approx(4),
        "log10(1 + x) loses every digit of a tiny x; log1p keeps them.",
        """log10(1 + vector("x")) -> 0.43429448190325176 * log1p(x)""",
    ),
    (
        "log2_of_one_minus", lambda x: log2(1 - x) >> PER_LN2 * log1p(-x), approx(4),
        "log2(1 - x) loses every digit of a tiny x; log1p keeps them.",
        """log2(1 - vector("x")) -> 1.4426950408889634 * log1p(-x)""",
    ),
    (
        "log10_of_one_minus", lambda x: log10(1 - x) >> PER_LN10 * log1p(-x), approx(4),
        "log10(1 - x) loses every digit of a tiny x; log1p keeps them.",
        """log10(1 - vector("x")) -> 0.43429448190325176 * log1p(-x)""",
    ),
    phase="stabilize", tags=["mends_gradients"], x=Float,
)  # fmt: skip
