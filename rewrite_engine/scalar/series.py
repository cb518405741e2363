"""Power series of the functions in `scalar/removable.py`: exact ones at 0, and expressions at x."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from rewrite_engine.scalar import jet
from rewrite_engine.scalar.jet import At, Jet, Point, Zero


def _by_x(f: Jet, p: At) -> Jet:
    return jet.divide(f, jet.variable(p))


def _sine(p: At) -> Jet:
    return jet.waves(p, "sin", "cos", -1)


def _less_sine(p: At) -> Jet:
    """Return the series of x - sin(x)."""
    return jet.subtract(jet.variable(p), _sine(p))


def _hyperbolic_sine(p: At) -> Jet:
    return jet.waves(p, "sinh", "cosh", 1)


def _log1p(p: At) -> Jet:
    return jet.integral(p.value("log1p"), jet.divide(jet.number(p, 1), _plus_one(p)))


def _plus_one(p: At) -> Jet:
    return [p.x + 1, *jet.variable(p)[1:]]


def _inverse(p: At, name: str, sign: int, power: Fraction) -> Jet:
    """Return the series of a function with the slope (1 + sign * x**2) ** power."""
    x = jet.variable(p)
    square = [jet.scaled(c, Fraction(sign)) for c in jet.multiply(x, x)]
    base = [jet.total([square[0], Fraction(1)]), *square[1:]]
    if isinstance(p, Zero):
        first: Any = Fraction(1)
    elif power == -1:
        first = 1 / base[0]
    else:
        first = 1 / (p.m.hypot(p.x, 1.0) if sign > 0 else p.m.sqrt((1 - p.x) * (1 + p.x)))
    return jet.integral(p.value(name), jet.raised(base, power, first))


def _bernoulli(p: At) -> Jet:
    """Return the series of x / expm1(x), without overflow on either side."""
    below = jet.divide(jet.variable(p), jet.exponential(p, "expm1"))
    if isinstance(p, Zero):
        return below
    above = jet.multiply(jet.variable(p), jet.turned(p))
    minus = [jet.scaled(c, Fraction(-1)) for c in jet.turned(p, "expm1")]
    return p.choose(jet.divide(above, minus), below)


def _by_hyperbolic_sine(p: At) -> Jet:
    """Return the series of x / sinh(x) = 2 x exp(-x) / (1 - exp(-2 x)), for x above 0."""
    if isinstance(p, Zero):
        return jet.divide(jet.variable(p), _hyperbolic_sine(p))
    double = jet.turned(Point(p.m, p.x * 2, p.length), "expm1")
    below = [jet.scaled(c, Fraction(-(2**k))) for k, c in enumerate(double)]
    above = [jet.scaled(c, Fraction(2)) for c in jet.multiply(jet.variable(p), jet.turned(p))]
    return jet.divide(above, below)


def _second(p: At) -> Jet:
    """Return the series of exp(x) - 1 - x."""
    return jet.subtract(jet.exponential(p, "expm1"), jet.variable(p))


def _langevin(p: At) -> Jet:
    """Return the series of coth(x) - 1 / x."""
    if isinstance(p, Point):
        one, t = jet.number(p, 1), jet.hyperbolic_tangent(p)
        return jet.subtract(jet.divide(one, t), jet.divide(one, jet.variable(p)))
    whole = jet.divide(jet.variable(p), jet.hyperbolic_tangent(p))
    return _by_x(jet.subtract(whole, jet.number(p, 1)), p)


_HALF = Fraction(-1, 2)
_LESS = Fraction(-1)
SERIES: dict[str, Callable[[At], Jet]] = {
    "sin_by_x": lambda p: _by_x(_sine(p), p),
    "sinh_by_x": lambda p: _by_x(_hyperbolic_sine(p), p),
    "tan_by_x": lambda p: _by_x(jet.tangent(p), p),
    "tanh_by_x": lambda p: _by_x(jet.hyperbolic_tangent(p), p),
    "arcsin_by_x": lambda p: _by_x(_inverse(p, "arcsin", -1, _HALF), p),
    "arcsinh_by_x": lambda p: _by_x(_inverse(p, "arcsinh", 1, _HALF), p),
    "arctan_by_x": lambda p: _by_x(_inverse(p, "arctan", 1, _LESS), p),
    "arctanh_by_x": lambda p: _by_x(_inverse(p, "arctanh", -1, _LESS), p),
    "log1p_by_x": lambda p: _by_x(_log1p(p), p),
    "expm1_by_x": lambda p: _by_x(jet.exponential(p, "expm1"), p),
    "x_by_sin": lambda p: jet.divide(jet.variable(p), _sine(p)),
    "x_by_sinh": _by_hyperbolic_sine,
    "x_by_tanh": lambda p: jet.divide(jet.variable(p), jet.hyperbolic_tangent(p)),
    "x_by_expm1": _bernoulli,
    "exp_rest": _second,
    "exp_rest_by_x2": lambda p: _by_x(_by_x(_second(p), p), p),
    "sin_rest": _less_sine,
    "sin_rest_by_x3": lambda p: _by_x(_by_x(_by_x(_less_sine(p), p), p), p),
    "log1p_rest": lambda p: jet.subtract(jet.variable(p), _log1p(p)),
    "tan_rest": lambda p: jet.subtract(jet.tangent(p), _sine(p)),
    "langevin": _langevin,
}  # fmt: skip


def at_zero(kind: str, terms: int) -> Jet:
    """Return the series of a function at 0, as fractions."""
    return SERIES[kind](Zero(terms))


def at_point(m: Any, x: Any, kind: str, order: int) -> tuple[Any, Any]:
    """Return the value of a function, and a derivative, as expressions of x."""
    whole = SERIES[kind](Point(m, x, order + 1))
    return whole[0], jet.scaled(whole[order], Fraction(math.factorial(order)))
