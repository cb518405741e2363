"""Products as powers of positive functions, and what may be done with these: the algebra behind
`rules/saturation.py`.

A product, with quotients, signs, squares and powers in it, is a tree with *slots* at its leaves. A
slot holds *factors*: `exp`, `sigmoid`, `erfc`, `cosh`, `sinh` of a linear form, a sum, or any other
term. `Product.reduce` applies the identities between factors that overflow or underflow one by one
where their product does not; each step takes away factors, or the part of an exponential that
another factor has. What is left is written back where it stood, so that all else is multiplied in
the order in which the user wrote it.
"""

from dataclasses import dataclass, field
from math import isfinite, prod

from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.tensor import (
    add,
    cast,
    constant,
    cosh,
    erfc,
    erfcx,
    exp,
    expm1,
    isnan,
    log,
    log1p,
    logaddexp,
    mul,
    neg,
    pow,
    reciprocal,
    sigmoid,
    sinh,
    softplus,
    sqr,
    sqrt,
    sub,
    switch,
    tanh,
    true_div,
)

ONE = None  # the key of the number in a linear form
DEEP = 8  # levels of a product, or of a linear form, that are looked into
MANY = 12  # factors in a product, terms in a sum
TOLERANCE = 1e-15
ABOVE_ZERO = frozenset({exp, sigmoid, erfc, erfcx, cosh})
KNOWN = ABOVE_ZERO | {sinh, tanh, expm1}


# --- linear forms ---------------------------------------------------------------------------------


def number_of(v):
    """The finite real number that a constant is, else None."""
    number = v.number if v.head is CONSTANT else None
    if number is None or isinstance(number, complex) or not isfinite(number):
        return None
    return float(number)


def linear(v):
    """v as {term: coefficient}; a square of a linear form is a term with a key of its own."""
    parts = {}
    _add_linear(v, 1.0, parts, DEEP)
    return {key: c for key, c in parts.items() if c}


def _add_linear(v, scale, parts, depth):
    """Add scale * v to the parts."""
    op, number = v.head if depth else v, number_of(v)
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
    key, factor = _square(v) if op is sqr else (v, 1.0)
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


def squared(a):
    """The square of a linear form, as one."""
    scale = next(iter(a.values()))
    key = (sqr, frozenset({key: c / scale for key, c in a.items()}.items()))
    return {key: scale * scale}


def along(a, b):
    """How many times b is in a, as far as its first term tells; 0 if it is not."""
    key = next(iter(b))
    return a.get(key, 0.0) / b[key]


def written(parts):
    """A linear form as a term (or a number)."""
    plus, minus = [], []
    for key, c in parts.items():
        if key is ONE:
            plus.append(c)
            continue
        v = sqr(written(dict(key[1]))) if isinstance(key, tuple) else key
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


# --- factors --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Factor:
    """kind(argument) ** power. kind: one of KNOWN; `add` for a sum; None for anything else, whose
    argument is then the term itself.
    """

    kind: object
    argument: dict
    power: float
    slot: object = None
    term: object = None
    dtype: str | None = None

    def is_like(self, other):
        """Whether two factors have the same base."""
        if self.kind is not other.kind:
            return False
        if self.kind in KNOWN:
            return not combined(self.argument, other.argument, -1.0)
        return self.term is other.term

    def base(self, side=1):
        """The term, up to its power; the reciprocal of it for side=-1."""
        if self.kind not in KNOWN:
            return self.term if side == 1 else reciprocal(self.term)
        if self.kind is sigmoid and side == -1:
            return 1 + exp(self.written_argument(-1.0))
        value = self.kind(self.written_argument())
        return value if side == 1 else reciprocal(value)

    def written_argument(self, scale=1.0):
        """A multiple of the argument as a term of the dtype of the factor."""
        value = written(times(self.argument, scale))
        if isinstance(value, float):
            return constant(value, dtype=self.dtype)
        return value if self.dtype in (None, value.type.dtype) else cast(value, self.dtype)

    def written(self, side):
        """The factor as it stands above (1) or below (-1) the bar."""
        power = self.power * side
        if self.kind is exp:
            return exp(self.written_argument(power))
        base = self.base(1 if power > 0 else -1)
        power = abs(power)
        return base if power == 1 else sqr(base) if power == 2 else pow(base, power)


def known_factors(v):
    """The factors of a term that is no product, and a number before them; None for others."""
    op = v.head
    if op is sqr or op is pow:
        return _power(v)
    if op in KNOWN and op is not tanh:
        x = v.owner.inputs[0]
        fits = x.type.dtype == v.type.dtype
        return ([Factor(op, linear(x), 1.0, dtype=v.type.dtype)], 1.0) if fits else None
    if op is add or op is sub:
        return _sum_factors(v)
    return None


def _power(v):
    base = v.owner.inputs[0]
    power = 2.0 if v.head is sqr else number_of(v.owner.inputs[1])
    if not power or base.head in (sqr, pow) or base.head not in ABOVE_ZERO | {add}:
        return None
    found = known_factors(base)
    if found is None or found[1] != 1:
        return None
    for f in found[0]:
        f.power *= power
        if f.kind is add:
            f.term = base
    return found


def _sum_factors(v):
    """1 + exp(u), and 1 - tanh(u)**2, are powers of the sigmoid; other sums stay sums if they have
    exponentials or the like.
    """
    terms = summands(v)
    if len(terms) > MANY:
        return None
    if len(terms) == 2:
        ((s, a), (t, b)) = terms
        a, b, s, t = (a, b, s, t) if number_of(a) is not None else (b, a, t, s)
        if number_of(a) == s == 1 and b.head is exp and t == 1:
            u = linear(b.owner.inputs[0])
            return ([Factor(sigmoid, times(u, -1.0), -1.0, dtype=b.type.dtype)], 1.0) if u else None
        if number_of(a) == s == 1 and t == -1 and b.head is sqr:
            inner = b.owner.inputs[0]
            if inner.head is tanh:
                u = linear(inner.owner.inputs[0])
                pair = [
                    Factor(sigmoid, times(u, c), 1.0, dtype=b.type.dtype) for c in (2.0, -2.0)
                ]
                return (pair, 4.0) if u else None
    if any(has_known(term) for _, term in terms):
        return [Factor(add, {}, 1.0, term=v)], 1.0
    return None


def has_known(v, depth=3):
    """Whether a product has one of the functions as a factor."""
    if v.head in ABOVE_ZERO:
        return True
    if depth and v.head in DESCENDED:
        return any(has_known(u, depth - 1) for u in v.owner.inputs)
    return False


DESCENDED = frozenset({mul, true_div, neg, reciprocal, sqr, pow})


def summands(v):
    """The terms of a sum with their signs."""
    if v.head is neg:
        return [(-s, u) for s, u in summands(v.owner.inputs[0])]
    if v.head is add:
        return [pair for u in v.owner.inputs for pair in (_signed(u))]
    if v.head is sub:
        x, y = v.owner.inputs
        return [*_signed(x), *[(-s, u) for s, u in _signed(y)]]
    return [(1, v)]


def _signed(v):
    if v.head is neg:
        return [(-1, v.owner.inputs[0])]
    return [(1, v)]


# --- products -------------------------------------------------------------------------------------


@dataclass(eq=False)
class Slot:
    """A leaf of a product. side: 1 above the bar, -1 below it. number: what comes with its
    factors."""

    v: object
    side: int
    place: int = 0
    factors: list = field(default_factory=list)
    number: float = 1.0
    changed: bool = False

    def is_plain(self):
        """Whether it may be of any size."""
        return not self.changed and self.factors[0].kind is None and self.v.head is not CONSTANT

    def written(self, dtype):
        """The term that stands here now."""
        if not self.changed:
            return self.v
        parts = [f.written(self.side) for f in self.factors if f.power]
        if self.number != 1:
            parts.insert(0, constant(self.number, dtype=dtype))
        if not parts:
            return constant(1.0, dtype=dtype)
        return mul(*parts) if len(parts) > 1 else parts[0]


class Product:
    """A term as a product of factors. `fits` tells whether it is one that can be dealt with."""

    def __init__(self, v, extra=(), dtype=None):
        self.v, self.dtype = v, dtype or v.type.dtype
        self.slots, self.fits, self.lost = [], True, []
        self.tree = None if v is None else self._slots(v, 1, DEEP)
        self.fits = self.fits and (v is None or v.type.kind == "f")
        for factor in extra:
            slot = Slot(None, 1, len(self.slots), [factor], changed=True)
            factor.slot = slot
            factor.dtype = factor.dtype or self.dtype
            self.slots.append(slot)
        self.extra = self.slots[len(self.slots) - len(extra) :]

    def _slots(self, v, side, depth):
        """Fill `slots`; return the tree: (op, trees) or a slot."""
        v = self._behind_nans(v)
        op = v.head
        if depth and v.type.kind == "f":
            if op is mul or op is neg:
                return op, [self._slots(u, side, depth - 1) for u in v.owner.inputs]
            if op is true_div:
                x, y = v.owner.inputs
                return op, [self._slots(x, side, depth - 1), self._slots(y, -side, depth - 1)]
            if op is reciprocal:
                return op, [self._slots(v.owner.inputs[0], -side, depth - 1)]
        slot = Slot(v, side, len(self.slots))
        self.slots.append(slot)
        self.fits = self.fits and len(self.slots) <= MANY
        found = known_factors(v) if self.fits and v.type.kind == "f" else None
        slot.factors, slot.number = found or ([Factor(None, {}, 1.0, term=v)], 1.0)
        for f in slot.factors:
            f.power *= side
            f.slot = slot
        return slot

    def all_factors(self):
        """All factors that are left."""
        return [f for slot in self.slots for f in slot.factors if f.power]

    def _behind_nans(self, v):
        """What `with_nans` was given: it is put in front again if it is still needed."""
        while v.head is switch and v.owner.inputs[0].head is isnan:
            condition, shown, value = v.owner.inputs
            if condition.owner.inputs[0] is not shown:
                break
            self.lost.append(linear(shown))
            v = value
        return v

    def widen(self):
        """Have what is made anew computed in the dtype of the product."""
        for f in self.factors():
            f.dtype = self.dtype

    def sign(self):
        """1, or -1 for the opposite of the product of all factors."""
        return _sign(self.tree)

    def number(self):
        """The number among the factors."""
        known = [number_of(f.term) ** f.power for f in self.constants()]
        return prod(known) * prod(slot.number**slot.side for slot in self.slots)

    def constants(self):
        """The factors that are numbers, and not 0."""
        return [f for f in self.all_factors() if f.kind is None and number_of(f.term)]

    def factors(self):
        """All other factors that are left."""
        return [f for f in self.all_factors() if f.kind is not None or not number_of(f.term)]

    def changed(self):
        """Whether something was made of it."""
        return any(slot.changed for slot in self.slots)

    def is_known(self):
        """Whether some factor is more than any term."""
        return any(f.kind is not None for f in self.factors())

    def reduce(self, step):
        """Apply a step `(product, factor, factor) -> bool` while it does something; whether it
        did."""
        done = False
        while self._one(step):
            done = True
        return done

    def _one(self, step):
        found = self.factors()
        for i, f in enumerate(found):
            for g in found[i + 1 :]:
                if self.are_near(f, g) and (step(self, f, g) or step(self, g, f)):
                    return True
        return False

    def are_near(self, f, g):
        """Whether at most one term of any size is multiplied in between: then every product on the
        way was there before, up to the two factors.
        """
        low, high = sorted([f.slot.place, g.slot.place])
        return sum(slot.is_plain() for slot in self.slots[low + 1 : high]) <= 1

    def change(self, f, power, argument=None, kind=None):
        """Give a factor another power, argument or function; what it had is remembered. (A sum has
        all it had in the one that takes its place.)
        """
        if f.kind is not add or kind is not None:
            self.lost.append(f.argument if f.kind in KNOWN else {f.term: 1.0})
        f.slot.changed = True
        f.power, f.kind = power, f.kind if kind is None else kind
        f.argument = f.argument if argument is None else argument

    def put(self, f, *new):
        """Factors beside one that is there."""
        for g in new:
            g.slot, g.dtype = f.slot, g.dtype or f.dtype
        f.slot.factors.extend(new)
        f.slot.changed = True

    def written(self):
        """The product as a term, but for the NaNs that it no longer shows."""
        value = self._written(self.tree)
        for slot in self.extra:
            if any(f.power for f in slot.factors):
                value = mul(value, slot.written(self.dtype))
        return value

    def _written(self, tree):
        if isinstance(tree, Slot):
            return tree.written(self.dtype)
        op, trees = tree
        return op(*[self._written(t) for t in trees])

    def shows_again(self):
        """Whether a NaN that was put in front is shown by what has come beside it."""
        return any(map(self.shows, self.lost))

    def shows(self, parts):
        """Whether a factor shows the NaNs of a linear form."""
        return any(cores(parts) <= self.shown_by(f) for f in self.factors())

    def shown_by(self, f):
        """The variables whose NaN a factor shows."""
        return cores(f.argument) if f.kind in KNOWN else showing(f.term)


def with_nans(value, products):
    """A term that shows every NaN that is in one of the products, as it was before."""
    shown = [p.shown_by(f) for p in products for f in p.factors()]
    for parts in [parts for p in products for parts in p.lost]:
        wanted = cores(parts)
        if not any(wanted <= s for s in shown):
            v = written(parts)
            value = switch(isnan(v), v, value)
            shown.append(wanted)
    return value


def _sign(tree):
    if not isinstance(tree, tuple):
        return 1
    op, trees = tree
    return prod(map(_sign, trees)) * (-1 if op is neg else 1)


SHOWS = frozenset(
    {add, sub, mul, true_div, neg, reciprocal, sqr, sqrt, exp, expm1, log, log1p, sigmoid, softplus}
    | {erfc, erfcx, cosh, sinh, tanh, logaddexp}
)


def showing(v):
    """Variables whose NaN v shows: some of them, the nearest."""
    found, todo = {v}, [v]
    for u in todo:
        if u.head in SHOWS and len(todo) < 50:
            todo += [w for w in u.owner.inputs if w not in found]
            found.update(u.owner.inputs)
    return found
