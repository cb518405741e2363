"""Differences of nearly equal terms, which lose their digits, and roots of sums of squares, which
overflow: forms without the difference.

Sources: Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., 2002, section 1.7;
Abramowitz & Stegun, 4.3.34 to 4.3.37 (differences of sines), 4.6.20 to 4.6.22 (inverse hyperbolic
functions).
"""

import math

import numpy as np

from rewrite_engine.facts import finite, nonneg, same_dtype
from rewrite_engine.language import *
from rewrite_engine.rules.powers.forms import ONE, combined, linear, times, written
from rewrite_engine.rules.removable import MENDS
from rewrite_engine.tensor import (
    arccosh,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    cbrt,
    constant,
    cos,
    cosh,
    exp,
    expm1,
    hypot,
    isinf,
    log,
    log1mexp,
    log1p,
    reciprocal,
    sech2,
    sin,
    sinh,
    softplus,
    sqr,
    sqrt,
    sub,
    switch,
    tanh,
    true_div,
)

#: overlap of rules for differences with rules for terms around them
INNER_FIRST = "the inner difference loses digits whatever stands around it, and is mended first"

# --- roots of sums of squares -------------------------------------------------------------------


@rule(phase="stabilize", claim=approx(4), tags=[MENDS], overlaps=INNER_FIRST)
def hypot_from_squares(x: Float, y: Float):
    """The squares may overflow when the root does not.

    >>> rewritten(sqrt(vector("x") ** 2 + vector("y") ** 2))
    hypot(x, y)
    """
    return sqrt(sqr(x) + sqr(y)) >> hypot(x, y)


def is_positive_number(c):
    """Return whether a constant is a finite number above 0."""
    return c.number is not None and 0 < c.number < math.inf


@rule(phase="stabilize", claim=approx(4), tags=[MENDS], overlaps=INNER_FIRST)
def hypot_from_square(x: Float, c: FloatConstant):
    """The square may overflow when the root does not.

    >>> rewritten(sqrt(vector("x") ** 2 + 4))
    hypot(x, 2.0)
    """
    right = compute(lambda x, c: hypot(x, constant(math.sqrt(c.number), dtype=c.type.dtype)))
    return sqrt(sqr(x) + c) >> right, given(is_positive_number, same_dtype(x, c))


@rule(phase="stabilize", claim=approx(8), overlaps=INNER_FIRST)
def square_of_hypot(x: Float, c: FloatConstant):
    """The square of a root is the sum.

    >>> rewritten(sqr(hypot(vector("x"), 2.0)))
    sqr(x) + 4.0
    """
    return sqr(hypot(x, c)) >> sqr(x) + sqr(c), given(finite(c), same_dtype(x, c))


# --- differences of one function ----------------------------------------------------------------


def of_roots(a, b, v, w, dtype):
    """Return sqrt(a) - sqrt(b) of terms that differ by a number."""
    c = difference(a, b)
    return None if c is None else c / (v + w)


def of_cube_roots(a, b, v, w, dtype):
    """Return cbrt(a) - cbrt(b) of terms that differ by a number."""
    c = difference(a, b)
    return None if c is None else c / (sqr(v) + v * w + sqr(w))


def of_angles(a, b, v, w, dtype):
    """Return arctan(a) - arctan(b) of terms that differ by a number."""
    c = difference(a, b)
    return None if c is None else arctan2(c, 1.0 + written(a, dtype) * written(b, dtype))


def of_logarithms(a, b, v, w, dtype):
    """Return log(a) - log(b) of terms that differ by a number."""
    c = difference(a, b)
    if c is None:
        return None
    return softplus(math.log(c) - w) if c > 0 else log1mexp(math.log(-c) - w)


def of_sines(a, b, v, w, dtype):
    """Return sin(a) - sin(b) of terms whose difference is simpler."""
    between, mean = halves(a, b, dtype)
    return None if between is None else 2.0 * cos(mean) * sin(between)


def of_cosines(a, b, v, w, dtype):
    """Return cos(a) - cos(b) of terms whose difference is simpler."""
    between, mean = halves(a, b, dtype)
    return None if between is None else -2.0 * sin(mean) * sin(between)


def difference(a, b):
    """Return the number by which two linear forms differ; None if that is none."""
    c = combined(a, b, -1.0)
    return c[ONE] if list(c) == [ONE] and len(a) + len(b) > 2 else None


def halves(a, b, dtype):
    """Return half the difference of two linear forms, if it is shorter, and their mean."""
    c = combined(a, b, -1.0)
    if not c or len(c) >= max(len(a), len(b)):
        return None, None
    return written(times(c, 0.5), dtype), written(combined(times(a, 0.5), b, 0.5), dtype)


BETWEEN = {
    sqrt: of_roots, cbrt: of_cube_roots, arctan: of_angles, log: of_logarithms, sin: of_sines,
    cos: of_cosines, log1p: of_logarithms,
}  # fmt: skip


def same_function(op, seen, distinct):
    """Return whether both terms are functions of one kind."""
    first, second = [s[0] if s.__class__ is tuple else s for s in seen]
    alike = first is second or {first, second} == {log, log1p}
    return distinct and alike and first in BETWEEN


def argument(v, dtype):
    """Return the argument of a function as a linear form; that of log1p plus 1."""
    form = linear(v.owner.inputs[0])
    return combined(form, {ONE: 1.0}) if v.head is log1p else form


@node_rewriter(
    [sub], phase="stabilize", claim=approx(1 << 10), depth=4, when=same_function, tags=[MENDS]
)
def difference_of_functions(fgraph, node):
    """Two values of a function at near points lose their digits in a difference; a formula for
    the difference keeps them. Not data: the arguments are compared as sums.

    >>> x, y = vectors("x y")
    >>> rewritten(sqrt(x + 1) - sqrt(x), log(x + 1) - log(x), sin(x + y) - sin(x))
    [1.0 / (sqrt(x + 1.0) + sqrt(x)), softplus(-log(x)), 2.0 * cos(0.5 * y + x) * sin(0.5 * y)]
    """
    (v, w), (out,) = node.inputs[:2], node.outputs
    if v.head not in BETWEEN or w.head not in BETWEEN:
        return None
    inner = [u.owner.inputs[0].type.dtype for u in (v, w)]
    if out.type.kind != "f" or {*inner, v.type.dtype, w.type.dtype} != {out.type.dtype}:
        return None
    dtype = out.type.dtype
    new = BETWEEN[v.head](argument(v, dtype), argument(w, dtype), v, w, dtype)
    return new if new is not None and out.type.yields_to(new.type) else None


# --- differences of quotients -------------------------------------------------------------------


def has_quotient(op, seen, distinct):
    """Return whether one of the terms is a quotient, and the other one too, or a number."""
    heads = {s[0] if s.__class__ is tuple else s for s in seen}
    quotients = heads & {true_div, reciprocal}
    return distinct and bool(quotients) and heads <= {true_div, reciprocal, CONSTANT}


def fraction(v):
    """Return numerator and denominator of a term as linear forms."""
    if v.head is reciprocal:
        return {ONE: 1.0}, v.owner.inputs[0]
    if v.head is true_div:
        return linear(v.owner.inputs[0]), v.owner.inputs[1]
    return linear(v), None


def cross(a, b, v, w):
    """Return the numerator of a / v - b / w, if it is a number; None for others."""
    below = [{ONE: 1.0} if u is None else linear(u) for u in (v, w)]
    if not all(
        list(top) == [ONE] or list(other) == [ONE] for top, other in zip((a, b), below[::-1])
    ):
        return None
    left = times(below[1], a[ONE]) if list(a) == [ONE] else times(a, below[1][ONE])
    right = times(below[0], b[ONE]) if list(b) == [ONE] else times(b, below[0][ONE])
    number = combined(left, right, -1.0)
    return number[ONE] if list(number) == [ONE] else None


@node_rewriter([sub], phase="stabilize", claim=approx(16), depth=4, when=has_quotient, tags=[MENDS])
def difference_of_quotients(fgraph, node):
    """Quotients of nearly equal terms lose their digits in a difference; if their common numerator
    is a number, none are lost. Not data: the terms are compared as sums.

    >>> x = vector("x")
    >>> rewritten(1 / x - 1 / (x + 1), 1 - x / (x + 1))
    [1.0 / (x + 1.0) / x, 1.0 / (x + 1.0)]
    """
    (p, q), (out,) = node.inputs, node.outputs
    parts = [u for t in (p, q) for u in (t, *(t.owner.inputs if t.head is not CONSTANT else ()))]
    if out.type.kind != "f" or any(u.type.dtype != out.type.dtype for u in parts):
        return None
    (a, v), (b, w) = fraction(p), fraction(q)
    number = cross(a, b, v, w)
    if not number:
        return None
    found = constant(number, dtype=out.type.dtype)
    below = [u for u in (v, w) if u is not None]
    for u in sorted(below, key=lambda u: ONE not in linear(u)):  # x may be subnormal, x + 1 not
        found = found / u
    return found if out.type.yields_to(found.type) else None


# --- differences from numbers -------------------------------------------------------------------

NUMBERS = table(
    "from_numbers",
    (
        "one_minus_cos", lambda x: 1 - cos(x) >> 2 * sqr(sin(0.5 * x)), approx(16),
        "The cosine of a small angle is nearly 1; the sine of half of it keeps all digits.",
        """1 - cos(vector("x")) -> 2.0 * sqr(sin(0.5 * x))""",
    ),
    (
        "cos_minus_one", lambda x: cos(x) - 1 >> -2 * sqr(sin(0.5 * x)), approx(16),
        "The cosine of a small angle is nearly 1; the sine of half of it keeps all digits.",
        """cos(vector("x")) - 1 -> -2.0 * sqr(sin(0.5 * x))""",
    ),
    (
        "cosh_minus_one", lambda x: cosh(x) - 1 >> 2 * sqr(sinh(0.5 * x)), approx(1 << 10),
        "The hyperbolic cosine of a small number is nearly 1.",
        """cosh(vector("x")) - 1 -> 2.0 * sqr(sinh(0.5 * x))""",
    ),
    (
        "one_minus_cosh", lambda x: 1 - cosh(x) >> -2 * sqr(sinh(0.5 * x)), approx(1 << 10),
        "The hyperbolic cosine of a small number is nearly 1.",
        """1 - cosh(vector("x")) -> -2.0 * sqr(sinh(0.5 * x))""",
    ),
    (
        "one_minus_square_of_cos", lambda x: 1 - sqr(cos(x)) >> sqr(sin(x)), approx(16),
        "The cosine of a small angle is nearly 1.",
        """1 - cos(vector("x")) ** 2 -> sqr(sin(x))""",
    ),
    (
        "one_minus_square_of_sin", lambda x: 1 - sqr(sin(x)) >> sqr(cos(x)), approx(16),
        "The sine is nearly 1 where the cosine is small.",
        """1 - sin(vector("x")) ** 2 -> sqr(cos(x))""",
    ),
    (
        "square_of_cos_minus_one", lambda x: sqr(cos(x)) - 1 >> -sqr(sin(x)), approx(16),
        "The cosine of a small angle is nearly 1.",
        """cos(vector("x")) ** 2 - 1 -> -sqr(sin(x))""",
    ),
    (
        "square_of_sin_minus_one", lambda x: sqr(sin(x)) - 1 >> -sqr(cos(x)), approx(16),
        "The sine is nearly 1 where the cosine is small.",
        """sin(vector("x")) ** 2 - 1 -> -sqr(cos(x))""",
    ),
    (
        "square_of_cosh_minus_one", lambda x: sqr(cosh(x)) - 1 >> sqr(sinh(x)), approx(16),
        "The hyperbolic cosine of a small number is nearly 1.",
        """cosh(vector("x")) ** 2 - 1 -> sqr(sinh(x))""",
    ),
    (
        "one_minus_square_of_cosh", lambda x: 1 - sqr(cosh(x)) >> -sqr(sinh(x)), approx(16),
        "The hyperbolic cosine of a small number is nearly 1.",
        """1 - cosh(vector("x")) ** 2 -> -sqr(sinh(x))""",
    ),
    (
        "one_minus_sech2", lambda x: 1 - sech2(x) >> sqr(tanh(x)), approx(16),
        "The slope of the hyperbolic tangent is nearly 1 at a small number.",
        """1 - sech2(vector("x")) -> sqr(tanh(x))""",
    ),
    (
        "root_minus_one", lambda x: sqrt(1 + x) - 1 >> expm1(0.5 * log1p(x)), approx(1 << 10),
        "The root of 1 + x is nearly 1 for a small x.",
        """sqrt(1 + vector("x")) - 1 -> expm1(0.5 * log1p(x))""",
    ),
    (
        "one_minus_root", lambda x: 1 - sqrt(1 + x) >> -expm1(0.5 * log1p(x)), approx(1 << 10),
        "The root of 1 + x is nearly 1 for a small x.",
        """1 - sqrt(1 + vector("x")) -> -expm1(0.5 * log1p(x))""",
    ),
    (
        "root_of_rest_minus_one", lambda x: sqrt(1 - x) - 1 >> expm1(0.5 * log1p(-x)),
        approx(1 << 10), "The root of 1 - x is nearly 1 for a small x.",
        """sqrt(1 - vector("x")) - 1 -> expm1(0.5 * log1p(-x))""",
    ),
    (
        "one_minus_root_of_rest", lambda x: 1 - sqrt(1 - x) >> -expm1(0.5 * log1p(-x)),
        approx(1 << 10), "The root of 1 - x is nearly 1 for a small x.",
        """1 - sqrt(1 - vector("x")) -> -expm1(0.5 * log1p(-x))""",
    ),
    (
        "hypot_minus_one", lambda x: hypot(x, 1) - 1 >> x * tanh(0.5 * arcsinh(x)), approx(1 << 10),
        "The root of 1 + x**2 is nearly 1 for a small x.",
        """sqrt(1 + vector("x") ** 2) - 1 -> x * tanh(0.5 * arcsinh(x))""",
    ),
    (
        "one_minus_hypot", lambda x: 1 - hypot(x, 1) >> -(x * tanh(0.5 * arcsinh(x))),
        approx(1 << 10), "The root of 1 + x**2 is nearly 1 for a small x.",
        """1 - sqrt(1 + vector("x") ** 2) -> -(x * tanh(0.5 * arcsinh(x)))""",
    ),
    phase="stabilize", tags=[MENDS], overlaps=INNER_FIRST, ends=at_most(1), x=Float,
)  # fmt: skip


def in_range(x, c, d):
    """Return whether two numbers, and their sum, are finite, in the dtype of x."""
    return x.type.dtype == c.type.dtype == d.type.dtype and bool(finite(c) and finite(d))


@rule(phase="stabilize", claim=approx(4), tags=[MENDS], overlaps=INNER_FIRST)
def numbers_beside_exp(x: Float, c: FloatConstant, d: FloatConstant):
    """Two numbers added to an exponential are one number, so that exp(x) - 1 is recognised.

    >>> rewritten(1 + (exp(vector("x")) - 2))
    expm1(x)
    """
    return c + (exp(x) - d) >> exp(x) - (d - c), given(in_range)


@rule(phase="stabilize", claim=approx(4), overlaps=INNER_FIRST)
def sum_with_exp_minus_one(x: Float, rest: Rest):
    """The exponential of a small number is nearly 1, and takes the digits of other small terms.

    >>> x, y = vectors("x y")
    >>> rewritten(x + exp(y) - 1)
    expm1(y) + x
    """
    return exp(x) + rest - 1 >> expm1(x) + rest


def may_be_doubled(c):
    """Return whether twice a constant is finite."""
    return bool(finite(c) and np.isfinite(2 * np.asarray(c.data)).all())


@rule(
    phase="stabilize",
    claim=approx(1 << 10),
    tags=[MENDS],
    overlaps=INNER_FIRST,
    ends=at_most(1),
)
def multiple_of_cosh_minus_itself(x: Float, c: FloatConstant):
    """The hyperbolic cosine of a small number is nearly 1.

    >>> x = vector("x")
    >>> rewritten(exp(x) - 2 + exp(-x), 3 * cosh(x) - 3)
    [exp(x) - 2.0 + exp(-x), 6.0 * sqr(sinh(0.5 * x))]
    """
    return c * cosh(x) - c >> 2 * c * sqr(sinh(0.5 * x)), given(may_be_doubled, same_dtype(x, c))


@rule(phase="stabilize", claim=approx(4), overlaps=INNER_FIRST)
def difference_of_squares(x: Float, y: Float):
    """Squares lose digits of a difference, and overflow; the product of sum and difference does
    not.

    >>> rewritten(vector("x") ** 2 - vector("y") ** 2)
    (x - y) * (x + y)
    """
    return sqr(x) - sqr(y) >> (x - y) * (x + y)


# --- inverse hyperbolic functions ---------------------------------------------------------------


INVERSES = table(
    "inverse_hyperbolic",
    (
        "sum_with_hypot", lambda x: x + hypot(x, 1) >> exp(arcsinh(x)), approx(1 << 10),
        "For x below 0 both terms cancel.",
        """log((x := vector("x")) + sqrt(x ** 2 + 1)) -> arcsinh(x)""",
    ),
    (
        "hypot_minus_number", lambda x: hypot(x, 1) - x >> exp(-arcsinh(x)), approx(1 << 10),
        "For x above 0 both terms cancel.",
        """log(sqrt((x := vector("x")) ** 2 + 1) - x) -> -arcsinh(x)""",
    ),
    (
        "number_minus_hypot", lambda x: x - hypot(x, 1) >> -exp(-arcsinh(x)), approx(1 << 10),
        "For x above 0 both terms cancel.",
        """(x := vector("x")) - sqrt(x ** 2 + 1) -> -exp(-arcsinh(x))""",
    ),
    (
        "arctanh_from_difference", lambda x: log1p(x) - log1p(-x) >> 2 * arctanh(x), refines,
        "One function takes the place of two.",
        """log1p((x := vector("x"))) - log1p(-x) -> 2.0 * arctanh(x)""",
    ),
    phase="stabilize", tags=[MENDS], overlaps=INNER_FIRST, x=Float,
)  # fmt: skip


@rule(phase="stabilize", overlaps=INNER_FIRST)
def arctanh_from_log(x: Float):
    """The quotient is nearly 1 for a small x. (Its slopes have their digits.)

    >>> x = vector("x")
    >>> rewritten(0.5 * log((1 + x) / (1 - x)))
    arctanh(x)
    """
    return log((1 + x) / (1 - x)) >> 2 * arctanh(x)


@rule(phase="stabilize", tags=[MENDS], overlaps=INNER_FIRST)
def arccosh_from_log(x: Float):
    """The square overflows, and the root loses the digits of a number near 1. (Below -1 the
    logarithm as written is that of a rounding error.)

    >>> x = 1 + exp(vector("x"))
    >>> rewritten(log(x + sqrt(x ** 2 - 1)))
    arccosh(1.0 + exp(x))
    """
    return log(x + sqrt(sqr(x) - 1)) >> arccosh(x), given(nonneg(x))


# --- better values, but worse slopes --------------------------------------------------------------

SHARES = table(
    "shares",
    (
        "one_minus_reciprocal",
        lambda x: 1 - 1 / (1 + x) >> switch(isinf(x), 1.0, x / (1 + x)), approx(4),
        "The reciprocal of 1 + x is nearly 1 for a small x.",
        """1 - 1 / (1 + vector("x")) -> switch(isinf(x), 1.0, x / (1.0 + x))""",
    ),
    (
        "reciprocal_minus_one",
        lambda x: 1 / (1 + x) - 1 >> switch(isinf(x), -1.0, -x / (1 + x)), approx(4),
        "The reciprocal of 1 + x is nearly 1 for a small x.",
        """1 / (1 + vector("x")) - 1 -> switch(isinf(x), -1.0, -(x / (1.0 + x)))""",
    ),
    phase="stabilize", tags=["values_only"], overlaps=INNER_FIRST, ends=at_most(1), x=Float,
)  # fmt: skip
