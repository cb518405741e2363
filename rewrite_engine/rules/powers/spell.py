"""Powers written as terms: functions are chosen so that as few as possible may overflow or
underflow.

Along one ray u, (1 + t**k)**-p t**a is |p| sigmoids of k u or of -k u (each of the former absorbs
t**k), and the rest of t**a. If the rest and the other factors form one function (cosh, sinh, tanh,
expm1, erfc), that function is used.
"""

import math
from typing import NamedTuple

from rewrite_engine.facts import nonneg
from rewrite_engine.graph.node import Variable
from rewrite_engine.rules.powers.forms import (
    ONE,
    Square,
    along,
    combined,
    linear,
    squared,
    times,
    widened,
    written,
)
from rewrite_engine.rules.powers.power import Power, ray_of
from rewrite_engine.tensor import (
    constant,
    cosh,
    erf,
    erfc,
    erfcx,
    exp,
    expm1,
    mul,
    pow,
    reciprocal,
    sech2,
    sigmoid,
    sinh,
    sqr,
    sqrt,
    tanh,
)


class Atom(NamedTuple):
    """The factor function(form) ** power of a product."""

    function: object
    form: dict
    power: float

    @property
    def risk(self):
        """Return whether it may overflow: be infinite, or 0 in a denominator."""
        above, below = RISKS[self.function]
        if self.function is exp:
            return not is_bounded(times(self.form, self.power))
        if self.function is expm1 and self.power > 0:
            return not is_bounded(self.form)
        return bool(above if self.power > 0 else below)

    @property
    def vanishes(self):
        """Return whether it may underflow: be 0, or infinite in a denominator."""
        above, below = RISKS[self.function]
        if self.function is exp:
            return not is_bounded(times(self.form, -self.power))
        return bool(below if self.power > 0 else above)

    @property
    def direction(self):
        """Return a key that is equal for functions that overflow together."""
        sign = 1 if self.power > 0 else -1
        if self.function is exp:
            return exp, ray_of(times(self.form, self.power))
        return self.function, frozenset(self.form.items()), sign


#: whether a function may overflow above the bar, and be 0 below it
RISKS = {
    exp: (1, 1), expm1: (1, 1), sinh: (1, 1), cosh: (1, 0), sigmoid: (0, 1), tanh: (0, 1),
    erfc: (0, 1), erfcx: (1, 1), erf: (0, 1), sech2: (0, 1),
}  # fmt: skip


def is_below_zero(form):
    """Return whether a linear form of squares, and terms not below 0, is never above 0."""
    return all(
        c < 0
        and (key is ONE or isinstance(key, Square) or (isinstance(key, Variable) and nonneg(key)))
        for key, c in form.items()
    )


def is_bounded(form):
    """Return whether the exponential of a linear form is known never to be large, such as that of x
    - exp(x).
    """
    if is_below_zero(form):
        return True
    for key, c in form.items():
        if c < 0 and getattr(key, "head", None) is exp:
            u = linear(key.owner.inputs[0])
            rest = {k: c for k, c in form.items() if k is not key}
            n = along(rest, u)
            if n > 0 and is_below_zero(combined(rest, u, -n)):
                return True
    return False


class Spelling:
    """A power as functions: `number` times `atoms`, and its other terms."""

    def __init__(self, p: Power):
        self.number, self.form, self.others = p.number, dict(p.form), p.others
        self.atoms = []
        by_ray = {}
        for f, q in p.factors.items():
            if f.kind is erfcx:
                self.put_erfc(dict(f.ray), q)
            elif f.kind is erf:
                self.put(erf, dict(f.ray), q)
            else:
                by_ray.setdefault(f.ray, {})[f.scale, f.kind] = q
        for ray, factors in by_ray.items():
            Ray(self, dict(ray), factors).write()
        if set(self.form) == {ONE} and abs(self.form[ONE]) < 500:
            self.number *= math.exp(self.form.pop(ONE))
        self.put(exp, self.form, 1 if self.form else 0)

    def put(self, function, form, power):
        """Add a function, if its power is not 0."""
        if power:
            self.atoms.append(Atom(function, form, power))

    def put_erfc(self, u, power):
        """Add erfcx(u), or erfc(u) for as many factors exp(-u**2) as there are."""
        square = squared(u)
        there = -along(self.form, square) / power
        n = power if there >= 1 - 1e-12 else 0
        if n:
            self.form = combined(self.form, square, n)
        self.put(erfc, u, n)
        self.put(erfcx, u, power - n)

    @property
    def risk(self):
        """Return how many of its functions may overflow or underflow."""
        return sum([a.risk for a in self.atoms])

    @property
    def functions(self):
        """Return the number of functions to compute."""
        return len(self.atoms)

    @property
    def passes(self):
        """Return the number of operations in addition to the functions."""
        parts = [*self.others.values(), *[a.power for a in self.atoms]]
        count = len(parts) - 1 + sum([abs(q) != 1 for q in parts]) + (abs(self.number) != 1)
        turned = self.number == -1 or (abs(self.number) == 1 and max(parts, default=1) < 0)
        return count + turned + sum([passes(a.form) for a in self.atoms])

    def term(self, dtype, exponent=None):
        """Return the whole as a term of a dtype. exponent: another way to write the form."""
        above, below = [], []
        for v, q in self.others.items():
            (above if q > 0 else below).append(raised(widened(v, dtype), abs(q)))
        for function, form, q in self.atoms:
            if form is self.form and exponent is not None:
                form = exponent
            v = raised(function(written(form, dtype)), abs(q))
            (above if q > 0 else below).append(v)
        if self.number != 1:
            above.insert(0, constant(self.number, dtype=dtype))
        under = multiplied(below) if below else None
        if not above:
            return constant(1.0, dtype=dtype) if under is None else reciprocal(under)
        top = multiplied(above)
        if self.number == -1 and len(above) > 1:
            top = -multiplied(above[1:])
        return top if under is None else top / under


def passes(form):
    """Return the number of operations of a linear form."""
    scaled = sum([abs(c) != 1 for key, c in form.items() if key is not ONE])
    return len(form) - 1 + scaled + (len(form) == 1 and set(form.values()) == {-1.0})


def raised(v, q):
    """Return a power of a term."""
    return {0.5: sqrt, 1: lambda x: x, 2: sqr}.get(q, lambda x: pow(x, q))(v)


def multiplied(terms):
    """Return the product of terms."""
    return mul(*terms) if len(terms) > 1 else terms[0]


class Ray:
    """The factors to write along one ray: t**a times the product of (1 + s t**k)**q."""

    def __init__(self, spelling, base, factors):
        if sum([1 if c > 0 else -1 for c in base.values()]) < 0:
            base = self.turned(spelling, base, factors)
        self.spelling, self.base, self.factors = spelling, base, dict(factors)
        self.a = along(spelling.form, base)
        self.rest = combined(spelling.form, base, -self.a) if self.a else spelling.form

    @staticmethod
    def turned(spelling, base, factors):
        """Return the opposite ray: 1 + s / t**k is (1 + s t**k) s / t**k."""
        base = times(base, -1.0)
        for (k, s), q in factors.items():
            spelling.number *= float(s) ** q
            spelling.form = combined(spelling.form, base, -k * q)
        return base

    def put(self, function, k, power):
        """Add a function of k u."""
        self.spelling.put(function, times(self.base, k), power)

    def write(self):
        """Add functions, and leave the rest of t**a in the form."""
        order = sorted(self.factors, key=lambda key: (key[1], -key[0]))
        for k, s in order:
            q = self.factors[k, s]
            if s < 0:
                self.write_difference(k, q)
            elif q:
                self.write_sum(k, q)
        form = combined(self.rest, self.base, self.a) if self.a else self.rest
        self.spelling.form = dict(form)

    def write_difference(self, k, q):
        """Write (1 - t**k)**q: with (1 + t**k)**-q as tanh; else as sinh or expm1."""
        spelling, sign = self.spelling, 1 if q > 0 else -1
        partner = self.factors.get((k, 1), 0)
        m = min(abs(q), abs(partner)) if q * partner < 0 else 0
        if m:
            spelling.number *= (-1.0) ** m
            self.put(tanh, k / 2, sign * m)
            self.factors[k, 1] = partner + sign * m
            q -= sign * m
        if not q:
            return
        if self.a == -k / 2 * q and abs(q) == 1:  # t**(-k/2) (1 - t**k) = -2 sinh(k u / 2)
            spelling.number *= (-2.0) ** q
            self.put(sinh, k / 2, q)
            self.a = 0
            return
        turn = min(abs(q), max(0, round(-self.a / k * sign)))  # t**-k (1 - t**k) = expm1(-k u)
        self.put(expm1, -k, sign * turn)
        self.a += sign * turn * k
        spelling.number *= (-1.0) ** (q - sign * turn)
        self.put(expm1, k, q - sign * turn)

    def write_sum(self, k, q):
        """Write (1 + t**k)**q: as cosh or sech2, or as sigmoids of k u, as many as absorb t, and of
        -k u.
        """
        if self.a == -k / 2 * q and (q > 0 or q == int(q)):
            even = -int(q) // 2 if q < 0 and q % 2 == 0 else 0
            self.spelling.number *= 2.0**q
            self.put(sech2, k / 2, even)
            self.put(cosh, k / 2, q + 2 * even)
            self.a = 0
            return
        own = min(abs(q), max(0.0, -self.a / k if q > 0 else self.a / k))
        if abs(q) == int(abs(q)):
            own = float(int(own + 1e-9))
        self.put(sigmoid, k, -own if q > 0 else own)
        rest = abs(q) - own
        self.put(sigmoid, -k, -rest if q > 0 else rest)
        self.a += own * k if q > 0 else -own * k
