"""Linear forms, {term: coefficient}: what the arguments of exponentials are compared as. A term is
a variable, a product without signs and numbers (`Monomial`), or a square (a tuple).
"""

from collections import Counter
from math import isfinite

from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.scalar.dtype import promote
from rewrite_engine.tensor import add, cast, mul, neg, reciprocal, sqr, sub, true_div

ONE = None  # the key of the number in a linear form
DEEP = 8  # levels of a product, or of a linear form, that are looked into
MANY = 12  # factors in a product, terms in a sum
TOLERANCE = 1e-15
LARGE = 1e60  # a coefficient beyond it, or below its reciprocal, is not computed with


def number_of(v):
    """The finite real number that a constant is, else None."""
    number = v.number if v.head is CONSTANT else None
    if number is None or isinstance(number, complex) or not isfinite(number):
        return None
    return float(number)


class Monomial:
    """A product of variables, some of them below the bar; equal whatever their order."""

    __slots__ = ("above", "below", "key")

    def __init__(self, above, below):
        self.above, self.below = tuple(above), tuple(below)
        self.key = frozenset(Counter(above).items()), frozenset(Counter(below).items())

    def __eq__(self, other):
        return isinstance(other, Monomial) and self.key == other.key

    def __hash__(self):
        return hash(self.key)

    def written(self, dtype):
        """The product as a term, computed in a dtype or in a wider one."""
        parts = [[widened(v, dtype) for v in side] for side in (self.above, self.below)]
        above, *below = [mul(*side) if len(side) > 1 else side[0] for side in parts if side]
        if not self.above:
            return reciprocal(above)
        return true_div(above, *below) if below else above


def monomial_of(v):
    """v as a monomial, and how many times; (None, 1.0) if it is no product."""
    if v.head is not mul and v.head is not true_div:
        return None, 1.0
    sides, factor, todo = ([], []), 1.0, [(v, 1)]
    for u, side in todo:
        number = number_of(u)
        if number:
            factor = factor * number if side == 1 else factor / number
        elif u.head in SIGNED and u.type.kind == "f" and is_of_floats(u) and len(todo) < 2 * MANY:
            factor = -factor if u.head is neg else factor
            sign = -side if u.head is true_div else side
            inputs = u.owner.inputs
            todo += [(w, side if i == 0 else sign) for i, w in enumerate(inputs)]
        else:
            sides[side < 0].append(u)
    above, below = sides
    if len(above) + len(below) < 2 or not 1 / LARGE < abs(factor) < LARGE:
        return None, 1.0
    return Monomial(above, below), factor


SIGNED = frozenset({neg, mul, true_div})


def linear(v):
    """v as {term: coefficient}; a square of a linear form is a term with a key of its own."""
    parts = {}
    _add_linear(v, 1.0, parts, DEEP)
    if all(1 / LARGE <= abs(c) <= LARGE for c in parts.values()):
        return parts
    return {v: 1.0}  # x - x shows the NaNs of x


def is_of_floats(v):
    """Whether what computes v has floats and numbers to do it from."""
    return v.owner is not None and all(
        u.type.kind == "f" or u.head is CONSTANT for u in v.owner.inputs
    )


def _add_linear(v, scale, parts, depth):
    """Add scale * v to the parts."""
    op, number = v.head if depth and is_of_floats(v) else v, number_of(v)
    if number is not None:
        parts[ONE] = parts.get(ONE, 0.0) + scale * number
        return
    if op is neg or op is add or op is sub:
        signs = (-1.0,) if op is neg else (1.0, -1.0) if op is sub else None
        for i, u in enumerate(v.owner.inputs):
            _add_linear(u, scale * (signs[i] if signs else 1.0), parts, depth - 1)
        return
    inner, factor = _scaled(op, v)
    if inner is not None:
        _add_linear(inner, scale * factor, parts, depth - 1)
        return
    key, factor = _square(v) if op is sqr else monomial_of(v) if op is not v else (None, 1.0)
    key = v if key is None else key
    parts[key] = parts.get(key, 0.0) + scale * factor


def _scaled(op, v):
    """What v is a multiple of, and how many times."""
    if op is mul or op is true_div:
        *rest, last = v.owner.inputs
        if len(rest) == 1:
            number = number_of(last)
            if number:
                return rest[0], number if op is mul else 1 / number
            number = number_of(rest[0]) if op is mul else None
            if number:
                return last, number
    return None, 1.0


def _square(v):
    """The key of a square: its root, made to begin with 1; and the square of what this took."""
    parts = linear(v.owner.inputs[0])
    if not parts or len(parts) > MANY:
        return v, 1.0
    scale = next(iter(parts.values()))
    return (sqr, frozenset({key: c / scale for key, c in parts.items()}.items())), scale * scale


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
    scale = next(iter(a.values()), 0.0)
    if not scale:
        return {}
    key = (sqr, frozenset({key: c / scale for key, c in a.items()}.items()))
    return {key: scale * scale}


def along(a, b):
    """How many times b is in a, numbers aside: every term of a becomes smaller if so much is taken
    away. 0 if it is not.
    """
    times = [a.get(key, 0.0) / c for key, c in b.items() if key is not ONE]
    if not times or min(times) < 0 < max(times):
        return 0.0
    return min(times, key=abs)


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
            v = key.written(dtype)
        else:
            v = sqr(written(dict(key[1]), dtype)) if isinstance(key, tuple) else widened(key, dtype)
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
        if isinstance(key, tuple):
            found |= cores(dict(key[1]))
        elif key is not ONE:
            found.add(key)
    return found
