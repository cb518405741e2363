"""Linear forms, {term: coefficient}: what the arguments of exponentials are compared as. A term is
a variable, a product without signs and numbers (`Monomial`), or a `Square`. What is computed in a
narrower dtype than the whole is a variable: its rounding is part of its value.
"""

from collections import Counter
from math import isfinite
from weakref import WeakKeyDictionary

from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.rules.monomials.part import lifted, takes_part
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import (
    add,
    cast,
    constant,
    mul,
    neg,
    sqr,
    sub,
    true_div,
)

ONE = None  # the key of the number in a linear form
DEEP = 8  # levels of a product, or of a linear form, that are looked into
MANY = 12  # factors in a product, terms in a sum
TOLERANCE = 1e-15
#: a coefficient beyond it, or below its reciprocal, is not computed with: a product of two of them
#: is a normal number, and so is any square beside one, if the exponential of both is
LARGE = {"float64": 1e60, "float32": 1e12, "float16": 1e2}


def number_of(v):
    """The finite real number that a constant is, else None."""
    number = v.number if v.head is CONSTANT else None
    if number is None or isinstance(number, complex) or not isfinite(number):
        return None
    return float(number)


class Monomial:
    """A product of variables, some of them below the bar; equal whatever their order. term: where
    it was found, so many times (`number`) it.
    """

    __slots__ = ("key", "number", "term")

    def __init__(self, above, below, term, number):
        self.term, self.number = term, number
        sides = [Counter(map(_known, side)).items() for side in (above, below)]
        self.key = tuple(map(frozenset, sides))

    def __eq__(self, other):
        return isinstance(other, Monomial) and self.key == other.key

    def __hash__(self):
        return hash(self.key)

    def written(self, dtype):
        """The term that was found, in a dtype or in a wider one, and how many times the product it
        is. (In another order a product may overflow, in a wider dtype it is rounded otherwise.)
        """
        return widened(self.term, dtype), self.number


def _known(v):
    """What equal factors have in common: the value of constants, what a part is taken from."""
    if takes_part(v):
        return (v.owner.op, v.index, *map(_known, v.owner.inputs))
    return v.signature() if v.head is CONSTANT else v


def signed(v):
    """An array of constants that begins with a positive number, and the sign that was taken away
    (rules put signs into such arrays).
    """
    if v not in _opposites:
        begin = v.data[v.data != 0][:1]
        _opposites[v] = constant(-v.data) if (begin < 0).any() else None
    opposite = _opposites[v]
    return (v, 1.0) if opposite is None else (opposite, -1.0)


_opposites = WeakKeyDictionary()


def factors_of(v):
    """The factors of v above and below the bar, signs and numbers aside, and the number."""
    sides, number, todo = ([], []), 1.0, [(v, 1)]
    for u, side in todo:
        head = u.head
        if head is CONSTANT:
            known = number_of(u)
            if known:
                number = number * known if side == 1 else number / known
                continue
            if u.type.kind == "f":
                u, sign = signed(u)
                number *= sign
        elif head in SIGNED and (u is v or is_read(u, v.type.dtype)) and len(todo) < 2 * MANY:
            number = -number if head is neg else number
            below = -side if head is true_div else side
            todo += [(w, below if i else side) for i, w in enumerate(u.owner.inputs)]
            continue
        sides[side < 0].append(unwidened(u))
    return (*sides, number)


def monomial_of(v):
    """v as a monomial, if it is a product of several factors, a reciprocal, or a part."""
    if takes_part(v):
        return Monomial((v,), (), v, 1.0)
    above, below, number = factors_of(v) if v.head in SIGNED else ((), (), 1.0)
    return Monomial(above, below, v, number) if below or len(above) > 1 else None


SIGNED = frozenset({neg, mul, true_div})


def linear(v):
    """v as {term: coefficient}; a square of a linear form is a term with a key of its own."""
    parts = {}
    _add_linear(v, 1.0, parts, DEEP, v.type.dtype)
    if all(is_moderate(c, v.type.dtype) for c in parts.values()):
        return parts
    return {v: 1.0}  # x - x shows the NaNs of x


def is_moderate(c, dtype):
    """Whether a coefficient may be computed with."""
    return 1 / LARGE[dtype] <= abs(c) <= LARGE[dtype]


def is_of_floats(v):
    """Whether what computes v has floats and numbers to do it from."""
    return v.owner is not None and all(
        u.type.kind == "f" or u.head is CONSTANT for u in v.owner.inputs
    )


def is_read(v, dtype):
    """Whether what v is computed from may stand for it in a dtype."""
    return is_of_floats(v) and (v.head is neg or widened(v, dtype) is v)


def _add_linear(v, scale, parts, depth, dtype):
    """Add scale * v to the parts."""
    v = lifted(unwidened(v), (neg,))
    op, number = v.head if depth and is_read(v, dtype) else v, number_of(v)
    if number is not None:
        parts[ONE] = parts.get(ONE, 0.0) + scale * number
        return
    if op is add or op is sub:
        first, *rest = v.owner.inputs
        sign = -1.0 if op is sub else 1.0
        for u, s in ((first, 1.0), *[(u, sign) for u in rest]):
            _add_linear(u, scale * s, parts, depth - 1, dtype)
        return
    key, factor = v, 1.0
    if takes_part(v):
        key = monomial_of(v)
    elif op is sqr:
        key, factor = _square(v)
    elif op in SIGNED:
        above, below, factor = factors_of(v)
        if len(above) == 1 and not below:
            _add_linear(above[0], scale * factor, parts, depth - 1, dtype)
            return
        key = Monomial(above, below, v, factor) if above or below else ONE
    parts[key] = parts.get(key, 0.0) + scale * factor


def _square(v):
    """The key of a square, and how many times it the square is."""
    parts = linear(v.owner.inputs[0])
    return Square.of(parts) if parts and len(parts) <= MANY else (v, 1.0)


class Square:
    """The square of a linear form, whose largest coefficient is 1: equal whatever the order of its
    terms, their sign as a whole, and what differs by rounding alone.
    """

    __slots__ = ("key", "root")

    def __init__(self, root):
        self.root = root
        self.key = frozenset({frozenset(times(root, sign).items()) for sign in (1.0, -1.0)})

    @classmethod
    def of(cls, parts):
        """The square of a linear form as a key, and how many times it."""
        sizes = [abs(c) for key, c in parts.items() if key is not ONE or len(parts) == 1]
        scale = max(sizes)
        return cls({key: float(f"{c / scale:.15g}") for key, c in parts.items()}), scale * scale

    def __eq__(self, other):
        return isinstance(other, Square) and self.key == other.key

    def __hash__(self):
        return hash(self.key)


def combined(a, b, factor=1.0):
    """a + factor * b; what is left of equal terms by rounding is nothing."""
    parts = dict(a)
    for key, c in b.items():
        old = parts.pop(key, 0.0)
        new = old + factor * c
        if abs(new) > TOLERANCE * abs(old):
            parts[key] = new
    return parts


def times(a, factor):
    """A multiple of a linear form."""
    return {key: factor * c for key, c in a.items()}


def size_of(a):
    """How far a linear form goes, numbers aside."""
    return sum(abs(c) for key, c in a.items() if key is not ONE)


def squared(a):
    """The square of a linear form, as one."""
    if not any(a.values()):
        return {}
    key, factor = Square.of(a)
    return {key: factor}


def along(a, b):
    """How many times b is in a, numbers aside: every term of a becomes smaller if so much is taken
    away. 0 if it is not.
    """
    times = [a.get(key, 0.0) / c for key, c in b.items() if key is not ONE]
    if not times or min(times) < 0 < max(times):
        return 0.0
    return min(times, key=abs)


def is_other_width(v):
    """Whether v is a float in another dtype."""
    return (
        isinstance(getattr(v.head, "scalar_op", None), Cast)
        and v.type.kind == v.owner.inputs[0].type.kind == "f"
    )


def unwidened(v):
    """A float before it was cast to a wider dtype."""
    x = v.owner.inputs[0] if is_other_width(v) else v
    return v if widened(x, v.type.dtype) is x else x


def widened(v, dtype):
    """A term in a dtype, if its own is a narrower one."""
    if dtype is None or v.type.dtype == dtype or promote(v.type.dtype, dtype) != dtype:
        return v
    return cast(v, dtype)


def written(parts, dtype=None):
    """A linear form as a term (or a number), computed in a dtype, or in a wider one."""
    plus, minus = [], []
    for key, c in parts.items():
        if key is ONE:
            plus.append(c)
            continue
        if isinstance(key, Monomial):
            v, number = key.written(dtype)
            c /= number
        else:
            v = sqr(written(key.root, dtype)) if isinstance(key, Square) else widened(key, dtype)
        if abs(c) != 1:
            v = abs(c) * v
        (plus if c > 0 else minus).append(v)
    numbers = [v for v in plus if isinstance(v, float)]
    plus = [v for v in plus if not isinstance(v, float)] + numbers
    if not plus:
        return -_sum(minus) if minus else 0.0
    return _sum(plus) - _sum(minus) if minus else _sum(plus)


def _sum(terms):
    return add(*terms) if len(terms) > 1 else terms[0]


def cores(parts):
    """The variables of a linear form."""
    found = set()
    for key in parts:
        if isinstance(key, Square):
            found |= cores(key.root)
        elif key is not ONE:
            found.add(key)
    return found
