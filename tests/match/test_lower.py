"""What is wrong with a rule is said when it is built: its name, file:line, and what to write
instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from etuples import etuple

from rewrite_engine.errors import (
    DuplicateRuleError,
    PatternError,
    RuleError,
    UnboundVariableError,
)
from rewrite_engine.graph.op import Op
from rewrite_engine.match.claim import approx
from rewrite_engine.match.decorate import compute, node_rewriter, relation
from rewrite_engine.match.equation import equation
from rewrite_engine.match.fact import fact, given
from rewrite_engine.match.lower import lower_pattern
from rewrite_engine.match.pattern import Rest
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.terms.logic import LogicVariable, PatternTerm
from tests import toy
from tests.match.language import make, rule, x
from tests.toy import DivMod, Scale, add, join, log, num, sin, sub


@fact
def known(a: Any) -> Any:
    """Never called in these tests."""


def fails(fn: Callable[..., Any], *parts: str, cls: type[RuleError] = PatternError) -> None:
    """Building the rule raises `cls`; the message starts with name and place, and has the parts."""
    fn.__name__ = "wrong"
    fn.__doc__ = "Is refused."
    with pytest.raises(cls) as info:
        rule(fn)
    assert type(info.value) is cls
    text = str(info.value)
    assert text.startswith(f"rule test_lower/wrong ({__file__}:{fn.__code__.co_firstlineno}")
    for part in parts:
        assert part in text


def test_a_variable_only_on_the_right() -> None:
    fails(
        lambda a, b: sin(a) >> add(a, b),
        "the right side uses b, which the left side does not bind",
        cls=UnboundVariableError,
    )
    fails(
        lambda a, b: sin(a) >> compute(lambda a, b: a),
        "the right side uses b",
        cls=UnboundVariableError,
    )


def test_a_variable_only_in_a_guard() -> None:
    fails(
        lambda a, b: (sin(a) >> a, given(known(b))),
        "the guard known(b) uses b, which the left side does not bind",
        cls=UnboundVariableError,
    )
    fails(
        lambda a: (sin(a) >> a, given(lambda c: True)),
        "uses c",
        cls=UnboundVariableError,
    )


def test_a_guard_without_a_variable() -> None:
    fails(lambda a: (sin(a) >> a, given(lambda: True)), "mentions no variable of the rule")
    fails(lambda a: (sin(a) >> a, given(3)), "3 is neither a fact")


def test_a_parameter_that_nothing_uses() -> None:
    fails(lambda a, b: sin(a) >> a, "the parameter b does not occur in the left side")


def test_no_docstring() -> None:
    def silent(a: Any) -> Any:
        return sin(a) >> a

    with pytest.raises(PatternError, match=r"^rule test_lower/silent \(.*test_lower.py:\d+") as e:
        rule(silent)
    assert "has no docstring" in str(e.value)
    assert node_rewriter([sin])(lambda fgraph, node: None).doc == ""  # as other libraries allow


def test_a_number_of_operands_that_can_never_match() -> None:
    fails(lambda a, b: sin(a, b) >> a, "sin takes 1 operands, not 2: this can never match")
    fails(lambda a: sin(sub(a)) >> a, "sub takes 2 operands, not 1")
    fails(lambda a, b: Scale(2.0)(a, b) >> a, "takes 1 operands, not 2")
    assert make(lambda a, b, c: add(a, b, c) >> a).text == "a + b + c -> a"


def test_a_left_side_that_matches_everything() -> None:
    fails(lambda a: a >> sin(a), "the left side a is not an op: it would match everything")


def test_a_left_side_that_is_no_pattern() -> None:
    fails(lambda a: 1 >> a, "1 >> a: the left side of a rule must be a pattern")
    fails(lambda a: sin(a) >> "text", "'text' cannot be part of a pattern")
    fails(lambda a: sin(a) >> (a >> a), "a >> a cannot be part of a pattern")
    fails(lambda a: add(a, x) >> a, "x is a variable of a graph")
    fails(lambda a: a.name, "must return `left >> right` (and `given(...)` after a comma), not 'a'")
    fails(lambda a, b: (sub(a, b) >> a, b), "must return `left >> right`", "a - b >> a")


def test_operands_by_name_are_refused() -> None:
    fails(lambda a: sin(a, axis=0) >> a, "name no operands in a pattern")


def test_a_rest_is_no_right_side() -> None:
    def bare(a: Any, xs: Rest) -> Any:
        return add(sin(a), xs) >> xs

    fails(bare, "the right side is xs, any number of operands of no op")


PRECEDENCE = {
    "less": lambda a, b: a < b >> a,
    "and_bits": lambda a, b: a & b >> a,
    "or_bits": lambda a, b: a | b >> a,
    "term_equal": lambda a, b: sin(a) == b >> a,
    "negation": lambda a, b: not a >> b,
    "equal_after": lambda a, b: sub(a, b) >> a == b,
    "twice": lambda a, b: sub(a, b) >> a >> b,
}


@pytest.mark.parametrize("fn", PRECEDENCE.values(), ids=PRECEDENCE)
def test_precedence_asks_for_parentheses(fn: Callable[..., Any]) -> None:
    fails(fn, "put parentheses around the left side of `>>`")


@pytest.mark.parametrize(
    "fn",
    [
        lambda a, b, c: a < b < c >> a,
        lambda a, b, c: (a < b < c) >> a,
        lambda a, b: a and b >> a,
        lambda a, b: a or b >> a,
        lambda a, b: (sub(a, b) if a else a) >> b,
        lambda a, b: (not sin(a)) >> b,
    ],
)
def test_truth_values_of_patterns(fn: Callable[..., Any]) -> None:
    fails(fn, "a pattern is neither true nor false", "and_(a < b, b < c)", "parentheses")


@pytest.mark.parametrize(
    "fn",
    [
        lambda a, b: a == b >> a,
        lambda a, b: (a == b) >> a,
        lambda a, b: (sin(a) == b) >> a,
        lambda a, b: a != b >> a,
    ],
)
def test_equality_is_an_op(fn: Callable[..., Any]) -> None:
    fails(fn, "`==` compares patterns", "write eq(a, b)")


def test_unpacking_needs_a_rest() -> None:
    fails(lambda a: join(*a) >> a, "a cannot be unpacked", "sort Rest")

    def good(a: Rest) -> Any:
        return join(*a) >> add(*a)

    assert make(good).text == "join(*a) -> add(*a)"


def test_an_annotation_that_is_no_sort() -> None:
    def wrong(a: 3) -> Any:  # type: ignore[valid-type]
        return sin(a) >> a

    fails(wrong, "the annotation 3 is neither a sort nor a predicate")

    def also_wrong(a: float) -> Any:
        return sin(a) >> a

    fails(also_wrong, "the annotation <class 'float'> is neither a sort nor a predicate")


def test_an_op_that_is_none() -> None:
    fails(lambda a: make_pattern(a) >> a, "is not an op")


def make_pattern(a: Any) -> Any:
    return type(a).pattern_type(__import__("etuples").etuple("text", a))


def test_a_parameter_that_cannot_be_matched() -> None:
    class Hidden(Scale):
        __props__ = ("by", "other")

        def __init__(self, by: float) -> None:
            super().__init__(by)
            self.other = by

    fails(lambda a, by: Hidden(by)(a) >> a, "Hidden: its parameter other cannot be matched")


def test_two_rules_of_one_name() -> None:
    a, b = make(lambda a: sin(a) >> a), make(lambda a: log(a) >> a)
    assert len(RuleSet([a, a])) == 1
    with pytest.raises(DuplicateRuleError) as info:
        RuleSet([a, b])
    text = str(info.value)
    assert text.startswith("two rules are called test_lower/made:")
    assert f"{__file__}:{a.where[1]}" in text
    assert f"{__file__}:{b.where[1]}" in text


def test_what_a_rule_knows_of_itself() -> None:
    made = make(lambda a, b: sub(a, log(sin(b))) >> b, "Why.", phase="p", tags=("t",))
    assert made.name == "test_lower/made"
    assert made.doc == "Why."
    assert repr(made) == "test_lower/made: a - log(sin(b)) -> b"
    assert made.where[0].endswith("test_lower.py")
    assert made.depth == 2
    assert made.interior == {log: 1, sin: 2}
    assert made.roots() == [sub]
    assert {"p", "t", "refines", "made", "test_lower", "test_lower/made"} == made.names
    assert made.variable is not None
    assert num is not DivMod


def type_of(a: Any) -> Any:
    """A function that looks at its operand's type, as many do."""
    return sin(a) if a.type.positive else a


@pytest.mark.parametrize(
    ("fn", "shown", "cause"),
    [
        (lambda a: log(type_of(a)) >> a, "`type_of(a)`", AttributeError),
        (lambda a: log(a.size) >> a, "`a.size`", AttributeError),
        (lambda a: log(a, [1][2]) >> a, "`[1][2]`", IndexError),
        (lambda a: log(undefined_name) >> a, "`undefined_name`", NameError),  # noqa: F821
    ],
)
def test_what_a_rule_function_raises_shows_the_expression(
    fn: Callable[..., Any], shown: str, cause: type[Exception]
) -> None:
    fails(fn, f"{shown} cannot be part of a pattern: {cause.__name__}: ")
    for decorate in (rule, equation):
        with pytest.raises(PatternError) as info:
            decorate(fn)
        assert type(info.value.__cause__) is cause
        assert ("Write the ops with their parameters" in str(info.value)) == (
            cause is not NameError
        )


@pytest.mark.parametrize("claim", ["exact", approx, None])
def test_a_claim_that_is_none(claim: Any) -> None:
    def made(a: Any) -> Any:
        """Claims nothing."""
        return log(a) >> a

    for build in (
        lambda: rule(made, claim=claim),
        lambda: equation(made, claim=claim),
        lambda: node_rewriter(claim=claim)(made),
        lambda: relation(claim=claim)(made),
    ):
        with pytest.raises(RuleError) as info:
            build()
        text = str(info.value)
        assert text.startswith(f"rule test_lower/made ({__file__}:")
        assert f"claims {claim!r}: a claim must be one of exact, refines, approx(ulps)" in text


def test_annotations_that_cannot_be_read() -> None:
    def typo(a: Flaot) -> Any:  # type: ignore[name-defined]  # noqa: F821
        return sin(a) >> a

    fails(typo, "the annotations cannot be read: NameError", "Flaot")


def test_rules_are_made_of_functions() -> None:
    for what in (partial(lambda a: sin(a) >> a), Called()):
        with pytest.raises(PatternError, match="a rule needs a function with a name"):
            rule(what)


class Called:
    """Is called like a function."""

    def __call__(self, a: Any) -> Any:
        return sin(a) >> a


def test_tags_are_names() -> None:
    with pytest.raises(PatternError, match="tags must be names, not"):
        make(lambda a: sin(a) >> a, tags=(3,))


@pytest.mark.parametrize(
    "guards",
    [
        lambda a, b: given(known(a) and known(b)),
        lambda a, b: given(known(a) or known(b)),
        lambda a, b: given(not known(a), known(b)),
        lambda a, b: given(known(a) & known(b)),
        lambda a, b: given(known(a) > 1, known(b)),
        lambda a, b: given(all([known(a), known(b)])),
        lambda a, b: given(known(a) == True, known(b)),  # noqa: E712
        lambda a, b: given(sub(a, b)),
        lambda a, b: given("a > b"),
    ],
)
def test_guards_are_asked_at_a_match_and_not_when_the_rule_is_made(guards: Any) -> None:
    def wrong(a, b):
        """A guard that would be lost."""
        return add(a, b) >> sub(a, b), guards(a, b)

    with pytest.raises(PatternError, match=r"given\(lambda x: \.\.\.\)") as info:
        make(wrong)
    assert str(info.value).startswith(f"rule test_lower/wrong ({__file__}:")
    assert "types" not in str(info.value)


def test_names_that_do_not_exist_are_told_from_terms_without_types() -> None:
    def local(alpha):
        """A variable."""
        return sin(alpha) >> alpah  # noqa: F821

    def module(a):
        """An op."""
        return sin(a) >> toy.exq(a)

    for fn, words in ((local, "did you mean alpha?"), (module, "did you mean exp?")):
        with pytest.raises(PatternError, match=re.escape(words)) as info:
            make(fn)
        assert "no types" not in str(info.value)


def test_an_etuple_may_stand_in_a_pattern() -> None:
    x = LogicVariable("x")
    pattern = PatternTerm(etuple(log, etuple(add, 1, x)))
    assert lower_pattern(add(pattern, x)) == lower_pattern(add(log(add(1, x)), x))
    assert lower_pattern(etuple(log, x)) == lower_pattern(log(x))


def test_where_there_are_no_samples_an_op_has_to_say_how_many_outputs_it_has() -> None:
    class Mute(Op):
        """Nothing tells how many outputs it has."""

        __props__ = ()

    class Said(Mute):
        nout = 1

    with pytest.raises(
        PatternError, match="the number of outputs of Mute is unknown: give it `nout`"
    ):
        make(lambda a: sin(Mute()(a)) >> a)
    assert make(lambda a: sin(Said()(a)) >> a)
