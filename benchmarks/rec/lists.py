"""Lists: appending, reversing, all permutations, the primes by sifting, the moves of a tower."""

from __future__ import annotations

from benchmarks.rec.language import (
    Program,
    cons,
    constants,
    false,
    ground,
    listed,
    nil,
    numeral,
    numerals,
    rule,
    s,
    symbols,
    true,
    zero,
)
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.ruleset import RuleSet

append, insert_all, prefix, divides, sift, upto, move = symbols(
    2, "append insert_all prefix divides sift upto move"
)
reverse, orders, primes, sieve = symbols(1, "reverse orders primes sieve")
insert, divides_from = symbols(3, "insert divides_from")
hanoi, keep_unless = symbols(4, "hanoi keep_unless")
left, middle, right = constants("left middle right")


@rule
def nil_append(ys):
    """[] + ys."""
    return append(nil, ys) >> ys


@rule
def cons_append(x, xs, ys):
    """[x, *xs] + ys."""
    return append(cons(x, xs), ys) >> cons(x, append(xs, ys))


@rule
def reverse_of_nil():
    """[] backwards."""
    return reverse(nil) >> nil


@rule
def reverse_of_cons(x, xs):
    """[x, *xs] backwards, the slow way: x is appended to the rest backwards."""
    return reverse(cons(x, xs)) >> append(reverse(xs), cons(x, nil))


APPEND = RuleSet([nil_append, cons_append])


@rule
def orders_of_nil():
    """Nothing has one order."""
    return orders(nil) >> cons(nil, nil)


@rule
def orders_of_cons(x, xs):
    """x at every place of every order of the rest."""
    return orders(cons(x, xs)) >> insert_all(x, orders(xs))


@rule
def insert_into_no_lists(x):
    """There is no list left to insert into."""
    return insert_all(x, nil) >> nil


@rule
def insert_into_lists(x, xs, rest):
    """x at every place of the first list, then of the others."""
    return insert_all(x, cons(xs, rest)) >> append(insert(x, nil, xs), insert_all(x, rest))


@rule
def insert_at_the_end(x, before):
    """x after all of a list; `before` is kept backwards."""
    return insert(x, before, nil) >> cons(prefix(before, cons(x, nil)), nil)


@rule
def insert_here_and_later(x, before, y, ys):
    """x before y, and at every place after it."""
    return insert(x, before, cons(y, ys)) >> cons(
        prefix(before, cons(x, cons(y, ys))), insert(x, cons(y, before), ys)
    )


@rule
def prefix_of_nothing(ys):
    """Nothing in front."""
    return prefix(nil, ys) >> ys


@rule
def prefix_backwards(x, xs, ys):
    """What stands backwards comes in front, one after the other."""
    return prefix(cons(x, xs), ys) >> prefix(xs, cons(x, ys))


def all_orders(items: list[Variable]) -> list[list[Variable]]:
    """The permutations in the order in which the rules make them."""
    if not items:
        return [[]]
    first, *rest = items
    return [
        [*order[:i], first, *order[i:]] for order in all_orders(rest) for i in range(len(items))
    ]


@rule
def numbers_up_to_the_end(n):
    """[n]: no more numbers are to come."""
    return upto(n, zero) >> nil


@rule
def numbers_up_to(n, more):
    """[n, n + 1, …], so many."""
    return upto(n, s(more)) >> cons(n, upto(s(n), more))


@rule
def primes_below(n):
    """What is left of the n numbers from 2 on."""
    return primes(n) >> sieve(upto(s(s(zero)), n))


@rule
def sieve_of_nil():
    """No numbers, no primes."""
    return sieve(nil) >> nil


@rule
def sieve_of_cons(p, rest):
    """The first is a prime; its multiples go."""
    return sieve(cons(p, rest)) >> cons(p, sieve(sift(p, rest)))


@rule
def sift_nil(p):
    """Nothing left to sift."""
    return sift(p, nil) >> nil


@rule
def sift_cons(p, n, rest):
    """n stays unless p divides it."""
    return sift(p, cons(n, rest)) >> keep_unless(divides(p, n), n, p, rest)


@rule
def multiple(n, p, rest):
    """n goes."""
    return keep_unless(true, n, p, rest) >> sift(p, rest)


@rule
def no_multiple(n, p, rest):
    """n stays."""
    return keep_unless(false, n, p, rest) >> cons(n, sift(p, rest))


@rule
def divides_start(p, n):
    """Count n down, and p over and over."""
    return divides(p, n) >> divides_from(p, n, p)


@rule
def divides_ends_even(p):
    """Both are used up."""
    return divides_from(zero, zero, p) >> true


@rule
def divides_ends_odd(x, p):
    """n is used up within a p."""
    return divides_from(s(x), zero, p) >> false


@rule
def divides_step(x, n, p):
    """One less of each."""
    return divides_from(s(x), s(n), p) >> divides_from(x, n, p)


@rule
def divides_again(n, p):
    """The next p."""
    return divides_from(zero, s(n), p) >> divides_from(p, s(n), p)


def is_prime(n: int) -> bool:
    """Whether n > 1 has no divisor."""
    return all(n % d for d in range(2, n))


@rule
def no_disc(a, b, c):
    """No disc, no move."""
    return hanoi(zero, a, b, c) >> nil


@rule
def one_disc_more(n, a, b, c):
    """All but the last away, the last over, all onto it."""
    return hanoi(s(n), a, b, c) >> append(hanoi(n, a, c, b), cons(move(a, c), hanoi(n, b, a, c)))


def moves(n: int, a: Variable, b: Variable, c: Variable) -> list[Variable]:
    """The moves of n discs from a over b to c."""
    if not n:
        return []
    return [*moves(n - 1, a, c, b), move(a, c), *moves(n - 1, b, a, c)]


PEGS = [ground(peg) for peg in (left, middle, right)]

PROGRAMS = (
    Program(
        "reverse",
        APPEND + RuleSet([reverse_of_nil, reverse_of_cons]),
        size=300,
        small=30,
        ask=lambda n: reverse(numerals(range(n))),
        answer=lambda n: numerals(range(n)[::-1]),
    ),
    Program(
        "permutations",
        APPEND
        + RuleSet([orders_of_nil, orders_of_cons, insert_into_no_lists, insert_into_lists])
        + RuleSet([insert_at_the_end, insert_here_and_later, prefix_of_nothing, prefix_backwards]),
        size=7,
        small=4,
        ask=lambda n: orders(numerals(range(n))),
        answer=lambda n: listed([listed(o) for o in all_orders([numeral(i) for i in range(n)])]),
    ),
    Program(
        "sieve",
        RuleSet([numbers_up_to_the_end, numbers_up_to, primes_below, sieve_of_nil])
        + RuleSet([sieve_of_cons, sift_nil, sift_cons, multiple, no_multiple])
        + RuleSet([divides_start, divides_ends_even, divides_ends_odd, divides_step])
        + RuleSet([divides_again]),
        size=150,
        small=20,
        ask=lambda n: primes(numeral(n)),
        answer=lambda n: numerals([i for i in range(2, n + 2) if is_prime(i)]),
    ),
    Program(
        "hanoi",
        APPEND + RuleSet([no_disc, one_disc_more]),
        size=12,
        small=6,
        ask=lambda n: hanoi(numeral(n), *PEGS),
        answer=lambda n: listed(moves(n, *PEGS)),
    ),
)
