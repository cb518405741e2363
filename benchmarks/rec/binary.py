"""Binary numbers, the lowest digit outermost: their order, sums, differences and quotients; the
Fibonacci numbers, and the search for one of them by halving.

Positive numbers are `one` and `twice(b, p)`, which is 2p, and 1 more where b is true; natural ones
are `zero` and `some(p)`; integers are `whole(n)` and `minus(p)`. What the competition calls "fib32"
has rules of its own for the same; as far as they were read, its sums lose the carry of digits that
differ, so its question is asked of the rules of "binarysearch".
"""

from __future__ import annotations

from bisect import bisect_left

from benchmarks.rec.language import (
    Program,
    constants,
    false,
    ground,
    rules,
    symbols,
    true,
    zero,
)
from benchmarks.rec.numbers import fibonacci
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.fact import given

(one,) = constants("one")
some, whole, minus, natural, positive = symbols(1, "some whole minus natural positive")
inverse, fib, succ, succ_pos, pred, negated = symbols(1, "inverse fib succ succ_pos pred negated")
twice, doubled, same, both, max_of, larger = symbols(2, "twice doubled same both max_of larger")
eq, le, lt, ge, plus, difference = symbols(2, "eq le lt ge plus difference")
eq_pos, le_pos, lt_pos, ge_pos, plus_pos = symbols(2, "eq_pos le_pos lt_pos ge_pos plus_pos")
less, less_pos, divide, divide_pos, search = symbols(2, "less less_pos divide divide_pos search")
carried, borrowed, choose, search_in = symbols(3, "carried borrowed choose search_in")
difference_by, divide_by = symbols(3, "difference_by divide_by")
search_by, narrow = symbols(4, "search_by narrow")
(narrow_by,) = symbols(5, "narrow_by")


@rules
def truth(b):
    """Negation, equality and conjunction."""
    return (
        same(true, b) >> b,
        same(false, true) >> false,
        same(false, false) >> true,
        both(true, b) >> b,
        both(false, b) >> false,
        inverse(true) >> false,
        inverse(false) >> true,
    )


@rules
def comparing(b, c, p, q, m, n):
    """Equality and order: the higher digits decide first."""
    return (
        eq_pos(one, one) >> true,
        eq_pos(one, twice(b, p)) >> false,
        eq_pos(twice(b, p), one) >> false,
        eq_pos(twice(b, p), twice(c, q)) >> both(same(b, c), eq_pos(p, q)),
        le_pos(one, p) >> true,
        le_pos(twice(b, p), one) >> false,
        le_pos(twice(b, p), twice(b, q)) >> le_pos(p, q),
        le_pos(twice(false, p), twice(true, q)) >> le_pos(p, q),
        le_pos(twice(true, p), twice(false, q)) >> lt_pos(p, q),
        lt_pos(p, one) >> false,
        lt_pos(one, twice(b, p)) >> true,
        lt_pos(twice(b, p), twice(b, q)) >> lt_pos(p, q),
        lt_pos(twice(false, p), twice(true, q)) >> le_pos(p, q),
        lt_pos(twice(true, p), twice(false, q)) >> lt_pos(p, q),
        ge_pos(p, q) >> le_pos(q, p),
        eq(zero, zero) >> true,
        eq(zero, some(p)) >> false,
        eq(some(p), zero) >> false,
        eq(some(p), some(q)) >> eq_pos(p, q),
        le(zero, n) >> true,
        le(some(p), zero) >> false,
        le(some(p), some(q)) >> le_pos(p, q),
        lt(n, zero) >> false,
        lt(zero, some(p)) >> true,
        lt(some(p), some(q)) >> lt_pos(p, q),
        ge(m, n) >> le(n, m),
        choose(true, m, n) >> m,
        choose(false, m, n) >> n,
        larger(m, n) >> choose(le(m, n), n, m),
        max_of(whole(m), n) >> larger(m, n),
        max_of(minus(p), n) >> n,
    )


@rules
def adding(b, c, d, p, q, n):
    """One more, and sums with a carry."""
    return (
        succ_pos(one) >> twice(false, one),
        succ_pos(twice(false, p)) >> twice(true, p),
        succ_pos(twice(true, p)) >> twice(false, succ_pos(p)),
        succ(zero) >> one,
        succ(some(p)) >> succ_pos(p),
        carried(false, one, p) >> succ_pos(p),
        carried(true, one, p) >> succ_pos(succ_pos(p)),
        carried(false, p, one) >> succ_pos(p),
        carried(true, p, one) >> succ_pos(succ_pos(p)),
        carried(b, twice(c, p), twice(c, q)) >> twice(b, carried(c, p, q)),
        (
            carried(b, twice(c, p), twice(d, q)) >> twice(inverse(b), carried(b, p, q)),
            given(lambda c, d: c is not d),
        ),
        plus_pos(zero, p) >> p,
        plus_pos(some(p), q) >> carried(false, p, q),
        plus(zero, n) >> n,
        plus(n, zero) >> n,
        plus(some(p), some(q)) >> some(carried(false, p, q)),
    )


@rules
def subtracting(b, c, d, p, q, m, n):
    """One less, and differences: `less` of a number that is no larger."""
    return (
        natural(p) >> some(p),
        positive(some(p)) >> p,
        pred(one) >> zero,
        pred(twice(true, p)) >> some(twice(false, p)),
        pred(twice(false, p)) >> doubled(true, pred(p)),
        doubled(false, zero) >> zero,
        doubled(true, zero) >> some(one),
        doubled(b, some(p)) >> some(twice(b, p)),
        less(n, zero) >> n,
        less(some(p), some(q)) >> less_pos(p, q),
        less_pos(p, q) >> borrowed(false, p, q),
        borrowed(false, p, one) >> pred(p),
        borrowed(true, p, one) >> pred(positive(pred(p))),
        borrowed(b, twice(c, p), twice(c, q)) >> doubled(b, borrowed(b, p, q)),
        (
            borrowed(b, twice(c, p), twice(d, q)) >> doubled(inverse(b), borrowed(d, p, q)),
            given(lambda c, d: c is not d),
        ),
        negated(zero) >> whole(zero),
        negated(some(p)) >> minus(p),
        difference(m, n) >> difference_by(ge(m, n), m, n),
        difference_by(true, m, n) >> whole(less(m, n)),
        difference_by(false, m, n) >> negated(less(n, m)),
    )


@rules
def dividing(p, q):
    """Quotients, by subtracting over and over."""
    return (
        divide(zero, p) >> zero,
        divide(some(p), q) >> divide_pos(p, q),
        divide_pos(p, q) >> divide_by(ge_pos(p, q), p, q),
        divide_by(true, p, q) >> some(succ(divide(less_pos(p, q), q))),
        divide_by(false, p, q) >> zero,
    )


@rules
def fibonacci_numbers(b, p):
    """The sum of the two before."""
    n = some(twice(b, p))
    two = twice(false, one)
    return (
        fib(zero) >> zero,
        fib(some(one)) >> some(one),
        fib(n)
        >> plus(
            fib(max_of(difference(n, natural(one)), zero)),
            fib(max_of(difference(n, natural(two)), zero)),
        ),
    )


@rules
def searching(n, x, y, h):
    """The last number of which the Fibonacci number is below n, from x on and below y."""
    return (
        search(n, y) >> search_in(n, zero, y),
        search_in(n, x, y) >> search_by(eq(natural(plus_pos(x, one)), y), n, x, y),
        search_by(true, n, x, y) >> x,
        search_by(false, n, x, y) >> narrow(n, y, x, divide(plus(x, y), twice(false, one))),
        narrow(n, y, x, h) >> narrow_by(lt(fib(h), n), n, y, x, h),
        narrow_by(true, n, y, x, h) >> search_in(n, h, y),
        narrow_by(false, n, y, x, h) >> search_in(n, x, h),
    )


def binary(n: int) -> Variable:
    """The natural number n."""
    if not n:
        return ground(zero)
    term = ground(one)
    for digit in bin(n)[3:]:
        term = twice(ground(true if digit == "1" else false), term)
    return some(term)


def sought(end: int) -> int:
    """What is searched for below `end`: the published number, below 64."""
    return 3435 if end == 64 else fibonacci(end // 2) + 1


def last_below(n: int, end: int) -> int:
    """The last number below `end` of which the Fibonacci number is below n."""
    return bisect_left(range(end), n, key=fibonacci) - 1


NATURALS = truth + comparing + adding + subtracting + fibonacci_numbers

PROGRAMS = (
    Program(
        "binary_fibonacci",
        NATURALS,
        size=17,
        small=8,
        ask=lambda n: fib(natural(binary(n).owner.inputs[0])),
        answer=lambda n: binary(fibonacci(n)),
    ),
    Program(
        "binary_search",
        NATURALS + dividing + searching,
        size=20,
        small=8,
        ask=lambda n: search(binary(sought(n)), binary(n)),
        answer=lambda n: binary(last_below(sought(n), n)),
    ),
)
