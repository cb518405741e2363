"""Quotients and differences whose terms vanish together at 0, such as sin(x) / x: ops of the family
`scalar/removable.py`, which keep their digits, and have slopes of all orders.
"""

from typing import NamedTuple

from rewrite_engine.language import *
from rewrite_engine.rules.powers.forms import product_of
from rewrite_engine.rules.powers.power import Power
from rewrite_engine.rules.powers.spell import Spelling
from rewrite_engine.scalar.removable import Removable
from rewrite_engine.tensor import (
    Elemwise,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    constant,
    expm1,
    log1p,
    mul,
    neg,
    sin,
    sinh,
    sqr,
    tan,
    tanh,
    true_div,
)

#: tag of rules whose left sides have wrong slopes where their values are right
MENDS = "mends_gradients"


def family(kind):
    """Return an op of the family."""
    return Elemwise(Removable(kind))


exp_rest, log1p_rest = family("exp_rest"), family("log1p_rest")
sin_rest, tan_rest, langevin = family("sin_rest"), family("tan_rest"), family("langevin")


class Quotients(NamedTuple):
    """The ops for f(x) / x**degree, and for x / f(x) (None: the reciprocal of the former)."""

    above: object
    below: object = None
    degree: int = 1


FAMILY = {
    sin: Quotients(family("sin_by_x"), family("x_by_sin")),
    sinh: Quotients(family("sinh_by_x"), family("x_by_sinh")),
    tanh: Quotients(family("tanh_by_x"), family("x_by_tanh")),
    expm1: Quotients(family("expm1_by_x"), family("x_by_expm1")),
    tan: Quotients(family("tan_by_x")),
    arcsin: Quotients(family("arcsin_by_x")),
    arcsinh: Quotients(family("arcsinh_by_x")),
    arctan: Quotients(family("arctan_by_x")),
    arctanh: Quotients(family("arctanh_by_x")),
    log1p: Quotients(family("log1p_by_x")),
    exp_rest: Quotients(family("exp_rest_by_x2"), degree=2),
    sin_rest: Quotients(family("sin_rest_by_x3"), degree=3),
}
#: functions of infinity that are finite
BOUNDED = frozenset({tanh, arctan})
MAY_CONTAIN = frozenset({*FAMILY, mul, sqr, neg})


def may_vanish_together(op, seen, distinct):
    """Return whether a quotient may have a function of the family, or a product with one."""
    heads = [s[0] if s.__class__ is tuple else s for s in seen]
    return not MAY_CONTAIN.isdisjoint(heads)


def has_function(node):
    """Return whether a function of the family is an operand of a quotient, or of its products."""
    todo = list(node.inputs)
    for v in todo:
        if v.head in FAMILY:
            return True
        if (v.head is mul or v.head is sqr or v.head is neg) and len(todo) < 20:
            todo += v.owner.inputs
    return False


def is_own(f):
    """Return whether the argument of a function has its dtype."""
    return f.owner.inputs[0].type.dtype == f.type.dtype


def times_in(powers, form, sign):
    """Return how many times a monomial is in a product, or in its denominator."""
    counts = [sign * powers.get(key, 0) / p for key, p in form.items()]
    return max(0, int(min(counts, default=0)))


def joined(number, powers, f, own, floats):
    """Return the product with functions and powers of their argument as ops of the family; None if
    there is nothing to join.
    """
    c, form = product_of(f.owner.inputs[0])
    q, d = powers[f], own.degree
    up = q > 0 and min(int(q), times_in(powers, {k: p * d for k, p in form.items()}, -1))
    down = q < 0 and d == 1 and min(int(-q), times_in(powers, form, 1))
    n = up or down
    if not n or not form or any(v.type.dtype not in floats for v in (f, *form)):
        return None  # (an integer has no limit)
    if f.head in BOUNDED and not -1 <= c <= 1:
        return None  # a multiple may be infinite, of which nothing is seen in the function
    sign = 1 if up else -1
    made = own.above if up or own.below is None else own.below
    changes = {f: -n * sign, made(f.owner.inputs[0]): n if made is own.below else n * sign}
    changes |= {key: changes.get(key, 0) + n * sign * d * p for key, p in form.items()}
    new = {key: powers.get(key, 0) + changes.get(key, 0) for key in {**powers, **changes}}
    return number * c ** (n * sign * d), {key: p for key, p in new.items() if p}


@node_rewriter(
    [true_div],
    phase="stabilize",
    claim=approx(ulps=1 << 10),
    depth=4,
    when=may_vanish_together,
    tags=[MENDS],
    keeps=None,
)
def quotient_at_zero(fgraph, node):
    """The quotient of two terms that vanish together is 0 / 0, and its slopes lose all digits near
    it. Not data: the factors may be anywhere in numerators and denominators. (`keeps=None`: factors
    that cancel are still in the argument of the function.)

    >>> x, y = vectors("x y")
    >>> rewritten(sin(x) / x, y * sin(2 * x) / x, x / expm1(x))
    [sin_by_x(x), y * sin_by_x(2.0 * x) * 2.0, x_by_expm1(x)]
    """
    out = node.outputs[0]
    if out.type.kind != "f" or not has_function(node):
        return None
    found, floats = product_of(out), ("float64", "float32")
    for f in [v for v in found[1] if v.head in FAMILY and is_own(v)]:
        if f in found[1]:
            found = joined(*found, f, FAMILY[f.head], floats) or found
    if found is product_of(out):
        return None
    new = Spelling(Power(others=found[1])).term(out.type.dtype)
    if found[0] != 1:  # last, as a multiple of a factor may be infinite
        new = new * constant(found[0], dtype=out.type.dtype)
    return new if out.type.yields_to(new.type) else None


RESTS = table(
    "rests",
    (
        "exp_rest_from_expm1", lambda x: expm1(x) - x >> exp_rest(x), refines,
        "Both terms are x near 0, where nothing would be left.",
        """expm1(x := vector("x")) - x -> exp_rest(x)""",
    ),
    (
        "exp_rest_turned", lambda x: x - expm1(x) >> -exp_rest(x), refines,
        "Both terms are x near 0, where nothing would be left.",
        """(x := vector("x")) - expm1(x) -> -exp_rest(x)""",
    ),
    (
        "sin_rest_from_sin", lambda x: x - sin(x) >> sin_rest(x), refines,
        "Both terms are x near 0, where nothing would be left.",
        """(x := vector("x")) - sin(x) -> sin_rest(x)""",
    ),
    (
        "sin_rest_turned", lambda x: sin(x) - x >> -sin_rest(x), refines,
        "Both terms are x near 0, where nothing would be left.",
        """sin(x := vector("x")) - x -> -sin_rest(x)""",
    ),
    (
        "log1p_rest_from_log1p", lambda x: x - log1p(x) >> log1p_rest(x), refines,
        "Both terms are x near 0, where nothing would be left.",
        """(x := vector("x")) - log1p(x) -> log1p_rest(x)""",
    ),
    (
        "log1p_rest_turned", lambda x: log1p(x) - x >> -log1p_rest(x), refines,
        "Both terms are x near 0, where nothing would be left.",
        """log1p(x := vector("x")) - x -> -log1p_rest(x)""",
    ),
    (
        "tan_rest_from_tan", lambda x: tan(x) - sin(x) >> tan_rest(x), refines,
        "Both terms are x near 0, where nothing would be left.",
        """tan(x := vector("x")) - sin(x) -> tan_rest(x)""",
    ),
    (
        "langevin_from_tanh", lambda x: 1 / tanh(x) - 1 / x >> langevin(x),
        refines, "Both terms are infinite at 0, and their difference is 0.",
        """1 / tanh(x := vector("x")) - 1 / x -> langevin(x)""",
    ),
    phase="stabilize", tags=[MENDS], x=Float,
)  # fmt: skip
