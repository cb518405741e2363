"""Dispatch: which rules are tried at a node, in which order, and how far up a change is told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import strategies as st

from rewrite_engine.match import dispatch
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.dispatch import Dispatch
from rewrite_engine.match.pattern import Const, Rest
from rewrite_engine.match.rule import Rule
from tests.match.language import make, x, y, z
from tests.toy import Scale, add, const, divmod_, exp, join, log, mul, neg, num, sin, sub


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
    ],
    ids=str,
)
def test_candidates(term: Any, expected: Sequence[str]) -> None:
    assert candidates(term) == expected
    assert candidates(term) == expected  # from the table


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
    monkeypatch.setattr(dispatch, "LIMIT", 5)
    found = Dispatch(RULES)
    for i in range(40):
        found.candidates(add(x, const(float(i))).owner)
    (table,) = found.table.values()
    assert len(table.table) <= 5


def test_the_table_starts_anew_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "LIMIT", 3)
    found = Dispatch(RULES)
    for i in range(20):
        term = Scale(float(i))(x)
        assert [r.short_name for r in found.candidates(term.owner)][:2] == ["on_two", "on_all"]
        assert len(found.table) <= 3


def test_nodes_with_several_outputs() -> None:
    quotient, _ = divmod_(x, y)
    rule = named("divmod", lambda a, b: divmod_(a, b) >> a)
    assert Dispatch([rule, on_all]).candidates(quotient.owner) == (on_all,)


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
