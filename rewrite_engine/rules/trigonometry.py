"""Trigonometric and hyperbolic functions, and others that are odd or even: signs of arguments, and
identities between the functions of one angle.
"""

import numpy as np

from rewrite_engine.language import *
from rewrite_engine.match.outline import head_of
from rewrite_engine.tensor import (
    abs,
    add,
    arcsin,
    arctan,
    arctanh,
    cbrt,
    constant,
    cos,
    cosh,
    erf,
    erfinv,
    isfinite,
    logcosh,
    sech2,
    sign,
    sin,
    sinh,
    sqr,
    switch,
    tan,
    tanh,
)

MAX_TERMS = 6  # of sums in which squares of a sine and a cosine are searched

#: functions with f(-x) = -f(x)
ODD = {
    "sin": sin, "tan": tan, "sinh": sinh, "tanh": tanh, "arcsin": arcsin, "arctan": arctan,
    "arctanh": arctanh, "erf": erf, "erfinv": erfinv, "cbrt": cbrt, "sign": sign,
}  # fmt: skip


def of_opposite(name, function):
    """Return a row of the table `SIGNS`."""
    return (
        f"{name}_of_neg",
        lambda x: function(-x) >> -function(x),
        refines,
        "The sign of an odd function's argument moves outside, where it meets other signs.",
        f"-{name}(-vector('x')) -> {name}(x)",
    )


SIGNS = table(
    "odd",
    *[of_opposite(*item) for item in ODD.items()],
    phase="canonicalize", ends=at_most(1), x=Float,
)  # fmt: skip

EVEN = table(
    "even",
    (
        "cosh_of_neg", lambda x: cosh(-x) >> cosh(x), exact,
        "The hyperbolic cosine is an even function.",
        """cosh(-vector("x")) -> cosh(x)""",
    ),
    (
        "sech2_of_neg", lambda x: sech2(-x) >> sech2(x), exact,
        "The slope of an odd function is an even function.",
        """sech2(-vector("x")) -> sech2(x)""",
    ),
    (
        "logcosh_of_neg", lambda x: logcosh(-x) >> logcosh(x), exact,
        "The hyperbolic cosine is an even function.",
        """logcosh(-vector("x")) -> logcosh(x)""",
    ),
    (
        "cos_of_abs", lambda x: cos(abs(x)) >> cos(x), exact,
        "The cosine does not depend on the sign.",
        """cos(abs(vector("x"))) -> cos(x)""",
    ),
    (
        "cosh_of_abs", lambda x: cosh(abs(x)) >> cosh(x), exact,
        "The hyperbolic cosine does not depend on the sign.",
        """cosh(abs(vector("x"))) -> cosh(x)""",
    ),
    phase="canonicalize", x=Float,
)  # fmt: skip


@rule(phase="stabilize", overlaps="a root around the sum is known without it")
def square_of_sinh_plus_one(x: Float):
    """One function takes the place of a function and a sum; a root around it is cosh(x).

    >>> rewritten(sqrt(sinh(vector("x")) ** 2 + 1))
    cosh(x)
    """
    return sqr(sinh(x)) + 1 >> sqr(cosh(x))


def has_squares(op, seen, distinct):
    """Return whether a short sum has two squares, which may be those of a sine and a cosine."""
    return len(seen) <= MAX_TERMS and [head_of(s) for s in seen].count(sqr) > 1


def angles(terms, function):
    """Return the arguments of squared functions in a sum, and their places."""
    squares = [(i, v.owner.inputs[0]) for i, v in enumerate(terms) if v.head is sqr]
    return {v.owner.inputs[0]: i for i, v in squares if v.head is function}


@node_rewriter([add], phase="stabilize", claim=approx(ulps=8), depth=3, when=has_squares)
def squares_of_one_angle(fgraph, node):
    """The squares of sine and cosine add up to 1, without either; an infinity has no angle.

    Not data: they may be anywhere in a short sum.

    >>> x, y = vectors("x y")
    >>> rewritten(sin(x) ** 2 + cos(x) ** 2, sin(x) ** 2 + y + cos(x) ** 2)
    [switch(isfinite(x), 1.0, nan), y + switch(isfinite(x), 1.0, nan)]
    """
    sines, cosines = [angles(node.inputs, function) for function in (sin, cos)]
    for x, i in sines.items():
        if x in cosines and x.type.kind == "f":
            square = node.inputs[i]
            one, nan = [constant(c, dtype=square.type.dtype) for c in (1.0, np.nan)]
            rest = [v for k, v in enumerate(node.inputs) if k not in (i, cosines[x])]
            new = switch(isfinite(x), one, nan)
            return add(*rest, new) if rest else new
    return None


QUOTIENTS = table(
    "quotients",
    (
        "sine_over_cosine", lambda x: sin(x) / cos(x) >> tan(x), approx(4),
        "One function takes the place of two and a quotient.",
        """sin(x := vector("x")) / cos(x) -> tan(x)""",
    ),
    (
        "cosine_over_sine", lambda x: cos(x) / sin(x) >> 1 / tan(x), approx(4),
        "One function takes the place of two.",
        """cos(x := vector("x")) / sin(x) -> 1.0 / tan(x)""",
    ),
    (
        "cosine_times_tangent", lambda x: cos(x) * tan(x) >> sin(x), approx(4),
        "One function takes the place of two and a product.",
        """cos(x := vector("x")) * tan(x) -> sin(x)""",
    ),
    phase="specialize", x=Float,
)  # fmt: skip
