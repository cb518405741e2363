"""Why a rule does not apply: the part of the pattern, the sort, the literal, the guard."""

from __future__ import annotations

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import UnknownNameError
from rewrite_engine.explain.diagnosis import find_rule, why_not
from rewrite_engine.match.decorate import compute, node_rewriter, rule
from rewrite_engine.match.fact import fact, given, unknown
from rewrite_engine.match.pattern import Const, Rest
from tests.toy import Scale, add, const, divmod_, exp, join, log, mul, neg, num, sin, sub

x, y = num("x"), num("y")


@rule
def log_of_exp(x):
    """A test."""
    return log(exp(x)) >> x


@rule
def sub_of_itself(x):
    """A test."""
    return sub(x, x) >> neg(x)


@rule
def log_of_one_plus(x):
    """A test."""
    return log(add(1, exp(x))) >> sin(x)


@rule
def scaled_constant(c: Const):
    """A test."""
    return neg(c) >> c


@rule
def join_of_rest(a, rest: Rest):
    """A test."""
    return join(a, sin(a), *[rest]) >> a


@rule
def scaled_twice(x):
    """A test."""
    return Scale(by=2.0)(x) >> x


def test_a_rule_that_applies_says_so():
    answer = why_not(log_of_exp, log(exp(x)))
    assert answer.matches
    assert answer.reason == "the rule applies"


def test_another_op_at_the_top():
    assert why_not(log_of_exp, sin(x)).reason == "the rule looks at log, but this is sin"


@pytest.mark.parametrize(
    ("inner", "reason"),
    [
        (sin(x), "`exp(x)`: sin(x) is computed by sin"),
        (x, "`exp(x)`: x is an input"),
        (const(2.0), "`exp(x)`: 2.0 is a constant"),
    ],
)
def test_another_op_below(inner, reason):
    assert why_not(log_of_exp, log(inner)).reason == reason


def test_a_variable_that_stands_for_something_else_already():
    assert why_not(sub_of_itself, sub(x, y)).reason == "x is already x, but here is y"


def test_a_commutative_pattern_tells_the_failure_that_got_furthest():
    answer = why_not(log_of_one_plus, log(add(sin(x), 1)))
    assert answer.reason == "`exp(x)`: sin(x) is computed by sin"
    assert why_not(log_of_one_plus, log(add(exp(x), 2))).reason == "`1`: 2.0 is another number"
    assert why_not(log_of_one_plus, log(add(exp(x), y))).reason == "`1`: exp(x) is not a constant"


def test_the_sort_of_a_variable():
    assert why_not(scaled_constant, neg(x)).reason == "c must be Const, but x is of type Num"


def test_the_number_of_operands():
    assert why_not(join_of_rest, join(x)).reason == (
        "`join(a, sin(a), *rest)`: the number of operands differs"
    )
    assert why_not(join_of_rest, join(x, sin(x), y)).matches


def test_parameters_of_an_op():
    assert why_not(scaled_twice, Scale(by=2.0)(x)).matches
    answer = why_not(scaled_twice, Scale(by=3.0)(x))
    assert not answer.matches
    assert "Scale" in answer.reason


def test_a_guard_gives_the_reason_of_its_fact():
    @fact
    def small(v):
        return unknown("its size is not known", blame=v)

    @rule
    def guarded(x):
        """A test."""
        return sin(x) >> x, given(small(x))

    assert why_not(guarded, sin(exp(y))).reason == (
        "the left side matches; guard small(x): its size is not known: exp(y)"
    )


def test_a_predicate_as_a_guard():
    @rule
    def guarded(x):
        """A test."""
        return sin(x) >> x, given(lambda x: False)

    assert why_not(guarded, sin(y)).reason.endswith("it does not hold")


def test_a_right_side_that_declines():
    @rule
    def declines(x):
        """A test."""
        return sin(x) >> compute(lambda x: None)

    assert "makes the right side declines" in why_not(declines, sin(x)).reason


def test_a_number_for_a_vector_is_of_another_type():
    @rule
    def zero(a):
        """A test."""
        return pt.sin(a) >> 0

    reason = why_not(zero, pt.sin(pt.vector("v"))).reason
    assert reason.startswith("the left side matches; the right side is a number (0-d), but the")
    assert reason.endswith("has the type TensorType(float64, (None,))")
    assert why_not(zero, pt.sin(pt.scalar("s"))).matches


def test_a_right_side_of_another_dtype():
    @rule
    def single(a):
        """A test."""
        return pt.sin(a) >> pt.cast(a, "float32")

    assert why_not(single, pt.sin(pt.dscalar("s"))).reason == (
        "the left side matches; the type would change from TensorType(float64, ()) to "
        "TensorType(float32, ())"
    )


def test_a_right_side_of_another_type():
    @rule
    def widens(x):
        """A test."""
        return exp(x) >> x

    assert why_not(widens, exp(x)).reason == (
        "the left side matches; the type would change from Pos to Num"
    )


def test_a_node_rewriter_gives_its_docstring():
    @node_rewriter([sin])
    def never(fgraph, node):
        """Waits for better days."""

    assert why_not(never, sin(x)).reason == (
        "the rule's function declines; its docstring says: Waits for better days."
    )


def test_a_node_rewriter_that_raises():
    @node_rewriter([sin])
    def breaks(fgraph, node):
        """A test."""
        raise RuntimeError("no")

    assert why_not(breaks, sin(x)).reason == "the rule raises RuntimeError: no"


def test_constant_folding_names_what_is_not_constant():
    assert why_not("constant_folding", pt.exp(pt.vector("v"))).reason == "v is not a constant"


def test_shipped_rules_by_name():
    v = pt.vector("v")
    assert why_not("log_of_one_plus", pt.log(1 + v)).matches
    answer = why_not("exp_log/exp_of_log", pt.exp(pt.log(v)))
    assert answer.reason == ("the left side matches; guard nonneg(x): its sign is not known: v")
    assert str(answer) == f"exp(log(v)): {answer.reason}"


def test_a_wrong_name_gets_names_like_it():
    with pytest.raises(UnknownNameError, match="did you mean .*log_of_exp"):
        find_rule("log_of_expp")


def test_inputs_have_no_node():
    with pytest.raises(ValueError, match="rules apply to nodes"):
        why_not(log_of_exp, x)


def test_a_node_with_several_outputs_below():
    quotient = divmod_(x, y)[0]
    assert why_not(log_of_exp, log(quotient)).reason.startswith("`exp(x)`: ")


def test_long_terms_are_cut():
    v = x
    for _ in range(50):
        v = mul(sin(v), y)
    assert len(why_not(log_of_exp, log(v)).reason) < 120
