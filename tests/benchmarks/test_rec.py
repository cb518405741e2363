"""The competition's programs at small sizes: normal forms as Python values, and counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from benchmarks.rec import PROGRAMS
from benchmarks.rec.language import numeral, numerals, same
from benchmarks.rec.lists import APPEND, append, is_prime
from benchmarks.rec.numbers import SUMS, plus
from benchmarks.rec.sorting import shuffled
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer

BY_NAME = {program.name: program for program in PROGRAMS}


def value(term: Variable) -> Any:
    """A term as a Python value: numbers, lists, binary numbers, and tuples of what is left."""
    name, args = str(term.owner.op), term.owner.inputs
    if name in ("zero", "s"):
        n = 0
        while term.owner.inputs:
            n, term = n + 1, term.owner.inputs[0]
        return n
    if name in ("nil", "cons"):
        items = []
        while term.owner.inputs:
            head, term = term.owner.inputs
            items.append(value(head))
        return items
    if name in ("empty", "even", "odd"):
        total = 0
        digit = 1
        while term.owner.inputs:
            total += digit * (str(term.owner.op) == "odd")
            digit, term = 2 * digit, term.owner.inputs[0]
        return total
    return (name, *[value(a) for a in args])


def hanoi(n: int, a: str, b: str, c: str) -> list[Any]:
    if n == 0:
        return []
    return [*hanoi(n - 1, a, c, b), ("move", (a,), (c,)), *hanoi(n - 1, b, a, c)]


FIBONACCI = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144]

EXPECTED: dict[str, Callable[[int], Any]] = {
    "bubblesort": lambda n: list(range(n)),
    "quicksort": lambda n: sorted(shuffled(n)),
    "mergesort": lambda n: sorted(shuffled(n)),
    "fibonacci": lambda n: FIBONACCI[n],
    "factorial": math.factorial,
    "reverse": lambda n: list(reversed(range(n))),
    "permutations": lambda n: dict.fromkeys(permutations(range(n)), 1),
    "sieve": lambda n: [i for i in range(2, n + 2) if is_prime(i)],
    "hanoi": lambda n: hanoi(n, "left", "middle", "right"),
    "binary": lambda n: 45**n,
}


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("smaller", [0, 1])
def test_the_normal_form_is_what_python_computes(name: str, smaller: int) -> None:
    program = BY_NAME[name]
    size = program.small - smaller
    result, fgraph = program.run(size)
    found = value(fgraph.outputs[0])
    if name == "permutations":
        found = {tuple(order): found.count(order) for order in found}
    assert found == EXPECTED[name](size)
    assert result.firings > 0


def test_a_wrong_normal_form_fails() -> None:
    right = BY_NAME["reverse"]
    wrong = type(right)(
        right.name, right.rules, right.size, right.small, right.ask, lambda n: numeral(n)
    )
    with pytest.raises(ArithmeticError, match="wrong normal form"):
        wrong.run(5)


@pytest.mark.parametrize("n", [0, 1, 7, 25])
def test_reversing_takes_as_many_rewrites_as_by_hand(n: int) -> None:
    """n + 1 for reverse, 1 + 2 + … + n for append."""
    result, _ = BY_NAME["reverse"].run(n)
    assert result.firings == (n + 1) * (n + 2) // 2


@pytest.mark.parametrize("n", [5, 10, 40])
def test_adding_takes_as_many_rewrites_as_by_hand(n: int) -> None:
    result, fgraph = rewritten(plus(numeral(n), numeral(3)), SUMS)
    assert result.firings == n + 1
    assert value(fgraph.outputs[0]) == n + 3


def rewritten(term: Variable, rules: Any) -> Any:
    fgraph = FunctionGraph([], [term])
    return EquilibriumOptimizer(rules, "test", max_firings=10**7).rewrite(fgraph), fgraph


def test_equal_terms_are_rewritten_once() -> None:
    """Never more than without sharing: a step for each call and for each unit that is added."""
    calls, sums = [1, 1], [0, 0]
    for k in range(2, 13):
        calls.append(calls[-1] + calls[-2] + 1)
        sums.append(sums[-1] + sums[-2] + FIBONACCI[k - 1] + 1)
    result, _ = BY_NAME["fibonacci"].run(12)
    assert 12 < result.firings <= calls[12] + sums[12]


@pytest.mark.parametrize("n", [3_000, 30_000])
def test_deep_terms(n: int) -> None:
    """Neither recursion nor a cost per step that grows with the depth."""
    result, fgraph = rewritten(plus(numeral(n), numeral(n)), SUMS)
    assert result.firings == n + 1
    assert same(fgraph.outputs[0], numeral(2 * n))


def test_a_term_that_grows_below_a_deep_one() -> None:
    """The first operand is shallow, the second deep: all that is made goes between."""
    result, fgraph = rewritten(plus(plus(numeral(2_000), numeral(9_000)), numeral(1)), SUMS)
    assert result.firings == 2_001 + 11_001
    assert same(fgraph.outputs[0], numeral(11_001))


def test_append_shares_its_end() -> None:
    result, fgraph = rewritten(append(numerals([1, 2]), numerals([3])), APPEND)
    assert value(fgraph.outputs[0]) == [1, 2, 3]
    assert result.firings == 3
