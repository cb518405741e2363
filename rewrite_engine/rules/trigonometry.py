"""Trigonometric and hyperbolic functions, and others that are odd or even: signs of arguments, and
identities between the functions of one angle.
"""

import numpy as np

from rewrite_engine.language import *
from rewrite_engine.tensor import (
    abs,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    cbrt,
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

#: functions with f(-x) = -f(x)
ODD = {
    "sin": sin, "tan": tan, "sinh": sinh, "tanh": tanh, "arcsin": arcsin, "arctan": arctan,
    "arcsinh": arcsinh, "arctanh": arctanh, "erf": erf, "erfinv": erfinv, "cbrt": cbrt,
    "sign": sign,
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

SQUARES = table(
    "squares",
    (
        "sum_of_squares",
        lambda x: sqr(sin(x)) + sqr(cos(x)) >> switch(isfinite(x), 1.0, np.nan), refines,
        "The squares of sine and cosine add up to 1, without either; an infinity has no angle.",
        """sin(x := vector("x")) ** 2 + cos(x) ** 2 -> switch(isfinite(x), 1.0, nan)""",
    ),
    (
        "square_of_sinh_plus_one", lambda x: sqr(sinh(x)) + 1 >> sqr(cosh(x)), refines,
        "One function takes the place of a function and a sum; a root around it is cosh(x).",
        """sqrt(sinh(vector("x")) ** 2 + 1) -> cosh(x)""",
    ),
    phase="stabilize", overlaps="a root around the sum is known without it", x=Float,
)  # fmt: skip
