"""Elementwise functions that are made of others: each builds a few nodes.

Operands broadcast; the result has the shape they broadcast to. Where nothing else is said, integers
count as floats (float32 for up to 16 bits, else float64).
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
    """The quotient of integers, rounded up; an integer."""
    return m.add(m.floor_div(a, b), m.neq(m.mod(a, b), 0))


def round(a: TensorLike, mode: str | None = None, decimals: int = 0) -> TensorVariable:
    """To the nearest integer, in the dtype of `a`; mode: "half_to_even" (the default) or
    "half_away_from_zero". decimals: so many digits behind the point (of -n: to 10**n), as NumPy
    does it. Raises `OptionError`.
    """
    if mode not in (None, "half_to_even", "half_away_from_zero"):
        raise OptionError(f"round: no mode {mode!r}; there are half_to_even, half_away_from_zero")
    nearest = m.round_half_away_from_zero if mode == "half_away_from_zero" else m.round
    if not decimals:
        return nearest(a)
    a, unit = as_tensor_variable(a), 10.0 ** builtins.abs(operator.index(decimals))
    if decimals > 0:
        return a if a.type.kind in "iub" else m.true_div(nearest(m.mul(a, unit)), unit)
    return m.cast(m.mul(nearest(m.true_div(a, unit)), unit), a.type.dtype)


def iround(a: TensorLike, mode: str | None = None) -> TensorVariable:
    """`round(a, mode)` as int64."""
    return m.cast(round(a, mode), "int64")


def rint(x: TensorLike) -> TensorVariable:
    """To the nearest integer, ties to even, as floats."""
    return m.round(_as_float(x))


def modf(x: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """Return the fractional and the whole part, both with the sign of `x`."""
    x = _as_float(x)
    whole = m.trunc(x)
    return m.copysign(m.switch(m.isinf(x), 0.0, m.sub(x, whole)), x), whole


def frexp(x: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """Return m and e (int32) with x = m * 2**e, where |m| is in [0.5, 1), or 0."""
    return m.frexp_mantissa(x), m.frexp_exponent(x)


def spacing(x: Any) -> TensorVariable:
    """The distance to the next number away from 0, with the sign of `x`."""
    x = _as_float(x)
    beyond = m.cast(m.switch(m.lt(x, 0), -inf, inf), x.type.dtype)
    return m.sub(m.nextafter(x, beyond), x)


# --- signs, angles, powers ----------------------------------------------------------------------


def positive(x: TensorLike) -> TensorVariable:
    """`x` itself."""
    return as_tensor_variable(x)


def fabs(x: TensorLike) -> TensorVariable:
    """The absolute value, as floats."""
    return m.abs(_as_float(x))


def float_power(x: TensorLike, y: TensorLike) -> TensorVariable:
    """x**y in float64 (complex128)."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    dtype = "complex128" if "c" in (x.type.kind, y.type.kind) else "float64"
    return m.pow(m.cast(x, dtype), m.cast(y, dtype))


def deg2rad(x: TensorLike) -> TensorVariable:
    """Degrees in radians."""
    return m.mul(_as_float(x), pi / 180)


def rad2deg(x: TensorLike) -> TensorVariable:
    """Radians in degrees."""
    return m.mul(_as_float(x), 180 / pi)


radians = deg2rad
degrees = rad2deg


def sinc(x: TensorLike) -> TensorVariable:
    """sin(pi x) / (pi x), 1 at 0."""
    y = m.mul(_as_float(x), pi)
    return m.switch(m.eq(y, 0), 1.0, m.true_div(m.sin(y), y))


# --- logic --------------------------------------------------------------------------------------


def _truth(x: Any) -> Any:
    x = as_tensor_variable(x)
    return x if x.type.dtype == "bool" else m.neq(x, 0)


def logical_and(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return whether both are other than 0."""
    return m.and_(_truth(x), _truth(y))


def logical_or(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return whether one is other than 0."""
    return m.or_(_truth(x), _truth(y))


def logical_xor(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return whether exactly one is other than 0."""
    return m.xor(_truth(x), _truth(y))


def logical_not(x: TensorLike) -> TensorVariable:
    """Return whether it is 0."""
    return m.invert(_truth(x))


def isposinf(x: TensorLike) -> TensorVariable:
    """Return whether it is infinity. Raises `DTypeError` for complex numbers."""
    return m.and_(m.isinf(x), m.invert(m.signbit(x)))


def isneginf(x: TensorLike) -> TensorVariable:
    """Return whether it is minus infinity. Raises `DTypeError` for complex numbers."""
    return m.and_(m.isinf(x), m.signbit(x))


def isclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    """Elementwise |a - b| <= atol + rtol |b|; infinities equal themselves, NaN only if
    `equal_nan`.
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
    """Return whether `isclose` holds everywhere; a 0-d bool."""
    return reduce_all(isclose(a, b, rtol, atol, equal_nan))


def nan_to_num(
    x: TensorLike, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> TensorVariable:
    """NaN and infinities replaced by numbers; by default infinities by the largest and the least
    number of the dtype. Of complex numbers each part. Integers stay as they are.
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
    """log(x / (1 - x))."""
    return m.log(m.true_div(x, m.sub(1, x)))


def factorial(n: TensorLike) -> TensorVariable:
    """gamma(n + 1); 0 below 0."""
    n = _as_float(n)
    return m.switch(m.lt(n, 0), 0.0, m.gamma(m.add(n, 1)))


def gammal(k: TensorLike, x: TensorLike) -> TensorVariable:
    """The lower incomplete gamma function: the integral of t**(k - 1) * exp(-t) from 0 to x."""
    return m.mul(m.gammainc(k, x), m.gamma(k))


def gammau(k: TensorLike, x: TensorLike) -> TensorVariable:
    """The upper incomplete gamma function: the integral of t**(k - 1) * exp(-t) from x on."""
    return m.mul(m.gammaincc(k, x), m.gamma(k))


def chi2sf(x: TensorLike, k: TensorLike) -> TensorVariable:
    """The probability that a chi-squared variable with k degrees of freedom is above x."""
    return m.gammaincc(m.mul(_as_float(k), 0.5), m.mul(_as_float(x), 0.5))
