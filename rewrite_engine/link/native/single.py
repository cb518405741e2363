"""Mathematical functions on vectors of float32, within 3 units in the last place: as those of
`mathematics.py`, with fewer terms. Twice as many numbers fit into a register. Functions that are
not here are computed in float64.

The coefficients of the logarithm are those of Sun's fdlibm, those of tanh of Moshier's Cephes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, inf, nan

from rewrite_engine.link.native.mathematics import Math, sigmoid, softplus

ROUNDER, ROUNDER_BITS = 12582912.0, 0x4B400000  # 1.5 * 2**23
LN2_HIGH, LN2_LOW = 0.693359375, -2.12194440e-4
TINY = 1.1754943508222875e-38  # what is below has fewer digits


def _reduced(b: Math, x: str, near: float = 0.0) -> tuple[str, str]:
    """exp(x) = 2**n * (1 + y): y, and n as an integer; as in `mathematics.py`."""
    t = b.fma(x, 1.44269502162933349609375, ROUNDER)
    if near:
        t = b.where(b.test("olt", b.size(x), near), ROUNDER, t)
    n = b.sub(t, ROUNDER)
    r = b.fma(n, -LN2_LOW, b.fma(n, -LN2_HIGH, x))
    q = b.series(r, [1 / factorial(k) for k in range(9 if near else 8, 1, -1)])
    return b.fma(b.mul(r, r), q, r), b.whole("sub", b.bits(t), ROUNDER_BITS)


def exp(b: Math, x: str) -> str:
    y = b.where(b.test("ogt", x, 89.0), 89.0, x)
    y = b.where(b.test("olt", y, -105.0), -105.0, y)
    p, n = _reduced(b, y)
    half = b.whole("ashr", n, 1)  # 2**n may be no number, though the result is
    return b.mul(b.mul(b.add(p, 1.0), b.power(half)), b.power(b.whole("sub", n, half)))


def expm1(b: Math, x: str) -> str:
    y = b.where(b.test("ogt", x, 89.0), 89.0, x)
    y = b.where(b.test("olt", y, -25.0), -25.0, y)
    p, n = _reduced(b, y, near=0.5)
    half = b.power(b.whole("sub", n, 1))
    found = b.fma(half, p, b.sub(half, 0.5))
    found = b.add(found, found)
    return b.where(b.test("olt", b.size(x), TINY), x, found)


def log(b: Math, x: str) -> str:
    tiny = b.test("olt", x, TINY)
    y = b.where(tiny, b.mul(x, 2.0**25), x)
    base = 0x3F3504F3  # about the root of 1/2
    h = b.whole("sub", b.bits(y), base)
    m = b.as_float(b.whole("add", b.whole("and", h, 0x7FFFFF), base))
    e = b.cast("sitofp", b.whole("ashr", h, 23), "i32", "f")
    e = b.sub(e, b.where(tiny, 25.0, 0.0))
    f = b.sub(m, 1.0)
    s = b.div(f, b.add(f, 2.0))
    z = b.mul(s, s)
    series = b.series(z, [0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693])
    half = b.mul(b.mul(f, f), 0.5)
    t = b.fma(s, b.add(half, b.mul(z, series)), b.mul(e, 9.0580006145e-06))
    found = b.sub(b.mul(e, 6.9313812256e-01), b.sub(b.sub(half, t), f))
    found = b.where(b.test("ult", x, 0.0), nan, found)
    found = b.where(b.test("oeq", x, 0.0), -inf, found)
    return b.where(b.test("oeq", x, inf), x, found)


def log1p(b: Math, x: str) -> str:
    """log(u) for u = 1 + x, and what was lost in u, divided by u."""
    u = b.add(x, 1.0)
    lost = b.div(b.sub(x, b.sub(u, 1.0)), u)
    found = b.add(log(b, u), lost)
    found = b.where(b.test("oeq", b.size(u), inf), u, found)
    found = b.where(b.test("oeq", x, -1.0), -inf, found)
    found = b.where(b.test("olt", x, -1.0), nan, found)
    return b.where(b.test("olt", b.size(x), TINY), x, found)


def tanh(b: Math, x: str) -> str:
    size = b.size(x)
    y = b.where(b.test("ogt", size, 10.0), 10.0, size)
    p, n = _reduced(b, b.add(y, y))
    e = b.mul(b.add(p, 1.0), b.power(n))
    z = b.mul(x, x)
    near = b.series(z, [-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
                        -3.33332819422e-1])  # fmt: skip
    near = b.fma(b.mul(near, z), size, size)
    far = b.sub(1.0, b.div(2.0, b.add(e, 1.0)))
    found = b.where(b.test("olt", size, 0.625), near, far)
    found = b.where(b.test("uno", x, x), x, found)
    return b.intrinsic("copysign", found, x, kind="f")


SINGLE: dict[str, Callable[[Math, str], str]] = {
    "exp": exp, "expm1": expm1, "log": log, "log1p": log1p, "tanh": tanh, "sigmoid": sigmoid,
    "softplus": softplus,
}  # fmt: skip
