"""The primes below a number, by sifting."""

from __future__ import annotations

from benchmarks.rec.language import (
    Program,
    cons,
    false,
    nil,
    numeral,
    numerals,
    rules,
    s,
    symbols,
    true,
    zero,
)
from benchmarks.rec.numbers import ARITHMETIC, decimal
from rewrite_engine.match.fact import given

(sieve,) = symbols(1, "sieve")
between, divides, sift = symbols(2, "between divides sift")
(divides_from,) = symbols(3, "divides_from")
(sift_by,) = symbols(4, "sift_by")


@rules
def sifting(n, m, x, y, rest):
    """The first is a prime; its multiples go. n is divided by counting it down, m over and over."""
    return (
        between(n, n) >> nil,
        (between(n, m) >> cons(n, between(s(n), m)), given(lambda n, m: n is not m)),
        divides(n, s(m)) >> divides_from(n, s(m), s(m)),
        divides_from(zero, zero, m) >> true,
        divides_from(zero, s(x), m) >> false,
        divides_from(s(x), s(y), m) >> divides_from(x, y, m),
        divides_from(s(x), zero, m) >> divides_from(s(x), m, m),
        sieve(cons(n, rest)) >> cons(n, sieve(sift(rest, n))),
        sieve(nil) >> nil,
        sift(cons(n, rest), m) >> sift_by(divides(n, m), n, rest, m),
        sift(nil, m) >> nil,
        sift_by(true, n, rest, m) >> sift(rest, m),
        sift_by(false, n, rest, m) >> cons(n, sift(rest, m)),
    )


def primes(n: int) -> list[int]:
    """The primes below n."""
    return [p for p in range(2, n) if all(p % d for d in range(2, p))]


PROGRAMS = (
    Program(
        "sieve",
        ARITHMETIC + sifting,
        size=100,
        small=20,
        ask=lambda n: sieve(between(numeral(2), decimal(n))),
        answer=lambda n: numerals(primes(n)),
    ),
)
