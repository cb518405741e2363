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
    logdiffexp,
    logerfc,
    lt,
    sigmoid,
    softplus,
    switch,
    xlog1py,
    xlogy,
)


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
        x = opposite(alone[1].owner.inputs[0], dtype)  # where it is below 0 the rest is near 1
        near = xlog1py(1.0, -t)  # (of log1p there would be no end)
        return switch(lt(x, 0.0), near, logerfc(x) - math.log(2.0))
    return log1mexp(log_of_t)
