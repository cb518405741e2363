"""Guards: facts with evidence or reasons, and plain functions of a rule's variables."""

from __future__ import annotations

from typing import Any

import pytest

from rewrite_engine.errors import FactError, PatternError
from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.match.claim import approx
from rewrite_engine.match.fact import because, fact, given, unknown
from rewrite_engine.match.pattern import Prop
from tests.match.language import ask, make, p, x, y
from tests.toy import Scale, add, const, exp, log, sin, sub


@fact
def positive(v: Any) -> Any:
    """v > 0."""
    if v.head is CONSTANT and v.data > 0:
        return because("a constant")
    if v.head is exp:
        return because("a result of exp", positive(const(1.0)))
    return unknown("its sign is not known", blame=v)


def test_a_fact_answers_about_terms() -> None:
    evidence = positive(const(2.0))
    assert evidence
    assert str(evidence) == "because a constant"
    assert str(positive(exp(x))) == "because a result of exp (a constant)"
    refusal = positive(x)
    assert not refusal
    assert refusal.blame is x
    assert str(refusal) == "its sign is not known (x)"
    assert str(unknown("no idea")) == "no idea"
    assert repr(positive) == "fact positive"
    assert positive.__doc__ == "v > 0."


def test_a_fact_guards_a_rule() -> None:
    rule = make(lambda a: (log(sin(a)) >> a, given(positive(a))))
    assert repr(rule).endswith("log(sin(a)) -> a, given positive(a)")
    assert ask(rule, log(sin(exp(x)))) is not None
    assert ask(rule, log(sin(x))) is None
    (guard,) = rule.guards
    assert guard.text == "positive(a)"


def test_several_guards_hold_together() -> None:
    rule = make(lambda a, b: (sub(a, b) >> a, given(positive(a), positive(b), different)))
    assert rule.text.endswith("given positive(a) and positive(b) and different(a, b)")
    one, two = const(1.0), const(2.0)
    assert ask(rule, sub(one, two)) is one
    assert ask(rule, sub(one, x)) is None
    assert ask(rule, sub(one, one)) is None


def different(a: Any, b: Any) -> bool:
    """A guard by the names of its parameters."""
    return a is not b


def test_a_guard_sees_parameters_and_values() -> None:
    @fact
    def less(by: Any, limit: Any) -> Any:
        return because("small") if by < limit else unknown("large")

    def rule(a: Any, by: Prop) -> Any:
        return Scale(by)(a) >> a, given(less(by, 3.0))

    made = make(rule)
    assert made.guards[0].text == "less(by, 3.0)"
    assert ask(made, Scale(2.0)(x)) is x
    assert ask(made, Scale(4.0)(x)) is None


def test_a_guard_is_asked_as_soon_as_it_can_be() -> None:
    asked: list[Any] = []

    def seen(a: Any) -> bool:
        asked.append(a)
        return a is x

    rule = make(lambda a, b: (sub(a, log(b)) >> a, given(seen)))
    assert ask(rule, sub(y, sin(x))) is None  # the shape is wrong: nothing is asked when compiled
    rule.apply(None, sub(x, log(y)).owner)
    assert asked[-1] is x
    source = __import__("inspect").getsource(rule.apply)
    assert source.index("guard(") < source.index(".owner.inputs")


def test_a_guard_chooses_the_order() -> None:
    rule = make(lambda a, b: (add(a, b) >> sub(a, b), given(positive(b))))
    found = ask(rule, add(exp(y), x))
    assert found.owner.inputs[0] is x
    assert ask(rule, add(x, y)) is None


def test_given_takes_facts_and_functions_only() -> None:
    with pytest.raises(PatternError, match="'text' is neither a fact"):
        make(lambda a: (sin(a) >> a, given("text")))


def test_evidence_is_a_value() -> None:
    assert because("a") == because("a")
    assert because("a").reasons == ("a",)
    assert p.type.positive


@pytest.mark.parametrize(
    ("answer", "said"), [(17, "17"), (True, "True"), (None, r"nothing \(None\)")]
)
def test_a_fact_that_gives_no_answer_is_wrong(answer: Any, said: str) -> None:
    @fact
    def silent(v: Any) -> Any:
        """Says neither yes nor no."""
        return answer

    line = silent.fn.__code__.co_firstlineno
    told = rf"fact silent \({__file__}:{line}.*\n.*returned {said}, not because"
    rule = make(lambda a: (log(a) >> a, given(silent(a))))
    for ask_it in (lambda: silent(x), lambda: ask(rule, log(x))):
        with pytest.raises(FactError, match=told):
            ask_it()


def test_a_case_that_gives_no_answer_is_wrong() -> None:
    @fact
    def known(v: Any) -> Any:
        """Only cases know."""
        return unknown("only cases know")

    @known.case(sin)
    def of_sin(v: Any) -> Any:
        return True

    @known.case(exp)
    def of_exp(v: Any) -> Any:
        return None  # has no opinion

    assert str(known(exp(x))) == "only cases know"
    with pytest.raises(FactError, match=r"fact known, case of_sin \(.*\n.*returned True"):
        known(sin(x))


@pytest.mark.parametrize("ulps", [0, -1, 2.5, "x", True, None])
def test_claims_are_checked(ulps: Any) -> None:
    with pytest.raises(ValueError, match="approx takes a positive integer"):
        approx(ulps)


@fact
def same_sign(fgraph: Any, v: Any, w: Any, strict: bool = False) -> Any:
    """Of two variables."""
    return unknown("not known")


@pytest.mark.parametrize(
    ("guard", "wanted"),
    [
        (lambda a: positive(a, a), "the guard positive(a, a): too many positional arguments"),
        (lambda a: same_sign(a), "the guard same_sign(a): missing a required argument: 'w'"),
        (lambda a: same_sign(a, a, True, a), "too many positional arguments"),
    ],
)
def test_the_number_of_arguments_is_checked_when_a_rule_is_built(guard: Any, wanted: str) -> None:
    with pytest.raises(PatternError) as info:
        make(lambda a: (log(sin(a)) >> a, given(guard(a))))
    assert wanted in str(info.value)
    assert "; the fact is " in str(info.value)
    assert "test_fact.py:" in str(info.value)
    rule = make(lambda a: (log(sin(a)) >> a, given(same_sign(a, a), same_sign(a, a, True))))
    assert [guard.text for guard in rule.guards] == ["same_sign(a, a)", "same_sign(a, a, True)"]
