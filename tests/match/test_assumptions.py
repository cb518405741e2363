"""Assumptions: proved by facts, or granted by the user."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.errors import PatternError
from rewrite_engine.match.claim import assumes, exact, refines
from rewrite_engine.match.equation import Equation
from rewrite_engine.match.fact import assuming, because, fact, given, unknown
from rewrite_engine.match.query import Query
from rewrite_engine.match.ruleset import RuleSet
from tests.match.language import ToyVariable, ask, make, x, y
from tests.toy import add, const, exp, log, mul, neg, sin, sub

asked: list[Any] = []


@fact
def bounded(v: Any) -> Any:
    """Sines and constants."""
    asked.append(v)
    if v.head is sin or hasattr(v, "data"):
        return because("a sine" if v.head is sin else "a constant")
    return unknown("may be anything", v)


def shape(v: Any) -> bool:
    """A guard that no assumption replaces."""
    return v.name != "y"


def rule(**options: Any) -> Any:
    options = {"claim": assumes("fastmath")} | options
    return make(
        lambda a: (sub(a, a) >> neg(a), given(assuming(bounded(a)), shape_of(a))), **options
    )


@fact(cost=1)
def shape_of(a: Any) -> Any:
    """As above, as a fact."""
    return because("it has it") if shape(a) else unknown("it has not")


def test_a_fact_proves_the_assumption() -> None:
    made = rule()
    assert made.needs_grant is None
    s = sin(x)
    assert ask(made, sub(s, s)).owner.inputs == (s,)
    assert ask(made, sub(x, x)) is None
    assert repr(made).endswith("a - a -> -a, given bounded(a) and shape_of(a)")


def test_a_grant_makes_it_unnecessary() -> None:
    made = rule()
    granted = made.under({"fastmath"})
    assert granted is made.under({"fastmath", "more"})
    assert made.under(()) is made
    assert granted.needs_grant == "fastmath"
    assert granted.name == made.name
    assert "bounded" not in granted.text
    asked.clear()
    assert ask(granted, sub(x, x)) is not None
    assert not asked
    assert ask(granted, sub(y, y)) is None  # the other guard is asked as ever
    assert ask(made, sub(x, x)) is None


def test_queries_choose_the_variant() -> None:
    made, plain = rule(), make(lambda a: log(exp(a)) >> a, claim=assumes("fastmath"))
    plain.name = "test/plain"
    rules = RuleSet([made, plain])
    assert list(rules.query(Query())) == [made]
    assert list(rules.query(Query().including("fastmath"))) == [made.on_trust, plain]
    assert list(rules.query(Query().excluding("fastmath"))) == []
    assert rules.including("fastmath") == rules.including("fastmath")


def test_both_ways_of_an_equation() -> None:
    def collected(a: Any, b: Any, c: Any) -> Any:
        """A common factor."""
        left, right = add(mul(a, b), mul(a, c)), mul(a, add(b, c))
        return left, right, given(assuming(bounded(a)))

    made = Equation(collected, claim=assumes("fastmath"), variable=ToyVariable)
    assert made.needs_grant is None
    granted: Any = made.under({"fastmath"})
    assert granted is made.under({"fastmath"})
    assert granted is not made
    assert granted.needs_grant == "fastmath"
    term = add(mul(x, y), mul(x, const(2.0)))
    assert made.forward.transform(None, term.owner) is None
    for way in granted.directions:
        assert not way.guards
        assert way.equation is granted
    assert granted.forward.transform(None, term.owner) is not None
    assert "bounded" not in granted.text


def test_assuming_belongs_to_a_claim() -> None:
    with pytest.raises(PatternError, match="needs a claim with an assumption"):
        rule(claim=refines)


def test_what_holds_where_the_assumption_is_proved() -> None:
    made = rule(claim=assumes("fastmath", then=exact))
    assert made.promise is exact
    assert made.lowered.exact
    assert made.on_trust.promise == made.claim
    assert rule().promise is refines
    rules = RuleSet([made])
    assert list(rules.query(Query().excluding(refines))) == [made]
    assert list(rules.query(Query().excluding(exact))) == []
    assert assumes("fastmath").tags == {"assumes", "fastmath"}


def test_plain_functions_may_be_assumed_too() -> None:
    def named(a: Any) -> bool:
        return a.name == "x"

    made = make(lambda a: (sub(a, a) >> neg(a), assuming(named)), claim=assumes("fastmath"))
    assert ask(made, sub(x, x)) is not None
    assert ask(made, sub(y, y)) is None
    assert ask(made.under({"fastmath"}), sub(y, y)) is not None
