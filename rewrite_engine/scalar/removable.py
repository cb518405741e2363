"""Functions with a removable singularity at 0, such as sin(x) / x, or whose terms cancel there,
such as exp(x) - 1 - x; and their derivatives of all orders.

Each is described once, as a quotient or difference of power series (`KINDS`). Near 0 it is computed
by its series at 0, elsewhere by its series at x; so the derivative of an op is the next one of the
family, and all keep their digits. `rules/removable.py` finds such terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.scalar import jet
from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.scalar.fold import copy_into
from rewrite_engine.scalar.jet import At, Jet, Point, Zero
from rewrite_engine.scalar.op import ScalarOp

MAX_TERMS = 80  # of a series at 0
NEGLIGIBLE = 1e-19  # a term of a series, compared with the first


class Kind(NamedTuple):
    """A function. series: its series at a point. radius: distance from 0 up to which the series at
    0 is used. even: whether f(-x) is f(x). cancels: whether the function itself loses digits near
    0, apart from 0. grows: whether it overflows. range: see `ScalarOp`.
    """

    series: Callable[[At], Jet]
    radius: float
    even: bool = False
    cancels: bool = False
    grows: bool = False
    range: str | None = None


def _by_x(f: Jet, p: At) -> Jet:
    return jet.divide(f, jet.variable(p))


def _sine(p: At) -> Jet:
    return jet.waves(p, "sin", "cos", -1)


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
KINDS: dict[str, Kind] = {
    "sin_by_x": Kind(lambda p: _by_x(_sine(p), p), 2.0, even=True, range="[-0.2173, 1]"),
    "sinh_by_x": Kind(lambda p: _by_x(_hyperbolic_sine(p), p), 2.0, even=True, grows=True,
                      range="[1, inf)"),
    "tan_by_x": Kind(lambda p: _by_x(jet.tangent(p), p), 0.5, even=True),
    "tanh_by_x": Kind(lambda p: _by_x(jet.hyperbolic_tangent(p), p), 0.5, even=True,
                      range="[0, 1]"),
    "arcsin_by_x": Kind(lambda p: _by_x(_inverse(p, "arcsin", -1, _HALF), p), 0.5, even=True,
                        range="[1, 1.5708]"),
    "arcsinh_by_x": Kind(lambda p: _by_x(_inverse(p, "arcsinh", 1, _HALF), p), 0.5, even=True,
                         range="[0, 1]"),
    "arctan_by_x": Kind(lambda p: _by_x(_inverse(p, "arctan", 1, _LESS), p), 0.5, even=True,
                        range="[0, 1]"),
    "arctanh_by_x": Kind(lambda p: _by_x(_inverse(p, "arctanh", -1, _LESS), p), 0.5, even=True,
                         range="[1, inf)"),
    "log1p_by_x": Kind(lambda p: _by_x(_log1p(p), p), 0.4, range="[0, inf)"),
    "expm1_by_x": Kind(lambda p: _by_x(jet.exponential(p, "expm1"), p), 1.5, grows=True,
                       range="[0, inf)"),
    "x_by_sin": Kind(lambda p: jet.divide(jet.variable(p), _sine(p)), 1.0, even=True),
    "x_by_sinh": Kind(_by_hyperbolic_sine, 1.0, even=True, range="[0, 1]"),
    "x_by_tanh": Kind(lambda p: jet.divide(jet.variable(p), jet.hyperbolic_tangent(p)), 1.0,
                      even=True, range="[1, inf)"),
    "x_by_expm1": Kind(_bernoulli, 1.5, range="[0, inf)"),
    "exp_rest": Kind(_second, 1.0, cancels=True, range="[0, inf)"),
    "exp_rest_by_x2": Kind(lambda p: _by_x(_by_x(_second(p), p), p), 1.5, cancels=True,
                           grows=True, range="[0, inf)"),
    "sin_rest": Kind(lambda p: jet.subtract(jet.variable(p), _sine(p)), 1.0, cancels=True,
                     ),
    "sin_rest_by_x3": Kind(
        lambda p: _by_x(_by_x(_by_x(jet.subtract(jet.variable(p), _sine(p)), p), p), p), 1.5,
        even=True, cancels=True,
    ),
    "log1p_rest": Kind(lambda p: jet.subtract(jet.variable(p), _log1p(p)), 0.4, cancels=True,
                       range="[0, inf)"),
    "tan_rest": Kind(lambda p: jet.subtract(jet.tangent(p), _sine(p)), 0.5, cancels=True),
    "langevin": Kind(_langevin, 1.0, cancels=True, range="[-1, 1]"),
}  # fmt: skip


@cache
def coefficients(kind: str, order: int) -> tuple[float, ...]:
    """Return the series at 0 of a derivative, up to terms that do not matter within the radius."""
    own = KINDS[kind]
    whole = own.series(Zero(MAX_TERMS))
    found = [
        float(c * math.factorial(j) / math.factorial(j - order))
        for j, c in enumerate(whole) if j >= order
    ]  # fmt: skip
    sizes = [abs(c) * own.radius**j for j, c in enumerate(found)]
    most = next(s for s in sizes if s)
    last = max(j for j, s in enumerate(sizes) if s > NEGLIGIBLE * most)
    return tuple(found[: last + 1])


def near(m: Any, x: Any, series: tuple[float, ...]) -> Any:
    """Return a polynomial; only the even, or the odd powers, if the others are missing."""
    first = next(j for j, c in enumerate(series) if c)
    step = 2 if not any(series[first + 1 :: 2]) else 1
    z = m.sqr(x) if step == 2 else x
    parts = series[first::step]
    found: Any = parts[-1]
    for c in reversed(parts[:-1]):
        found = found * z + c
    for _ in range(first // 2):
        found = found * m.sqr(x)
    return found * x if first % 2 else found


def far(m: Any, x: Any, kind: str, order: int) -> Any:
    """Return a derivative away from 0, by the series at x."""
    own = KINDS[kind]
    at = m.abs(x) if own.even else x
    whole = own.series(Point(m, at, order + 1))
    value = jet.scaled(whole[order], Fraction(math.factorial(order)))
    if order and own.grows:
        value = m.switch(m.isinf(whole[0]), whole[0], value)  # not a difference of infinities
    return value * m.sign(x) if own.even and order % 2 else value


class Removable(ScalarOp):
    """A derivative of a function of `KINDS`: `Removable("sin_by_x", 0)` is sin(x) / x, and 1 at
    0.
    """

    __props__ = ("kind", "order")

    def __init__(self, kind: str, order: int = 0) -> None:
        self.kind, self.order = kind, order
        super().__init__(
            kind if not order else f"{kind}_d{order}",
            1,
            grad=(self._slope,),
            compute=self._compute,
            dtypes=_real_dtype,
            inner=float_dtype,
            range=None if order else KINDS[kind].range,
            cost=30,
            formula=self._formula,
        )

    def __reduce__(self) -> Any:
        return Removable, (self.kind, self.order)

    def is_total(self, inputs: Any) -> bool:
        """Return True: every number has a value, or NaN."""
        return True

    def _slope(self, m: Any, g: Any, z: Any, x: Any) -> Any:
        return g * m.lift(Removable(self.kind, self.order + 1))(x)

    def _formula(self, m: Any, x: Any) -> Any:
        series = coefficients(self.kind, self.order)
        if self.order or KINDS[self.kind].cancels:
            close = m.lt(m.abs(x), KINDS[self.kind].radius)
            return m.switch(close, near(m, x, series), far(m, x, self.kind, self.order))
        return m.switch(m.eq(x, 0.0), series[0], far(m, x, self.kind, 0))

    def _compute(self, x: Any, out: Any = None) -> Any:
        x = np.asarray(x)
        with np.errstate(all="ignore"):
            found = self._formula(_Values, x)
        return copy_into(np.asarray(found, x.dtype), out)


def _real_dtype(dtype: str) -> str:
    """Return the dtype of a function of real numbers."""
    found = float_dtype(dtype)
    if found.startswith("complex"):
        raise TypeError("it is defined for real numbers")
    return found


class _Values:
    """The functions of formulas, on arrays."""

    abs, sign, gt, lt, eq, switch = np.abs, np.sign, np.greater, np.less, np.equal, np.where
    isinf = np.isinf
    sqr, sqrt, hypot = np.square, np.sqrt, np.hypot
    exp, expm1, log1p, sin, cos, tan = np.exp, np.expm1, np.log1p, np.sin, np.cos, np.tan
    sinh, cosh, tanh, arcsin = np.sinh, np.cosh, np.tanh, np.arcsin
    arcsinh, arctan, arctanh = np.arcsinh, np.arctan, np.arctanh
