"""Products as trees whose leaves are factors, and how they are written back."""

from dataclasses import dataclass, field
from math import nan, prod

from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.rules.monomials.factor import KNOWN, Factor, is_other_width, known_factors
from rewrite_engine.rules.monomials.linear import (
    DEEP,
    MANY,
    cores,
    is_moderate,
    linear,
    monomial_of,
    number_of,
    size_of,
    written,
)
from rewrite_engine.rules.monomials.part import is_softmax, lifted
from rewrite_engine.tensor import (
    add,
    cast,
    constant,
    cosh,
    erf,
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

PRODUCTS = (mul, true_div, neg, reciprocal)


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
    halves: list = field(default_factory=list)  # the factors of which a half stands here, too

    def is_plain(self):
        """Whether it may be of any size."""
        return not self.changed and self.factors[0].kind is None and self.v.head is not CONSTANT

    def written(self, dtype):
        """The terms that stand here now, to be multiplied."""
        if not self.changed:
            return [self.v]
        parts = [f.written(self.side) for f in self.factors if f.power and not self.rises(f)]
        parts += [f.written(self.side) for f in self.halves]
        if self.number != 1:
            parts.insert(0, constant(self.number, dtype=dtype))
        return parts or [constant(1.0, dtype=dtype)]

    def rises(self, f):
        """Whether a factor below the bar is better above it: it may be 0."""
        may_vanish = f.kind is sigmoid or (f.kind is None and is_softmax(f.term))
        return self.changed and self.side == -1 and may_vanish and f.power > 0


class Product:
    """A term as a product of factors. `fits` tells whether it is one that can be dealt with."""

    touched = False  # whether it was made something else of

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
        v = lifted(self._behind_nans(v), PRODUCTS, of=KNOWN)
        op = v.head
        if depth and v.type.kind == "f":
            if op is mul or op is neg:
                return op, [self._slots(u, side, depth - 1) for u in v.owner.inputs]
            if op is true_div:
                x, y = v.owner.inputs
                return op, [self._slots(x, side, depth - 1), self._slots(y, -side, depth - 1)]
            if op is reciprocal:
                return op, [self._slots(v.owner.inputs[0], -side, depth - 1)]
            if is_other_width(v):
                return op, [self._slots(v.owner.inputs[0], side, depth - 1)]
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
        """The number among the factors; NaN where it cannot be computed with."""
        try:
            value = prod(number_of(f.term) ** f.power for f in self.constants())
        except OverflowError:
            return nan
        value *= prod(slot.number**slot.side for slot in self.slots)
        return value if is_moderate(value, "float64") else nan

    def is_negated(self):
        """Whether signs and numbers make it the opposite of the product of all other factors."""
        numbers = [*(number_of(f.term) for f in self.constants()), *(s.number for s in self.slots)]
        return (self.sign() < 0) != (sum(n < 0 for n in numbers) % 2 == 1)

    def constants(self):
        """The factors that are numbers, and not 0."""
        return [f for f in self.all_factors() if f.kind is None and number_of(f.term)]

    def factors(self):
        """All other factors that are left."""
        return [f for f in self.all_factors() if f.kind is not None or not number_of(f.term)]

    def is_pure(self):
        """Whether there is nothing in it that may be of any size but what is known."""
        return all(f.kind is not None for f in self.factors())

    def changed(self):
        """Whether something was made of it."""
        return self.touched or any(slot.changed for slot in self.slots)

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
        """Whether at most one term of any size is multiplied with them after the first, until they
        meet: then every product on the way was there before, up to the two factors.
        """
        if sum(slot.is_plain() for slot in self.slots) <= 1:
            return True
        low, high = sorted([f.slot.place, g.slot.place])
        end = met(self.tree, low, high)
        others = [*self.slots[low + 1 : high], *self.slots[high + 1 : end + 1]]
        return sum(slot.is_plain() for slot in others) <= 1

    def measure(self):
        """What every step makes smaller, in this order: how many functions there are, how far
        exponentials go, how many these are (two halves are one), and how many NaNs are put in
        front. Signs, numbers, brackets and the order of factors do not count.
        """
        factors = self.factors()
        others = sum(abs(f.power) for f in factors if f.kind is not exp)
        exponentials = [f for f in factors if f.kind is exp]
        far = sum(abs(f.power) * size_of(f.argument) for f in exponentials)
        apart = [
            f
            for i, f in enumerate(exponentials)
            if not any(map(f.is_half_beside, exponentials[:i]))
        ]
        return others, float(f"{far:.9g}"), len(apart), len(self.lost)

    def change(self, f, power, argument=None, kind=None):
        """Give a factor another power, argument or function; what it had is remembered. (A sum has
        all it had in the one that takes its place.)
        """
        if f.kind is not add or kind is not None:
            self.lost.append(f.argument if f.kind in KNOWN else {f.term: 1.0})
        f.slot.changed, f.dtype = True, self.dtype
        f.power, f.kind = power, f.kind if kind is None else kind
        f.argument = f.argument if argument is None else argument

    def put(self, f, *new):
        """Factors beside one that is there."""
        for g in new:
            g.slot, g.dtype = f.slot, self.dtype
        f.slot.factors.extend(new)
        f.slot.changed = True

    def written(self):
        """The product as a term, but for the NaNs that it no longer shows."""
        exponentials = [f for f in self.factors() if f.kind is exp]
        for f in exponentials:
            others = [g for g in exponentials if g is not f]
            if any(cores(g.argument) & cores(f.argument) for g in others):
                f.other = None  # halves would be taken together again
        for slot in self.slots:
            slot.halves = [f for f in exponentials if f.other is slot]
        parts = self.operands(self.tree)
        for slot in self.extra:
            if slot.number != 1 or slot.halves or any(f.power for f in slot.factors):
                parts += slot.written(self.dtype)
        for slot in self.slots:
            parts += [f.written(1) for f in slot.factors if slot.rises(f)]
        return self.multiplied(parts)

    def operands(self, tree):
        """What a part of the product is the product of."""
        if isinstance(tree, Slot):
            return tree.written(self.dtype)
        op, trees = tree
        parts = [self.operands(t) for t in trees]
        if op is not mul:
            return [op(*map(self.multiplied, parts))]
        apart = [
            p if isinstance(t, Slot) else [self.multiplied(p)]  # in the order, and dtype, it has
            for t, p in zip(trees, parts, strict=True)
        ]
        return [v for p in apart for v in p]

    def multiplied(self, parts):
        """The product of terms. (Integers alone would wrap around.)"""
        if sum(v.type.kind != "f" for v in parts) > (len(parts) > 1):
            parts = [v if v.type.kind == "f" else cast(v, self.dtype) for v in parts]
        return mul(*parts) if len(parts) > 1 else parts[0]

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
            v = written(parts, value.type.dtype)
            value = switch(isnan(v), v, value)
            shown.append(wanted)
    return value


def met(tree, low, high):
    """The last of the slots that are multiplied before two of them meet."""
    if tree is None or high > end_of(tree, -1):
        return high
    while isinstance(tree, tuple):
        inside = next(t for t in tree[1] if end_of(t, -1) >= high)
        if end_of(inside, 0) > low:
            return end_of(inside, -1)
        tree = inside
    return high


def end_of(tree, which):
    """The place of the first (0) or the last (-1) slot of a tree."""
    while isinstance(tree, tuple):
        tree = tree[1][which]
    return tree.place


def _sign(tree):
    if not isinstance(tree, tuple):
        return 1
    op, trees = tree
    return prod(map(_sign, trees)) * (-1 if op is neg else 1)


SHOWS = frozenset(
    {add, sub, mul, true_div, neg, reciprocal, sqr, sqrt, exp, expm1, log, log1p, sigmoid, softplus}
    | {erf, erfc, erfcx, cosh, sinh, tanh, logaddexp}
)


def showing(v):
    """Variables whose NaN v shows: some of them, the nearest."""
    found, todo = {v}, [v]
    for u in todo:
        if u.head in SHOWS and len(todo) < 50:
            found.add(monomial_of(u))
            todo += [w for w in u.owner.inputs if w not in found]
            found.update(u.owner.inputs)
    return found
