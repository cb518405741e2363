"""Factors: what is known of a term that stands in a product."""

from dataclasses import dataclass

import numpy as np

from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.rules.monomials.linear import (
    MANY,
    combined,
    is_moderate,
    is_other_width,
    linear,
    number_of,
    times,
    written,
)
from rewrite_engine.rules.monomials.part import is_softmax, lifted
from rewrite_engine.scalar.dtype import promote
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
    mul,
    neg,
    pow,
    reciprocal,
    sigmoid,
    sinh,
    sqr,
    sqrt,
    sub,
    tanh,
    true_div,
)

ABOVE_ZERO = frozenset({exp, sigmoid, erfc, erfcx, cosh})
BELOW_ONE = frozenset({tanh, erf})
KNOWN = ABOVE_ZERO | BELOW_ONE | {sinh, expm1}
DESCENDED = frozenset({mul, true_div, neg, reciprocal, sqr, sqrt, pow})
LIFTED = KNOWN | {add, sub}


def is_descended(v):
    """Whether a product may be read on in the operands of what computes v."""
    return v.head in DESCENDED or is_other_width(v)


@dataclass(eq=False)
class Factor:
    """kind(argument) ** power. kind: one of KNOWN; `add` for a sum; None for anything else, whose
    argument is then the term itself. other: the slot where a half of exp(x) stands, if one does: it
    is then written as exp(x / 2) there, and in its own.
    """

    kind: object
    argument: dict
    power: float
    slot: object = None
    term: object = None
    dtype: str | None = None
    other: object = None

    def is_like(self, other):
        """Whether two factors have the same base."""
        if self.kind is not other.kind:
            return False
        if self.kind in KNOWN:
            return not combined(self.argument, other.argument, -1.0)
        return self.term is other.term

    def is_half_beside(self, other):
        """Whether two exponentials are the halves of one, above the bar or below it."""
        halves = times(self.argument, self.power), times(other.argument, other.power)
        return self.kind is other.kind is exp and not combined(*halves, -1.0)

    def times(self, other):
        """How many times the base of another factor its own is; 0 if there is no such number."""
        if self.is_like(other):
            return 1.0
        if self.kind is other.kind is None and self.term.head is other.term.head is CONSTANT:
            return multiple(self.term.data, other.term.data)
        return 0.0

    def base(self, side=1):
        """The term, up to its power; the reciprocal of it for side=-1."""
        if self.kind not in KNOWN:
            return self.term if side == 1 else reciprocal(self.term)
        if self.kind is sigmoid and side == -1:
            return 1 + exp(self.written_argument(-1.0))
        value = self.kind(self.written_argument())
        return value if side == 1 else reciprocal(value)

    def written_argument(self, scale=1.0):
        """A multiple of the argument as a term of the dtype of the factor, or of a wider one."""
        value = written(times(self.argument, scale), self.dtype)
        if isinstance(value, float):
            return constant(value, dtype=self.dtype)
        if self.dtype is None or promote(value.type.dtype, self.dtype) == value.type.dtype:
            return value  # a narrower dtype would take its digits away
        return cast(value, self.dtype)

    def whole(self):
        """The argument as one term, where it is a difference: beside terms of others it would lose
        what is left of large ones.
        """
        signs = {c > 0 for c in self.argument.values()}
        return {self.written_argument(): 1.0} if len(signs) > 1 else self.argument

    def written(self, side):
        """The factor, or its half, as it stands above (1) or below (-1) the bar."""
        power = self.power * side
        if self.kind is exp:
            return exp(self.written_argument(power if self.other is None else power / 2))
        base = self.base(1 if power > 0 else -1)
        power = abs(power)
        of = {0.5: sqrt, 1: lambda x: x, 2: sqr}.get(power, lambda x: pow(x, power))
        return of(base)


def multiple(a, b):
    """How many times b an array is: signs and numbers have been taken into constants."""
    if a.shape != b.shape or not a.size or a.dtype != b.dtype or a.dtype.kind != "f":
        return 0.0
    first = (0,) * a.ndim
    c = float(a[first]) / float(b[first]) if a[first] and b[first] else 0.0
    is_multiple = is_moderate(c, a.dtype.name) and np.array_equal(a, b * a.dtype.type(c))
    return c if is_multiple else 0.0


def as_float(x, dtype):
    """An argument of a function whose values are floats: integers would wrap around (those that
    are rounded are taken as they are).
    """
    if x.type.kind == "f" or (x.type.kind in "iu" and np.iinfo(x.type.dtype).bits > 32):
        return x
    return cast(x, dtype)


def floats_of(v):
    """The linear form of the argument of v, or None. An integer that no float rounds is a term of
    it as it is, so that equal ones are one, and is written as a float.
    """
    (x,) = v.owner.inputs
    is_exact = x.type.kind in "biu" and np.dtype(x.type.dtype).itemsize <= 4
    if is_exact and promote(x.type.dtype, v.type.dtype) == v.type.dtype:
        return {x: 1.0}
    x = as_float(x, v.type.dtype)
    return linear(x) if x.type.kind == v.type.kind == "f" else None


def known_factors(v):
    """The factors of a term that is no product, and a number before them; None for others."""
    v = lifted(v, LIFTED)
    op = v.head
    if op is sqr or op is sqrt or op is pow:
        return _power(v)
    if op in KNOWN:
        u = floats_of(v)
        return ([Factor(op, u, 1.0, dtype=v.type.dtype)], 1.0) if u else None
    if op is add or op is sub:
        return _sum_factors(v)
    return None


def _power(v):
    base = v.owner.inputs[0]
    power = {sqr: 2.0, sqrt: 0.5}.get(v.head) or number_of(v.owner.inputs[1])
    if power and is_softmax(base):
        return [Factor(None, {}, power, term=base)], 1.0
    if not power or base.head not in ABOVE_ZERO | {add}:
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
    terms = [(s, lifted(t, LIFTED)) for s, t in summands(v)]
    if len(terms) > MANY:
        return None
    if len(terms) == 2:
        ((s, a), (t, b)) = terms
        a, b, s, t = (a, b, s, t) if number_of(a) is not None else (b, a, t, s)
        if number_of(a) == s == 1 and b.head is exp and t == 1:
            u = floats_of(b)
            return ([Factor(sigmoid, times(u, -1.0), -1.0, dtype=b.type.dtype)], 1.0) if u else None
        if number_of(a) == s == 1 and t == -1 and b.head is sigmoid:
            u = floats_of(b)
            return ([Factor(sigmoid, times(u, -1.0), 1.0, dtype=b.type.dtype)], 1.0) if u else None
        if number_of(a) == s == 1 and t == -1 and b.head is sqr:
            inner = b.owner.inputs[0]
            if inner.head is tanh:
                u = floats_of(inner) or {}
                pair = [Factor(sigmoid, times(u, c), 1.0, dtype=b.type.dtype) for c in (2.0, -2.0)]
                return (pair, 4.0) if u else None
    if any(has_known(term, ABOVE_ZERO | {erf}) for _, term in terms):
        return [Factor(add, {}, 1.0, term=v)], 1.0
    return None


def has_known(v, kinds=ABOVE_ZERO, depth=3):
    """Whether a product has one of some functions as a factor."""
    v = lifted(v, LIFTED)
    if v.head in kinds:
        return True
    if depth and is_descended(v):
        return any(has_known(u, kinds, depth - 1) for u in v.owner.inputs)
    return False


def summands(v):
    """The terms of a sum with their signs."""
    if v.head is neg:
        return [(-s, u) for s, u in summands(v.owner.inputs[0])]
    if v.head is add:
        return [signed_term(u) for u in v.owner.inputs]
    if v.head is sub:
        x, (s, y) = v.owner.inputs[0], signed_term(v.owner.inputs[1])
        return [signed_term(x), (-s, y)]
    return [(1, v)]


def signed_term(v):
    """A sign, and what it is of."""
    return (-1, v.owner.inputs[0]) if v.head is neg else (1, v)
