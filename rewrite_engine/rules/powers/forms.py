"""Linear forms, {term: coefficient}, as which the arguments of exponentials are compared.

A term is a variable, a product without signs and numbers (`Monomial`), a `Square`, or `ONE` for the
number. A term computed in a narrower dtype than the whole is a variable: its rounding is part of
its value. A form with more than `MAX_FORM_TERMS` terms is a variable, so that reading is linear in
a graph's size.
"""

from math import isfinite

from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.match.fact import because, fact
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import add, cast, constant, mul, neg, pow, sqr, sub, true_div

ONE = None  # the key of the number in a linear form
MAX_FORM_TERMS = 12  # and factors of a product; a term with more is a variable
RELATIVE_TOLERANCE = 1e-15
#: a coefficient beyond it, or below its reciprocal, is not computed with: a product of two of them
#: is a normal number, and so is any square with one, if the exponential of both is
MAX_COEFFICIENT = {"float64": 1e60, "float32": 1e12, "float16": 1e2}
SIGNED = frozenset({neg, mul, true_div})


def number_of(v):
    """Return the finite real number of a constant, else None."""
    number = v.number if v.head is CONSTANT else None
    if number is None or isinstance(number, complex) or not isfinite(number):
        return None
    return float(number)


def is_moderate(c, dtype):
    """Return whether a number may be computed with."""
    return 1 / MAX_COEFFICIENT[dtype] <= abs(c) <= MAX_COEFFICIENT[dtype]


class Monomial:
    """A product of variables, {variable: power}; equal whatever their order. term: a term that is
    `number` times it.
    """

    __slots__ = ("key", "number", "term")

    def __init__(self, powers, term, number):
        self.key, self.term, self.number = frozenset(powers.items()), term, number

    def __eq__(self, other):
        return isinstance(other, Monomial) and self.key == other.key

    def __hash__(self):
        return hash(self.key)


class Square:
    """The square of a linear form, whose largest coefficient is 1. Squares are equal whatever the
    order of their terms, their overall sign, and rounding.
    """

    __slots__ = ("key", "root")

    def __init__(self, root):
        self.root = root
        self.key = frozenset({frozenset(times(root, sign).items()) for sign in (1.0, -1.0)})

    def __eq__(self, other):
        return isinstance(other, Square) and self.key == other.key

    def __hash__(self):
        return hash(self.key)


# --- reading --------------------------------------------------------------------------------------


def linear(v):
    """Return a float as a linear form, {term: coefficient}. Made once per term; must not be
    changed.
    """
    return linear_form(v).value


@fact(depth=2)
def linear_form(v):
    """Terms of a sum as a linear form (`Evidence.value`)."""
    form = read_form(v)
    if form is None or len(form) > MAX_FORM_TERMS or not all(map(moderate_in(v), form.values())):
        form = {unwidened(v): 1.0}
    return because("it is a linear form", value=form)


def moderate_in(v):
    """Return whether a number may be computed with, in the dtype of a term."""
    return lambda c: is_moderate(c, v.type.dtype)


def read_form(v):
    """Return the terms of a sum, of a multiple, or one term. None for x - x, which shows the NaNs
    of x, and has its shape.
    """
    number = number_of(v)
    if number is not None:
        return {ONE: number} if number else {}
    head = v.head
    if head is add or head is sub:
        form = {}
        for i, u in enumerate(v.owner.inputs):
            more = form_of_operand(u, v)
            new = combined(form, more, -1.0 if i and head is sub else 1.0)
            if any(key not in new for key in (*form, *more) if key is not ONE):
                return None
            form = new
        return form
    if head is neg:
        return times(form_of_operand(v.owner.inputs[0], v), -1.0)
    if head is mul or head is true_div or head is sqr:
        return read_multiple(v)
    return {unwidened(v): 1.0}


def form_of_operand(u, v):
    """Return the form of an operand of v; an operand in a narrower dtype is a variable."""
    number = number_of(u)
    if number is not None:
        return {ONE: number} if number else {}
    return linear(u) if u.type.dtype == v.type.dtype else {unwidened(u): 1.0}


def read_multiple(v):
    """Return a multiple of a linear form, or of its square; or a monomial."""
    number, powers = product_of(v)
    if not powers:
        return {ONE: number} if number else {}
    if len(powers) == 1:
        ((u, p),) = powers.items()
        if p == 1 and u is not v and u.type.dtype == v.type.dtype:
            return times(linear(u), number)
        if p == 2 and u.type.dtype == v.type.dtype and is_moderate(number, v.type.dtype):
            return times(squared(linear(u)), number)
    if list(powers) == [v]:
        return {v: 1.0}
    return {Monomial(powers, v, number): number}


def product_of(v):
    """Return a product as (number, {variable: power}). Made once per term."""
    return simple_product(v).value


@fact(depth=2)
def simple_product(v):
    """Factors of a product (`Evidence.value`)."""
    number, powers = read_product(v)
    if len(powers) > MAX_FORM_TERMS or not (number == 0 or is_moderate(number, v.type.dtype)):
        number, powers = 1.0, {v: 1}
    return because("it is a product", value=(number, powers))


def read_product(v):
    """Return the number and the other factors of a product; signs are numbers."""
    number = number_of(v)
    if number is not None:
        return number, {}
    head = v.head
    if head is CONSTANT and v.type.kind == "f":
        opposite, sign = signed(v)
        return sign, {opposite: 1}
    if head is sqr:
        c, powers = operand_product(v.owner.inputs[0], v)
        return c * c, {u: 2 * p for u, p in powers.items()}
    if head is pow and (n := whole_exponent(v)):
        c, powers = operand_product(v.owner.inputs[0], v)
        return c**n, {u: n * p for u, p in powers.items()}
    if head not in SIGNED:
        return 1.0, {unwidened(v): 1}
    number, powers = (-1.0 if head is neg else 1.0), {}
    for i, u in enumerate(v.owner.inputs):
        c, more = operand_product(u, v)
        side = -1 if i and head is true_div else 1
        if c == 0:
            return 1.0, {v: 1}
        number = number * c if side == 1 else number / c
        new = added(powers, more, side)
        if any(key not in new for key in more):
            return 1.0, {v: 1}  # x / x shows the NaNs of x, and has its shape
        powers = new
    return number, powers


def whole_exponent(v):
    """Return the exponent of a power, if it is a small whole number above 0; else None."""
    n = number_of(v.owner.inputs[1])
    return int(n) if n and n == int(n) and 0 < n <= MAX_FORM_TERMS else None


def operand_product(u, v):
    """Return the factors of an operand of v; an operand in a narrower dtype is a variable."""
    if number_of(u) is not None or u.type.dtype == v.type.dtype:
        return product_of(u) if number_of(u) is None else (number_of(u), {})
    return 1.0, {unwidened(u): 1}


_opposites = {}


def signed(v):
    """Return an array of constants that begins with a positive number, and the removed sign (rules
    put signs into such arrays).
    """
    begin = v.data[v.data != 0][:1]
    if not (begin < 0).any():
        return v, 1.0
    key = v.signature()
    if key not in _opposites:
        if len(_opposites) > 1000:
            _opposites.clear()
        _opposites[key] = constant(-v.data)
    return _opposites[key], -1.0


# --- arithmetic -----------------------------------------------------------------------------------


def added(a, b, factor=1):
    """Return {key: power} of a product, or of a quotient."""
    powers = dict(a)
    for key, p in b.items():
        q = powers.pop(key, 0) + factor * p
        if q:
            powers[key] = q
    return powers


def combined(a, b, factor=1.0):
    """Return a + factor * b, without terms that only rounding keeps from 0."""
    parts = dict(a)
    for key, c in b.items():
        old = parts.pop(key, 0.0)
        new = old + factor * c
        if abs(new) > RELATIVE_TOLERANCE * abs(old):
            parts[key] = new
    return parts


def times(a, factor):
    """Return a multiple of a linear form."""
    return {key: factor * c for key, c in a.items()} if factor else {}


def squared(a):
    """Return the square of a linear form, as one."""
    if not a:
        return {}
    sizes = [abs(c) for key, c in a.items() if key is not ONE or len(a) == 1]
    scale = max(sizes)
    root = {key: float(f"{c / scale:.15g}") for key, c in a.items()}
    if list(root) == [ONE]:
        return {ONE: a[ONE] * a[ONE]}
    return {Square(root): scale * scale}


def along(a, b):
    """Return how many times b is in a, apart from numbers: every term of a becomes smaller when
    that much is subtracted. 0 if there is no such multiple.
    """
    found = [a.get(key, 0.0) / c for key, c in b.items() if key is not ONE]
    if not found or min(found) < 0 < max(found):
        return 0.0
    return min(found, key=abs)


# --- writing --------------------------------------------------------------------------------------


def is_other_width(v):
    """Return whether v is a float in another dtype."""
    return (
        isinstance(getattr(v.head, "scalar_op", None), Cast)
        and v.type.kind == v.owner.inputs[0].type.kind == "f"
    )


def unwidened(v):
    """Return a float before its cast to a wider dtype."""
    x = v.owner.inputs[0] if is_other_width(v) else v
    return v if widened(x, v.type.dtype) is x else x


def widened(v, dtype):
    """Return a term in a dtype, if its own is a narrower one."""
    if dtype is None or v.type.dtype == dtype or promote(v.type.dtype, dtype) != dtype:
        return v
    return cast(v, dtype)


def written(form, dtype):
    """Return a linear form as a term of a dtype."""
    plus, minus = [], []
    for key, c in form.items():
        if key is ONE:
            plus.append(c)
            continue
        if isinstance(key, Monomial):
            v, c = widened(key.term, dtype), c / key.number
        else:
            v = sqr(written(key.root, dtype)) if isinstance(key, Square) else widened(key, dtype)
        if abs(c) != 1:
            v = abs(c) * v
        (plus if c > 0 else minus).append(v)
    numbers = [v for v in plus if isinstance(v, float)]
    plus = [v for v in plus if not isinstance(v, float)] + numbers
    if not plus:
        value = -joined(minus) if minus else 0.0
    else:
        value = joined(plus) - joined(minus) if minus else joined(plus)
    return constant(value, dtype=dtype) if isinstance(value, float) else cast(value, dtype)


def joined(terms):
    """Return the sum of terms."""
    return add(*terms) if len(terms) > 1 else terms[0]
