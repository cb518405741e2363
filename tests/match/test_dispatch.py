"""Dispatch: which rules are tried at a node, in which order, and how far up a change is told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

from rewrite_engine.match import dispatch
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.dispatch import Dispatch
from rewrite_engine.match.interpret import match_root
from rewrite_engine.match.outline import may_be_op
from rewrite_engine.match.pattern import Const, Hole, OpClass, OpNode, Prop, Rest
from rewrite_engine.match.rule import DataRule, Rule
from tests.match.language import make, x, y, z
from tests.match.random_rules import instances, rules, variables
from tests.toy import Scale, ToyOp, add, const, divmod_, exp, join, log, mul, neg, num, sin, sub


def named(name: str, fn: Any) -> Rule:
    fn.__name__ = name
    return make(fn)


def with_rest(a: Any, xs: Rest) -> Any:
    return join(sin(a), *xs) >> a


def with_constant(a: Any, c: Const) -> Any:
    return sub(a, c) >> a


@node_rewriter([sin, Scale])
def on_two(fgraph, node):
    """Tracks an op and a class."""


@node_rewriter()
def on_all(fgraph, node):
    """Tracks everything."""


@node_rewriter([lambda op: str(op).startswith("e")])
def on_some(fgraph, node):
    """Tracks what a predicate says."""


@node_rewriter(constant_inputs=True)
def on_constants(fgraph, node):
    """Only where all inputs are constants."""
    assert all(hasattr(v, "data") for v in node.inputs)


RULES = [
    named("sub_log", lambda a, b: sub(log(a), b) >> a),
    on_two,
    named("sub_any", lambda a, b: sub(a, b) >> a),
    named("add_log", lambda a, b: add(log(a), b) >> a),
    named("add_logs", lambda a, b: add(log(a), exp(b)) >> a),
    on_all,
    named("add_zero", lambda a: add(0, a) >> a),
    named("add_one", lambda a: add(1, a) >> a),
    named("add_minus_zero", lambda a: add(-0.0, a) >> a),
    named("sin_sin", lambda a: sin(sin(a)) >> a),
    make(with_rest),
    make(with_constant),
    on_some,
    on_constants,
    named("scale_two", lambda a: Scale(2.0)(a) >> a),
    named("mul_three", lambda a, b, c: mul(a, sin(b), c) >> a),
]
DISPATCH = Dispatch(RULES)
JOINED = [Dispatch(RULES, Dispatch(RULES[:-k])) for k in (1, 2, 4)]


def candidates(term: Any) -> list[str]:
    return [r.short_name for r in DISPATCH.candidates(term.owner)]


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (sub(log(x), y), ["sub_log", "sub_any", "on_all"]),
        (sub(x, log(y)), ["sub_any", "on_all"]),
        (sub(x, const(3.0)), ["sub_any", "on_all", "with_constant"]),
        (add(log(x), y), ["add_log", "on_all"]),
        (add(y, log(x)), ["add_log", "on_all"]),
        (add(exp(y), log(x)), ["add_log", "add_logs", "on_all"]),
        (add(x, y), ["on_all"]),
        (sin(x), ["on_two", "on_all"]),
        (sin(sin(x)), ["on_two", "on_all", "sin_sin"]),
        (Scale(2.0)(x), ["on_two", "on_all", "scale_two"]),
        (Scale(3.0)(x), ["on_two", "on_all"]),
        (exp(x), ["on_all", "on_some"]),
        (exp(const(1.0)), ["on_all", "on_some", "on_constants"]),
        (join(x), ["on_all"]),
        (join(sin(x)), ["on_all", "with_rest"]),
        (mul(x, sin(y), z), ["on_all", "mul_three"]),
        (mul(x, y, z), ["on_all"]),
        (add(x, y, const(2.0)), ["on_all"]),
        (add(x, const(1.0), y), ["on_all", "add_one"]),
        (add(const(2.0), y, const(1.0)), ["on_all", "add_one"]),
        (add(const(0.0), x, const(1.0)), ["on_all", "add_zero", "add_one", "add_minus_zero"]),
    ],
    ids=str,
)
def test_candidates(term: Any, expected: Sequence[str]) -> None:
    assert candidates(term) == expected
    assert candidates(term) == expected  # from the table
    for joined in JOINED:
        for _ in range(2):
            assert [r.short_name for r in joined.candidates(term.owner)] == expected
        assert joined.reach(term.owner.op) == DISPATCH.reach(term.owner.op)


def test_more_rules_use_what_the_others_found_out() -> None:
    first = dispatch.dispatch_of(tuple(RULES))
    more = [named(f"more{i}", lambda a: sin(exp(a)) >> a) for i in range(9)]
    found = [dispatch.dispatch_of((*RULES, *more[:n])) for n in range(9)]
    assert [d.first for d in found[: dispatch.MAX_LAST_RULES + 1]] == [
        None,
        *[first] * dispatch.MAX_LAST_RULES,
    ]
    assert all(d.first is None or d.first.first is None for d in found)
    assert found[3].candidates(sin(exp(x)).owner)[-3:] == tuple(more[:3])
    assert found[3].candidates(sin(x).owner) is first.candidates(sin(x).owner)


@pytest.mark.parametrize("first", [0.0, -0.0, 1.0, 2.0, math.nan])
def test_numbers_are_told_apart_whichever_comes_first(first: float) -> None:
    found = Dispatch(RULES)
    for number in (first, 0.0, -0.0, 1.0, 2.0, math.nan, first):
        term = add(x, num.make_constant(number))
        fitting = found.candidates(term.owner)
        for rule in RULES:
            if rule.transform(None, term.owner) is not None:
                assert rule in fitting, (rule, number)
    assert "add_one" not in [r.short_name for r in found.candidates(add(x, const(2.0)).owner)]


def test_many_numbers_do_not_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "MAX_CACHED_KEYS", 5)
    found = Dispatch(RULES)
    for i in range(40):
        found.candidates(add(x, const(float(i))).owner)
    (table,) = found.table.values()
    assert len(table.table) <= 5


def test_the_table_starts_anew_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "MAX_CACHED_KEYS", 3)
    found = Dispatch(RULES)
    for i in range(20):
        term = Scale(float(i))(x)
        assert [r.short_name for r in found.candidates(term.owner)][:2] == ["on_two", "on_all"]
        assert len(found.table) <= 3


def test_nodes_with_several_outputs() -> None:
    quotient, rest = divmod_(x, y)
    root = named("root", lambda a, b: divmod_(a, b)[1] >> a)
    below = named("below", lambda a, b: exp(divmod_(a, b)[1]) >> a)
    found = Dispatch([root, below, on_all])
    assert found.candidates(quotient.owner) == (root, on_all)
    assert found.candidates(exp(rest).owner) == (below, on_all)
    assert found.candidates(exp(quotient).owner) == (on_all,)


def test_constant_inputs_beyond_the_key() -> None:
    one = const(1.0)
    all_four, last = join(one, one, one, one), join(one, one, one, x)
    for term in (all_four, last):
        for rule in DISPATCH.candidates(term.owner):
            rule.apply(None, term.owner)  # on_constants asserts that it is told the truth


def test_how_far_up_a_change_is_told() -> None:
    deep = named("deep", lambda a: sin(log(exp(neg(a)))) >> a)
    found = Dispatch([deep, named("other", lambda a: log(neg(a)) >> a)])
    assert found.reach(neg) == 3
    assert found.reach(exp) == 2
    assert found.reach(log) == 1
    assert found.reach(sin) == 0
    assert found.reach(mul) == 0


def test_a_rewriter_says_how_deep_it_looks() -> None:
    @node_rewriter([sin], depth=3)
    def looks(fgraph, node):
        """Looks three levels down."""

    assert Dispatch([looks]).reach(mul) == 2
    assert Dispatch([on_all]).reach(mul) == 0


UNARY = st.sampled_from([sin, exp, log, neg, Scale(2.0), Scale(3.0)])
BINARY = st.sampled_from([sub, add, mul, join])
LEAVES = st.sampled_from([x, y, const(1.0), const(0.0), num.make_constant(-0.0), const(2.0)])
TERMS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda f, a: f(a), UNARY, inner)
        | st.builds(lambda f, a, b: f(a, b), BINARY, inner, inner)
        | st.builds(lambda a, b, c: mul(a, b, c), inner, inner, inner)
        | st.builds(lambda a, b, c, d: join(a, b, c, d), inner, inner, inner, inner)
    ),
    max_leaves=6,
)


@over(TERMS.filter(lambda t: t.owner is not None))
def test_no_rule_that_applies_is_missed_and_order_is_kept(term: Any) -> None:
    found = DISPATCH.candidates(term.owner)
    positions = [RULES.index(r) for r in found]
    assert positions == sorted(positions)
    for rule in RULES:
        if hasattr(rule, "left") and rule.transform(None, term.owner) is not None:
            assert rule in found


@settings(max_examples=60)
@over(st.lists(rules(), min_size=1, max_size=3), st.data())
def test_however_long_the_keys_are_no_rule_is_missed(made: list[Any], data: Any) -> None:
    """Random rules on a term that matches the last of them, and then on another term in the same
    tables."""
    kept = dispatch.MAX_CANDIDATES_IN_TURN
    terms = [data.draw(t) for t in (instances(made[-1].left), variables())]
    try:
        for few in (0, kept):
            dispatch.MAX_CANDIDATES_IN_TURN = few
            found = Dispatch(made)
            for node in [term.owner for term in terms if term.owner is not None]:
                fitting = found.candidates(node)
                assert list(fitting) == [r for r in made if r in fitting]
                for rule in made:
                    if next(match_root(rule.left, node, rule.lowered.exact), None) is not None:
                        assert rule in fitting, (rule, few)
    finally:
        dispatch.MAX_CANDIDATES_IN_TURN = kept


mean = ToyOp("mean", 2, None, commutative=True)


def family(left: Any, n: int = 30) -> Dispatch:
    """Many rules that differ in one thing."""
    return Dispatch([named(f"rule_{i}", left(i)) for i in range(n)])


@pytest.mark.parametrize(
    ("rule", "term"),
    [
        (lambda i: lambda a: sin(Scale(i)(a)) >> a, lambda i: sin(Scale(i)(x))),
        (lambda i: lambda a: sin(exp(Scale(i)(a))) >> a, lambda i: sin(exp(Scale(i)(x)))),
        (lambda i: lambda a: sin(exp(log(Scale(i)(a)))) >> a, lambda i: sin(exp(log(Scale(i)(x))))),
        (lambda i: lambda a: sin(exp(sub(a, i))) >> a, lambda i: sin(exp(sub(x, float(i))))),
        (lambda i: lambda a: sub(a, i) >> a, lambda i: sub(x, float(i))),
        (lambda i: lambda a, b: add(sin(Scale(i)(a)), b) >> a, lambda i: add(y, sin(Scale(i)(x)))),
        (lambda i: lambda a, b: sub(sin(Scale(i)(a)), b) >> a, lambda i: sub(sin(Scale(i)(x)), y)),
        (
            lambda i: lambda a, b: mean(sin(Scale(i)(a)), exp(b)) >> a,
            lambda i: mean(exp(y), sin(Scale(i)(x))),
        ),
    ],
    ids=["operand", "below", "further", "number below", "number", "any order", "first", "swapped"],
)
def test_many_rules_at_one_op_are_told_apart(rule: Any, term: Any) -> None:
    found = family(rule)
    for i in (3, 29, 3, 17):
        assert [r.short_name for r in found.candidates(term(i).owner)] == [f"rule_{i}"]
    assert found.candidates(term(31).owner) == ()


def test_what_keys_do_not_tell_is_asked_of_the_rules() -> None:
    deep = family(lambda i: lambda a: sin(exp(log(neg(exp(Scale(i)(a)))))) >> a)
    assert len(deep.candidates(sin(exp(log(neg(exp(Scale(3)(x)))))).owner)) == 30
    wide = family(lambda i: lambda a, b: sin(join(Scale(i)(a), a, a, a, a, a, b)) >> a)
    assert len(wide.candidates(sin(join(Scale(3)(x), x, x, x, x, x, y)).owner)) == 30
    same = family(lambda i: lambda a: sin(exp(a)) >> a)
    assert len(same.candidates(sin(exp(x)).owner)) == 30


def test_a_rule_that_is_filed_is_not_asked_about_other_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = family(lambda i: lambda a: sin(Scale(i)(a)) >> a, 300)
    asked = []
    plain = DataRule.fits
    monkeypatch.setattr(DataRule, "fits", lambda r, seen: asked.append(r) or plain(r, seen))
    found.candidates(sin(Scale(7)(x)).owner)
    assert [r.short_name for r in asked] == ["rule_7"]


def test_keys_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "MAX_CACHED_KEYS", 5)
    found = family(lambda i: lambda a: sin(exp(sub(a, i))) >> a)
    for i in range(40):
        found.candidates(sin(exp(sub(x, float(i)))).owner)
    (table,) = found.table.values()
    assert len(table.table) <= 5


def test_a_parameter_that_a_pattern_gives_is_looked_at() -> None:
    assert may_be_op(OpNode(OpClass(Scale, (("by", 2.0),)), (Hole("a"),)), Scale(2.0))
    assert not may_be_op(OpNode(OpClass(Scale, (("by", 2.0),)), (Hole("a"),)), Scale(3.0))
    assert may_be_op(OpNode(OpClass(Scale, (("by", Hole("p", Prop)),)), (Hole("a"),)), Scale(3.0))
    assert not may_be_op(OpNode(OpClass(Scale, ()), (Hole("a"),)), sin)


def test_two_operands_that_differ_are_told_from_one_twice() -> None:
    """A rule that wants the same operand twice is no candidate where two differ."""
    asked: list[tuple[Any, ...]] = []

    def may_be(op: Any, seen: Sequence[Any], distinct: bool) -> bool:
        asked.append((op, tuple(seen), distinct))
        return not distinct or log in seen

    @node_rewriter([mul], when=may_be)
    def on_logs(fgraph, node):
        """Wants a logarithm, or the same operand twice."""

    square = named("square", lambda a: mul(a, a) >> exp(a))
    difference = named("difference", lambda a: sub(a, a) >> a)
    either = named("either", lambda a, b: mul(a, b) >> sub(a, b))
    found = Dispatch([square, difference, either, on_logs])
    assert found.candidates(mul(x, y).owner) == (either,)
    assert found.candidates(mul(x, x).owner) == (square, either, on_logs)
    assert found.candidates(mul(y, x).owner) == (either,)
    assert found.candidates(mul(log(x), y).owner) == (either, on_logs)
    assert found.candidates(mul(x, y, z).owner) == (square, either, on_logs)
    assert found.candidates(mul(x, y, x).owner) == (square, either, on_logs)
    assert found.candidates(sub(x, y).owner) == ()
    assert found.candidates(sub(x, x).owner) == (difference,)
    assert asked.count((mul, (None, None), True)) == 1
