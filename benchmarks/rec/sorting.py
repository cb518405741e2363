"""Lists of numbers sorted: bubble sort, quicksort, merge sort."""

from __future__ import annotations

import random

from benchmarks.rec.language import (
    Program,
    cons,
    false,
    nil,
    numerals,
    rule,
    symbols,
    true,
)
from benchmarks.rec.lists import APPEND, append
from benchmarks.rec.numbers import ORDER, lt
from rewrite_engine.match.ruleset import RuleSet

bubblesort, bubble, quicksort, mergesort, evens, odds = symbols(
    1, "bubblesort bubble quicksort mergesort evens odds"
)
passes, smaller, others, merge = symbols(2, "passes smaller others merge")
take_if, drop_if = symbols(3, "take_if drop_if")
(swap_if,) = symbols(4, "swap_if")
(merge_by,) = symbols(5, "merge_by")


@rule
def as_many_passes_as_items(xs):
    """A pass for each item."""
    return bubblesort(xs) >> passes(xs, xs)


@rule
def no_more_passes(xs):
    """Sorted."""
    return passes(nil, xs) >> xs


@rule
def one_pass(x, more, xs):
    """A pass, then the others."""
    return passes(cons(x, more), xs) >> passes(more, bubble(xs))


@rule
def bubble_nothing():
    """Nothing to compare."""
    return bubble(nil) >> nil


@rule
def bubble_one(x):
    """Nothing to compare with."""
    return bubble(cons(x, nil)) >> cons(x, nil)


@rule
def bubble_two(x, y, rest):
    """Compare neighbours."""
    return bubble(cons(x, cons(y, rest))) >> swap_if(lt(y, x), x, y, rest)


@rule
def swapped(x, y, rest):
    """The smaller one comes first; the larger one goes on."""
    return swap_if(true, x, y, rest) >> cons(y, bubble(cons(x, rest)))


@rule
def not_swapped(x, y, rest):
    """They stay."""
    return swap_if(false, x, y, rest) >> cons(x, bubble(cons(y, rest)))


@rule
def quicksort_nothing():
    """[] is sorted."""
    return quicksort(nil) >> nil


@rule
def quicksort_around_the_first(x, xs):
    """The smaller ones, the first, the others."""
    return quicksort(cons(x, xs)) >> append(
        quicksort(smaller(x, xs)), cons(x, quicksort(others(x, xs)))
    )


@rule
def smaller_of_nil(p):
    """None."""
    return smaller(p, nil) >> nil


@rule
def smaller_of_cons(p, x, xs):
    """x, if it is smaller than p."""
    return smaller(p, cons(x, xs)) >> take_if(lt(x, p), x, smaller(p, xs))


@rule
def others_of_nil(p):
    """None."""
    return others(p, nil) >> nil


@rule
def others_of_cons(p, x, xs):
    """x, unless it is smaller than p."""
    return others(p, cons(x, xs)) >> drop_if(lt(x, p), x, others(p, xs))


@rule
def taken(x, xs):
    """It is in."""
    return take_if(true, x, xs) >> cons(x, xs)


@rule
def not_taken(x, xs):
    """It is not."""
    return take_if(false, x, xs) >> xs


@rule
def dropped(x, xs):
    """It is out."""
    return drop_if(true, x, xs) >> xs


@rule
def not_dropped(x, xs):
    """It is in."""
    return drop_if(false, x, xs) >> cons(x, xs)


@rule
def mergesort_nothing():
    """[] is sorted."""
    return mergesort(nil) >> nil


@rule
def mergesort_one(x):
    """[x] is sorted."""
    return mergesort(cons(x, nil)) >> cons(x, nil)


@rule
def mergesort_more(x, y, rest):
    """Deal them out, sort both halves, merge."""
    return mergesort(cons(x, cons(y, rest))) >> merge(
        mergesort(cons(x, evens(rest))), mergesort(cons(y, odds(rest)))
    )


@rule
def evens_of_nil():
    """None."""
    return evens(nil) >> nil


@rule
def evens_of_cons(x, xs):
    """The first, the third, …"""
    return evens(cons(x, xs)) >> cons(x, odds(xs))


@rule
def odds_of_nil():
    """None."""
    return odds(nil) >> nil


@rule
def odds_of_cons(x, xs):
    """The second, the fourth, …"""
    return odds(cons(x, xs)) >> evens(xs)


@rule
def merge_with_nothing(xs):
    """The second list is used up."""
    return merge(xs, nil) >> xs


@rule
def merge_nothing(ys):
    """The first list is used up."""
    return merge(nil, ys) >> ys


@rule
def merge_two(x, xs, y, ys):
    """Compare the heads."""
    return merge(cons(x, xs), cons(y, ys)) >> merge_by(lt(y, x), x, xs, y, ys)


@rule
def second_first(x, xs, y, ys):
    """The head of the second list is smaller."""
    return merge_by(true, x, xs, y, ys) >> cons(y, merge(cons(x, xs), ys))


@rule
def first_first(x, xs, y, ys):
    """The head of the first list comes first."""
    return merge_by(false, x, xs, y, ys) >> cons(x, merge(xs, cons(y, ys)))


def shuffled(n: int) -> list[int]:
    """The numbers below n in some order, the same each time."""
    return random.Random(n).sample(range(n), n)


PROGRAMS = (
    Program(
        "bubblesort",
        ORDER
        + RuleSet([as_many_passes_as_items, no_more_passes, one_pass, bubble_nothing])
        + RuleSet([bubble_one, bubble_two, swapped, not_swapped]),
        size=60,
        small=10,
        ask=lambda n: bubblesort(numerals(range(n)[::-1])),
        answer=lambda n: numerals(range(n)),
    ),
    Program(
        "quicksort",
        ORDER
        + APPEND
        + RuleSet([quicksort_nothing, quicksort_around_the_first, smaller_of_nil, smaller_of_cons])
        + RuleSet([others_of_nil, others_of_cons, taken, not_taken, dropped, not_dropped]),
        size=120,
        small=20,
        ask=lambda n: quicksort(numerals(shuffled(n))),
        answer=lambda n: numerals(range(n)),
    ),
    Program(
        "mergesort",
        ORDER
        + RuleSet([mergesort_nothing, mergesort_one, mergesort_more, evens_of_nil, evens_of_cons])
        + RuleSet([odds_of_nil, odds_of_cons, merge_with_nothing, merge_nothing, merge_two])
        + RuleSet([second_first, first_first]),
        size=200,
        small=20,
        ask=lambda n: mergesort(numerals(shuffled(n))),
        answer=lambda n: numerals(range(n)),
    ),
)
