"""What a rule says at a node: the part that fails, what is bound there, what facts said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import settings

from rewrite_engine.graph.node import Variable
from rewrite_engine.match.decorate import compute, node_rewriter, rule
from rewrite_engine.match.explain import Probe, diagnose
from rewrite_engine.match.fact import because, fact, given, unknown
from rewrite_engine.match.interpret import match_root, named
from rewrite_engine.match.pattern import Const, Rest
from rewrite_engine.terms import etuplize
from tests.match.test_differential import pairs
from tests.toy import Scale, ToyOp, const, exp, join, log, neg, num, sin, sub

x, y = num("x"), num("y")


@fact
def from_exp(v):
    return because("exp is") if v.head is exp else unknown("it is no exp", v)


@fact
def named_x(v):
    return because("its name") if v.name == "x" else unknown("it is not x", v)


@rule
def guarded(a, b):
    """A test."""
    return sub(a, b) >> neg(a), given(from_exp(a), named_x(b))


def test_a_rule_that_applies_tells_bindings_and_evidence() -> None:
    a = exp(y)
    found = diagnose(guarded, sub(a, x).owner)
    assert found.applies
    assert found.bindings == {"a": a, "b": x}
    assert [(text, str(said)) for text, said in found.evidence] == [
        ("from_exp(a)", "because exp is"),
        ("named_x(b)", "because its name"),
    ]


def test_a_guard_that_fails_comes_with_what_held_before_it() -> None:
    found = diagnose(guarded, sub(exp(y), y).owner)
    assert (found.applies, found.part) == (False, "named_x(b)")
    assert found.reason == "the left side matches; guard named_x(b): it is not x: y"
    assert [text for text, _ in found.evidence] == ["from_exp(a)"]


@pytest.mark.parametrize(
    ("term", "part", "bindings"),
    [
        (sub(sin(log(x)), x), "exp(a)", {"a": x}),  # bare variables are bound first
        (sub(sin(exp(y)), x), "a", {"a": x}),
        (sub(y, x), "sin(exp(a))", {"a": x}),
        (sin(x), "root", {}),
    ],
    ids=str,
)
def test_the_part_that_fails_and_what_is_bound_there(term: Any, part: str, bindings: Any) -> None:
    @rule
    def nested(a):
        """A test."""
        return sub(sin(exp(a)), a) >> a

    found = diagnose(nested, term.owner)
    assert (found.part, dict(found.bindings)) == (part, bindings)


def test_a_guard_is_asked_before_what_the_compiled_matcher_matches_after_it() -> None:
    @rule
    def early(a, b):
        """A test."""
        return sub(a, sin(exp(b))) >> a, given(named_x(b), from_exp(a))

    found = diagnose(early, sub(y, sin(log(x))).owner)
    assert (found.part, found.reason) == ("from_exp(a)", "guard from_exp(a): it is no exp: y")
    assert diagnose(early, sub(y, log(x)).owner).part == "sin(exp(b))"
    found = diagnose(early, sub(exp(y), sin(log(x))).owner)
    assert (found.part, [text for text, _ in found.evidence]) == ("exp(b)", ["from_exp(a)"])


def test_other_parts() -> None:
    @rule
    def rests(a: Rest, b):
        """A test."""
        return sub(join(*a), join(b, *a)) >> b

    @rule
    def declines(a):
        """A test."""
        return sin(a) >> compute(lambda a: None)

    @rule
    def scaled(a):
        """A test."""
        return Scale(by=2.0)(a) >> a

    @node_rewriter([sin])
    def never(fgraph, node):
        """Waits."""

    assert diagnose(rests, sub(join(x), join(y, y)).owner).reason == (
        "a is already (x), but here is (y)"
    )
    assert diagnose(declines, sin(x).owner).part == "right side"
    assert diagnose(declines, sin(x).owner, run=False).applies
    assert diagnose(scaled, Scale(by=3.0)(x).owner).part == "root"
    assert diagnose(never, sin(x).owner).part == "function"
    assert diagnose(never, sin(x).owner, run=False).applies


def test_the_order_that_fits_better_is_told() -> None:
    meet = ToyOp("meet", 2, min, commutative=True)

    @rule
    def swapped(a, c: Const):
        """A test."""
        return meet(exp(a), c) >> a

    found = diagnose(swapped, meet(const(2.0), sin(y)).owner)
    assert found.reason == "`exp(a)`: sin(y) is computed by sin"


def texts(found: Any) -> list[Any]:
    """Bindings as text: an operand that collects others is a new term each time."""
    return [{k: text(v) for k, v in bound.items()} for bound in found]


def text(v: Any) -> str:
    if isinstance(v, tuple):
        return str([text(a) for a in v])
    return repr(etuplize(v)) if isinstance(v, Variable) else repr(v)


@settings(max_examples=200)
@over(pairs())
def test_listening_changes_nothing(pair: Any) -> None:
    """The same bindings in the same order, and a reason exactly where there are none."""
    one, node = pair
    probe = Probe(one.lowered)
    heard = [named(bound) for bound in probe.ways(node)]
    assert texts(heard) == texts(match_root(one.left, node, one.lowered.exact))
    assert probe.reached == 0
    if not heard:
        assert probe.progress >= 0 or one.left.target(node) is None
        assert diagnose(one, node).applies == (one.interpreted(None, node) is not None)
