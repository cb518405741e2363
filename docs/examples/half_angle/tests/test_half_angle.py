"""Where the rules fire, and what they keep; `pytest --rewrite-rules=half_angle` does the rest."""

import half_angle
from hypothesis import given, settings

import rewrite_engine.tensor as pt
from rewrite_engine.check import assert_keeps_claim, rule_strategies

x, y = pt.vectors("x y")


def test_where_they_fire(assert_rewrites):
    assert_rewrites(pt.sin(x) / pt.cos(x), "tan(x)", only=[half_angle.tan_of_quotient])
    assert_rewrites(pt.sin(x) / pt.cos(y), None, only=[half_angle.tan_of_quotient])


def test_angles(assert_same_values):
    assert_same_values(1 + pt.cos(x), 2 * pt.sqr(pt.cos(x / 2)), {x: [3.1, 0.0, 1e-9]})


@settings(max_examples=25, deadline=None)
@given(rule_strategies(half_angle.one_more_cos))
def test_the_claim(case):
    assert_keeps_claim(*case)
