"""Sums, products, powers and signs. Rules that follow from the declarations of ops are in
`rewrite_engine/rewrite/ac.py`.
"""

import numpy as np

from rewrite_engine.facts import finite, nonneg, nonzero, used_once
from rewrite_engine.language import *
from rewrite_engine.tensor import (
    abs,
    constant,
    cos,
    identity,
    lt,
    mul,
    neg,
    reciprocal,
    second,
    sign,
    sqr,
    sqrt,
    switch,
    true_div,
)


def filled(x, value):
    """Return a number in the shape and dtype of x."""
    return second(x, constant(value, dtype=x.type.dtype))


@rule(phase="canonicalize", claim=exact)
def copy(x):
    """Remove a copy, which has the same values as its operand.

    >>> rewritten(identity(vector("x")))
    x
    """
    return identity(x) >> x


@rule(phase="canonicalize", claim=exact)
def sub_zero(x):
    """Remove a difference with 0, which does not change the number.

    >>> rewritten(vector("x") - 0)
    x
    """
    return x - 0 >> x


@rule(phase="canonicalize")
def zero_minus(x: Float):
    """Replace a difference from 0 by a sign, up to the sign of a zero.

    >>> rewritten(0 - vector("x"))
    -x
    """
    return 0 - x >> -x


@rule(phase="canonicalize")
def div_by_one(x):
    """Remove a division by 1, which changes no number.

    >>> rewritten(vector("x") / 1)
    x
    """
    return x / 1 >> x


@rule(phase="canonicalize", claim=exact)
def pow_one(x: Ordered):
    """Replace the first power by the number itself.

    >>> rewritten(vector("x") ** 1)
    x
    """
    return x**1 >> x


@rule(phase="canonicalize", claim=exact, overlaps="the outer term keeps the remaining sign")
def neg_of_neg(x):
    """Two signs cancel each other.

    >>> rewritten(-(-vector("x")))
    x
    """
    return -(-x) >> x


@rule(phase="canonicalize")
def mul_by_minus_one(x: Inexact):
    """Replace a product with -1 by a sign, which is cheaper.

    >>> rewritten(vector("x") * -1)
    -x
    """
    return -1 * x >> -x


def opposite_exists(x, y):
    """Return whether -y keeps its value in the dtype of x - y: y has a sign, or wraps around like
    x. (A real number among complex ones has an imaginary part of 0, whose sign differs in the sum.)
    """
    return x.type.dtype == y.type.dtype or (y.type.kind == "f" and x.type.kind != "c")


#: overlap of rules that move a sign to two places
INSIDE = "a sign moves inside as far as possible, so that none is left outside"


@rule(phase="canonicalize", claim=exact, overlaps="no sign is left in a sum, in either order")
def sub_of_neg(x, y):
    """Add instead of subtracting the opposite. Integers must not be widened in between: -128 has no
    opposite in int8.

    >>> rewritten(vector("x") - (-vector("y")))
    x + y
    """
    return x - (-y) >> x + y, given(opposite_exists)


@rule(phase="canonicalize", claim=exact)
def add_of_neg(x: Float, y: Float):
    """Subtract instead of adding the opposite.

    >>> rewritten(-vector("x") + vector("y"))
    y - x
    """
    return (-x) + y >> y - x


@rule(phase="canonicalize", claim=exact)
def mul_of_negs(x: Float, y: Float):
    """Two signs in a product cancel each other.

    >>> rewritten((-vector("x")) * (-vector("y")))
    x * y
    """
    return (-x) * (-y) >> x * y


@rule(phase="canonicalize", claim=exact)
def mul_of_neg_by_constant(x: Float, c: FloatConstant):
    """Move the sign into the constant, where it costs nothing.

    >>> rewritten(2.0 * -vector("x"))
    -2.0 * x
    """
    return c * (-x) >> neg(c) * x


def without_sign(v):
    """Return a float without its sign, if it is negated, a number below 0 or another constant; else
    None.
    """
    if v.type.kind != "f":
        return None
    if v.head is neg:
        return v.owner.inputs[0]
    return constant(-v.data, dtype=v.type.dtype) if v.head is CONSTANT else None


@node_rewriter([neg], phase="canonicalize", claim=exact, depth=3, keeps=None)
def neg_of_product(fgraph, node):
    """Move the sign into a constant, or cancel it with another; in a quotient that is needed
    anyway, it stays. Not data: the operands stay in place (`keeps=None`: nothing is dropped).

    >>> x, y, z = vectors("x y z")
    >>> rewritten(-(2 * x), -(x * -y * z), -(x / 3.0))
    [-2.0 * x, x * y * z, x / -3.0]
    """
    product = node.inputs[0].owner
    if product is None or node.outputs[0].type.kind == "c":
        return None
    if product.op is true_div:
        x, c = product.inputs
        floats = node.outputs[0].type.kind == x.type.kind == c.type.kind == "f"
        if c.head is not CONSTANT or not floats:
            return None
        alone = fgraph is None or used_once.ask(fgraph, node.inputs[0])
        return x / neg(c) if alone else None
    if product.op is not mul:
        return None
    for i, v in sorted(enumerate(product.inputs), key=lambda place: place[1].head is not neg):
        new = without_sign(v)
        if new is not None and new.type is v.type:
            return mul(*product.inputs[:i], new, *product.inputs[i + 1 :])
    return None


SIGNS = table(
    "signs",
    (
        "div_of_neg_by_constant", lambda x, c: (-x) / c >> x / neg(c), exact,
        "A sign in the constant costs nothing.",
        """-vector("x") / 3.0 -> x / -3.0""",
    ),
    (
        "neg_of_constant_over", lambda x, c: -(c / x) >> neg(c) / x, exact,
        "A sign in the constant costs nothing.",
        """-(2.0 / vector("x")) -> -2.0 / x""",
    ),
    (
        "constant_over_neg", lambda x, c: c / (-x) >> neg(c) / x, exact,
        "A sign in the constant costs nothing.",
        """2.0 / -vector("x") -> -2.0 / x""",
    ),
    phase="canonicalize", overlaps=INSIDE, x=Float, c=FloatConstant,
)  # fmt: skip


@rule(phase="canonicalize", overlaps=INSIDE)
def neg_of_sub(x: Inexact, y: Inexact):
    """Swap the operands of a difference instead of negating it, up to the sign of a zero.

    >>> rewritten(-(vector("x") - vector("y")))
    y - x
    """
    return -(x - y) >> y - x


@rule(phase="canonicalize", claim=exact)
def div_of_negs(x: Float, y: Float):
    """Two signs in a quotient cancel each other.

    >>> rewritten((-vector("x")) / (-vector("y")))
    x / y
    """
    return (-x) / (-y) >> x / y


def is_computed(x):
    """Return whether a term is no constant; constants take signs themselves."""
    return x.head is not CONSTANT


@rule(phase="specialize", claim=exact)
def div_of_neg(x: Float, y: Float):
    """Move the sign out of a quotient, where it may meet others. This runs late, since earlier
    rules match `-x / y`.

    >>> x, y = vectors("x y")
    >>> rewritten(-(-x / y))
    x / y
    """
    return (-x) / y >> -(x / y), given(is_computed)


@rule(phase="canonicalize", claim=exact)
def abs_of_neg(x: Inexact):
    """The modulus does not depend on the sign.

    >>> rewritten(abs(-vector("x")))
    abs(x)
    """
    return abs(-x) >> abs(x)


@rule(phase="canonicalize", claim=exact)
def abs_of_abs(x):
    """The second modulus changes nothing.

    >>> rewritten(abs(abs(vector("x"))))
    abs(x)
    """
    return abs(abs(x)) >> abs(x)


@rule(phase="canonicalize", claim=exact)
def sqr_of_neg(x: Inexact):
    """The square does not depend on the sign.

    >>> rewritten(sqr(-vector("x")))
    sqr(x)
    """
    return sqr(-x) >> sqr(x)


@rule(phase="canonicalize", claim=exact)
def sqr_of_abs(x: Float):
    """The square does not depend on the sign.

    >>> rewritten(sqr(abs(vector("x"))))
    sqr(x)
    """
    return sqr(abs(x)) >> sqr(x)


@rule(phase="canonicalize", claim=exact)
def cos_of_neg(x: Inexact):
    """The cosine is an even function.

    >>> rewritten(cos(-vector("x")))
    cos(x)
    """
    return cos(-x) >> cos(x)


@rule(phase="canonicalize")
def abs_of_nonneg(x: Float):
    """The modulus of a number that is not negative is the number.

    >>> rewritten(abs(exp(vector("x"))))
    exp(x)
    """
    return abs(x) >> x, given(nonneg(x))


@rule(phase="canonicalize", tags=["mends_gradients"])
def times_own_sign(x: Float):
    """The modulus needs one operation.

    >>> x = vector("x")
    >>> rewritten(x * sign(x))
    abs(x)
    """
    return x * sign(x) >> abs(x)


def root_undone(x):
    """Return x where it has a root."""
    nan = constant(np.nan, dtype=x.type.dtype)
    return x if nonneg(x) else switch(lt(x, 0.0), nan, x)


@rule(phase="canonicalize", tags=["mends_gradients"])
def power_of_sqrt(x: Float):
    """A square undoes a root, also where it is written as a power.

    >>> rewritten(sqrt(exp(vector("x"))) ** 2)
    exp(x)
    """
    return sqrt(x) ** 2 >> compute(root_undone)


@rule(phase="canonicalize")
def sqrt_of_square(x: Float):
    """The square may overflow; the modulus gives the result without it.

    >>> rewritten(sqrt(vector("x") ** 2))
    abs(x)
    """
    return sqrt(sqr(x)) >> abs(x)


@rule(phase="canonicalize", claim=exact, tags=["before_gradients"])
def pow_two(x: Ordered):
    """A square needs no logarithm. (NumPy rounds powers of complex numbers differently.)

    >>> rewritten(vector("x") ** 2)
    sqr(x)
    """
    return x**2 >> sqr(x)


@rule(phase="canonicalize", claim=exact, tags=["before_gradients"])
def mul_by_itself(x: Inexact):
    """A square reads its operand once instead of twice.

    >>> x = vector("x")
    >>> rewritten(x * x)
    sqr(x)
    """
    return x * x >> sqr(x)


@rule(phase="canonicalize", claim=approx(1))
def pow_half(x: Float):
    """A square root needs no logarithm. The two differ at -inf, so the sign has to be known.

    >>> rewritten(abs(vector("x")) ** 0.5)
    sqrt(abs(x))
    """
    return x**0.5 >> sqrt(x), given(nonneg(x))


@rule(phase="canonicalize", claim=approx(1))
def pow_minus_one(x: Float):
    """A reciprocal needs no logarithm or exponential.

    >>> rewritten(vector("x") ** -1)
    reciprocal(x)
    """
    return x**-1 >> reciprocal(x)


@rule(phase="canonicalize", claim=exact)
def difference_with_itself_integer(x: Integer):
    """The difference of an integer with itself is 0, as integers have no infinities.

    >>> x = ivector("x")
    >>> rewritten(x - x)
    second(x, 0)
    """
    return x - x >> compute(lambda x: filled(x, 0))


@rule(phase="canonicalize", claim=assumes("fastmath", then=exact))
def difference_with_itself(x: Inexact):
    """The difference of a finite number with itself is 0; inf - inf is NaN.

    >>> x, n = vector("x"), ivector("n")
    >>> rewritten(x - x, including=["fastmath"])
    second(x, 0.0)
    >>> rewritten(sin(n) - sin(n)), rewritten(sin(x) - sin(x))
    (second(n, 0.0), sin(x) - sin(x))
    """
    return x - x >> compute(lambda x: filled(x, 0)), given(assuming(finite(x)))


@rule(phase="canonicalize", claim=assumes("fastmath", then=exact))
def quotient_with_itself(x: Float):
    """The quotient of a number with itself is 1, if it is neither 0 nor infinite.

    >>> x, n = vector("x"), ivector("n")
    >>> rewritten(x / x, including=["fastmath"])
    second(x, 1.0)
    >>> rewritten((2 + sin(n)) / (2 + sin(n)))
    second(n, 1.0)
    """
    return x / x >> compute(lambda x: filled(x, 1)), given(assuming(finite(x), nonzero(x)))


@rule(phase="canonicalize")
def product_with_zero(x: Inexact):
    """The product of 0 and a finite number is 0; 0 times infinity is NaN. (For integers, and for
    any x under "fastmath", `rewrite/ac.py` applies the declarations of ops.)

    >>> x, n = vector("x"), ivector("n")
    >>> rewritten(0 * sin(n)), rewritten(0 * x)
    (second(n, 0.0), 0.0 * x)
    """
    return 0 * x >> compute(lambda x: filled(x, 0)), given(finite(x))
