"""Sums of products along one ray, written as products: with t = exp(u), a sum is a polynomial in t,
and is divided by t and 1 ± t**k as often as possible.
"""

from math import gcd, lcm

import numpy as np

from rewrite_engine.graph.node import Variable
from rewrite_engine.rules.powers.forms import ONE, along, combined, times
from rewrite_engine.rules.powers.power import (
    TABLE,
    InOrder,
    Power,
    PowerBase,
    ray_of,
    split,
    times_power,
)
from rewrite_engine.scalar.op import Cast
from rewrite_engine.tensor import erf, erfc, erfcx

MAX_DEGREE = 40  # of a polynomial
MAX_SCALE_RATIO = 12  # of the largest scale to the smallest


def along_one_ray(powers):
    """Return a sum of powers with the same other terms, as one power."""
    first = powers[0]
    if any(p.others != first.others for p in powers):
        return None
    shares = [times_power(p, first.raised(-1)) for p in powers]
    rays = {f.ray for p in shares for f in p.factors}
    if not all(f.on_ray for p in shares for f in p.factors):
        return None
    for p in shares:
        if p.form and not any(along(p.form, dict(ray)) for ray in rays):
            if all(key is ONE for key in p.form):
                return None
            rays.add(ray_of(p.form))
    if len(rays) != 1:
        return None
    (ray,) = rays
    if len(ray) > 1 and any(map(is_rounded_integer, dict(ray))):
        return None  # two that are rounded may be equal where they were not
    found = on_ray(shares, ray)
    if found is None:
        return None
    return split(times_power(found, first._replace(lost=InOrder())))


def is_rounded_integer(key):
    """Return whether a term is an integer in a float dtype that rounds some integers."""
    if not isinstance(key, Variable):
        return False
    is_cast = isinstance(getattr(key.head, "scalar_op", None), Cast)
    x = key.owner.inputs[0] if is_cast else key
    return x.type.kind in "iu" and np.iinfo(x.type.dtype).bits > 32


def on_ray(shares, ray):
    """Return the sum of powers along a ray, as one power."""
    base = dict(ray)
    lead = next(key for key, c in base.items() if abs(c) == 1 and key is not ONE)
    terms, scales = [], []
    for p in shares:
        a = p.form.get(lead, 0.0) / base[lead]
        if combined(p.form, base, -a) or any(q != int(q) for q in p.factors.values()):
            return None
        terms.append((p.number, a, {(f.scale, f.kind): int(q) for f, q in p.factors.items()}))
        scales += [abs(a)] * (a != 0) + [f.scale for f in p.factors]
    unit = common(scales)
    if unit is None:
        return None
    whole = [
        (c, round(a / unit), {(round(k / unit), s): q for (k, s), q in factors.items()})
        for c, a, factors in terms
    ]
    found = as_product(whole)
    if found is None:
        return None
    number, a, factors = found
    made = {PowerBase(ray, k * unit, s): q for (k, s), q in factors.items()}
    return Power(number, times(base, a * unit), made)


def common(scales):
    """Return a number that divides all scales a few times; None if there is none."""
    from fractions import Fraction  # (loads `decimal`)

    least = min(scales, default=0.0)
    found = [Fraction(s / least).limit_denominator(64) for s in scales]
    pairs = zip(found, scales, strict=True)
    if not found or any(abs(float(f) * least - s) > 1e-12 * s for f, s in pairs):
        return None
    below = lcm(*[f.denominator for f in found])
    unit = gcd(*[int(f * below) for f in found]) * least / below
    return unit if all(s / unit <= MAX_SCALE_RATIO for s in scales) else None


def as_product(terms):
    """Return the sum of c t**a product of (1 + s t**k)**p as (number, power of t, {(k, s): p});
    None if it is no product.
    """
    low = {}
    for key in {key for _, _, factors in terms for key in factors}:
        low[key] = min(factors.get(key, 0) for _, _, factors in terms)
    shift = min(a for _, a, _ in terms)
    whole = []
    for c, a, factors in terms:
        poly = [0.0] * (a - shift) + [c]
        for (k, s), p in low.items():
            for _ in range(factors.get((k, s), 0) - p):
                poly = poly_times(poly, k, s)
        if len(poly) > MAX_DEGREE:
            return None
        whole += [0.0] * (len(poly) - len(whole))
        for i, x in enumerate(poly):
            whole[i] += x
    return factored(whole, shift, {key: p for key, p in low.items() if p})


def poly_times(poly, k, s):
    """Return a polynomial times 1 + s t**k."""
    result = [*poly, *[0.0] * k]
    for i, x in enumerate(poly):
        result[i + k] += s * x
    return result


def factored(whole, shift, factors):
    """Return a polynomial as a product, as far as it factors."""
    big = max(map(abs, whole))
    whole = [0.0 if abs(x) < 1e-13 * big else x for x in whole]
    while whole and whole[-1] == 0:
        whole.pop()
    if not whole:
        return None  # x - x shows the NaNs of x
    while whole[0] == 0:
        whole.pop(0)
        shift += 1
    for k in range(len(whole) - 1, 0, -1):
        for s in (1, -1):
            while len(whole) > k and (rest := divided(whole, k, s)) is not None:
                whole = rest
                factors[k, s] = factors.get((k, s), 0) + 1
    if len(whole) > 1:
        return None
    return whole[0], shift, {key: p for key, p in factors.items() if p}


def divided(poly, k, s):
    """Return a polynomial over 1 + s t**k, or None."""
    rest, n = list(poly), len(poly) - k
    for i in range(n):
        rest[i + k] -= s * rest[i]
    big = max(map(abs, poly))
    return rest[:n] if all(abs(x) < 1e-12 * big for x in rest[n:]) else None


# --- erf ------------------------------------------------------------------------------------------


def beside_erf(a, b):
    """Return c + n erf(u) or c + n erfc(u), with the same other terms in both, as one function;
    None if there is none.
    """
    if a.is_known or a.others != b.others or list(b.factors.values()) != [1]:
        return None
    (f,) = b.factors
    u, share = dict(f.ray), a.number / b.number
    if f.kind is erf and not b.form and share in (1, -1):
        return times_power(a, TABLE[erfc](times(u, -share)))
    if f.kind is not erfcx or TABLE[erfc](u).form != b.form:
        return None
    if share == -2:
        return times_power(Power(-b.number, others=b.others), TABLE[erfc](times(u, -1.0)))
    return times_power(a, TABLE[erf](u)) if share == -1 else None
