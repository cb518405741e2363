"""Operands in any order and number: what a pattern takes, what is left, and what may be missing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine import language
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.match.claim import approx, exact
from rewrite_engine.match.lower import Lowered
from rewrite_engine.match.pattern import Const, Hole, Literal, OpNode, Rest
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.fold import constant_folding
from rewrite_engine.terms import etuplize
from rewrite_engine.terms.convert import from_term
from rewrite_engine.terms.logic import LogicVariable
from rewrite_engine.terms.search import run
from tests.growth import lines
from tests.match.language import ask, make, merged, same, x, y, z
from tests.match.random_rules import with_sides
from tests.toy import add, exp, join, log, mul, neg, num, sin, sub


def collect(a: Any, p: Const = 1, q: Const = 1, rest: Rest = ()) -> Any:
    """Like terms."""
    return add(mul(p, a), mul(q, a), *rest) >> add(mul(add(p, q), a), *rest)


def two_and_rest(a: Any, b: Any, rest: Rest) -> Any:
    return add(log(a), exp(b), *rest) >> join_sum(a, b, rest)


def join_sum(a: Any, b: Any, rest: Any) -> Any:
    return add(sub(a, b), *rest)


CASES = [
    # rule, term, expected
    (make(lambda a: mul(1, a) >> a), mul(x, 1.0, y), mul(x, y)),
    (make(lambda a: mul(1, a) >> a), mul(1.0, x), x),
    (make(lambda a: mul(1, a) >> a), mul(x, y), None),
    (make(lambda a: log(add(1, a)) >> sin(a)), log(add(x, 1.0, y)), sin(add(x, y))),
    (make(lambda a: mul(a, a) >> exp(a)), mul(x, y, x), mul(exp(x), y)),
    (make(lambda a: mul(a, a) >> exp(a)), mul(x, y, z), None),
    (make(lambda a: neg(mul(a, a)) >> a), neg(mul(x, x)), x),
    (make(lambda a: neg(mul(a, a)) >> a), neg(mul(x, y, x)), None),  # y would be lost
    (make(lambda a, b: add(log(a), log(b)) >> log(mul(a, b))), add(log(x), z, log(y)),
     add(log(mul(x, y)), z)),
    (make(two_and_rest), add(y, exp(x), z, log(y)), add(sub(y, x), y, z)),
    (make(two_and_rest), add(exp(x), log(y)), sub(y, x)),
    (make(two_and_rest), add(exp(x), exp(y)), None),
    (make(lambda a, b, c: add(mul(a, b), mul(a, c)) >> mul(a, add(b, c))),
     add(mul(x, y), mul(z, x)), mul(x, add(y, z))),
    (make(collect), add(mul(2.0, x), mul(x, 3.0)), mul(add(2.0, 3.0), x)),
    (make(collect), add(x, y, x), add(mul(add(1.0, 1.0), x), y)),
    (make(collect), add(mul(3.0, y), x, y, z), add(mul(add(3.0, 1.0), y), x, z)),
    (make(collect), add(x, y, z), None),
    (make(collect), add(mul(2.0, x), mul(3.0, y)), None),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "term", "expected"), CASES, ids=lambda c: str(c))
def test_what_is_taken_and_what_is_left(rule: Any, term: Any, expected: Any) -> None:
    node = merged(term).owner
    for found in (rule.transform(None, node), rule.interpreted(None, node)):
        assert same(found, expected if expected is None else merged(expected))


def test_the_first_match_is_in_the_order_of_the_operands() -> None:
    rule = make(lambda a: add(sin(a), sin(a)) >> a)
    node = merged(add(sin(y), sin(x), sin(x), sin(y))).owner
    found = rule.transform(None, node)
    assert same(found, add(y, sin(x), sin(x)))


def test_nested_sums_in_a_pattern_are_one_sum() -> None:
    rule = make(lambda a, b: add(add(sin(a), b), 2.0) >> sub(a, b))
    assert rule.text == "sin(a) + b + 2.0 -> a - b"
    assert same(rule.transform(None, add(2.0, y, sin(x)).owner), sub(x, y))


def test_a_rule_that_claims_exact_values_does_not_regroup_floats() -> None:
    def halves(a: Any) -> Any:
        """A square."""
        return a * a >> pt.sqr(a)

    a, b = pt.vectors("a b")
    i, j = pt.ivectors("i j")
    careful, free = language.rule(halves, claim=exact), language.rule(halves, claim=approx(4))
    assert careful.transform(None, pt.mul(a, a).owner) is not None
    assert careful.transform(None, pt.mul(a, b, a).owner) is None
    assert free.transform(None, pt.mul(a, b, a).owner) is not None
    assert careful.transform(None, pt.mul(i, j, i).owner) is not None
    node = pt.mul(a, b, a).owner
    assert careful.interpreted(None, node) is None
    assert free.interpreted(None, node) is not None


def test_numbers_for_missing_operands_take_the_precision_of_the_others() -> None:
    def like_terms(a: Any, p: language.Const = 1, q: language.Const = 1, rest: Rest = ()) -> Any:
        """2 x + x is 3 x."""
        return p * a + q * a + rest >> (p + q) * a + rest

    rule = language.rule(like_terms, claim=approx(4))
    a, b = pt.fvectors("a b")
    found = rule.transform(None, pt.add(a, b, a).owner)
    assert found.type.dtype == "float32"
    assert found.eval({a: [1.5], b: [0.25]}).tolist() == [3.25]
    fgraph = FunctionGraph([a, b], [pt.add(2 * a, b, a, 0.5 * a)])
    EquilibriumOptimizer([constant_folding, rule]).rewrite(fgraph)
    assert fgraph.outputs[0].eval({fgraph.inputs[0]: [2.0], fgraph.inputs[1]: [1.0]}) == [8.0]
    assert len(fgraph.outputs[0].owner.inputs) == 2


def test_numbers_that_differ_in_sign_or_kind_are_different_operands() -> None:
    a, both = Hole("a"), OpNode(add, (Literal(0.0), Literal(-0.0)))
    rule = with_sides(Lowered(OpNode(sub, (a, both)), a, ()))
    zeros = [num.make_constant(0.0), num.make_constant(-0.0)]
    for term in (sub(x, add(*zeros)), sub(x, add(*zeros[::-1]))):
        assert same(rule.transform(None, term.owner), x)
        assert same(rule.interpreted(None, term.owner), x)
    assert Literal(0.0) != Literal(-0.0)
    assert Literal(1) != Literal(True)
    assert Literal(1) == Literal(1.0)
    assert Literal(float("nan")) == Literal(float("nan"))


def test_the_rewriting_of_a_sum_comes_to_an_end() -> None:
    rule = make(collect)
    xs = [num(n) for n in "abc"]
    term = add(*[mul(float(i + 2), xs[i % 3]) for i in range(30)])
    fgraph = FunctionGraph(xs, [term])
    result = EquilibriumOptimizer([constant_folding, rule]).rewrite(fgraph)
    assert result.fired[rule.name] == 27
    assert len(fgraph.outputs[0].owner.inputs) == 3
    fgraph.check_integrity()


def opposite(a: Any, b: Any, rest: Rest) -> Any:
    return mul(sub(a, b), sub(b, a), *rest) >> add(a, *rest)


WIDE_RULES = [
    make(lambda a: mul(a, a) >> exp(a)),
    make(lambda a, b: mul(sub(a, b), b) >> a),
    make(lambda a, b: mul(sub(a, b), log(b)) >> add(a, b)),
    make(lambda a, b, c: mul(exp(a), add(a, b), c) >> sub(b, c)),
    make(opposite),
]


def operand(seed: int) -> Any:
    """One of many small terms."""
    u, v = (x, y, z)[seed % 3], (x, y, z)[seed // 3 % 3]
    return [u, sub(u, v), log(u), exp(v), add(u, v), add(v, z, sin(u))][seed // 9 % 6]


@given(st.lists(st.integers(0, 53), min_size=14, max_size=24))
def test_among_many_operands_the_first_match_is_the_same(seeds: list[int]) -> None:
    node = merged(mul(*[operand(s) for s in seeds], sin(x))).owner
    for rule in WIDE_RULES:
        assert same(rule.transform(None, node), rule.interpreted(None, node))


def test_a_failing_match_among_thousands_of_operands_is_linear() -> None:
    xs = [num(f"x{i}") for i in range(4_000)]
    rule = make(lambda a, b: mul(sub(a, b), log(b)) >> add(a, b))
    parts = [sub(a, b) for a, b in pairwise(xs)]
    parts += [log(sin(a)) for a in xs]
    node = mul(*parts).owner
    found: list[Any] = []
    assert lines(lambda: found.append(rule.transform(None, node))) < 50 * len(parts)
    assert found == [None]


def rest_twice(a: Any, rest: Rest) -> Any:
    return sub(add(sin(a), *rest), mul(log(a), *rest)) >> join(a, *rest)


def rest_in_order(a: Any, rest: Rest) -> Any:
    return sub(join(sin(a), *rest), join(log(a), *rest)) >> join(a, *rest)


def test_a_rest_that_occurs_twice_is_the_same_operands_in_any_order() -> None:
    made = make(rest_twice)
    assert same(ask(made, sub(add(sin(x), y, z), mul(z, log(x), y))), join(x, y, z))
    assert ask(made, sub(add(sin(x), y, z), mul(z, log(x), z))) is None
    assert ask(made, sub(add(sin(x), y, y, z), mul(z, log(x), z, y))) is None
    ordered = make(rest_in_order)
    assert same(ask(ordered, sub(join(sin(x), y, z), join(log(x), y, z))), join(x, y, z))
    assert ask(ordered, sub(join(sin(x), y, z), join(log(x), z, y))) is None
    q = LogicVariable("q")
    term = sub(add(sin(x), y, z), mul(z, log(x), y))
    (found,) = run(0, q, made.goal(etuplize(term), q))
    assert same(found if isinstance(found, Variable) else from_term(found), join(x, y, z))
