"""Constants that meet in nests of products and quotients.

Only where the number that they become is a normal one: then what is finite stays finite, and what
under- or overflowed on the way no longer does. Two roundings stay two roundings. Products of more
operands: `rewrite_engine/rewrite/ac.py`.
"""

from rewrite_engine.rules.language import *
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.tensor import constant, mul, true_div


def holds_digits(x, dtype):
    """Whether what is computed in a dtype is not computed with more digits beside x."""
    return promote(x.type.dtype, dtype) == dtype


def is_normal(number, x, a, b):
    """Whether a number made of a and b is a normal one in the dtypes of real floats, and has all
    digits that the term with x has.
    """
    if not holds_digits(x, promote(a.type.dtype, b.type.dtype)):
        return False
    return all(v.type.kind == "f" and v.type.keeps_digits(number) for v in (x, a, b))


def product(a, b):
    """The product of two constants, where no folding follows."""
    return constant(a.data * b.data, dtype=mul(a, b).type.dtype)


def ratio(a, b):
    """The quotient of two constants, where no folding follows."""
    return constant(a.data / b.data, dtype=true_div(a, b).type.dtype)


def normal_product(x, a, b):
    """Whether the product of two constants is a normal number."""
    if a.number is None or b.number is None:
        return False
    return is_normal(a.number * b.number, x, a, b)


def normal_ratio(x, a, b):
    """Whether the quotient of two constants is a normal number."""
    if a.number is None or not b.number:
        return False
    return is_normal(a.number / b.number, x, a, b)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def multiple_over_constant(x: Real, a: FloatConstant, b: FloatConstant):
    """A product instead of a product and a quotient.

    >>> rewritten(3 * vector("x") / 2)
    1.5 * x
    """
    return (a * x) / b >> (a / b) * x, given(normal_ratio)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def constant_over_multiple(x: Real, a: FloatConstant, b: FloatConstant):
    """Constants meet above.

    >>> rewritten(3 / (2 * vector("x")))
    1.5 / x
    """
    return a / (b * x) >> (a / b) / x, given(normal_ratio)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def multiple_of_share(x: Real, a: FloatConstant, b: FloatConstant):
    """A product instead of a product and a quotient.

    >>> rewritten(3 * (vector("x") / 2))
    1.5 * x
    """
    return a * (x / b) >> (a / b) * x, given(normal_ratio)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def share_of_share(x: Real, a: FloatConstant, b: FloatConstant):
    """One quotient instead of two.

    >>> rewritten(vector("x") / 3 / 2)
    x / 6.0
    """
    return (x / a) / b >> x / (a * b), given(normal_product)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def constant_over_share(x: Real, a: FloatConstant, b: FloatConstant):
    """One quotient instead of two.

    >>> rewritten(3 / (vector("x") / 2))
    6.0 / x
    """
    return a / (x / b) >> (a * b) / x, given(normal_product)


@rule(phase="canonicalize", claim=approx(ulps=2), tags=["pairwise"])
def constant_over_quotient(x: Real, a: FloatConstant, b: FloatConstant):
    """A product instead of two quotients.

    >>> rewritten(3 / (2 / vector("x")))
    1.5 * x
    """
    return a / (b / x) >> (a / b) * x, given(normal_ratio)


@rule(phase="specialize", claim=approx(ulps=2), tags=["pairwise"])
def quotient_over_constant(x: Real, a: FloatConstant, b: FloatConstant):
    """One quotient instead of two. Not earlier: `1 / (1 + exp(x))` has to be seen first.

    >>> rewritten(3 / vector("x") / 2)
    1.5 / x
    """
    return (a / x) / b >> compute(lambda x, a, b: ratio(a, b) / x), given(normal_ratio)


@rule(phase="specialize", claim=approx(ulps=2), tags=["pairwise"])
def multiple_of_quotient(x: Real, a: FloatConstant, b: FloatConstant):
    """One quotient instead of a product and a quotient. Not earlier, as above.

    >>> rewritten(3 * (2 / vector("x")))
    6.0 / x
    """
    return a * (b / x) >> compute(lambda x, a, b: product(a, b) / x), given(normal_product)
