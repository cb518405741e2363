"""Truncated power series: lists of the coefficients of f(x + t) in t. They may be fractions, for an
exact series at 0, or expressions of x.

Recurrences: Griewank & Walther, "Evaluating Derivatives", 2nd ed., 2008, chapter 13.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Jet = list[Any]


class Zero:
    """The point 0, where functions are exact. length: number of coefficients."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.x: Any = Fraction(0)

    def value(self, name: str) -> Any:
        """Return the value of a function."""
        return Fraction(1 if name in ("exp", "cos", "cosh") else 0)

    def choose(self, above: Jet, below: Jet) -> Jet:
        """Return the series for numbers that are not above 0."""
        return below


class Point:
    """A point x other than 0, as an expression. m: the namespace to build with."""

    def __init__(self, m: Any, x: Any, length: int) -> None:
        self.m, self.x, self.length = m, x, length

    def value(self, name: str) -> Any:
        """Return the value of a function."""
        return getattr(self.m, name)(self.x)

    def choose(self, above: Jet, below: Jet) -> Jet:
        """Return one series for numbers above 0, and another one for others."""
        up = self.m.gt(self.x, 0.0)
        return [self.m.switch(up, a, b) for a, b in zip(above, below, strict=True)]


At = Zero | Point


def scaled(c: Any, number: Fraction) -> Any:
    """Return a multiple of a coefficient."""
    if isinstance(c, Fraction):
        return c * number
    return c if number == 1 else -c if number == -1 else c * float(number)


def total(terms: Sequence[Any]) -> Any:
    """Return a sum without exact zeros."""
    found: Any = Fraction(0)
    for term in terms:
        if is_zero(found):
            found = term
        elif not is_zero(term):
            found = beside(found, term) + beside(term, found)
    return found


def beside(c: Any, other: Any) -> Any:
    """Return a coefficient, a fraction as a float if the other one is none."""
    return float(c) if isinstance(c, Fraction) and not isinstance(other, Fraction) else c


def is_zero(c: Any) -> bool:
    """Return whether a coefficient is exactly 0."""
    return isinstance(c, Fraction) and c == 0


def product(a: Any, b: Any) -> Any:
    """Return a product of coefficients."""
    if isinstance(a, Fraction):
        return Fraction(0) if a == 0 else scaled(b, a)
    return Fraction(0) if is_zero(b) else scaled(a, b) if isinstance(b, Fraction) else a * b


def quotient(a: Any, b: Any) -> Any:
    """Return a quotient of coefficients."""
    if is_zero(a) or isinstance(b, Fraction):
        return a if is_zero(a) else scaled(a, 1 / b)
    return beside(a, b) / b


def subtract(a: Jet, b: Jet) -> Jet:
    """Return a - b, as long as the shorter one."""
    return [total([x, scaled(y, Fraction(-1))]) for x, y in zip(a, b, strict=False)]


def multiply(a: Jet, b: Jet) -> Jet:
    """Return a * b, as long as both."""
    return [total([product(a[i], b[k - i]) for i in range(k + 1)]) for k in range(len(a))]


def divide(a: Jet, b: Jet) -> Jet:
    """Return a / b; common zeros at the beginning cancel."""
    while is_zero(b[0]):
        a, b = a[1:], b[1:]
    found: Jet = []
    for k, above in enumerate(a):
        rest = [product(b[k - i], found[i]) for i in range(k)]
        value = total([above, scaled(total(rest), Fraction(-1))])
        found.append(quotient(value, b[0]))
    return found


def variable(p: At) -> Jet:
    """Return the series of x."""
    return [p.x, Fraction(1), *[Fraction(0)] * (p.length - 2)][: p.length]


def number(p: At, value: int) -> Jet:
    """Return the series of a number."""
    return [Fraction(value), *[Fraction(0)] * (p.length - 1)]


def exponential(p: At, name: str = "exp") -> Jet:
    """Return the series of exp(x), or of expm1(x)."""
    e, found = p.value("exp"), [p.value(name)]
    factor = Fraction(1)
    for k in range(1, p.length):
        factor /= k
        found.append(scaled(e, factor))
    return found


def turned(p: At, name: str = "exp") -> Jet:
    """Return the series of exp(-x), or of expm1(-x)."""
    if isinstance(p, Zero):
        e, first = Fraction(1), Fraction(name == "exp")
    else:
        e, first = p.m.exp(-p.x), getattr(p.m, name)(-p.x)
    found, factor = [first], Fraction(1)
    for k in range(1, p.length):
        factor /= -k
        found.append(scaled(e, factor))
    return found


def waves(p: At, name: str, other: str, back: int) -> Jet:
    """Return the series of f, where f' is g, and g' is `back` * f: sines, of one kind or the
    other.
    """
    pair = [p.value(name), p.value(other)]
    found, factor, sign = [], Fraction(1), 1
    for k in range(p.length):
        factor = factor / k if k else factor
        found.append(scaled(pair[k % 2], factor * sign))
        sign = sign * back if k % 2 else sign
    return found


def integral(first: Any, slope: Jet) -> Jet:
    """Return the series with a first coefficient and a slope."""
    return [first, *[scaled(c, Fraction(1, k + 1)) for k, c in enumerate(slope[:-1])]]


def raised(a: Jet, p: Fraction, first: Any) -> Jet:
    """Return a power of a series, whose first coefficient is given."""
    found = [first]
    for k in range(1, len(a)):
        parts = [
            scaled(product(a[i], found[k - i]), (p * i - (k - i)) / k) for i in range(1, k + 1)
        ]
        found.append(quotient(total(parts), a[0]))
    return found


def hyperbolic_tangent(p: At) -> Jet:
    """Return the series of tanh(x): its slope s has the slope -2 s tanh(x)."""
    if isinstance(p, Zero):
        slope: Any = Fraction(1)
    else:
        slope = 1 / p.m.sqr(p.m.cosh(p.x))
    t, s = [p.value("tanh")], [slope]
    for k in range(1, p.length):
        t.append(scaled(s[k - 1], Fraction(1, k)))
        parts = [product(s[i], t[k - 1 - i]) for i in range(k)]
        s.append(scaled(total(parts), Fraction(-2, k)))
    return t


def tangent(p: At) -> Jet:
    """Return the series of tan(x), whose slope is 1 + tan(x)**2."""
    t = [p.value("tan")]
    for k in range(1, p.length):
        square = total([product(t[i], t[k - 1 - i]) for i in range(k)])
        t.append(scaled(total([square, Fraction(k == 1)]), Fraction(1, k)))
    return t
