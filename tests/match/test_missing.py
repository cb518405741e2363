"""Operands that may be missing: each set of missing operands is a rule of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kanren
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine import language
from rewrite_engine.errors import PatternError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.match.decorate import compute
from rewrite_engine.match.explain import diagnose
from rewrite_engine.match.fact import given
from rewrite_engine.match.find import find
from rewrite_engine.match.lower import Lowered
from rewrite_engine.match.missing import with_missing
from rewrite_engine.match.pattern import ALL, Anything, Const, Hole, Literal, OpNode, Rest
from rewrite_engine.match.text import pattern_text, rule_text
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.terms import etuplize
from rewrite_engine.terms.convert import from_term
from rewrite_engine.terms.logic import LogicVariable
from rewrite_engine.terms.search import run
from tests.match import test_equation as equations
from tests.match.language import ask, make, merged, same, x, y, z
from tests.match.random_rules import three, with_sides
from tests.rewrite.test_ac import total
from tests.toy import add, const, exp, join, log, mul, sin, sub

two = const(2.0)


def scaled(a: Any, b: Any, n: Const = 1) -> Any:
    return add(mul(n, a), exp(b)) >> join(n, a, b)


def like_terms(x: Any, a: Const = 1, b: Const = 1, rest: Rest = ()) -> Any:
    return a * x + b * x + rest >> (a + b) * x + rest


def others(rule: Any) -> list[str]:
    return [rule_text(way) for way in rule.lowered.others]


def test_each_set_of_missing_operands_is_a_rule() -> None:
    rule = make(like_terms)
    assert rule.text == "a * x + b * x + *rest -> (a + b) * x + *rest"
    assert others(rule) == [
        "x + b * x + *rest -> (1 + b) * x + *rest",
        "a * x + x + *rest -> (a + 1) * x + *rest",
        "x + x + *rest -> (1 + 1) * x + *rest",
    ]
    assert same(ask(rule, add(y, x, mul(two, x))), add(mul(add(1, two), x), y))
    assert same(ask(rule, add(x, x)), mul(add(1, 1), x))
    assert ask(rule, add(x, mul(two, y))) is None


def test_numbers_alone_are_one_number() -> None:
    rule = language.rule(claim=language.assumes("fastmath"))(like_terms)
    assert others(rule)[-1] == "x + x + *rest -> 2 * x + *rest"
    found = rule.transform(None, pt.add(*[pt.fvector("v")] * 2).owner)
    assert found.type.dtype == "float32"


def test_forwards_and_backwards() -> None:
    def before(term: Any) -> list[Any]:
        q = LogicVariable("q")
        return [from_term(t) for t in run(0, q, rule.goal(q, etuplize(term)))]

    rule = make(scaled)
    for left, right in (
        (add(mul(two, x), exp(y)), join(two, x, y)),
        (add(x, exp(y)), join(const(1.0), x, y)),
    ):
        assert same(ask(rule, left), right)
        assert any(same(t, left) for t in before(right))
    assert any(same(t, add(mul(const(1.0), x), exp(y))) for t in before(join(const(1.0), x, y)))
    assert not any(same(t, add(x, exp(y))) for t in before(join(two, x, y)))


def test_find_binds_the_number() -> None:
    def pattern(a: Any, n: Const = 1) -> Any:
        return sin(mul(n, a))

    def found(term: Any) -> list[Any]:
        return [m.bindings for m in find(term, pattern)]

    assert found(sin(mul(two, x))) == [{"n": two, "a": x}]
    assert found(sin(x)) == [{"n": 1, "a": x}]


def test_guards_and_computed_sides_get_the_number() -> None:
    def guarded(a: Any, n: Const = 1) -> Any:
        return sin(mul(n, a)) >> exp(a), given(lambda n: n == 1)

    def computed(a: Any, n: Const = 1) -> Any:
        return sin(mul(n, a)) >> compute(lambda n, a: join(a, const(3.0) if n == 1 else n))

    assert same(ask(make(guarded), sin(x)), exp(x))
    assert same(ask(make(guarded), sin(mul(two, x))), exp(mul(two, x)))  # the missing n is 1
    assert same(ask(make(computed), sin(x)), join(x, const(3.0)))
    assert same(ask(make(computed), sin(mul(two, x))), join(x, two))


def test_the_number_stands_wherever_the_variable_does() -> None:
    def twice(a: Any, n: Const = 1) -> Any:
        return sub(mul(n, a), sin(n)) >> exp(a)

    rule = make(twice)
    assert others(rule) == ["a - sin(1) -> exp(a)"]
    assert same(ask(rule, sub(x, sin(const(1.0)))), exp(x))
    assert ask(rule, sub(x, sin(two))) is None


def test_the_op_at_the_root_is_never_missing() -> None:
    def rooted(a: Any, n: Const = 1) -> Any:
        return mul(n, sin(a)) >> exp(a)

    rule = make(rooted)
    assert same(ask(rule, mul(two, sin(x))), exp(x))
    assert same(ask(rule, mul(const(1.0), sin(x))), exp(x))
    assert rule.transform(None, sin(x).owner) is None


def test_why_not_names_the_way_that_comes_furthest() -> None:
    def less(a: Any, b: Any, n: Const = 1) -> Any:
        return sub(mul(n, a), exp(b)) >> join(n, a, b)

    rule = make(less)
    found = diagnose(rule, merged(sub(x, sin(y))).owner)
    assert (found.applies, found.reason) == (False, "`exp(b)`: sin(y) is computed by sin")
    found = diagnose(rule, merged(sub(mul(y, z), exp(y))).owner)
    assert found.applies
    assert diagnose(rule, merged(sub(x, exp(y))).owner).applies


def test_a_number_is_an_identity_on_the_other_side_of_an_equation_only() -> None:
    """Backwards, `a + b` has the default operands of `a * x`: leaving out 1 there would be
    wrong."""

    def collect(x, a=1, b=1):
        return a * x + b * x, (a + b) * x

    both = equations.make(collect)
    forward, backward = [
        [pattern_text(way.left) for way in one.lowered.others]
        for one in (both.forward, both.backward)
    ]
    assert forward == ["x + b * x", "a * x + x", "x + x"]
    assert backward == ["(1 + b) * x", "(a + 1) * x", "(1 + 1) * x"]
    assert ask(both.backward, mul(y, x)) is None
    assert same(ask(both.backward, mul(add(y, z), x)), add(mul(y, x), mul(z, x)))
    made = ask(both.backward, mul(add(const(1.0), z), x))
    assert same(made, add(mul(const(1.0), x), mul(z, x)))  # all operands are there: tried first


def refused(fn: Callable[..., Any], *parts: str) -> None:
    with pytest.raises(PatternError) as info:
        make(fn)
    assert all(part in str(info.value) for part in parts)


def test_a_default_is_a_number_beside_one_operand() -> None:
    refused(lambda a, b="1": mul(a, b) >> a, "parameter b", "must be a number")
    refused(lambda a, c, b=1: mul(a, b, c) >> a, "one other operand")
    refused(lambda a, c, b=1: add(sin(b), c) >> a, "sin", "one other operand", "uses a")


def test_a_default_is_what_changes_nothing() -> None:
    """`total` declares 0: without its 1, `1 + a` is no `a`."""
    refused(lambda a, b=1: sin(total(a, b)) >> a, "total: b cannot be missing: its identity is 0.0")
    assert others(make(lambda a, b=0: sin(total(a, b)) >> a)) == ["sin(a) -> a"]


def test_an_index_of_rules_knows_each_way() -> None:
    def inner(a: Any, n: Const = 1) -> Any:
        return sin(mul(n, log(a))) >> join(n, a)

    rules = [make(inner), *[named(f"more{i}") for i in range(12)]]
    graph = FunctionGraph(None, [sin(log(x)), sin(mul(two, log(y))), sin(mul(two, y))])
    result = EquilibriumOptimizer(rules).rewrite(graph)
    assert [v.owner.op for v in graph.outputs] == [join, join, sin]
    assert result.firings == 2


def named(name: str) -> Any:
    def rule(a: Any) -> Any:
        return sin(log(sin(a))) >> a

    rule.__name__ = name
    return make(rule)


def test_the_relation_of_a_rule_for_all_outputs_is_of_single_ones() -> None:
    optional, other = Hole("m", Const), Hole("a", Anything)
    left = OpNode(three, (OpNode(mul, (optional, other)),)).output(ALL)
    right = tuple([OpNode(join, (Literal(float(i)), optional, other)) for i in range(3)])
    rule = with_sides(with_missing(Lowered(left, right, (), defaults={"m": 1.0})))
    q = kanren.var()
    for term, wanted in (
        (mul(two, x), join(const(1.0), two, x)),
        (x, join(const(1.0), const(1.0), x)),
    ):
        second = three.make_node(term).outputs[1]
        found = [from_term(t) for t in kanren.run(9, q, rule.goal(etuplize(second), q))]
        assert not any(isinstance(answer, tuple) for answer in found)
        assert any(same(merged(answer), merged(wanted)) for answer in found), found
