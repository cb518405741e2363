"""Products as records of exponents: with t = exp(u) for a linear form u,

    exp(k u) = t**k                       sigmoid(k u) = t**k / (1 + t**k)
    expm1(k u) = -(1 - t**k)              tanh(k u) = -(1 - t**2k) / (1 + t**2k)
    sinh(k u) = -(1 - t**2k) / (2 t**k)   cosh(k u) = (1 + t**2k) / (2 t**k)
    sech2(k u) = 4 t**2k / (1 + t**2k)**2
    erfc(u) = exp(-u**2) erfcx(u)

so a product of such functions is number * exp(form) * product of (1 ± t**k)**p * others**p, and
a multiplication adds exponents. A sum of such products along one ray u is a polynomial in t; where
that has no factors but t and 1 ± t**k, it is a product again (`rays.py`): exp(x) + exp(y) is
exp(x) (1 + exp(y - x)).
"""

from math import inf, log
from typing import NamedTuple

from rewrite_engine.rules.powers.forms import ONE, added, combined, squared, times
from rewrite_engine.tensor import (
    cosh,
    erf,
    erfc,
    erfcx,
    exp,
    exp2,
    expm1,
    sech2,
    sigmoid,
    sinh,
    tanh,
)


class InOrder(frozenset):
    """A set in insertion order, so that results do not depend on memory addresses."""

    def __new__(cls, items=()):
        order = dict.fromkeys(items)
        self = super().__new__(cls, order)
        self.order = tuple(order)
        return self

    def __iter__(self):
        return iter(self.order)


class PowerBase(NamedTuple):
    """1 + kind * exp(scale * ray), for kind 1 and -1; erfcx(ray) and erf(ray) for these kinds. ray:
    the items of a linear form whose largest coefficient is 1 or -1 (any for the last two).
    """

    ray: InOrder
    scale: float
    kind: object

    @property
    def on_ray(self):
        """Return whether it is 1 ± exp(k u)."""
        return self.kind is not erfcx and self.kind is not erf

    def turned(self):
        """Return the factor with the opposite ray."""
        return PowerBase(InOrder((key, -c) for key, c in self.ray), self.scale, self.kind)

    def form(self, k=1.0):
        """Return a multiple of the argument of the exponential."""
        return {key: c * self.scale * k for key, c in self.ray}


class Power(NamedTuple):
    """number * exp(form) * product of factors ** power * product of others ** power. lost: keys of
    cancelled terms, whose NaNs are no longer shown. functions: their number in the term as written.
    """

    number: float = 1.0
    form: dict = {}
    factors: dict = {}
    others: dict = {}
    lost: InOrder = InOrder()
    functions: int = 0

    @property
    def is_known(self):
        """Return whether it has more than a number and other terms."""
        return bool(self.form or self.factors)

    @property
    def size(self):
        """Return the number of its parts."""
        return len(self.form) + len(self.factors) + len(self.others)

    def raised(self, p):
        """Return a power of it; an integer power, if a part of it has a sign."""
        return self._replace(
            number=number_power(self.number, p),
            form=times(self.form, p),
            factors={f: q * p for f, q in self.factors.items()},
            others={v: q * p for v, q in self.others.items()},
        )


def number_power(number, p):
    """Return a power of a number; infinity if it is too large."""
    try:
        return number**p
    except OverflowError:
        return inf


def times_power(a, b):
    """Return the product of two powers."""
    factors, number, form = a.factors, a.number * b.number, combined(a.form, b.form)
    lost = dict.fromkeys((*a.lost, *b.lost, *gone(a.form, b.form, form)))
    if factors and b.factors:
        rays = {f.ray for f in factors}
        for f, p in b.factors.items():
            if f.on_ray and f.ray not in rays and (turned := f.turned()).ray in rays:
                # 1 + s / t**k is (1 + s t**k) s / t**k
                number, form = number * f.kind**p, combined(form, f.form(), p)
                f = turned
            factors = with_factor(factors, f, p, lost)
    else:
        factors = factors or b.factors
    others = added(a.others, b.others)
    lost.update(dict.fromkeys(gone(a.others, b.others, others)))
    return Power(number, form, factors, others, InOrder(lost), a.functions + b.functions)


def with_factor(factors, f, p, lost):
    """Return factors and one more. lost: as in `Power`; it is added to."""
    new = added(factors, {f: p})
    if f not in new:
        lost.update({key: None for key, _ in f.ray if key is not ONE})
    return new


def gone(a, b, whole):
    """Return the keys of two operands that are not in their result."""
    return [key for key in (*a, *b) if key not in whole and key is not ONE]


def of_form(form, functions=0):
    """Return exp(form) as a power."""
    return Power(form=form, functions=functions)


def ray_of(form):
    """Return the ray of a linear form."""
    scale = max([abs(c) for key, c in form.items() if key is not ONE], default=1.0)
    return InOrder((key, float(f"{c / scale:.14g}")) for key, c in form.items())


def factor_of(u, k, kind, p):
    """Return (1 + kind t**k)**p for t = exp(u)."""
    scale = max([abs(c) for key, c in u.items() if key is not ONE])
    ray = InOrder((key, float(f"{c / scale:.14g}")) for key, c in u.items())
    if k > 0:
        return Power(factors={PowerBase(ray, k * scale, kind): p})
    f = PowerBase(ray, -k * scale, kind)
    return Power(float(kind) ** p, times(u, k * p), {f: p})


def product(number, *powers, functions=1):
    """Return a number times powers."""
    whole = Power(number)
    for p in powers:
        whole = times_power(whole, p)
    return whole._replace(functions=functions)


#: functions of a linear form as powers
TABLE = {
    exp: lambda u: of_form(u, 1),
    exp2: lambda u: of_form(times(u, log(2.0)), 1),
    sigmoid: lambda u: product(1.0, of_form(u), factor_of(u, 1, 1, -1)),
    expm1: lambda u: product(-1.0, factor_of(u, 1, -1, 1)),
    sinh: lambda u: product(-0.5, of_form(times(u, -1)), factor_of(u, 2, -1, 1)),
    cosh: lambda u: product(0.5, of_form(times(u, -1)), factor_of(u, 2, 1, 1)),
    sech2: lambda u: product(4.0, of_form(times(u, 2)), factor_of(u, 2, 1, -2)),
    tanh: lambda u: product(-1.0, factor_of(u, 2, -1, 1), factor_of(u, 2, 1, -1)),
    erfc: lambda u: Power(
        form=times(squared(u), -1),
        factors={PowerBase(InOrder(u.items()), 1.0, erfcx): 1},
        functions=1,
    ),
    erf: lambda u: Power(factors={PowerBase(InOrder(u.items()), 1.0, erf): 1}, functions=1),
}


def split(p):
    """Split 1 - t**2k into (1 - t**k) (1 + t**k), if one of these cancels."""
    for f, q in p.factors.items():
        if f.kind != -1:
            continue
        for half in (f._replace(scale=f.scale / 2, kind=s) for s in (1, -1)):
            there = p.factors.get(half, 0)
            if there * q < 0:
                n = min(abs(there), abs(q)) * (1 if q > 0 else -1)
                parts = {half._replace(kind=s): n for s in (1, -1)}
                return split(p._replace(factors=added(added(p.factors, {f: -n}), parts)))
    return p
