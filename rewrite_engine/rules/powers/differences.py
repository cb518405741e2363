"""Logarithms of differences whose terms may both vanish, or both be nearly 1."""

import math

from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.rules.powers.forms import linear, product_of, times, written
from rewrite_engine.tensor import (
    abs,
    erf,
    erfc,
    gt,
    log1mexp,
    log_ndtr,
    logdiffexp,
    logerfc,
    lt,
    sigmoid,
    softplus,
    switch,
    xlogy,
)

MAX_ROUNDING = 2.0**-50  # of a product of two numbers


def log_of_difference(terms, dtype):
    """Return a function that makes log(c f(x) - c f(y)), for f a sigmoid, erf or erfc, and a number
    c; None for others.
    """
    found = []
    for s, t in terms:
        alone = function_of(t)
        if alone is None:
            return None
        found.append((s * alone[0], alone[1]))
    (c, v), (d, w) = found
    if (
        c != -d
        or v.head is not w.head
        or v.head not in BETWEEN
        or not v.type.dtype == w.type.dtype == dtype
    ):
        return None
    v, w = (v, w) if c > 0 else (w, v)

    def make():
        value = BETWEEN[v.head](v.owner.inputs[0], w.owner.inputs[0], dtype)
        return value if math.fabs(c) == 1 else value + math.log(math.fabs(c))

    return make


def function_of(t):
    """Return a multiple of a function of floats as (number, function); None for others."""
    if isinstance(t, float) or t.type.kind != "f":
        return None
    number, powers = product_of(t)
    if list(powers.values()) != [1]:
        return None
    (v,) = powers
    if v.owner is None or v.head is CONSTANT or v.owner.inputs[0].type.kind != "f":
        return None
    return number, v


def opposite(x, dtype):
    """Return -x in its simplest form."""
    return written(times(linear(x), -1.0), dtype)


def between_sigmoids(x, y, dtype):
    """Return log(sigmoid(x) - sigmoid(y)), precise even if both sigmoids are 0, or 1. It is -inf if
    both are equal as written, unless x is above y.
    """
    rise = switch(gt(x, y), y - x, sigmoid(y) - sigmoid(x))
    return log1mexp(rise) - softplus(opposite(x, dtype)) - softplus(y)


def between_erfcs(x, y, dtype):
    """Return log(erfc(x) - erfc(y)), precise even if both are 0, or 2 (as erfc(-y) - erfc(-x)), or
    nearly 1 (as erf(y) - erf(x)).
    """
    right = gt(x + y, 0.0)
    far = logdiffexp(logerfc(switch(right, x, -y)), logerfc(switch(right, y, -x)))
    near = xlogy(1.0, erf(y) - erf(x))  # (of log there would be no end)
    return switch(lt(abs(x) + abs(y), 1.0), near, far)


BETWEEN = {
    sigmoid: between_sigmoids,
    erfc: between_erfcs,
    erf: lambda x, y, dtype: between_erfcs(y, x, dtype),
}


def log_of_rest(t, log_of_t, dtype):
    """Return log(1 - t) of a number t below 1 that is given with its logarithm; None for others."""
    alone = function_of(t)
    if alone is not None and alone[1].head is erfc and alone[0] == 0.5:
        return log_of_half_erfc(times(linear(alone[1].owner.inputs[0]), -1.0), dtype)
    return log1mexp(log_of_t)


def log_of_half_erfc(u, dtype):
    """Return log(erfc(u) / 2) of a linear form. A number that is 1 up to rounding is 1."""
    x = {key: normalised(c * -math.sqrt(2.0)) for key, c in u.items()}
    return log_ndtr(written(x, dtype))


def normalised(c):
    """Return a number; 1 or -1 if it is that up to rounding."""
    return math.copysign(1.0, c) if math.fabs(math.fabs(c) - 1) < MAX_ROUNDING else c
