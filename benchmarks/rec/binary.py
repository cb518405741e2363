"""Binary numbers: sums, products and powers digit by digit, the lowest digit outermost."""

from __future__ import annotations

from benchmarks.rec.language import Program, constants, ground, numeral, rule, s, symbols, zero
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.ruleset import RuleSet

(empty,) = constants("empty")  # no digits: 0
even, odd, increment = symbols(1, "even odd increment")  # 2x, 2x + 1, x + 1
add, multiply, power = symbols(2, "add multiply power")


@rule
def leading_zero():
    """A number does not begin with 0."""
    return even(empty) >> empty


@rule
def empty_add(y):
    """0 + y."""
    return add(empty, y) >> y


@rule
def add_empty(x):
    """x + 0."""
    return add(x, empty) >> x


@rule
def even_add_even(x, y):
    """2x + 2y."""
    return add(even(x), even(y)) >> even(add(x, y))


@rule
def even_add_odd(x, y):
    """2x + 2y + 1."""
    return add(even(x), odd(y)) >> odd(add(x, y))


@rule
def odd_add_even(x, y):
    """2x + 1 + 2y."""
    return add(odd(x), even(y)) >> odd(add(x, y))


@rule
def odd_add_odd(x, y):
    """2x + 1 + 2y + 1."""
    return add(odd(x), odd(y)) >> even(increment(add(x, y)))


@rule
def increment_empty():
    """0 + 1."""
    return increment(empty) >> odd(empty)


@rule
def increment_even(x):
    """2x + 1."""
    return increment(even(x)) >> odd(x)


@rule
def increment_odd(x):
    """2x + 1 + 1: the carry goes on."""
    return increment(odd(x)) >> even(increment(x))


@rule
def multiply_empty(y):
    """0 y."""
    return multiply(empty, y) >> empty


@rule
def multiply_even(x, y):
    """2x y."""
    return multiply(even(x), y) >> even(multiply(x, y))


@rule
def multiply_odd(x, y):
    """(2x + 1) y."""
    return multiply(odd(x), y) >> add(y, even(multiply(x, y)))


@rule
def power_of_zero(x):
    """x**0."""
    return power(x, zero) >> odd(empty)


@rule
def power_of_more(x, n):
    """x**(n + 1)."""
    return power(x, s(n)) >> multiply(x, power(x, n))


def digits(n: int) -> Variable:
    """The number n in binary."""
    term = ground(empty)
    for digit in bin(n)[2:] if n else "":
        term = (odd if digit == "1" else even)(term)
    return term


PROGRAMS = (
    Program(
        "binary",
        RuleSet([leading_zero, empty_add, add_empty, even_add_even, even_add_odd, odd_add_even])
        + RuleSet([odd_add_odd, increment_empty, increment_even, increment_odd, multiply_empty])
        + RuleSet([multiply_even, multiply_odd, power_of_zero, power_of_more]),
        size=80,
        small=15,
        ask=lambda n: power(digits(45), numeral(n)),
        answer=lambda n: digits(45**n),
    ),
)
