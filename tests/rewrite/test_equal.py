"""`equal`: whether rules make two terms equal, and by which steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import PatternError, RuleError
from rewrite_engine.facts import nonneg
from rewrite_engine.graph.node import Variable
from rewrite_engine.language import (
    Float,
    Matrix,
    compute,
    equal,
    equation,
    given,
    node_rewriter,
    rule,
)
from rewrite_engine.rewrite.result import StopReason
from rewrite_engine.rewrite.trace import brief

R = "(reason)"


@rule
def power_of_sum(x: Float, y: Float) -> Any:
    """The law of exponents."""
    return pt.exp(x + y) >> pt.exp(x) * pt.exp(y)


@rule
def log_of_product(x: Float, y: Float) -> Any:
    """The law of logarithms."""
    return pt.log(x * y) >> pt.log(x) + pt.log(y), given(nonneg(x), nonneg(y))


@equation
def association(a: Matrix, b: Matrix, c: Matrix) -> Any:
    """The order of products."""
    return (a @ b) @ c, a @ (b @ c)


a, b, c, d = pt.vectors("a b c d")
A, B, C, D = pt.matrices("A B C D")


def is_chain(answer: Any) -> bool:
    """Whether the steps lead from the left term to the right one, and keep the value."""
    rng = np.random.default_rng(0)
    given = {
        v: rng.uniform(0.5, 1, (3,) * v.type.ndim).astype(v.type.dtype) for v in (a, b, c, d)
    } | {v: rng.uniform(0.5, 1, (3, 3)) for v in (A, B, C, D)}
    terms: list[Variable] = [answer.left, *[step.after for step in answer.steps]]
    assert [step.before for step in answer.steps] == terms[:-1]
    values = [t.eval(given, on_unused_input="ignore") for t in terms]
    assert brief(terms[-1], depth=20) == brief(answer.right, depth=20)
    return all([np.allclose(values[0], v) for v in values])


def test_the_proof_is_a_chain_of_rules() -> None:
    answer = equal(pt.exp(a + b + c), pt.exp(a) * pt.exp(b) * pt.exp(c), power_of_sum)
    assert answer
    assert answer.rules == (power_of_sum,)
    assert len(answer.steps) == 2
    assert is_chain(answer)
    assert str(answer) == (
        "  exp(a + b + c)\n"
        "= exp(a + b) * exp(c)       test_equal/power_of_sum\n"
        "= exp(a) * exp(b) * exp(c)  test_equal/power_of_sum"
    )


def test_rules_are_used_in_both_directions() -> None:
    answer = equal(pt.exp(a) * pt.exp(b), pt.exp(b + a), power_of_sum)
    assert answer
    assert is_chain(answer)
    assert "backwards" in answer.steps[0].rule.name


def test_equations_and_the_inside_of_terms() -> None:
    answer = equal((A @ B @ C) @ D + 1, A @ (B @ (C @ D)) + 1, [association])
    assert answer
    assert is_chain(answer)


def test_what_does_not_follow() -> None:
    answer = equal(pt.exp(a), pt.exp(b), [power_of_sum])
    assert not answer
    assert answer.stopped is StopReason.SATURATED
    assert answer.steps == ()
    assert str(answer) == "exp(a) == exp(b) does not follow from the rules"
    unguarded = equal(pt.log(a * b), pt.log(a) + pt.log(b), log_of_product)
    assert not unguarded
    x, y = rw.assume(a, nonneg=True), rw.assume(b, nonneg=True)
    assert equal(pt.log(x * y), pt.log(x) + pt.log(y), log_of_product)


def test_one_term_needs_no_rules() -> None:
    for left, right in ((a, a), (pt.exp(a) + b, b + pt.exp(a))):
        answer = equal(left, right, [])
        assert answer
        assert answer.steps == ()


def test_a_limit_is_told() -> None:
    chain, other = A, D
    for m in (B, C, D, A, B, C):
        chain, other = chain @ m, m @ other
    answer = equal(chain, other, association, node_budget=30)
    assert not answer
    assert answer.stopped is StopReason.BUDGET
    assert str(answer).endswith("was not proved within the budget")


def test_deep_terms() -> None:
    left, right = a, a
    for _ in range(20_000):
        left, right = pt.sin(left), pt.sin(right)
    assert equal(pt.exp(left + b), pt.exp(left) * pt.exp(b), power_of_sum, node_budget=100_000)
    assert equal(left, right, power_of_sum, node_budget=100_000)


def test_what_it_takes() -> None:
    @rule
    def computed(x: Float) -> Any:
        """Not a term."""
        return pt.exp(x) >> compute(lambda x: pt.exp(x))

    @node_rewriter([pt.exp])
    def node(fgraph: Any, node: Any) -> Any:
        """Not data."""

    with pytest.raises(PatternError, match="two variables, not 1"):
        equal(a, 1, power_of_sum)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="neither an equation nor a data rule"):
        equal(a, b, [node])
    with pytest.raises(RuleError, match="computed"):
        equal(a, b, [computed])
