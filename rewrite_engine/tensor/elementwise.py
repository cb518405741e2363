"""Elementwise functions built from others; each builds a few nodes.

Operands broadcast; the result has the broadcast shape. Unless stated otherwise, integers are
converted to floats (float32 for up to 16 bits, else float64).
"""

from __future__ import annotations

import builtins
import operator
from math import inf, pi
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import OptionError
from rewrite_engine.scalar.dtype import float_dtype
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.reduce import all as reduce_all

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "allclose", "ceil_intdiv", "chi2sf", "deg2rad", "degrees", "divmod", "fabs", "factorial",
    "float_power", "frexp", "gammal", "gammau", "iround", "isclose", "isneginf", "isposinf",
    "logical_and", "logical_not", "logical_or", "logical_xor", "logit", "modf", "nan_to_num",
    "positive", "rad2deg", "radians", "rint", "round", "sinc", "spacing",
]  # fmt: skip


def _as_float(x: Any) -> Any:
    x = as_tensor_variable(x)
    return m.cast(x, float_dtype(x.type.dtype))


# --- quotients, and rounding --------------------------------------------------------------------


def divmod(x: TensorLike, y: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """Return `floor_div(x, y)` and `mod(x, y)`."""
    return m.floor_div(x, y), m.mod(x, y)


def ceil_intdiv(a: TensorLike, b: TensorLike) -> TensorVariable:
    """Return the quotient of integers rounded up, as an integer."""
    return m.add(m.floor_div(a, b), m.neq(m.mod(a, b), 0))


def round(a: TensorLike, mode: str | None = None, decimals: int = 0) -> TensorVariable:
    """Return `a` rounded to the nearest integer, in the dtype of `a`.

    mode: "half_to_even" (the default) or "half_away_from_zero". decimals: number of digits after
    the decimal point (-n rounds to multiples of 10**n), computed as NumPy does. Raises
    `OptionError`.
    """
    if mode not in (None, "half_to_even", "half_away_from_zero"):
        raise OptionError(f"round: mode must be half_to_even or half_away_from_zero, not {mode!r}")
    nearest = m.round_half_away_from_zero if mode == "half_away_from_zero" else m.round
    if not decimals:
        return nearest(a)
    a, unit = as_tensor_variable(a), 10.0 ** builtins.abs(operator.index(decimals))
    if decimals > 0:
        return a if a.type.kind in "iub" else m.true_div(nearest(m.mul(a, unit)), unit)
    return m.cast(m.mul(nearest(m.true_div(a, unit)), unit), a.type.dtype)


def iround(a: TensorLike, mode: str | None = None) -> TensorVariable:
    """Return `round(a, mode)` as int64."""
    return m.cast(round(a, mode), "int64")


def rint(x: TensorLike) -> TensorVariable:
    """Return `x` rounded to the nearest integer, ties to even, as a float."""
    return m.round(_as_float(x))


def modf(x: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """Return the fractional and the integer part of `x`, both with its sign."""
    x = _as_float(x)
    whole = m.trunc(x)
    return m.copysign(m.switch(m.isinf(x), 0.0, m.sub(x, whole)), x), whole


def frexp(x: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """Return m and e (int32) with x = m * 2**e, where |m| is in [0.5, 1), or 0."""
    return m.frexp_mantissa(x), m.frexp_exponent(x)


def spacing(x: Any) -> TensorVariable:
    """Return the distance from `x` to the next number away from 0, with the sign of `x`."""
    x = _as_float(x)
    beyond = m.cast(m.switch(m.lt(x, 0), -inf, inf), x.type.dtype)
    return m.sub(m.nextafter(x, beyond), x)


# --- signs, angles, powers ----------------------------------------------------------------------


def positive(x: TensorLike) -> TensorVariable:
    """Return `x` unchanged, as `numpy.positive` does."""
    return as_tensor_variable(x)


def fabs(x: TensorLike) -> TensorVariable:
    """Return the absolute value as a float."""
    return m.abs(_as_float(x))


def float_power(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return x**y in float64 (complex128 for complex numbers)."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    dtype = "complex128" if "c" in (x.type.kind, y.type.kind) else "float64"
    return m.pow(m.cast(x, dtype), m.cast(y, dtype))


def deg2rad(x: TensorLike) -> TensorVariable:
    """Convert degrees to radians."""
    return m.mul(_as_float(x), pi / 180)


def rad2deg(x: TensorLike) -> TensorVariable:
    """Convert radians to degrees."""
    return m.mul(_as_float(x), 180 / pi)


radians = deg2rad
degrees = rad2deg


def sinc(x: TensorLike) -> TensorVariable:
    """Return sin(pi x) / (pi x); 1 at 0."""
    y = m.mul(_as_float(x), pi)
    return m.switch(m.eq(y, 0), 1.0, m.true_div(m.sin(y), y))


# --- logic --------------------------------------------------------------------------------------


def _truth(x: Any) -> Any:
    x = as_tensor_variable(x)
    return x if x.type.dtype == "bool" else m.neq(x, 0)


def logical_and(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return whether both x and y are nonzero, element by element."""
    return m.and_(_truth(x), _truth(y))


def logical_or(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return whether x or y is nonzero, element by element."""
    return m.or_(_truth(x), _truth(y))


def logical_xor(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return whether exactly one of x and y is nonzero, element by element."""
    return m.xor(_truth(x), _truth(y))


def logical_not(x: TensorLike) -> TensorVariable:
    """Return whether x is 0, element by element."""
    return m.invert(_truth(x))


def isposinf(x: TensorLike) -> TensorVariable:
    """Return whether x is infinity, element by element. Raise `DTypeError` for complex numbers."""
    return m.and_(m.isinf(x), m.invert(m.signbit(x)))


def isneginf(x: TensorLike) -> TensorVariable:
    """Return whether x is minus infinity, element by element. Raise `DTypeError` for complex
    numbers.
    """
    return m.and_(m.isinf(x), m.signbit(x))


def isclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    """Return whether |a - b| <= atol + rtol |b|, element by element.

    Equal infinities are close; NaN is close to NaN only if `equal_nan`.
    """
    a, b = [m.cast(v, "int8") if getattr(v, "dtype", None) == "bool" else v for v in (a, b)]
    close = m.or_(m.le(m.abs(m.sub(a, b)), m.add(atol, m.mul(rtol, m.abs(b)))), m.eq(a, b))
    infinite = m.and_(m.or_(m.isinf(a), m.isinf(b)), m.neq(a, b))
    close = m.and_(close, m.invert(infinite))
    return m.or_(close, m.and_(m.isnan(a), m.isnan(b))) if equal_nan else close


# --- choice -------------------------------------------------------------------------------------


def allclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    """Return whether `isclose` holds for all elements, as a 0-d bool."""
    return reduce_all(isclose(a, b, rtol, atol, equal_nan))


def nan_to_num(
    x: TensorLike, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> TensorVariable:
    """Replace NaN and infinities by numbers.

    nan: 0 by default. posinf, neginf: by default the largest and the smallest number of the dtype.
    In complex numbers each part is replaced. Integers stay unchanged.
    """
    x = as_tensor_variable(x)
    if x.type.kind in "biu":
        return x
    if x.type.kind == "c":
        parts = [nan_to_num(part(x), nan, posinf, neginf) for part in (m.real, m.imag)]
        return m.complex(*parts)
    limits = np.finfo(x.type.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    x = m.switch(m.isnan(x), nan, x)
    return m.switch(m.eq(x, inf), high, m.switch(m.eq(x, -inf), low, x))


# --- special functions --------------------------------------------------------------------------


def logit(x: TensorLike) -> TensorVariable:
    """Return log(x / (1 - x))."""
    return m.log(m.true_div(x, m.sub(1, x)))


def factorial(n: TensorLike) -> TensorVariable:
    """Return gamma(n + 1); 0 for n < 0."""
    n = _as_float(n)
    return m.switch(m.lt(n, 0), 0.0, m.gamma(m.add(n, 1)))


def gammal(k: TensorLike, x: TensorLike) -> TensorVariable:
    """Return the lower incomplete gamma function: the integral of t**(k - 1) * exp(-t) from 0
    to x.
    """
    return m.mul(m.gammainc(k, x), m.gamma(k))


def gammau(k: TensorLike, x: TensorLike) -> TensorVariable:
    """Return the upper incomplete gamma function: the integral of t**(k - 1) * exp(-t) from x to
    infinity.
    """
    return m.mul(m.gammaincc(k, x), m.gamma(k))


def chi2sf(x: TensorLike, k: TensorLike) -> TensorVariable:
    """Return the probability that a chi-squared variable with k degrees of freedom exceeds x."""
    return m.gammaincc(m.mul(_as_float(k), 0.5), m.mul(_as_float(x), 0.5))
