"""Shares of steps in the error of outputs, and the firings that changed digits."""

from __future__ import annotations

import numpy as np
from mpmath import mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain.accuracy.cause import fewest, gone
from rewrite_engine.explain.accuracy.error import ValuePair, all_digits
from rewrite_engine.language import Float, approx, rule


@rule(phase="specialize", claim=approx(1 << 20))
def cosine_by_sine(v: Float):
    """Wrong on purpose: it loses the digits of small cosines."""
    return pt.cos(v) >> pt.sqrt(1 - pt.sqr(pt.sin(v)))


x = pt.vector("x")
FULL = all_digits("float64")


def pair(computed, true):
    return ValuePair(np.array(computed), np.array([mpf(t) for t in true], object))


def test_the_part_of_an_error_that_is_gone():
    old = pair([1.1, 2.0], [1, 2])
    assert gone(old, np.array([1.0, 2.0])) == 1
    assert gone(old, np.array([1.1, 2.0])) == 0
    assert abs(gone(old, np.array([1.05, 2.0])) - 0.5) < 1e-9
    assert gone(old, np.array([1.5, 2.0])) == 0
    assert gone(old, np.array([np.nan, 2.0])) == 0
    assert gone(pair([1.0], [1]), np.array([1.0])) == 0


def test_an_infinite_error_is_gone_if_the_result_is_near():
    old = pair([np.nan], [1])
    assert gone(old, np.array([1.0])) == 1
    assert gone(old, np.array([np.inf])) == 0
    assert gone(old, np.array([1.25])) == 0.75


def test_the_fewest_digits_of_an_array():
    one = pair([1.0, 2.0], [1, 2])
    assert fewest(np.array([1.0, 2.0]), one) == FULL
    assert abs(fewest(np.array([1.0, 2.002]), one) - 3) < 1e-9
    assert fewest(np.zeros(3), one) == 0
    assert fewest(None, one) == 0
    assert fewest(np.array([1e-20, 2.0]), pair([0.0, 2.0], [0, 2])) == FULL


def test_several_steps_share_an_error():
    """Two differences that cancel alike: each is to blame for about a half."""
    a = pt.exp(x) - 1
    b = pt.exp(x * 2) - 1
    f = rw.function([x], a + b, mode=rw.Mode("vm").excluding("stabilize", "canonicalize"))
    report = rw.accuracy(f, [1.23456789e-10])
    shares = [loss.share for loss in report.losses if loss.op == "sub"]
    assert len(shares) == 2
    assert 0.5 < sum(shares) < 1.6


def test_firings_that_restore_each_output():
    f = rw.function([x], [pt.log(1 + x), pt.log(pt.exp(x).sum())])
    report = rw.accuracy(f, [1e-12, 1000.0])
    by_output = {one.output: one for one in report.effects}
    assert by_output["output 1"].before == 0
    assert by_output["output 1"].after > 15
    assert by_output["output 0"].after > 15
    assert all(one.line is not None for one in report.effects)


def test_rules_that_the_mode_leaves_out():
    """The default mode has a rule that restores the digits."""
    mode = rw.Mode("vm").excluding("softmax_from_exp", "stabilize")
    f = rw.function([x], pt.exp(x) / pt.exp(x).sum(), mode=mode)
    report = rw.accuracy(f, [1000.0, 1001.0])
    assert report.compiled == 0
    assert report.effects == ()
    (one,) = report.possible
    assert (one.rule, one.before) == ("softmax/softmax_from_exp", 0)
    assert one.after > 15
    assert "In the default mode softmax/softmax_from_exp restores digits" in str(report)


def test_nothing_is_possible_in_the_default_mode():
    report = rw.accuracy(rw.function([x], pt.arcsin(x) - x), [1e-8])
    assert report.compiled < 8
    assert report.possible == ()


def test_a_firing_that_loses_digits_is_named():
    f = rw.function([x], pt.cos(x), mode=rw.Mode("vm") + cosine_by_sine)
    report = rw.accuracy(f, [1.5707])
    (one,) = report.effects
    assert one.rule.endswith("cosine_by_sine")
    assert one.after < one.before - 4
    assert report.losses == ()
    said = " ".join(str(report).split())
    assert 'mode.excluding("test_cause/cosine_by_sine") leaves it out' in said
    assert "No rule" not in said
    assert any(loss.op.startswith("sub") and loss.rules for loss in report.losses_compiled)
