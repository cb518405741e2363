"""Numbers as s(s(… zero)): sums, products, order; factorial, Fibonacci, Takeuchi's function."""

from __future__ import annotations

import math
from functools import cache

from benchmarks.rec.language import (
    Program,
    constants,
    false,
    ground,
    numeral,
    rules,
    s,
    symbols,
    true,
    zero,
)
from rewrite_engine.graph.node import Variable

plus, times, lt, ge = symbols(2, "plus times lt ge")
fib, fact, positive, negative, before = symbols(1, "fib fact positive negative before")
(tak,) = symbols(3, "tak")
(tak_by,) = symbols(4, "tak_by")
(ten,) = constants("ten")


@rules
def sums(x, y):
    """x + y."""
    return (
        plus(zero, y) >> y,
        plus(s(x), y) >> s(plus(x, y)),
    )


@rules
def products(x, y):
    """x y."""
    return (
        times(zero, y) >> zero,
        times(s(x), y) >> plus(y, times(x, y)),
    )


@rules
def digits():
    """The number with a name."""
    return (ten >> s(s(s(s(s(s(s(s(s(s(zero)))))))))),)


@rules
def less(x, y):
    """x < y."""
    return (
        lt(zero, zero) >> false,
        lt(zero, s(y)) >> true,
        lt(s(x), zero) >> false,
        lt(s(x), s(y)) >> lt(x, y),
    )


ARITHMETIC = sums + products + digits


def decimal(n: int) -> Variable:
    """A number as the questions have it: 100, 1,000 and 10,000 are products of tens."""
    if n in (100, 1_000, 10_000):
        return times(ground(ten), decimal(n // 10))
    return ground(ten) if n == 10 else numeral(n)


@rules
def factorials(x):
    """x!"""
    return (
        fact(zero) >> s(zero),
        fact(s(x)) >> times(s(x), fact(x)),
    )


@rules
def fibonacci_numbers(x):
    """The sum of the two before."""
    return (
        fib(zero) >> zero,
        fib(s(zero)) >> s(zero),
        fib(s(s(x))) >> plus(fib(s(x)), fib(x)),
    )


def fibonacci(n: int) -> int:
    """The n-th Fibonacci number."""
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@rules
def integers(x, y):
    """At least y; one less. The positive ones are from 0 on, the negative ones from -1 down."""
    return (
        ge(zero, zero) >> true,
        ge(s(x), zero) >> true,
        ge(zero, s(x)) >> false,
        ge(s(x), s(y)) >> ge(x, y),
        ge(positive(x), positive(y)) >> ge(x, y),
        ge(negative(x), negative(y)) >> ge(y, x),
        ge(positive(x), negative(y)) >> true,
        ge(negative(x), positive(y)) >> false,
        before(positive(zero)) >> negative(zero),
        before(positive(s(x))) >> positive(x),
        before(negative(x)) >> negative(s(x)),
    )


@rules
def takeuchi(x, y, z):
    """z if y is at least x, else three calls and one of their results."""
    return (
        tak(x, y, z) >> tak_by(ge(y, x), x, y, z),
        tak_by(true, x, y, z) >> z,
        tak_by(false, x, y, z)
        >> tak(tak(before(x), y, z), tak(before(y), z, x), tak(before(z), x, y)),
    )


@cache
def takeuchi_of(x: int, y: int, z: int) -> int:
    """The function in Python."""
    if y >= x:
        return z
    return takeuchi_of(takeuchi_of(x - 1, y, z), takeuchi_of(y - 1, z, x), takeuchi_of(z - 1, x, y))


def integer(n: int) -> Variable:
    """The integer n."""
    return positive(numeral(n)) if n >= 0 else negative(numeral(-n - 1))


PROGRAMS = (
    Program(
        "factorial",
        sums + products + factorials,
        size=8,
        small=5,
        ask=lambda n: fact(numeral(n)),
        answer=lambda n: numeral(math.factorial(n)),
    ),
    Program(
        "fibonacci",
        sums + fibonacci_numbers,
        size=19,
        small=5,
        ask=lambda n: fib(numeral(n)),
        answer=lambda n: numeral(fibonacci(n)),
    ),
    Program(
        "tak",
        integers + takeuchi,
        size=15,
        small=6,
        ask=lambda n: tak(*[positive(numeral(m)) for m in (n, n * 2 // 3, n // 3)]),
        answer=lambda n: integer(takeuchi_of(n, n * 2 // 3, n // 3)),
    ),
)
