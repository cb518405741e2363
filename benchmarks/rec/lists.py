"""Lists: reversing, and all permutations."""

from __future__ import annotations

from benchmarks.rec.language import (
    Program,
    cons,
    constants,
    ground,
    nil,
    numeral,
    numerals,
    rules,
    s,
    symbols,
    zero,
)
from benchmarks.rec.numbers import ARITHMETIC, decimal
from benchmarks.rec.sorting import append, descending, down_from
from rewrite_engine.graph.node import Variable

reverse, permutations, only, single = symbols(1, "reverse permutations only single")
link, chain, joined, flattened = symbols(2, "link chain joined flattened")
insert_each, insert, put_first = symbols(2, "insert_each insert put_first")
(no_lists,) = constants("no_lists")


@rules
def appending(x, xs, ys):
    """[x, …] + ys."""
    return (
        append(cons(x, xs), ys) >> cons(x, append(xs, ys)),
        append(nil, ys) >> ys,
    )


@rules
def reversing(x, xs):
    """The slow way: the first is appended to the rest backwards."""
    return (
        reverse(cons(x, xs)) >> append(reverse(xs), cons(x, nil)),
        reverse(nil) >> nil,
    )


@rules
def permuting(n, m, one, rest, some, more):
    """n at every place of every permutation of n - 1, …, 1. A list of lists is a chain, as it is
    put together a tree, which is flattened each time.
    """
    return (
        permutations(zero) >> joined(single(nil), no_lists),
        permutations(s(zero)) >> joined(single(link(only(s(zero)), nil)), no_lists),
        permutations(s(n)) >> insert_each(s(n), permutations(n)),
        insert_each(n, chain(single(one), rest)) >> joined(insert(n, one), insert_each(n, rest)),
        insert_each(n, single(one)) >> insert(n, one),
        insert_each(n, no_lists) >> no_lists,
        insert(n, link(only(m), rest))
        >> joined(single(link(only(n), link(only(m), rest))), put_first(m, insert(n, rest))),
        insert(n, nil) >> joined(single(link(only(n), nil)), no_lists),
        put_first(m, chain(single(one), rest))
        >> joined(single(link(only(m), one)), put_first(m, rest)),
        put_first(m, single(one)) >> single(link(only(m), one)),
        put_first(m, no_lists) >> no_lists,
        joined(no_lists, more) >> more,
        joined(some, no_lists) >> some,
        joined(some, more) >> flattened(some, flattened(more, no_lists)),
        flattened(no_lists, more) >> more,
        flattened(single(one), more) >> chain(single(one), more),
        flattened(chain(some, rest), more) >> flattened(some, flattened(rest, more)),
    )


def permuted(n: int) -> list[list[int]]:
    """The permutations of n, n - 1, … 1 in the order in which the rules make them."""
    if n == 0:
        return [[]]
    return [[*p[:i], n, *p[i:]] for p in permuted(n - 1) for i in range(n)]


def chained(lists: list[list[int]]) -> Variable:
    """A list of lists of numbers; one alone is no chain."""
    terms = [single(linked(numbers)) for numbers in lists]
    if len(terms) == 1:
        return terms[0]
    term = ground(no_lists)
    for one in reversed(terms):
        term = chain(one, term)
    return term


def linked(numbers: list[int]) -> Variable:
    """A list of numbers, each in a list of its own."""
    term = ground(nil)
    for n in reversed(numbers):
        term = link(only(numeral(n)), term)
    return term


PROGRAMS = (
    Program(
        "reverse",
        ARITHMETIC + descending + appending + reversing,
        size=100,
        small=10,
        ask=lambda n: reverse(down_from(decimal(n))),
        answer=lambda n: numerals(range(n + 1)),
    ),
    Program(
        "permutations",
        permuting,
        size=6,
        small=4,
        ask=lambda n: permutations(numeral(n)),
        answer=lambda n: chained(permuted(n)),
    ),
)
