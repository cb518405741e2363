"""Maxima, minima and moduli, also where they are written as choices (`switch`)."""

from rewrite_engine.facts import bounded, finite, nonneg
from rewrite_engine.language import *
from rewrite_engine.tensor import abs, clip, maximum, minimum, switch

# --- two numbers --------------------------------------------------------------------------------

CHOICES = table(
    "choices",
    (
        "larger_of_opposites", lambda x: maximum(x, -x) >> abs(x), refines,
        "One operation takes the place of two.",
        """maximum(x := vector("x"), -x) -> abs(x)""",
    ),
    (
        "smaller_of_opposites", lambda x: minimum(x, -x) >> -abs(x), refines,
        "One operation takes the place of two.",
        """minimum(x := vector("x"), -x) -> -abs(x)""",
    ),
    (
        "largest_of_smaller",
        lambda x, c: (maximum(x, minimum(x, c)) >> x, given(finite(c))), refines,
        "The smaller of two numbers is not above either; at a tie the slope would be shared.",
        """maximum(x := vector("x"), minimum(x, 0)) -> x""",
    ),
    (
        "smallest_of_larger",
        lambda x, c: (minimum(x, maximum(x, c)) >> x, given(finite(c))), refines,
        "The larger of two numbers is not below either; at a tie the slope would be shared.",
        """minimum(x := vector("x"), maximum(x, 0)) -> x""",
    ),
    (
        "sum_of_extrema", lambda x, y: maximum(x, y) + minimum(x, y) >> x + y, refines,
        "The larger and the smaller one of two numbers are both of them.",
        """maximum(x := vector("x"), 0) + minimum(x, 0) -> x""",
    ),
    phase="canonicalize", tags=["mends_gradients"], x=Float, y=Float, c=FloatConstant,
)  # fmt: skip


@rule(phase="canonicalize", overlaps="the modulus has no use of the sign")
def difference_of_extrema(x: Float, y: Float):
    """Two operations take the place of three.

    >>> x, y = vectors("x y")
    >>> rewritten(maximum(x, y) - minimum(x, y))
    abs(x - y)
    """
    return maximum(x, y) - minimum(x, y) >> abs(x - y)


MODULI = table(
    "moduli",
    (
        "abs_by_greater", lambda x: switch(x > 0, x, -x) >> abs(x), refines,
        "The modulus needs one operation.",
        """switch((x := vector("x")) > 0, x, -x) -> abs(x)""",
    ),
    (
        "abs_by_not_less", lambda x: switch(x >= 0, x, -x) >> abs(x), refines,
        "The modulus needs one operation.",
        """switch((x := vector("x")) >= 0, x, -x) -> abs(x)""",
    ),
    (
        "abs_by_less", lambda x: switch(x < 0, -x, x) >> abs(x), refines,
        "The modulus needs one operation.",
        """switch((x := vector("x")) < 0, -x, x) -> abs(x)""",
    ),
    (
        "abs_by_not_greater", lambda x: switch(x <= 0, -x, x) >> abs(x), refines,
        "The modulus needs one operation.",
        """switch((x := vector("x")) <= 0, -x, x) -> abs(x)""",
    ),
    phase="canonicalize", x=Float,
)  # fmt: skip

PARTS = table(
    "rests_of_signs",
    (
        "rest_of_positive_part", lambda x: x - maximum(x, 0) >> minimum(x, 0), refines,
        "One operation takes the place of two.",
        """(x := vector("x")) - maximum(x, 0) -> minimum(x, 0.0)""",
    ),
    (
        "rest_of_negative_part", lambda x: x - minimum(x, 0) >> maximum(x, 0), refines,
        "One operation takes the place of two.",
        """(x := vector("x")) - minimum(x, 0) -> maximum(x, 0.0)""",
    ),
    phase="stabilize", x=Float,
)  # fmt: skip


# --- choices that are extrema -------------------------------------------------------------------

EXTREMA = table(
    "extrema",
    (
        "maximum_by_less",
        lambda x, c: (switch(x < c, c, x) >> maximum(x, c), given(finite(c))), refines,
        "One operation takes the place of two; NaN stays.",
        """switch((x := vector("x")) < 0, 0, x) -> maximum(x, 0.0)""",
    ),
    (
        "maximum_by_not_greater",
        lambda x, c: (switch(x <= c, c, x) >> maximum(x, c), given(finite(c))), refines,
        "One operation takes the place of two; NaN stays.",
        """switch((x := vector("x")) <= 1, 1, x) -> maximum(x, 1.0)""",
    ),
    (
        "minimum_by_greater",
        lambda x, c: (switch(x > c, c, x) >> minimum(x, c), given(finite(c))), refines,
        "One operation takes the place of two; NaN stays.",
        """switch((x := vector("x")) > 0, 0, x) -> minimum(x, 0.0)""",
    ),
    (
        "minimum_by_not_less",
        lambda x, c: (switch(x >= c, c, x) >> minimum(x, c), given(finite(c))), refines,
        "One operation takes the place of two; NaN stays.",
        """switch((x := vector("x")) >= 1, 1, x) -> minimum(x, 1.0)""",
    ),
    (
        "maximum_by_greater",
        lambda x, c: (switch(x > c, x, c) >> maximum(x, c), given(finite(c), assuming(finite(x)))),
        assumes("fastmath"),
        "One operation takes the place of two. (Where x is NaN, the choice is c.)",
        """switch((x := sin(ivector("n"))) > 0, x, 0) -> maximum(sin(n), 0.0)""",
    ),
    (
        "maximum_by_not_less",
        lambda x, c: (switch(x >= c, x, c) >> maximum(x, c), given(finite(c), assuming(finite(x)))),
        assumes("fastmath"),
        "One operation takes the place of two. (Where x is NaN, the choice is c.)",
        """switch((x := sin(ivector("n"))) >= 0, x, 0) -> maximum(sin(n), 0.0)""",
    ),
    (
        "minimum_by_less",
        lambda x, c: (switch(x < c, x, c) >> minimum(x, c), given(finite(c), assuming(finite(x)))),
        assumes("fastmath"),
        "One operation takes the place of two. (Where x is NaN, the choice is c.)",
        """switch((x := sin(ivector("n"))) < 0, x, 0) -> minimum(sin(n), 0.0)""",
    ),
    (
        "minimum_by_not_greater",
        lambda x, c: (switch(x <= c, x, c) >> minimum(x, c), given(finite(c), assuming(finite(x)))),
        assumes("fastmath"),
        "One operation takes the place of two. (Where x is NaN, the choice is c.)",
        """switch((x := sin(ivector("n"))) <= 0, x, 0) -> minimum(sin(n), 0.0)""",
    ),
    phase="canonicalize", x=Float, c=FloatConstant,
)  # fmt: skip


# --- bounds that are known ----------------------------------------------------------------------


def ends_of(x):
    """Return two numbers that all elements of x other than NaN are between; None if unknown."""
    ends = bounded(x)
    if ends:
        return ends.value
    return None if x.owner is None else getattr(scalar_op_of(x), "limits", None)


def scalar_op_of(x):
    """Return the elementwise function that makes a term; None if another op does."""
    return getattr(x.owner.op, "scalar_op", None)


@fact
def not_below(x, c):
    """No element of x is below the number c. (It may be NaN.)"""
    ends = ends_of(x)
    if ends and ends[0] >= c.data.max():
        return because(f"it is at least {ends[0]:.4g}")
    sign = nonneg(x) if c.data.max() <= 0 else None
    return because("it is not negative", sign) if sign else unknown("no such bound", blame=x)


@fact
def not_above(x, c):
    """No element of x is above the number c. (It may be NaN.)"""
    ends = ends_of(x)
    if ends and ends[1] <= c.data.min():
        return because(f"it is at most {ends[1]:.4g}")
    return unknown("no such bound", blame=x)


BOUNDS = table(
    "bounds",
    (
        "maximum_is_first", lambda x, c: (maximum(x, c) >> x, given(not_below(x, c))), refines,
        "A bound that is known needs no operation.",
        """maximum(exp(vector("x")), 0) -> exp(x)""",
    ),
    (
        "minimum_is_first", lambda x, c: (minimum(x, c) >> x, given(not_above(x, c))), refines,
        "A bound that is known needs no operation.",
        """minimum(sin(ivector("n")), 1) -> sin(n)""",
    ),
    phase="canonicalize", x=Float, c=FloatConstant,
)  # fmt: skip


@rule(phase="canonicalize")
def clip_inside(x: Float, low: FloatConstant, high: FloatConstant):
    """Bounds that are known need no operation.

    >>> rewritten(clip(sin(ivector("n")), -1, 1))
    sin(n)
    """
    return clip(x, low, high) >> x, given(not_below(x, low), not_above(x, high))
