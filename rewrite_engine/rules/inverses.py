"""Functions of inverse functions: the two undo each other, or leave a root."""

import numpy as np

from rewrite_engine.facts import bounded, nonneg
from rewrite_engine.language import *
from rewrite_engine.rules.algebra import root_undone
from rewrite_engine.rules.removable import MENDS
from rewrite_engine.tensor import (
    abs,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    constant,
    cos,
    cosh,
    erf,
    erfc,
    erfinv,
    exp,
    exp2,
    expm1,
    gt,
    hypot,
    isinf,
    log,
    log1p,
    log2,
    log10,
    log_odds,
    logerfc,
    lt,
    sigmoid,
    sign,
    sin,
    sinh,
    softplus,
    sqrt,
    switch,
    tanh,
)

# --- functions that undo each other -------------------------------------------------------------

#: overlap of rules for three functions in a row, of which both pairs cancel
EITHER = "two functions cancel, with the same values wherever both are in range"

#: overlap of rules of the phase "specialize" with rules for reductions
CANCELS = "two functions cancel, which saves more than the order of the other ones"

UNDONE = table(
    "undone",
    (
        "arcsinh_of_sinh", lambda x: arcsinh(sinh(x)) >> x, refines,
        "The hyperbolic sine overflows; its inverse gives the number itself.",
        """arcsinh(sinh(vector("x"))) -> x""",
    ),
    (
        "arctanh_of_tanh", lambda x: arctanh(tanh(x)) >> x, refines,
        "The hyperbolic tangent of a large number is 1; its inverse gives the number itself.",
        """arctanh(tanh(vector("x"))) -> x""",
    ),
    (
        "sinh_of_arcsinh", lambda x: sinh(arcsinh(x)) >> x, refines,
        "The two functions cancel, and the errors of both.",
        """sinh(arcsinh(vector("x"))) -> x""",
    ),
    (
        "log_odds_of_sigmoid", lambda x: log_odds(sigmoid(x)) >> x, refines,
        "The sigmoid of a large number is 1; its log odds are the number itself.",
        """log_odds(sigmoid(vector("x"))) -> x""",
    ),
    phase="stabilize", tags=[MENDS], overlaps=EITHER, x=Float,
)  # fmt: skip


def chosen(outside, x):
    """Return x, but NaN where a condition holds."""
    return switch(outside, constant(np.nan, dtype=x.type.dtype), x)


def up_to_one(x):
    """Return x where its size is at most 1."""
    ends = bounded(x)
    is_inside = bool(ends) and ends.value[0] >= -1 and ends.value[1] <= 1
    return x if is_inside else chosen(gt(abs(x), 1.0), x)


def not_below(x, least):
    """Return x where it is at least a number."""
    ends = bounded(x)
    is_inside = bool(ends) and ends.value[0] >= least
    is_inside = is_inside or (least <= 0 and bool(nonneg(x)))
    return x if is_inside else chosen(lt(x, float(least)), x)


INSIDE = table(
    "undone_inside",
    (
        "sin_of_arcsin", lambda x: sin(arcsin(x)) >> compute(up_to_one), refines,
        "The two functions cancel; numbers beyond 1 have no arcsine.",
        """sin(arcsin(vector("x"))) -> switch(abs(x) > 1.0, nan, x)""",
    ),
    (
        "cos_of_arccos", lambda x: cos(arccos(x)) >> compute(up_to_one), refines,
        "The two functions cancel; numbers beyond 1 have no arccosine.",
        """cos(arccos(cos(ivector("n")))) -> cos(n)""",
    ),
    (
        "tanh_of_arctanh", lambda x: tanh(arctanh(x)) >> compute(up_to_one), refines,
        "The two functions cancel; numbers beyond 1 have no inverse.",
        """tanh(arctanh(sin(ivector("n")))) -> sin(n)""",
    ),
    (
        "erf_of_erfinv", lambda x: erf(erfinv(x)) >> compute(up_to_one), refines,
        "The two functions cancel; numbers beyond 1 have no inverse.",
        """erf(erfinv(vector("x"))) -> switch(abs(x) > 1.0, nan, x)""",
    ),
    (
        "cosh_of_arccosh",
        lambda x: cosh(arccosh(x)) >> compute(lambda x: not_below(x, 1)), refines,
        "The two functions cancel; numbers below 1 have no inverse.",
        """cosh(arccosh(vector("x"))) -> switch(x < 1.0, nan, x)""",
    ),
    (
        "expm1_of_log1p",
        lambda x: expm1(log1p(x)) >> compute(lambda x: not_below(x, -1)), refines,
        "The two functions cancel; numbers below -1 have no logarithm.",
        """expm1(log1p(vector("x") ** 2)) -> sqr(x)""",
    ),
    (
        "exp_of_log1p",
        lambda x: exp(log1p(x)) >> compute(lambda x: 1.0 + not_below(x, -1)), refines,
        "The two functions cancel; numbers below -1 have no logarithm.",
        """exp(log1p(vector("x") ** 2)) -> 1.0 + sqr(x)""",
    ),
    (
        "expm1_of_log", lambda x: expm1(log(x)) >> compute(lambda x: root_undone(x) - 1.0), refines,
        "The two functions cancel; numbers below 0 have no logarithm.",
        """expm1(log(vector("x"))) -> switch(x < 0.0, nan, x) - 1.0""",
    ),
    (
        "exp2_of_log2", lambda x: exp2(log2(x)) >> compute(root_undone), refines,
        "The two functions cancel; numbers below 0 have no logarithm.",
        """exp2(log2(vector("x") ** 2)) -> sqr(x)""",
    ),
    (
        "power_of_log10", lambda x: 10 ** log10(x) >> compute(root_undone), refines,
        "The two functions cancel; numbers below 0 have no logarithm.",
        """10.0 ** log10(vector("x")) -> switch(x < 0.0, nan, x)""",
    ),
    (
        "softplus_of_log", lambda x: softplus(log(x)) >> compute(lambda x: log1p(root_undone(x))),
        refines, "The logarithm of 1 + exp(log(x)) needs one function.",
        """softplus(log(vector("x"))) -> log1p(switch(x < 0.0, nan, x))""",
    ),
    phase="specialize", overlaps=CANCELS, x=Float,
)  # fmt: skip


@rule(phase="specialize", overlaps=CANCELS)
def exp_of_logerfc(x: Float):
    """The logarithm of a small number is large, and its exponential loses digits.

    >>> rewritten(exp(logerfc(vector("x"))))
    erfc(x)
    """
    return exp(logerfc(x)) >> erfc(x)


# --- functions that leave a root ----------------------------------------------------------------


def unit_share(x):
    """Return x / sqrt(1 + x**2), also of infinities."""
    return switch(isinf(x), sign(x), x / hypot(x, 1.0))


ROOTS = table(
    "roots",
    (
        "cos_of_arcsin", lambda x: cos(arcsin(x)) >> sqrt((1 - x) * (1 + x)), refines,
        "An angle near a quarter turn has lost the digits of its cosine.",
        """cos(arcsin(vector("x"))) -> sqrt((1.0 - x) * (1.0 + x))""",
    ),
    (
        "sin_of_arccos", lambda x: sin(arccos(x)) >> sqrt((1 - x) * (1 + x)), refines,
        "A root takes the place of two functions.",
        """sin(arccos(vector("x"))) -> sqrt((1.0 - x) * (1.0 + x))""",
    ),
    (
        "cos_of_arctan", lambda x: cos(arctan(x)) >> 1 / hypot(x, 1), refines,
        "An angle near a quarter turn has lost the digits of its cosine.",
        """cos(arctan(vector("x"))) -> 1.0 / hypot(x, 1.0)""",
    ),
    (
        "sin_of_arctan", lambda x: sin(arctan(x)) >> compute(unit_share), refines,
        "A root and a quotient take the place of two functions.",
        """sin(arctan(vector("x"))) -> switch(isinf(x), sign(x), x / hypot(x, 1.0))""",
    ),
    (
        "tanh_of_arcsinh", lambda x: tanh(arcsinh(x)) >> compute(unit_share), refines,
        "A root and a quotient take the place of two functions.",
        """tanh(arcsinh(vector("x"))) -> switch(isinf(x), sign(x), x / hypot(x, 1.0))""",
    ),
    (
        "cosh_of_arcsinh", lambda x: cosh(arcsinh(x)) >> hypot(x, 1), refines,
        "The exponential of a large number loses digits; the root does not.",
        """cosh(arcsinh(vector("x"))) -> hypot(x, 1.0)""",
    ),
    (
        "sinh_of_arccosh", lambda x: sinh(arccosh(x)) >> sqrt(x - 1) * sqrt(x + 1), refines,
        "The exponential of a large number loses digits; roots do not.",
        """sinh(arccosh(vector("x"))) -> sqrt(x - 1.0) * sqrt(x + 1.0)""",
    ),
    (
        "cosh_of_arctanh", lambda x: cosh(arctanh(x)) >> 1 / sqrt((1 - x) * (1 + x)), refines,
        "A root takes the place of two functions.",
        """cosh(arctanh(vector("x"))) -> 1.0 / sqrt((1.0 - x) * (1.0 + x))""",
    ),
    (
        "sinh_of_arctanh", lambda x: sinh(arctanh(x)) >> x / sqrt((1 - x) * (1 + x)), refines,
        "A root takes the place of two functions.",
        """sinh(arctanh(vector("x"))) -> x / sqrt((1.0 - x) * (1.0 + x))""",
    ),
    phase="specialize", overlaps=CANCELS, ends=at_most(1), x=Float,
)  # fmt: skip
