"""Mathematical functions as formulas of instructions: float64 within 1.5 units in the last place;
float32, of which twice as many fit into a register, within 3. One formula serves both; their
constants differ (`Precision`).

The argument is reduced to a small interval by exact steps, where a polynomial is enough: Cody and
Waite, "Software Manual for the Elementary Functions", 1980; Muller, "Elementary Functions", 2016.
The coefficients of logarithm, sine and cosine are those of Sun's fdlibm, those of tanh those of
Moshier's Cephes; the exponential has its own series.
"""

from math import factorial, inf, nan
from typing import NamedTuple

from rewrite_engine.language import *
from rewrite_engine.scalar import machine
from rewrite_engine.tensor import (
    abs,
    constant,
    copysign,
    cos,
    eq,
    exp,
    expm1,
    log,
    log1p,
    maximum,
    neq,
    sigmoid,
    sin,
    softplus,
    switch,
    tanh,
    xor,
)
from rewrite_engine.tensor.elemwise import Elemwise

muladd = Elemwise(machine.muladd)
reinterpret = Elemwise(machine.reinterpret)
shift_up, shift_down = Elemwise(machine.shift_up), Elemwise(machine.shift_down)
sin_far, cos_far = Elemwise(machine.sin_far), Elemwise(machine.cos_far)


class Precision(NamedTuple):
    """Constants of a float format. digits: binary digits behind the point. bias: of exponents.
    rounder: added to a number of modest size, this leaves it rounded to an integer in the lowest
    bits. ln2: log(2) in two parts, the first with few digits. most, least: exponentials are
    infinite above, 0 below; below `one`, 1 + x rounds to 1. terms: number of terms of the series
    of exp. tiny: smaller numbers are subnormal. near: below it, x replaces expm1(x). root: about
    the root of 1/2, by its bits. series: of the logarithm, in the square of f / (2 + f).
    """

    digits: int
    bias: int
    rounder: float
    rounder_bits: int
    log2_e: float
    ln2: tuple[float, float]
    most: float
    least: float
    one: float
    terms: int
    tiny: float
    near: float
    root: int
    series: tuple[float, ...]


PRECISIONS = {
    "float64": Precision(
        52, 1023, 6755399441055744.0, 0x4338000000000000, 1.4426950408889634074,
        (6.93147180369123816490e-01, 1.90821492927058770002e-10), 709.8, -746.0, -50.0, 13,
        2.2250738585072014e-308, 1e-300, 0x3FE6A09E00000000,
        (1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
         2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
         6.666666666666735130e-01),
    ),
    "float32": Precision(
        23, 127, 12582912.0, 0x4B400000, 1.44269502162933349609375,
        (6.9314575195e-01, 1.4286067653e-06), 89.0, -105.0, -25.0, 7,
        1.1754943508222875e-38, 1e-36, 0x3F3504F3,
        (0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693),
    ),
}  # fmt: skip


def has_constants(x):
    """Return whether there are constants for the dtype."""
    return x.type.dtype in PRECISIONS


def is_double(x):
    """Return whether a term is of dtype float64."""
    return x.type.dtype == "float64"


def power(n, own):
    """Return 2**n as a float, for integers in the range of exponents."""
    return reinterpret(shift_up(n + own.bias, own.digits))


def series(x, coefficients):
    """Return a polynomial, the highest coefficient first."""
    found = coefficients[0]
    for c in coefficients[1:]:
        found = muladd(found, x, c)
    return found


def even(x, coefficients):
    """Return a polynomial in two halves, which a processor computes in parallel."""
    square, n = x * x, len(coefficients)
    high = series(square, coefficients[(n - 1) % 2 :: 2])
    low = series(square, coefficients[n % 2 :: 2])
    return muladd(low, x, high)


def reduced(x, near=0.0):
    """Reduce exp(x) = 2**n * (1 + y): return y, and n as an integer. x: of modest size. near: the
    distance from 0 within which n is 0, if larger than necessary.
    """
    own = PRECISIONS[x.type.dtype]
    t = muladd(x, own.log2_e, own.rounder)
    if near:
        t = switch(abs(x) < near, own.rounder, t)
    n = t - own.rounder
    r = muladd(n, -own.ln2[1], muladd(n, -own.ln2[0], x))
    q = even(r, [1 / factorial(k) for k in range(own.terms + 2 * bool(near), 1, -1)])
    return muladd(r * r, q, r), reinterpret(t) - own.rounder_bits


def within(x, low):
    """Limit an argument of the exponential to the range in which the result changes."""
    most = PRECISIONS[x.type.dtype].most
    y = switch(x > most, most, x)
    return switch(y < low, low, y)


def exponential(x):
    """Return exp(x), also if 2**n is no number."""
    own = PRECISIONS[x.type.dtype]
    p, n = reduced(within(x, own.least))
    half = shift_down(n, 1)  # 2**n may be no number, though the result is
    return (p + 1.0) * power(half, own) * power(n - half, own)


@rule(phase="lower", claim=approx(ulps=4), ends=at_most(1))
def exp_in_steps(x: Float):
    """2**n times a series."""
    return exp(x) >> compute(exponential), given(has_constants)


def exponential_minus_one(x):
    """Return expm1(x), also of tiny numbers."""
    own = PRECISIONS[x.type.dtype]
    p, n = reduced(within(x, own.one), near=0.5)
    half = power(n - 1, own)
    found = muladd(half, p, half - 0.5)
    return switch(abs(x) < own.near, x, found + found)


@rule(phase="lower", claim=approx(ulps=4), ends=at_most(1))
def expm1_in_steps(x: Float):
    """The series of the exponential without its first term."""
    return expm1(x) >> compute(exponential_minus_one), given(has_constants)


def logarithm(x):
    """Return log(x), also of subnormal numbers."""
    own = PRECISIONS[x.type.dtype]
    tiny, far = x < own.tiny, float(own.digits + 2)
    y = switch(tiny, x * 2.0**far, x)
    h = reinterpret(y) - own.root
    m = reinterpret((h & (2**own.digits - 1)) + own.root)
    e = reinterpret(shift_down(h, own.digits) + own.rounder_bits)
    e = e - own.rounder - switch(tiny, *[constant(c, dtype=x.type.dtype) for c in (far, 0.0)])
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    t = muladd(s, half + z * series(z, own.series), e * own.ln2[1])
    found = e * own.ln2[0] - ((half - t) - f)
    found = switch(x >= 0.0, found, nan)
    found = switch(eq(x, 0.0), -inf, found)
    return switch(eq(x, inf), x, found)


@rule(phase="lower", claim=approx(ulps=4), ends=at_most(1))
def log_in_steps(x: Float):
    """n log(2), plus a series in (m - 1) / (m + 1), for x = 2**n * m."""
    return log(x) >> compute(logarithm), given(has_constants)


def logarithm_beside_one(x):
    """Return log(u) for u = 1 + x, plus the rounding error of u divided by u."""
    own = PRECISIONS[x.type.dtype]
    u = x + 1.0
    lost = (x - (u - 1.0)) / u
    found = logarithm(u) + lost
    found = switch(eq(abs(u), inf), u, found)
    found = switch(eq(x, -1.0), -inf, found)
    found = switch(x < -1.0, nan, found)
    return switch(abs(x) < own.near, x, found)


@rule(phase="lower", claim=approx(ulps=4), ends=at_most(1))
def log1p_in_steps(x: Float):
    """The logarithm of 1 + x, and what that sum has lost."""
    return log1p(x) >> compute(logarithm_beside_one), given(has_constants)


def hyperbolic_tangent(x):
    """Return tanh(x), of float32 with a shorter series near 0."""
    own, size = PRECISIONS[x.type.dtype], abs(x)
    end = 22.0 if is_double(x) else 10.0
    y = switch(size > end, end, size)
    p, n = reduced(y + y)
    e = (p + 1.0) * power(n, own)
    return (tanh_of_double if is_double(x) else tanh_of_single)(x, size, e)


def tanh_of_double(x, size, e):
    """Return tanh(x). e: exp(2 |x|)."""
    z, small = x * x, size < 0.625
    above = series(z, [
        -9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3
    ])  # fmt: skip
    below = series(z, [
        1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3
    ])  # fmt: skip
    above = switch(small, size * z * above, -2.0)
    below = switch(small, below, e + 1.0)
    return copysign(above / below + switch(small, size, 1.0), x)


def tanh_of_single(x, size, e):
    """Return tanh(x). e: exp(2 |x|)."""
    z = x * x
    near = series(z, [-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
                      -3.33332819422e-1])  # fmt: skip
    near = muladd(near * z, size, size)
    far = 1.0 - 2.0 / (e + 1.0)
    found = switch(size < 0.625, near, far)
    return copysign(switch(neq(x, x), x, found), x)


@rule(phase="lower", claim=approx(ulps=4), ends=at_most(1))
def tanh_in_steps(x: Float):
    """A quotient of polynomials near 0, else by the exponential."""
    return tanh(x) >> compute(hyperbolic_tangent), given(has_constants)


def logistic(x):
    """Return 1 / (1 + exp(-x))."""
    e = exp(-abs(x))
    return switch(x >= 0.0, 1.0, e) / (e + 1.0)


@rule(phase="lower", claim=approx(ulps=8))
def sigmoid_in_steps(x: Float):
    """1 / (1 + exp(-x)), by the exponential that does not overflow."""
    return sigmoid(x) >> compute(logistic), given(has_constants)


@rule(phase="lower", claim=approx(ulps=4))
def softplus_in_steps(x: Float):
    """log(1 + exp(x)), by the exponential that does not overflow."""
    return softplus(x) >> maximum(x, 0.0) + log1p(exp(-abs(x))), given(has_constants)


# --- sine and cosine ----------------------------------------------------------------------------


def rotated(x, quarters):
    """Return sin(x + quarters * pi / 2), for x that is not far from 0."""
    own = PRECISIONS["float64"]
    t = muladd(x, 6.36619772367581382433e-01, own.rounder)
    n = t - own.rounder
    q = reinterpret(t) + quarters
    r0 = muladd(n, -1.57079632673412561417e00, x)
    w = n * 6.07710050630396597660e-11
    r = r0 - w
    w = n * 2.02226624879595063154e-21 - ((r0 - r) - w)
    y = r - w
    low = (r - y) - w
    found = switch(neq(q & 1, 0), cosine_near(y, low), sine_near(y, low))
    return reinterpret(xor(reinterpret(found), shift_up(q & 2, 62)))


def sine_near(y, low):
    """Return sin(y + low), for |y| up to pi / 4."""
    z = y * y
    tail = series(z, [
        1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
        -1.98412698298579493134e-04, 8.33333333332248946124e-03,
    ])  # fmt: skip
    v = z * y
    inner = z * (low * 0.5 - v * tail) - low
    return y - (inner - v * -1.66666666666666324348e-01)


def cosine_near(y, low):
    """Return cos(y + low), for |y| up to pi / 4."""
    z = y * y
    tail = z * series(z, [
        -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
        2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02,
    ])  # fmt: skip
    half = z * 0.5
    w = 1.0 - half
    more = z * tail - y * low
    return w + (((1.0 - w) - half) + more)


@rule(phase="lower", claim=approx(ulps=4), ends=at_most(1))
def sin_in_steps(x: Float):
    """The angle is reduced to a quarter of a turn; far from 0, by NumPy."""
    return sin(x) >> compute(lambda x: sin_far(x, rotated(x, 0))), given(is_double)


@rule(phase="lower", claim=approx(ulps=4), ends=at_most(1))
def cos_in_steps(x: Float):
    """The angle is reduced to a quarter of a turn; far from 0, by NumPy."""
    return cos(x) >> compute(lambda x: cos_far(x, rotated(x, 1))), given(is_double)


#: the rules by the names of `FUNCTIONS`: kernels call these, and contain the steps of other ops
BY_NAME = {
    "exp": exp_in_steps, "expm1": expm1_in_steps, "log": log_in_steps, "log1p": log1p_in_steps,
    "tanh": tanh_in_steps, "sigmoid": sigmoid_in_steps, "softplus": softplus_in_steps,
    "sin": sin_in_steps, "cos": cos_in_steps,
}  # fmt: skip
