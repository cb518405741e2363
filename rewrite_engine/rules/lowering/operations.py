"""Ops of numbers as the few that processors have. What depends on the dtype is `compute`d."""

import math
from math import inf
from typing import Annotated

from rewrite_engine.facts import same_dtype
from rewrite_engine.language import *
from rewrite_engine.rules.lowering.functions import has_constants, is_double, reinterpret
from rewrite_engine.scalar import machine
from rewrite_engine.tensor import (
    abs,
    and_,
    cast,
    clip,
    constant,
    cos,
    eq,
    erf,
    erfc,
    erfcx,
    exp,
    expm1,
    floor_div,
    ge,
    gt,
    isfinite,
    isinf,
    isnan,
    le,
    log,
    log1mexp,
    log1p,
    log_ndtr,
    logdiffexp,
    logerfc,
    lt,
    maximum,
    minimum,
    mod,
    neg,
    neq,
    or_,
    reciprocal,
    sign,
    signbit,
    sin,
    switch,
    xor,
)
from rewrite_engine.tensor.elemwise import Elemwise

quotient, rest = Elemwise(machine.quotient), Elemwise(machine.rest)


@rule(phase="lower", claim=exact)
def clip_by_bounds(x: Ordered, y: Ordered, z: Ordered):
    """The upper bound counts where the bounds cross.

    >>> rewritten(clip(*vectors("x y z")), including=["lower"])
    minimum(maximum(x, y), z)
    """
    return clip(x, y, z) >> minimum(maximum(x, y), z)


FLOATS = table(
    "floats",
    (
        "nan_by_itself", lambda x: isnan(x) >> neq(x, x), exact, "Only NaN differs from itself.",
        """isnan(vector("x")), including=["lower"] -> x != x""",
    ),
    (
        "infinity_by_size", lambda x: isinf(x) >> eq(abs(x), inf), exact, "One comparison.",
        """isinf(vector("x")), including=["lower"] -> abs(x) == inf""",
    ),
    (
        "finite_by_size", lambda x: isfinite(x) >> lt(abs(x), inf), exact,
        "One comparison, which is false for NaN.",
        """isfinite(vector("x")), including=["lower"] -> abs(x) < inf""",
    ),
    (
        "reciprocal_as_quotient", lambda x: reciprocal(x) >> 1 / x, exact, "One division.",
        """reciprocal(vector("x")), including=["lower"] -> 1.0 / x""",
    ),
    phase="lower", x=Float,
)  # fmt: skip


@rule(phase="lower", claim=exact)
def sign_bit(x: Float):
    """The bits of a float with a sign are those of a negative integer.

    >>> rewritten(signbit(vector("x")), including=["lower"])
    reinterpret(x) < 0
    """
    return signbit(x) >> lt(reinterpret(x), 0), given(has_constants)


def sign_by_comparing(x):
    """Return 1, 0 or -1; NaN for NaN."""
    zero = constant(0, dtype=x.type.dtype)
    found = zero if is_never_negative(x) else switch(x < 0, -1, zero)
    found = switch(x > 0, 1, found)
    return switch(neq(x, x), x, found) if x.type.kind == "f" else found


@rule(phase="lower", claim=exact)
def sign_in_steps(x: Annotated[Ordered, Number]):
    """One comparison for each sign that the dtype has.

    >>> rewritten(sign(lvector("x")), including=["lower"])
    switch(x > 0, 1, switch(x < 0, -1, 0))
    """
    return sign(x) >> compute(sign_by_comparing)


# --- integers and truth values ------------------------------------------------------------------


def is_signed(x):
    """Return whether a term has integers that may be negative."""
    return x.type.kind == "i"


def is_never_negative(x):
    """Return whether the dtype of a term has no negative numbers."""
    return x.type.kind in "bu"


def is_whole(x):
    """Return whether a term has integers or truth values."""
    return x.type.kind in "biu"


@rule(phase="lower", claim=exact)
def negated_integer(x: Integer):
    """Integers wrap around, also the smallest.

    >>> rewritten(-lvector("x"), including=["lower"])
    0 - x
    """
    return neg(x) >> 0 - x


@rule(phase="lower", claim=exact, ends=at_most(1))
def greater_integer(x: Integer, y: Integer):
    """There is no NaN.

    >>> rewritten(maximum(lvector("x"), 3), including=["lower"])
    switch(x >= 3, x, 3)
    """
    return maximum(x, y) >> switch(ge(x, y), x, y)


@rule(phase="lower", claim=exact, ends=at_most(1))
def smaller_integer(x: Integer, y: Integer):
    """There is no NaN.

    >>> rewritten(minimum(lvector("x"), 3), including=["lower"])
    switch(x <= 3, x, 3)
    """
    return minimum(x, y) >> switch(le(x, y), x, y)


@rule(phase="lower", claim=exact, ends=at_most(1))
def size_of_signed(x: is_signed):
    """The smallest number has no absolute value, and stays.

    >>> rewritten(abs(lvector("x")), including=["lower"])
    switch(x < 0, 0 - x, x)
    """
    return abs(x) >> switch(lt(x, 0), 0 - x, x)


@rule(phase="lower", claim=exact)
def size_without_sign(x: is_never_negative):
    """Numbers without a sign are their own absolute values.

    >>> rewritten(abs(vector("x", dtype="uint8")), including=["lower"])
    x
    """
    return abs(x) >> x


@rule(phase="lower", claim=exact)
def sum_of_truths(x: Bool, y: Bool):
    """A sum is true if a term is.

    >>> x, y = vector("x", dtype="bool"), vector("y", dtype="bool")
    >>> rewritten(x + y, including=["lower"])
    x | y
    """
    return x + y >> or_(x, y)


@rule(phase="lower", claim=exact)
def product_of_truths(x: Bool, y: Bool):
    """A product is true if all factors are.

    >>> x, y = vector("x", dtype="bool"), vector("y", dtype="bool")
    >>> rewritten(x * y, including=["lower"])
    x & y
    """
    return x * y >> and_(x, y)


@rule(phase="lower", claim=exact)
def greater_truth(x: Bool, y: Bool):
    """True is greater than false.

    >>> x, y = vector("x", dtype="bool"), vector("y", dtype="bool")
    >>> rewritten(maximum(x, y), including=["lower"])
    x | y
    """
    return maximum(x, y) >> or_(x, y)


@rule(phase="lower", claim=exact)
def smaller_truth(x: Bool, y: Bool):
    """False is smaller than true.

    >>> x, y = vector("x", dtype="bool"), vector("y", dtype="bool")
    >>> rewritten(minimum(x, y), including=["lower"])
    x & y
    """
    return minimum(x, y) >> and_(x, y)


def divided(x, y):
    """Return the quotient and the remainder of integers, rounded towards negative infinity, and
    where there is none. A processor traps on divisors of 0, and on the least number over -1.
    """
    none = eq(y, 0)
    if is_never_negative(x):
        safe = switch(none, 1, y)
        return quotient(x, safe), rest(x, safe), none
    back = eq(y, -1)
    safe = switch(or_(none, back), 1, y)
    q, r = quotient(x, safe), rest(x, safe)
    low = and_(xor(r, safe) < 0, neq(r, 0))
    q, r = switch(low, q - 1, q), switch(low, r + safe, r)
    return switch(back, 0 - x, q), r, none


@rule(phase="lower", claim=exact, ends=at_most(1))
def quotient_of_integers(x: Integer, y: Integer):
    """NumPy rounds down, and divides by 0 without a trap."""

    def rounded_down(x, y):
        q, _, none = divided(x, y)
        return switch(none, 0, q)

    return floor_div(x, y) >> compute(rounded_down), given(same_dtype(x, y))


@rule(phase="lower", claim=exact, ends=at_most(1))
def remainder_of_integers(x: Integer, y: Integer):
    """The remainder has the sign of the divisor."""

    def remainder(x, y):
        _, r, none = divided(x, y)
        return switch(none, 0, r)

    return mod(x, y) >> compute(remainder), given(same_dtype(x, y))


# --- floats -------------------------------------------------------------------------------------


def is_above_minus_zero(c):
    """Return whether a number is neither NaN nor -0.0."""
    return c.number == c.number and str(c.number) != "-0.0"


def is_below_plus_zero(c):
    """Return whether a number is neither NaN nor 0.0."""
    return c.number == c.number and str(c.number) != "0.0"


@rule(phase="lower", claim=exact, ends=at_most(1))
def greater_than_number(x: Float, c: ConstantNumber):
    """One comparison is enough with a number that is neither NaN nor -0.0.

    >>> rewritten(maximum(vector("x"), 0), including=["lower"])
    switch(x <= 0.0, 0.0, x)
    """
    return maximum(x, c) >> switch(le(x, c), c, x), given(same_dtype(x, c), is_above_minus_zero)


@rule(phase="lower", claim=exact, ends=at_most(1))
def smaller_than_number(x: Float, c: ConstantNumber):
    """One comparison is enough with a number that is neither NaN nor 0.0.

    >>> rewritten(minimum(vector("x"), 1), including=["lower"])
    switch(x >= 1.0, 1.0, x)
    """
    return minimum(x, c) >> switch(ge(x, c), c, x), given(same_dtype(x, c), is_below_plus_zero)


@rule(phase="lower", claim=approx(ulps=8), ends=at_most(1))
def log_of_one_minus_exp(x: is_double):
    """The branch that keeps the digits (Mächler 2012)."""
    return log1mexp(x) >> switch(gt(x, -math.log(2)), log(-expm1(x)), log1p(-exp(x)))


@rule(phase="lower", claim=approx(ulps=8), ends=at_most(1))
def log_of_erfc(x: is_double):
    """The branch that does not underflow."""
    return logerfc(x) >> switch(gt(x, 0.5), log(erfcx(x)) - x * x, log1p(-erf(x)))


def log_of_difference(x, y):
    """Return log(exp(x) - exp(y)); -inf where exponentials that are not told apart come to 0."""
    found = x + log1mexp(y - x)
    lost = and_(neq(found, found), eq(exp(x) - exp(y), 0.0))
    return switch(lost, -inf, found)


@rule(phase="lower", claim=approx(ulps=8))
def log_of_difference_of_exps(x: is_double, y: is_double):
    """The larger exponential is a factor."""
    return logdiffexp(x, y) >> compute(log_of_difference)


def log_of_normal_probability(x):
    """Return log(erfc(-x / sqrt(2)) / 2); far below 0 by `erfcx`, which does not underflow."""
    u = x * math.sqrt(0.5)
    near = log1p(erfc(u) * -0.5)
    far = log(erfcx(-u) * 0.5) - u * u
    return switch(x < -1.0, far, near)


@rule(phase="lower", claim=approx(ulps=8))
def log_ndtr_in_steps(x: is_double):
    """The branch that keeps the digits."""
    return log_ndtr(x) >> compute(log_of_normal_probability)


DOUBLE_ONLY = (sin, cos, log1mexp, logdiffexp, logerfc, log_ndtr)


@node_rewriter(DOUBLE_ONLY, phase="lower", claim=approx(ulps=2))
def in_double(fgraph, node):
    """Functions without a formula for float32 are computed in float64. Not data: one rule for all
    of them.
    """
    if node.outputs[0].type.dtype != "float32":
        return None
    return cast(node.op(*[cast(x, "float64") for x in node.inputs]), "float32")
