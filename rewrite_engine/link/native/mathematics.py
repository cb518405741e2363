"""Mathematical functions on vectors of floats: float64 within 1.5 units in the last place; float32,
of which twice as many fit into a register, within 3. One formula serves both if only constants
differ (`Precision`). Functions that are not in `SINGLE_FUNCTIONS` are computed in float64.

The argument is reduced to a small interval by exact steps, where a polynomial is enough: Cody and
Waite, "Software Manual for the Elementary Functions", 1980; Muller, "Elementary Functions", 2016.
The coefficients of logarithm, sine and cosine are those of Sun's fdlibm, those of tanh those of
Moshier's Cephes; the exponential has its own series.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial, inf, nan
from typing import NamedTuple

from rewrite_engine.link.native.text import Assembler


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
    "d": Precision(
        52, 1023, 6755399441055744.0, 0x4338000000000000, 1.4426950408889634074,
        (6.93147180369123816490e-01, 1.90821492927058770002e-10), 709.8, -746.0, -50.0, 13,
        2.2250738585072014e-308, 1e-300, 0x3FE6A09E00000000,
        (1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
         2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
         6.666666666666735130e-01),
    ),
    "f": Precision(
        23, 127, 12582912.0, 0x4B400000, 1.44269502162933349609375,
        (6.9314575195e-01, 1.4286067653e-06), 89.0, -105.0, -25.0, 7,
        1.1754943508222875e-38, 1e-36, 0x3F3504F3,
        (0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693),
    ),
}  # fmt: skip
DOUBLE = PRECISIONS["d"]
#: beyond this the reduction of sine and cosine loses digits, and NumPy's function takes over
MAX_REDUCED_ANGLE = 1.0e6


class Math(Assembler):
    """Assembler with short names for formulas; Python numbers stand for themselves. kind: the kind
    of the floats.
    """

    def __init__(self, width: int = 1, fma: bool = False, kind: str = "d") -> None:
        super().__init__(width, fma)
        self.kind, self.whole_kind = kind, {"d": "i", "f": "i32"}[kind]
        self.own = PRECISIONS[kind]

    def _x(self, x: str | float) -> str:
        return x if isinstance(x, str) else self.constant(x, self.kind)

    def _i(self, x: str | int) -> str:
        return x if isinstance(x, str) else self.constant(x, self.whole_kind)

    def add(self, a: str | float, b: str | float) -> str:
        return self.bin("fadd", self._x(a), self._x(b), self.kind)

    def sub(self, a: str | float, b: str | float) -> str:
        return self.bin("fsub", self._x(a), self._x(b), self.kind)

    def mul(self, a: str | float, b: str | float) -> str:
        return self.bin("fmul", self._x(a), self._x(b), self.kind)

    def div(self, a: str | float, b: str | float) -> str:
        return self.bin("fdiv", self._x(a), self._x(b), self.kind)

    def fma(self, a: str | float, b: str | float, c: str | float) -> str:
        return self.muladd(self._x(a), self._x(b), self._x(c), self.kind)

    def size(self, x: str) -> str:
        return self.intrinsic("fabs", x, kind=self.kind)

    def where(self, mask: str, a: str | float, b: str | float) -> str:
        return self.select(mask, self._x(a), self._x(b), self.kind)

    def test(self, name: str, a: str | float, b: str | float) -> str:
        return self.compare(name, self._x(a), self._x(b), self.kind)

    def call(self, name: str, x: str) -> str:
        return self.unit(name, x, kind=self.kind)

    def whole(self, op: str, a: str | int, b: str | int) -> str:
        return self.bin(op, self._i(a), self._i(b), self.whole_kind)

    def bits(self, x: str) -> str:
        return self.cast("bitcast", x, self.kind, self.whole_kind)

    def as_float(self, x: str) -> str:
        return self.cast("bitcast", x, self.whole_kind, self.kind)

    def power(self, n: str) -> str:
        """Write 2**n, for integers in the range of exponents."""
        own = self.own
        return self.as_float(self.whole("shl", self.whole("add", n, own.bias), own.digits))

    def test_bit(self, x: str, bit: int) -> str:
        """Write a test whether an integer has a bit."""
        return self.compare("ne", self.whole("and", x, bit), self.constant(0, "i"), "i")

    def unless_far(self, x: str, found: str, name: str) -> str:
        """Write a selection: the result, or NumPy's function `name` if a number is far from 0."""
        far = self.test("ogt", self.intrinsic("fabs", x), MAX_REDUCED_ANGLE)
        if self.width > 1:
            masks = self.type("b")
            reducer = f"llvm.vector.reduce.or.v{self.width}i1"
            self.declare(f"i1 @{reducer}({masks})")
            far = self.new(f"call i1 @{reducer}({masks} {far})")
        near, slow, done = self.current_label, self.label(), self.label()
        self.do(f"br i1 {far}, label %{slow}, label %{done}")
        self.start(slow)
        other = self.unit(f"numpy_{name}", x)
        self.do(f"br label %{done}")
        self.start(done)
        return self.new(f"phi {self.type('d')} [{found}, %{near}], [{other}, %{slow}]")

    def series(self, x: str, coefficients: Sequence[float]) -> str:
        """Write a polynomial, the highest coefficient first."""
        found = self._x(coefficients[0])
        for c in coefficients[1:]:
            found = self.fma(found, x, c)
        return found

    def even(self, x: str, coefficients: Sequence[float]) -> str:
        """Write a polynomial in two halves, which a processor computes in parallel."""
        square = self.mul(x, x)
        n = len(coefficients)
        high = self.series(square, coefficients[(n - 1) % 2 :: 2])
        low = self.series(square, coefficients[n % 2 :: 2])
        return self.fma(low, x, high)


def _reduce_angle(b: Math, x: str, near: float = 0.0) -> tuple[str, str]:
    """Reduce exp(x) = 2**n * (1 + y): return y, and n as an integer. x: of modest size. near: the
    distance from 0 within which n is 0, if larger than necessary.
    """
    own = b.own
    t = b.fma(x, own.log2_e, own.rounder)
    if near:
        t = b.where(b.test("olt", b.size(x), near), own.rounder, t)
    n = b.sub(t, own.rounder)
    r = b.fma(n, -own.ln2[1], b.fma(n, -own.ln2[0], x))
    q = b.even(r, [1 / factorial(k) for k in range(own.terms + 2 * bool(near), 1, -1)])
    return b.fma(b.mul(r, r), q, r), b.whole("sub", b.bits(t), own.rounder_bits)


def _within(b: Math, x: str, low: float) -> str:
    """Limit an argument of the exponential to the range in which the result changes."""
    y = b.where(b.test("ogt", x, b.own.most), b.own.most, x)
    return b.where(b.test("olt", y, low), low, y)


def exp(b: Math, x: str) -> str:
    p, n = _reduce_angle(b, _within(b, x, b.own.least))
    half = b.whole("ashr", n, 1)  # 2**n may be no number, though the result is
    return b.mul(b.mul(b.add(p, 1.0), b.power(half)), b.power(b.whole("sub", n, half)))


def expm1(b: Math, x: str) -> str:
    p, n = _reduce_angle(b, _within(b, x, b.own.one), near=0.5)
    half = b.power(b.whole("sub", n, 1))
    found = b.fma(half, p, b.sub(half, 0.5))
    found = b.add(found, found)
    return b.where(b.test("olt", b.size(x), b.own.near), x, found)


def log(b: Math, x: str) -> str:
    own = b.own
    tiny, far = b.test("olt", x, own.tiny), float(own.digits + 2)
    y = b.where(tiny, b.mul(x, 2.0**far), x)
    h = b.whole("sub", b.bits(y), own.root)
    m = b.as_float(b.whole("add", b.whole("and", h, 2**own.digits - 1), own.root))
    e = b.as_float(b.whole("add", b.whole("ashr", h, own.digits), own.rounder_bits))
    e = b.sub(b.sub(e, own.rounder), b.where(tiny, far, 0.0))
    f = b.sub(m, 1.0)
    s = b.div(f, b.add(f, 2.0))
    z = b.mul(s, s)
    half = b.mul(b.mul(f, f), 0.5)
    t = b.fma(s, b.add(half, b.mul(z, b.series(z, own.series))), b.mul(e, own.ln2[1]))
    found = b.sub(b.mul(e, own.ln2[0]), b.sub(b.sub(half, t), f))
    found = b.where(b.test("ult", x, 0.0), nan, found)
    found = b.where(b.test("oeq", x, 0.0), -inf, found)
    return b.where(b.test("oeq", x, inf), x, found)


def log1p(b: Math, x: str) -> str:
    """Write log(u) for u = 1 + x, plus the rounding error of u divided by u."""
    u = b.add(x, 1.0)
    lost = b.div(b.sub(x, b.sub(u, 1.0)), u)
    found = b.add(log(b, u), lost)
    special = b.test("oeq", b.size(u), inf)
    found = b.where(special, u, found)
    found = b.where(b.test("oeq", x, -1.0), -inf, found)
    found = b.where(b.test("olt", x, -1.0), nan, found)
    return b.where(b.test("olt", b.size(x), b.own.near), x, found)


def tanh(b: Math, x: str) -> str:
    size = b.size(x)
    y = b.where(b.test("ogt", size, 22.0), 22.0, size)
    p, n = _reduce_angle(b, b.add(y, y))
    e = b.mul(b.add(p, 1.0), b.power(n))
    z = b.mul(x, x)
    above = b.series(z, [
        -9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3
    ])  # fmt: skip
    below = b.series(z, [
        1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3
    ])  # fmt: skip
    small = b.test("olt", size, 0.625)
    above = b.where(small, b.mul(b.mul(size, z), above), -2.0)
    below = b.where(small, below, b.add(e, 1.0))
    found = b.add(b.div(above, below), b.where(small, size, 1.0))
    return b.intrinsic("copysign", found, x)


def tanh_single(b: Math, x: str) -> str:
    """Write tanh for float32, with a shorter series near 0."""
    size = b.size(x)
    y = b.where(b.test("ogt", size, 10.0), 10.0, size)
    p, n = _reduce_angle(b, b.add(y, y))
    e = b.mul(b.add(p, 1.0), b.power(n))
    z = b.mul(x, x)
    near = b.series(z, [-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
                        -3.33332819422e-1])  # fmt: skip
    near = b.fma(b.mul(near, z), size, size)
    far = b.sub(1.0, b.div(2.0, b.add(e, 1.0)))
    found = b.where(b.test("olt", size, 0.625), near, far)
    found = b.where(b.test("uno", x, x), x, found)
    return b.intrinsic("copysign", found, x, kind="f")


def sigmoid(b: Math, x: str) -> str:
    """Write 1 / (1 + exp(-x)), by the exponential that does not overflow."""
    e = b.call("exp", b.sub(-0.0, b.size(x)))
    up = b.test("oge", x, 0.0)
    return b.div(b.where(up, 1.0, e), b.add(e, 1.0))


def softplus(b: Math, x: str) -> str:
    """Write log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|))."""
    e = b.call("exp", b.sub(-0.0, b.size(x)))
    above = b.intrinsic("maximum", x, b.constant(0.0, b.kind), kind=b.kind)
    return b.add(above, b.call("log1p", e))


def _rotate(b: Math, x: str, quarters: int, name: str) -> str:
    """Compute sin(x + quarters * pi / 2); far from 0, by NumPy's function `name`."""
    t = b.fma(x, 6.36619772367581382433e-01, DOUBLE.rounder)
    n = b.sub(t, DOUBLE.rounder)
    q = b.whole("add", b.bits(t), quarters)
    r0 = b.fma(n, -1.57079632673412561417e00, x)
    w = b.mul(n, 6.07710050630396597660e-11)
    r = b.sub(r0, w)
    w = b.sub(b.mul(n, 2.02226624879595063154e-21), b.sub(b.sub(r0, r), w))
    y = b.sub(r, w)
    low = b.sub(b.sub(r, y), w)
    found = b.where(b.test_bit(q, 1), _cosine(b, y, low), _sine(b, y, low))
    sign = b.whole("shl", b.whole("and", q, 2), 62)
    found = b.as_float(b.whole("xor", b.bits(found), sign))
    return b.unless_far(x, found, name)


def _sine(b: Math, y: str, low: str) -> str:
    z = b.mul(y, y)
    series = b.series(z, [
        1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
        -1.98412698298579493134e-04, 8.33333333332248946124e-03,
    ])  # fmt: skip
    v = b.mul(z, y)
    inner = b.sub(b.mul(z, b.sub(b.mul(low, 0.5), b.mul(v, series))), low)
    return b.sub(y, b.sub(inner, b.mul(v, -1.66666666666666324348e-01)))


def _cosine(b: Math, y: str, low: str) -> str:
    z = b.mul(y, y)
    series = b.mul(z, b.series(z, [
        -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
        2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02,
    ]))  # fmt: skip
    half = b.mul(z, 0.5)
    w = b.sub(1.0, half)
    rest = b.sub(b.mul(z, series), b.mul(y, low))
    return b.add(w, b.add(b.sub(b.sub(1.0, w), half), rest))


def sin(b: Math, x: str) -> str:
    return _rotate(b, x, 0, "sin")


def cos(b: Math, x: str) -> str:
    return _rotate(b, x, 1, "cos")


FUNCTIONS: dict[str, Callable[[Math, str], str]] = {
    "exp": exp, "expm1": expm1, "log": log, "log1p": log1p, "tanh": tanh, "sigmoid": sigmoid,
    "softplus": softplus, "sin": sin, "cos": cos,
}  # fmt: skip
#: those of float32
SINGLE_FUNCTIONS = {
    name: FUNCTIONS[name] for name in ("exp", "expm1", "log", "log1p", "sigmoid", "softplus")
}
SINGLE_FUNCTIONS["tanh"] = tanh_single
