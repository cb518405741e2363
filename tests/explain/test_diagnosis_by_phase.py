"""`why_not` asks a term as the rule's phase sees it, and names what differs."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.explain.diagnosis import why_not
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.language import Inexact, Matrix, Prop, Rest, assumes, rewritten, rule
from rewrite_engine.rewrite.strategies import first, seq, where

x, y, z = pt.vectors("x y z")
m = pt.matrix("m")


@rule(phase="canonicalize")
def one_more(a: Any) -> Any:
    """(For tests.)"""
    return pt.tan(1 + a) >> pt.tan(a)


@rule(phase="specialize")
def sine_of_sum(a: Any, b: Any) -> Any:
    """(For tests.)"""
    return pt.sin(a + b) >> pt.tan(pt.sin(a) + b)


@rule(phase="specialize")
def rows(a: Matrix) -> Any:
    """(For tests.)"""
    return pt.sum(pt.arcsinh(a), axis=0) >> pt.sum(a, axis=0)


@rule(phase="specialize")
def tangent(a: Any) -> Any:
    """(For tests.)"""
    return pt.tan(pt.sin(a)) >> pt.sinh(a)


@rule(phase="canonicalize")
def sine_cosine(a: Inexact) -> Any:
    """(For tests.)"""
    return pt.sin(a) * pt.cos(a) >> pt.tan(a)


@rule(phase="stabilize")
def sine_cosine_later(a: Inexact) -> Any:
    """(For tests.)"""
    return pt.sin(a) * pt.cos(a) >> pt.tan(a)


@rule(phase="specialize")
def sine_cosine_rest(a: Inexact, rest: Rest) -> Any:
    """(For tests.)"""
    return pt.sin(a) * pt.cos(a) * rest >> pt.tan(a) * rest


def told(one: Any, term: Any) -> str:
    return why_not(one, term).reason


def test_what_other_rules_of_the_phase_make_is_asked() -> None:
    assert told(one_more, pt.tan(pt.add(1, x, 2))) == (
        "canonicalize sees it as tan(3.0 + x); tan(3.0 + x): `1`: 3.0 is another number"
    )
    assert why_not(one_more, pt.tan(1 + x)).reason == "the rule applies"


def test_a_rule_that_has_to_be_granted_says_so() -> None:
    @rule(phase="stabilize", claim=assumes("fastmath"))
    def log_of_cube(a: Inexact) -> Any:
        """(For tests.)"""
        return pt.log(a**3) >> 3 * pt.log(a)

    answer = why_not(log_of_cube, pt.log(x**3))
    assert answer.matches
    assert answer.reason == "the rule applies where 'fastmath' is granted: including('fastmath')"


def test_what_earlier_phases_make_is_asked() -> None:
    answer = why_not(sine_of_sum, pt.sin(x - (-y) + 0))
    assert answer.matches
    assert answer.reason.startswith("the rule applies; specialize sees it as sin(")
    assert told(tangent, pt.tan(pt.log(pt.exp(x)))) == (
        "specialize sees it as tan(x); tan(x): `sin(a)`: x is an input"
    )
    gone = told(tangent, pt.tan(pt.arctan(pt.log(pt.exp(x)))) * 0 + pt.tan(pt.cos(y)))
    assert "`sin(a)`" in gone


def test_a_term_that_is_gone() -> None:
    assert told(tangent, pt.log(pt.exp(x))) == (
        "specialize sees it as x; the rule looks at tan, but this is log"
    )


def test_a_graph_that_is_given_is_asked_as_it_is() -> None:
    graph = FunctionGraph(None, [pt.tan(pt.add(1, x, 2))])
    assert why_not(one_more, graph.outputs[0], graph).matches


def test_the_callers_graph_stays() -> None:
    term = pt.tan(pt.add(1, x, 2))
    before = str(pt.tan(pt.add(1, x, 2)).owner.inputs[0].owner)
    why_not(one_more, term)
    assert str(term.owner.inputs[0].owner) == before


def test_parameters_that_differ() -> None:
    differs = "it has Sum: axis differs: (1,) against (0,)"
    assert told(rows, pt.arcsinh(m).sum(axis=1)) == f"the rule looks at Sum{{axis=0}}; {differs}"

    @rule(phase="specialize")
    def inner(a: Matrix) -> Any:
        """(For tests.)"""
        return pt.tan(pt.sum(a, axis=0)) >> pt.sum(a, axis=0)

    assert told(inner, pt.tan(m.sum(axis=1))) == f"`Sum{{axis=0}}(a)`: {differs}"


@pytest.mark.parametrize("phase", ["specialize", None])
def test_strategies_name_the_part_and_its_reason(phase: Any) -> None:
    term = pt.tan(pt.sin(x))
    assert told(first(tangent, rows, phase=phase), pt.tan(pt.cos(x))) == (
        f"{tangent.name}: `sin(a)`: cos(x) is computed by cos"
    )
    assert told(first(tangent, rows, phase=phase), pt.arcsinh(m).sum(axis=1)) == (
        f"{rows.name}: the rule looks at Sum{{axis=0}}; it has Sum: axis differs: (1,) against (0,)"
    )
    assert told(seq(tangent, rows, phase=phase), term) == (
        f"{tangent.name} applies; then {rows.name} fails at sinh(x): "
        "the rule looks at Sum{axis=0}, but this is sinh"
    )

    def never(fgraph: Any, node: Any) -> bool:
        return False

    assert told(where(never, tangent, phase=phase), term) == (
        f"{tangent.name} applies, but its condition never does not hold"
    )


def test_a_rule_of_which_no_term_can_be_built() -> None:
    """Of one with a parameter, of which not all values can be tried; others are refused."""

    @rule
    def impossible(a: Inexact, n: Prop) -> Any:
        """(For tests.)"""
        return pt.and_(a, pt.Sum(axis=n)(a)) >> pt.tan(a)

    reason = told(impossible, pt.and_(pt.ivector("i"), pt.ivector("j")))
    assert (
        "the rule may never fire: no such term can be built of samples (DTypeError: and_" in reason
    )
    assert "may never" not in told(one_more, pt.sin(x))


def test_of_nests_the_difference_that_came_furthest() -> None:
    @rule
    def recurrence(a: Any, rest: Rest) -> Any:
        """(For tests.)"""
        return pt.gammaln(a + 1) - pt.gammaln(a) + rest >> pt.log(a) + rest

    assert told(recurrence, y + pt.gammaln(x + 1) - 2 * x - pt.gammaln(y)) == (
        "a is already x, but here is y"
    )


# --- products of three factors and more: one product by then, with the same text ----------------

OF_PRODUCTS = [sine_cosine, sine_cosine_later, sine_cosine_rest]
LONG = pt.vector("a_name_of_which_a_report_shows_the_beginning")


def product(*factors: Any) -> Any:
    """Products of two, from left to right."""
    whole = factors[0]
    for factor in factors[1:]:
        whole = whole * factor
    return whole


def agrees(one: Any, term: Any) -> bool:
    """Whether the rule fires, after a check that `why_not` and `rewritten` say the same."""
    fires = "tan(" in repr(rewritten(term, rules=[one]))
    answer = why_not(one, term)
    assert answer.matches == fires, (term, answer)
    assert answer.node is term.owner
    return fires


@pytest.mark.parametrize("one", OF_PRODUCTS)
@pytest.mark.parametrize("others", [[], [y], [y, 2], [y, 2, LONG], [y, LONG, y, z, 2]])
def test_factors_of_a_product_are_found_wherever_they_are(one: Any, others: list[Any]) -> None:
    found, distant = [pt.sin(x), pt.cos(x), *others], [pt.sin(x), pt.cos(y), *others]
    for i, j in permutations(range(len(found)), 2):
        order = list(range(2, len(found)))
        for place, k in sorted([(i, 0), (j, 1)]):
            order.insert(place, k)
        assert agrees(one, product(*[found[k] for k in order]))
        assert not agrees(one, product(*[distant[k] for k in order]))


def test_the_answer_is_about_the_term_as_it_is_written() -> None:
    term = product(pt.sin(x), y, pt.cos(x))
    assert len(term.owner.inputs) == 2
    assert told(sine_cosine, term) == "the rule applies"
    assert why_not(sine_cosine, term).term == "sin(x) * y * cos(x)"
    assert len(term.owner.inputs) == 2  # the caller's term stays


def test_the_part_that_fails_is_a_factor() -> None:
    assert told(sine_cosine, product(pt.sin(x), y, pt.cos(y))) == "a is already x, but here is y"
    assert told(sine_cosine, product(pt.sin(x), y, y, 2)) == "`cos(a)`: y is an input"


@pytest.mark.parametrize("one", OF_PRODUCTS)
def test_products_that_are_not_one_product_are_told_alike(one: Any) -> None:
    s, c = pt.sin(x), pt.cos(x)
    for term in [s * y / y.sum() * c, -s * c * y, (s * y) * (c * y), s * (y * (y * c)), s * s * c,
                 s.sum() * y * c, s * y * m * c, s * y * z * m * c]:  # fmt: skip
        agrees(one, term)
    assert agrees(one, pt.mul(s, y, c))
    assert agrees(one, product(s, y, c, 1))  # it is one product after the 1 is gone
    assert agrees(one, product(s, 1, c))


def test_a_node_of_another_op_is_not_the_product_inside() -> None:
    answer = why_not(sine_cosine, pt.exp(product(pt.sin(x), y, pt.cos(x))))
    assert not answer.matches
    assert answer.reason == "the rule looks at mul, but this is exp"


def test_sums_of_three_terms_and_more() -> None:
    @rule(phase="canonicalize")
    def sum_of_two(a: Inexact) -> Any:
        """(For tests.)"""
        return pt.sin(a) + pt.cos(a) >> pt.tan(a)

    for term in [pt.sin(x) + y + pt.cos(x), pt.cos(x) + y + 2 + LONG + pt.sin(x)]:
        assert agrees(sum_of_two, term)
    assert not agrees(sum_of_two, pt.sin(x) + y + pt.cos(y))
