"""Lists of numbers sorted: bubble sort, quicksort, merge sort.

The right sides of `split` and `halve` speak of the same call twice, to take either part of its
result. Equal terms are one node here, so it is done once; where they are not, such a rule doubles
the work at each element.
"""

from __future__ import annotations

from benchmarks.rec.language import (
    Program,
    cons,
    false,
    nil,
    numerals,
    rules,
    s,
    symbols,
    true,
    zero,
)
from benchmarks.rec.numbers import ARITHMETIC, decimal, less, lt

bubblesort, quicksort, mergesort, down_from = symbols(1, "bubblesort quicksort mergesort down_from")
left, right, halve = symbols(1, "left right halve")
bubble, split, append, pair, at_most, merge = symbols(2, "bubble split append pair at_most merge")
bubble_by, split_by = symbols(4, "bubble_by split_by")
(merge_by,) = symbols(5, "merge_by")


@rules
def bubbling(n, m, rest):
    """n, n - 1, … 0, each let into the sorted list of those that are smaller."""
    return (
        bubblesort(s(n)) >> bubble(s(n), bubblesort(n)),
        bubblesort(zero) >> cons(zero, nil),
        bubble(n, nil) >> cons(n, nil),
        bubble(n, cons(m, rest)) >> bubble_by(lt(m, n), n, m, rest),
        bubble_by(true, n, m, rest) >> cons(m, bubble(n, rest)),
        bubble_by(false, n, m, rest) >> cons(n, bubble(m, rest)),
    )


@rules
def descending(n):
    """[n, n - 1, …, 0]."""
    return (
        down_from(s(n)) >> cons(s(n), down_from(n)),
        down_from(zero) >> cons(zero, nil),
    )


@rules
def pairs(xs, ys):
    """What a pair consists of."""
    return (
        left(pair(xs, ys)) >> xs,
        right(pair(xs, ys)) >> ys,
    )


@rules
def quick(n, m, xs, ys):
    """The first, between those that are at most it and those above it. (The published rules ask for
    n < m and for its negation; here the one value decides.)
    """
    return (
        split(n, nil) >> pair(nil, nil),
        split(n, cons(m, xs)) >> split_by(lt(n, m), n, m, xs),
        split_by(true, n, m, xs) >> pair(left(split(n, xs)), cons(m, right(split(n, xs)))),
        split_by(false, n, m, xs) >> pair(cons(m, left(split(n, xs))), right(split(n, xs))),
        append(cons(n, xs), ys) >> cons(n, append(xs, ys)),
        append(nil, ys) >> ys,
        quicksort(nil) >> nil,
        quicksort(cons(n, xs))
        >> append(quicksort(left(split(n, xs))), cons(n, quicksort(right(split(n, xs))))),
    )


@rules
def merging(x, y, xs, ys):
    """Every other one to either side; both sorted; merged."""
    return (
        at_most(zero, s(y)) >> true,
        at_most(s(x), zero) >> false,
        at_most(zero, zero) >> true,
        at_most(s(x), s(y)) >> at_most(x, y),
        merge(nil, ys) >> ys,
        merge(xs, nil) >> xs,
        merge(cons(x, xs), cons(y, ys)) >> merge_by(at_most(x, y), x, xs, y, ys),
        merge_by(true, x, xs, y, ys) >> cons(x, merge(xs, cons(y, ys))),
        merge_by(false, x, xs, y, ys) >> cons(y, merge(cons(x, xs), ys)),
        halve(cons(x, cons(y, xs))) >> pair(cons(x, left(halve(xs))), cons(y, right(halve(xs)))),
        halve(nil) >> pair(nil, nil),
        halve(cons(x, nil)) >> pair(cons(x, nil), nil),
        mergesort(nil) >> nil,
        mergesort(cons(x, nil)) >> cons(x, nil),
        mergesort(cons(x, cons(y, xs)))
        >> merge(mergesort(cons(x, left(halve(xs)))), mergesort(cons(y, right(halve(xs))))),
    )


PROGRAMS = (
    Program(
        "bubblesort",
        ARITHMETIC + less + bubbling,
        size=100,
        small=10,
        ask=lambda n: bubblesort(decimal(n)),
        answer=lambda n: numerals(range(n + 1)),
    ),
    Program(
        "quicksort",
        ARITHMETIC + less + descending + pairs + quick,
        size=100,
        small=10,
        ask=lambda n: quicksort(down_from(decimal(n))),
        answer=lambda n: numerals(range(n + 1)),
    ),
    Program(
        "mergesort",
        ARITHMETIC + descending + pairs + merging,
        size=100,
        small=10,
        ask=lambda n: mergesort(down_from(decimal(n))),
        answer=lambda n: numerals(range(n + 1)),
    ),
)
