"""Constants that meet in nested products and quotients, or in nested differences.

Two constants are combined only if the result is a normal number. Then finite results stay finite,
and an overflow or underflow in between is avoided. Two roundings stay two roundings. For products
of more operands see `rewrite_engine/rewrite/ac.py`.
"""

import numpy as np

from rewrite_engine.language import *
from rewrite_engine.scalar.dtype import promote


def holds_digits(x, dtype):
    """Return whether the dtype is as precise as its combination with x. (x must not be a constant:
    constants are folded, and three of them would be swapped for ever.)
    """
    return x.head is not CONSTANT and promote(x.type.dtype, dtype) == dtype


def is_normal(number, x, a, b):
    """Return whether a number computed from a and b is normal in the dtypes of real floats, with
    the precision of the term that contains x.
    """
    if not holds_digits(x, promote(a.type.dtype, b.type.dtype)):
        return False
    return all(v.type.kind == "f" and v.type.keeps_digits(number) for v in (x, a, b))


def normal_product(x, a, b):
    """Return whether the product of two constants is a normal number."""
    if a.number is None or b.number is None:
        return False
    return is_normal(a.number * b.number, x, a, b)


def normal_ratio(x, a, b):
    """Return whether the quotient of two constants is a normal number."""
    if a.number is None or not b.number:
        return False
    return is_normal(a.number / b.number, x, a, b)


def has_exact_reciprocal(x, c):
    """Return whether 1 / c is exact: c is a power of two, and neither of them is subnormal. (Two
    constants are folded.)
    """
    if c.number is None or c.type.kind == "c" or x.head is CONSTANT:
        return False
    keeps = c.type.keeps_digits
    return abs(np.frexp(c.number)[0]) == 0.5 and keeps(c.number) and keeps(1 / c.number)


@rule(phase="specialize", claim=exact)
def over_power_of_two(x: Float, c: InexactConstant):
    """A product is faster than a quotient, and exact for powers of two.

    >>> rewritten(vector("x") / 4)
    x * 0.25
    """
    return x / c >> x * (1 / c), given(has_exact_reciprocal)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def multiple_over_constant(x: Float, a: InexactConstant, b: InexactConstant):
    """One product replaces a product and a quotient.

    >>> rewritten(3 * vector("x") / 2)
    1.5 * x
    """
    return (a * x) / b >> (a / b) * x, given(normal_ratio)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def constant_over_multiple(x: Float, a: InexactConstant, b: InexactConstant):
    """Two constants combine to one in the numerator.

    >>> rewritten(3 / (2 * vector("x")))
    1.5 / x
    """
    return a / (b * x) >> (a / b) / x, given(normal_ratio)


@rule(
    phase="canonicalize",
    claim=approx(ulps=2),
    tags=["pairwise"],
    overlaps="either order leaves one constant at the same place",
)
def multiple_of_share(x: Float, a: InexactConstant, b: InexactConstant):
    """One product replaces a product and a quotient.

    >>> rewritten(3 * (vector("x") / 2))
    1.5 * x
    """
    return a * (x / b) >> (a / b) * x, given(normal_ratio)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def share_of_share(x: Float, a: InexactConstant, b: InexactConstant):
    """One quotient replaces two quotients.

    >>> rewritten(vector("x") / 3 / 2)
    x / 6.0
    """
    return (x / a) / b >> x / (a * b), given(normal_product)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def constant_over_share(x: Float, a: InexactConstant, b: InexactConstant):
    """One quotient replaces two quotients.

    >>> rewritten(3 / (vector("x") / 2))
    6.0 / x
    """
    return a / (x / b) >> (a * b) / x, given(normal_product)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def constant_over_quotient(x: Float, a: InexactConstant, b: InexactConstant):
    """One product replaces two quotients.

    >>> rewritten(3 / (2 / vector("x")))
    1.5 * x
    """
    return a / (b / x) >> (a / b) * x, given(normal_ratio)


@rule(phase="specialize", claim=approx(ulps=2), tags=["pairwise"])
def quotient_over_constant(x: Float, a: InexactConstant, b: InexactConstant):
    """One quotient replaces two quotients. This runs late, since earlier rules match `1 / (1 +
    exp(x))`.

    >>> rewritten(6 / vector("x") / 3)
    2.0 / x
    """
    return (a / x) / b >> (a / b) / x, given(normal_ratio)


@rule(
    phase="specialize",
    claim=approx(ulps=2),
    tags=["pairwise"],
    overlaps="constants are joined before an extremum is multiplied",
)
def multiple_of_quotient(x: Float, a: InexactConstant, b: InexactConstant):
    """One quotient replaces a product and a quotient. This runs late, since earlier rules match `1
    / (1 + exp(x))`.

    >>> rewritten(3 * (2 / vector("x")))
    6.0 / x
    """
    return a * (b / x) >> (a * b) / x, given(normal_product)


def finite_sum(x, a, b):
    """Return whether two real constants may be added before x is: their sum is finite and precise
    in their dtype, and neither vanishes in it. For instance, 1e-20 keeps `x - 0.5 + 1e-20` from
    being 0.
    """
    if a.number is None or b.number is None:
        return False
    dtype = promote(a.type.dtype, b.type.dtype)
    if not holds_digits(x, dtype) or any(v.type.kind != "f" for v in (x, a, b)):
        return False
    small, large = np.sort(np.abs(np.array([a.number, b.number], dtype)))
    with np.errstate(over="ignore"):
        total = small + large
    return bool(np.isfinite(total)) and (small == 0 or total != large)


DIFFERENCES = table(
    "differences",
    (
        "difference_minus_constant",
        lambda x, a, b: ((x - a) - b >> x - (a + b), given(finite_sum)),
        approx(ulps=2),
        "One difference replaces two differences.",
        """vector("x") - 3 - 2 -> x - 5.0""",
    ),
    (
        "sum_minus_constant",
        lambda x, a, b: ((a + x) - b >> (a - b) + x, given(finite_sum)),
        approx(ulps=2),
        "One sum replaces a sum and a difference.",
        """3 + vector("x") - 2 -> 1.0 + x""",
    ),
    (
        "constant_plus_difference",
        lambda x, a, b: (b + (x - a) >> (b - a) + x, given(finite_sum)),
        approx(ulps=2),
        "One sum replaces a sum and a difference.",
        """3 + (vector("x") - 2) -> 1.0 + x""",
    ),
    (
        "constant_minus_difference",
        lambda x, a, b: (b - (x - a) >> (b + a) - x, given(finite_sum)),
        approx(ulps=2),
        "One difference replaces two differences.",
        """3 - (vector("x") - 2) -> 5.0 - x""",
    ),
    (
        "constant_minus_sum",
        lambda x, a, b: (b - (a + x) >> (b - a) - x, given(finite_sum)),
        approx(ulps=2),
        "One difference replaces a sum and a difference.",
        """3 - (2 + vector("x")) -> 1.0 - x""",
    ),
    (
        "constant_less_minus_constant",
        lambda x, a, b: ((a - x) - b >> (a - b) - x, given(finite_sum)),
        approx(ulps=2),
        "One difference replaces two differences.",
        """3 - vector("x") - 2 -> 1.0 - x""",
    ),
    phase="specialize", tags=["pairwise"], x=Float, a=InexactConstant, b=InexactConstant,
    overlaps="either order leaves one constant: x - 2 and -2 + x cost the same",
)  # fmt: skip
