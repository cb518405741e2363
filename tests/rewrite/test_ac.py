"""Rules that follow from declarations, on toy ops: what they make, and that chains are linear."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.outline import _stable, content
from rewrite_engine.match.query import Query
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite import ac
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.trace import brief
from tests.growth import Lines
from tests.rewrite.graphs import values
from tests.toy import ToyOp, add, const, mul, neg, num, rough, sin

x, y, z, w = (num(n) for n in "xyzw")
a, b, c, d = (rough(n) for n in "abcd")

RULES = RuleSet.of(ac)
total = ToyOp("total", None, lambda *xs: sum(xs), associative=True, commutative=True)
total.identity = 0.0
largest = ToyOp("largest", None, lambda *xs: max(xs), associative=True, commutative=True)
largest.idempotent = True
product = ToyOp("product", None, None, associative=True, commutative=True)
product.identity, product.absorbing = 1.0, 0.0


row = ToyOp("row", None, associative=True)
row.identity, row.idempotent = 0.0, True
series = ToyOp("series", None, lambda *xs: sum(xs), associative=True)


def after(*outputs: Any, query: Query | None = None) -> Any:
    """Terms as the rules of the pack leave them (those that a query selects)."""
    graph = FunctionGraph(None, list(outputs))
    driver = EquilibriumOptimizer(RULES.query(query or Query()))
    driver.rewrite(graph)
    graph.check_integrity()
    assert driver.rewrite(graph).firings == 0
    found = [brief(v) for v in graph.outputs]
    return found[0] if len(found) == 1 else found


FASTMATH = Query().including("fastmath")
STRICT = Query().excluding("reorder")


@pytest.mark.parametrize(
    ("term", "expected", "query"),
    [
        (add(add(x, y), z), "x + y + z", None),
        (add(z, add(y, x)), "x + y + z", None),
        (add(add(w, x), add(z, y)), "w + x + y + z", None),
        (add(sin(x), add(z, 2.0)), "2.0 + z + sin(x)", None),
        (add(add(x, y), add(x, y)), "x + y + (x + y)", None),
        (add(mul(x, y), z), "x * y + z", None),
        (mul(x, add(mul(y, z), w)), "x * (y * z + w)", None),
        # of rounded numbers, in any order; or the left spine, as it stands
        (add(c, add(b, a)), "a + b + c", None),
        (add(c, add(b, a)), "c + (b + a)", STRICT),
        (add(add(c, b), a), "a + b + c", None),
        (add(add(c, b), a), "c + b + a", STRICT),
        (add(add(c, b), add(a, d)), "c + b + (a + d)", STRICT),
        (product(c, product(b, a)), "product(c, product(b, a))", None),
        (product(product(c, b), a), "product(c, b, a)", None),
        (product(product(c, b), a), "product(a, b, c)", FASTMATH),
        # what does nothing, and what does everything
        (total(0.0, x), "x", None),
        (total(x, 0.0, y, 0.0), "total(x, y)", None),
        (total(x, 1.0), "total(x, 1.0)", None),
        (product(x, 0.0), "0.0", None),
        (product(a, rough.make_constant(0.0)), "product(a, 0.0)", None),
        (product(a, rough.make_constant(0.0)), "0.0", FASTMATH),
        (largest(x, y, x, y), "largest(x, y)", None),
        (largest(x, x), "x", None),
        (add(x, x), "x + x", None),
        # constants
        (add(x, 1.0, y, 2.0), "x + 3.0 + y", None),
        (add(add(x, 1.0), 2.0), "3.0 + x", None),
    ],
    ids=str,
)
def test_terms(term: Any, expected: str, query: Query | None) -> None:
    assert after(term, query=query) == expected


def test_what_is_needed_elsewhere_is_no_part_of_a_nest() -> None:
    s = add(x, y)
    graph = FunctionGraph(None, [add(s, z), s])
    EquilibriumOptimizer(RULES).rewrite(graph)
    assert len(graph) == 2
    assert graph.outputs[0].owner.inputs[0] is graph.outputs[1]


def test_an_inner_sum_of_another_type_stays() -> None:
    """A sum of small things does not grow to the size of a large one."""
    assert after(add(x, add(a, b))) == "x + (a + b)"


def test_constants_of_a_sum_may_not_overflow() -> None:
    huge = rough.make_constant(1e308)
    assert "1e+308 + 1e+308" in after(add(a, huge, huge))


def terms(operands: Any) -> Any:
    """Every way to build a sum of operands, in any order and nesting."""
    return st.permutations(operands).flatmap(_nested)


def _nested(operands: Any) -> Any:
    if len(operands) == 1:
        return st.just(operands[0])
    cut = st.integers(1, len(operands) - 1)
    return cut.flatmap(
        lambda i: st.tuples(_nested(operands[:i]), _nested(operands[i:])).map(lambda p: add(*p))
    )


LEAVES = [x, y, z, sin(x), sin(y), neg(x), const(2.0)]


@given(terms(LEAVES))
def test_however_a_sum_is_built_it_ends_as_the_same_term(term: Any) -> None:
    assert after(term) == "2.0 + x + y + z + -x + sin(x) + sin(y)"
    graph = FunctionGraph([x, y, z], [term])
    inputs = {"x": 0.5, "y": 2.0, "z": -3.0}
    before = values(graph, inputs)
    EquilibriumOptimizer(RULES).rewrite(graph)
    assert values(graph, inputs) == pytest.approx(before)


@given(terms([a, b, c, sin(a)]), terms([a, b, c, sin(a)]))
def test_two_sums_in_one_graph_become_one(one: Any, other: Any) -> None:
    graph = FunctionGraph([a, b, c], [one, neg(other)])
    graph.reorders = True
    EquilibriumOptimizer(RULES).rewrite(graph)
    graph.check_integrity()
    assert graph.outputs[1].owner.inputs[0] is graph.outputs[0]


def chain(n: int, grow: Any) -> FunctionGraph:
    leaves = [num(f"x{i:06}") for i in range(n)]
    return FunctionGraph(leaves, [grow(leaves)])


def left(leaves: list[Any]) -> Any:
    return list(itertools.accumulate(leaves, add))[-1]


def right(leaves: list[Any]) -> Any:
    return list(itertools.accumulate(leaves, lambda s, v: add(v, s)))[-1]


def balanced(leaves: list[Any]) -> Any:
    while len(leaves) > 1:
        leaves = [add(*leaves[i : i + 2]) for i in range(0, len(leaves) - 1, 2)] + leaves[
            len(leaves) - len(leaves) % 2 :
        ]
    return leaves[0]


@pytest.mark.parametrize(("grow", "n"), [(left, 100_000), (right, 10_000), (balanced, 10_000)])
def test_a_nest_is_opened_in_one_step(grow: Any, n: int) -> None:
    graph = chain(n, grow)
    with Lines() as counted:
        result = EquilibriumOptimizer(RULES).rewrite(graph)
    assert counted.count < 300 * n
    assert result.stopped is StopReason.SATURATED
    assert result.firings == 1
    assert graph.outputs[0].owner.inputs == tuple(graph.inputs)


def test_content_tells_what_a_term_is_and_not_where_it_is() -> None:
    keys = [content(v) for v in (const(1.0), num("a"), num("b"), sin(x), sin(y), sin(sin(x)))]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert content(sin(num("x"))) == content(sin(num("x")))

    class Address:
        pass

    assert "0x" not in _stable(Address())


# --- operands that have an order ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("term", "expected", "query"),
    [
        (row(z, row(x, y)), "row(z, x, y)", None),
        (row(row(z, x), row(y, w)), "row(z, x, y, w)", None),
        (row(x, 0.0, y), "row(x, y)", None),
        (row(x, x, y, x), "row(x, y, x)", None),
        (row(x, y, x, y), "row(x, y, x, y)", None),
        (series(x, 1.0, 2.0, y, 3.0), "series(x, 3.0, y, 3.0)", None),
        (series(1.0, x, 2.0, y, 3.0, 4.0), "series(1.0, x, 2.0, y, 7.0)", None),
        (series(1.0, series(2.0, x)), "series(3.0, x)", None),
        (row(row(b, a), c), "row(b, a, c)", STRICT),
        (row(b, row(a, c)), "row(b, row(a, c))", STRICT),
        (row(b, row(a, c)), "row(b, a, c)", None),
    ],
)
def test_lists_are_flat_and_keep_their_order(term: Any, expected: str, query: Any) -> None:
    assert after(term, query=query) == expected
