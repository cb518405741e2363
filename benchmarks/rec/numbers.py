"""Numbers as s(s(… zero)): sums, products, comparison; Fibonacci and factorial."""

from __future__ import annotations

import math

from benchmarks.rec.language import (
    Program,
    false,
    numeral,
    rule,
    s,
    symbols,
    true,
    zero,
)
from rewrite_engine.match.ruleset import RuleSet

plus, times, lt = symbols(2, "plus times lt")
fib, fact = symbols(1, "fib fact")


@rule
def zero_plus(y):
    """0 + y."""
    return plus(zero, y) >> y


@rule
def successor_plus(x, y):
    """(x + 1) + y."""
    return plus(s(x), y) >> s(plus(x, y))


@rule
def zero_times(y):
    """0 y."""
    return times(zero, y) >> zero


@rule
def successor_times(x, y):
    """(x + 1) y."""
    return times(s(x), y) >> plus(times(x, y), y)


@rule
def nothing_below_zero(x):
    """x < 0."""
    return lt(x, zero) >> false


@rule
def zero_below(y):
    """0 < y + 1."""
    return lt(zero, s(y)) >> true


@rule
def below(x, y):
    """x + 1 < y + 1."""
    return lt(s(x), s(y)) >> lt(x, y)


@rule
def fib_of_zero():
    """The first Fibonacci number."""
    return fib(zero) >> zero


@rule
def fib_of_one():
    """The second."""
    return fib(s(zero)) >> s(zero)


@rule
def fib_of_more(x):
    """The sum of the two before."""
    return fib(s(s(x))) >> plus(fib(s(x)), fib(x))


@rule
def fact_of_zero():
    """0!."""
    return fact(zero) >> s(zero)


@rule
def fact_of_more(x):
    """(x + 1)!."""
    return fact(s(x)) >> times(s(x), fact(x))


def fibonacci(n: int) -> int:
    """The n-th Fibonacci number."""
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


SUMS = RuleSet([zero_plus, successor_plus])
PRODUCTS = SUMS + RuleSet([zero_times, successor_times])
ORDER = RuleSet([nothing_below_zero, zero_below, below])

PROGRAMS = (
    Program(
        "fibonacci",
        SUMS + RuleSet([fib_of_zero, fib_of_one, fib_of_more]),
        size=19,
        small=12,
        ask=lambda n: fib(numeral(n)),
        answer=lambda n: numeral(fibonacci(n)),
    ),
    Program(
        "factorial",
        PRODUCTS + RuleSet([fact_of_zero, fact_of_more]),
        size=7,
        small=5,
        ask=lambda n: fact(numeral(n)),
        answer=lambda n: numeral(math.factorial(n)),
    ),
)
