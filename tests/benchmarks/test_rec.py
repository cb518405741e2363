"""The competition's programs at small sizes: normal forms as Python values, and counts."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from benchmarks.rec import PROGRAMS
from benchmarks.rec.counting import unshared
from benchmarks.rec.language import Program, false, ground, numeral, numerals, rules, s, same, true
from benchmarks.rec.lists import append, appending
from benchmarks.rec.matrices import relation
from benchmarks.rec.modulo import expand, expanding, modulo, stepping, stepwise, two_to_the, values
from benchmarks.rec.modulo import value as value_of
from benchmarks.rec.numbers import plus, sums
from benchmarks.rec.octets import as_octet, bits, multiply, octet_sums, octets, tested
from rewrite_engine.errors import UnboundVariableError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.fact import given
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer

BY_NAME = {program.name: program for program in PROGRAMS}
LISTS = {"nil", "cons", "link", "chain", "no_lists", "rows", "no_rows", "bits", "no_bits"}


def value(term: Variable) -> Any:
    """A term as a Python value: numbers, lists, and tuples of what is left; a constant is its
    name.
    """
    name, args = str(term.owner.op), term.owner.inputs
    if name in ("zero", "s"):
        n = 0
        while term.owner.inputs:
            n, term = n + 1, term.owner.inputs[0]
        return n
    if name in LISTS:
        items = []
        while term.owner.inputs:
            head, term = term.owner.inputs
            items.append(value(head))
        return items
    if name == "twice":
        return 2 * value(args[1]) + (value(args[0]) == "true")
    if name == "octet":
        return int("".join("1" if value(bit) == "on" else "0" for bit in args), 2)
    if name in ("only", "single", "some", "positive"):
        return value(args[0])
    return (name, *[value(a) for a in args]) if args else {"one": 1, "none": 0}.get(name, name)


def hanoi(n: int, start: str, end: str, over: str) -> list[Any]:
    if n == 0:
        return []
    move = ("moved", f"disc_{n}", start, end)
    return [*hanoi(n - 1, start, over, end), move, *hanoi(n - 1, over, end, start)]


def reached(n: int) -> list[list[int]]:
    """The squares of the relation as sets of paths: who is reached by 1, 2, 4, … steps."""
    paths = [set(np.flatnonzero(row)) for row in relation(n)]
    while (further := [{k for j in row for k in paths[j]} for row in paths]) != paths:
        paths = further
    return [[int(j in row) for j in range(n)] for row in paths]


FIBONACCI = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144]
RIVER = {0: "fail", 1: ["mc_east"], 2: ["mc_east", "m_west", "mm_east", "m_west", "mc_east"]}

EXPECTED: dict[str, Callable[[int], Any]] = {
    "bubblesort": lambda n: list(range(n + 1)),
    "quicksort": lambda n: list(range(n + 1)),
    "mergesort": lambda n: list(range(n + 1)),
    "fibonacci": lambda n: FIBONACCI[n],
    "factorial": math.factorial,
    "tak": lambda n: {6: 3, 5: 2}[n],
    "reverse": lambda n: list(range(n + 1)),
    "permutations": lambda n: dict.fromkeys(permutations(range(1, n + 1)), 1),
    "sieve": lambda n: [p for p in (2, 3, 5, 7, 11, 13, 17, 19) if p < n],
    "hanoi": lambda n: hanoi(n, "a", "b", "c"),
    "binary_fibonacci": lambda n: FIBONACCI[n],
    "binary_search": lambda n: {8: 4, 7: 3}[n],
    "octets": lambda n: ["true"] * n**2,
    "expand": lambda n: "true",
    "stepwise": lambda n: "true",
    "tree": lambda n: "true",
    "closure": reached,
    "missionaries": RIVER.__getitem__,
}


def rewritten(term: Variable, of: Any) -> tuple[Any, Variable]:
    fgraph = FunctionGraph([], [term])
    result = EquilibriumOptimizer(of, "test", budget=RunBudget(10**7)).rewrite(fgraph)
    return result, fgraph.outputs[0]


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("smaller", [0, 1])
def test_the_normal_form_is_what_python_computes(name: str, smaller: int) -> None:
    program = BY_NAME[name]
    size = program.small - smaller
    _, fgraph = program.run(size)
    found = value(fgraph.outputs[0])
    if name == "permutations":
        found = {tuple(order): found.count(order) for order in found}
    assert found == EXPECTED[name](size)


@pytest.mark.parametrize("name", BY_NAME)
def test_nothing_is_rewritten_twice(name: str) -> None:
    """Firings against the rewrites that a plain evaluator counts, which finds the same answer."""
    program = BY_NAME[name]
    result, _ = program.run(program.small)
    assert 0 < result.firings <= unshared(program, program.small)


@pytest.mark.parametrize("name", ["bubblesort", "factorial", "fibonacci", "reverse", "sieve"])
def test_where_no_term_occurs_twice_nothing_is_shared(name: str) -> None:
    program = BY_NAME[name]
    result, _ = program.run(program.small)
    assert result.firings == unshared(program, program.small)


@pytest.mark.parametrize("n", [2, 4, 8])
def test_a_call_that_occurs_twice_is_done_once(n: int) -> None:
    """`split` speaks of itself twice, and so on down the list."""
    firings = [BY_NAME["quicksort"].run(k)[0].firings for k in (n, 2 * n)]
    steps = [unshared(BY_NAME["quicksort"], k) for k in (n, 2 * n)]
    assert firings[1] < 9 * firings[0]
    assert steps[1] > 2**n * steps[0] / 2


@pytest.mark.parametrize("n", [1, 2, 7, 25])
def test_reversing_takes_as_many_rewrites_as_by_hand(n: int) -> None:
    """n + 1 numbers: one rewrite each to list them, one each and one for reverse, and 1 + 2 + … +
    (n + 1) for append.
    """
    result, _ = BY_NAME["reverse"].run(n)
    items = n + 1
    assert result.firings == items + items + 1 + items * (items + 1) // 2


@pytest.mark.parametrize("n", [4, 20, 26])
def test_the_two_ways_of_a_power_modulo_17(n: int) -> None:
    """2**n; its value as it stands takes the exponent modulo 17, too."""
    of = modulo + values + expanding + stepping
    assert value(rewritten(value_of(two_to_the(n)), of)[1]) == pow(2, n % 17, 17)
    assert value(rewritten(value_of(expand(two_to_the(n))), of)[1]) == pow(2, n, 17)
    if n < 5:
        assert value(rewritten(stepwise(two_to_the(n)), of)[1]) == pow(2, n, 17)


@pytest.mark.parametrize(("a", "b"), [(255, 255), (0, 7), (13, 19), (1, 200)])
def test_products_of_octets(a: int, b: int) -> None:
    of = bits + octets + octet_sums
    _, found = rewritten(multiply(as_octet(a), as_octet(b)), of)
    assert value(found) == ("half", a * b >> 8, a * b & 255)
    wrong = tested(*map(as_octet, (a, b, a * b >> 8, a * b & 255 ^ 1)))
    assert value(rewritten(wrong, of)[1]) == "false"


def test_the_permutations_of_three_in_order() -> None:
    _, fgraph = BY_NAME["permutations"].run(3)
    assert value(fgraph.outputs[0]) == [
        [3, 2, 1], [2, 3, 1], [2, 1, 3], [3, 1, 2], [1, 3, 2], [1, 2, 3],
    ]  # fmt: skip


def test_the_published_answer_that_is_no() -> None:
    """2**19 is 8 modulo 17, 2**(19 % 17) is 4."""
    _, fgraph = BY_NAME["expand"].run(19)
    assert value(fgraph.outputs[0]) == "false"


def test_a_wrong_normal_form_fails() -> None:
    wrong: Program = dataclasses.replace(BY_NAME["reverse"], answer=numeral)
    with pytest.raises(ArithmeticError, match="wrong normal form"):
        wrong.run(5)
    with pytest.raises(ArithmeticError, match="wrong normal form"):
        unshared(wrong, 5)


def test_counting_leaves_the_limit_of_recursion_as_it_was() -> None:
    limit = sys.getrecursionlimit()
    assert unshared(BY_NAME["factorial"], 7) == 5_984
    assert sys.getrecursionlimit() == limit


# --- the terms and their rules --------------------------------------------------------------------


def test_a_rule_for_each_equation() -> None:
    @rules
    def mixed(n, m):
        """A nested left side, a guard, a variable that occurs twice."""
        return (
            plus(s(n), s(s(n))) >> true,
            (plus(n, m) >> false, given(lambda n, m: n is not m)),
            plus(n, n) >> n,
        )

    assert list(map(repr, mixed)) == [
        "test_rec/mixed_1: plus(s(n), s(s(n))) -> true()",
        "test_rec/mixed_2: plus(n, m) -> false(), given condition(n, m)",
        "test_rec/mixed_3: plus(n, n) -> n",
    ]
    for a, b, expected in ((1, 2, "true"), (2, 1, "false"), (2, 2, 2)):
        assert value(rewritten(plus(numeral(a), numeral(b)), mixed)[1]) == expected
    assert value(ground(false)) == "false"


def test_a_variable_that_the_left_side_does_not_bind() -> None:
    with pytest.raises(UnboundVariableError, match="other_1"):

        @rules
        def other(n, m):
            """m comes from nowhere."""
            return (plus(n, n) >> m,)


@pytest.mark.parametrize("n", [5, 10, 40])
def test_adding_takes_as_many_rewrites_as_by_hand(n: int) -> None:
    result, found = rewritten(plus(numeral(n), numeral(3)), sums)
    assert result.firings == n + 1
    assert value(found) == n + 3


@pytest.mark.parametrize("n", [3_000, 30_000])
def test_deep_terms(n: int) -> None:
    """Neither recursion nor a cost per step that grows with the depth."""
    result, found = rewritten(plus(numeral(n), numeral(n)), sums)
    assert result.firings == n + 1
    assert same(found, numeral(2 * n))


def test_a_term_that_grows_below_a_deep_one() -> None:
    """The first operand is shallow, the second deep: all that is made goes between."""
    result, found = rewritten(plus(plus(numeral(2_000), numeral(9_000)), numeral(1)), sums)
    assert result.firings == 2_001 + 11_001
    assert same(found, numeral(11_001))


def test_append_shares_its_end() -> None:
    result, found = rewritten(append(numerals([1, 2]), numerals([3])), appending)
    assert value(found) == [1, 2, 3]
    assert result.firings == 3
