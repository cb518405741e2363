"""Values of calls and special ones, held against what rules claim and users declare."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain import claims as claims_module
from rewrite_engine.explain.__main__ import is_strictly_right
from rewrite_engine.explain.record import recording
from rewrite_engine.explain.report import Report, explain
from rewrite_engine.judge.compare import Agreement
from rewrite_engine.language import Inexact, rule
from rewrite_engine.match.claim import approx, assumes, exact
from rewrite_engine.scalar.op import ScalarOp, float_dtype
from rewrite_engine.tensor.elemwise import Elemwise

x, y = pt.vector("x"), pt.vector("y")


@rule(phase="canonicalize")
def sine_of_sum(a: Inexact, b: Inexact):
    """(Wrong.)"""
    return pt.sin(a + b) >> pt.sin(a) + pt.sin(b)


@rule(phase="canonicalize", claim=exact)
def shares(a: Inexact, b: Inexact):
    """(Not exact.)"""
    return (a + b) * 0.1 >> a * 0.1 + b * 0.1


@rule(phase="canonicalize", claim=exact)
def nothing_left(a: Inexact):
    """(Wrong of inf and nan.)"""
    return pt.sinh(a) - pt.sinh(a) >> pt.second(a, 0.0)


def reported(outputs, *calls, rules=(), inputs=(x, y), **options):
    mode = rw.Mode().excluding("inplace")
    for one in rules:
        mode = mode + one
    with recording() as recorder:
        f = rw.function(list(inputs), outputs, mode=mode, on_unused_input="ignore", **options)
    for values in calls:
        f(*values)
    return Report(recorder.records)


def test_rules_that_are_right_keep_their_claims_on_special_values_too():
    report = reported(pt.log(1 + pt.exp(x)) - y, ([1.0, 2.0], [0.0, 1.0]))
    found = report.functions[0].check.claims
    assert found.untrue == ()
    assert found.steps == len(report.functions[0].steps)
    assert found.special == claims_module.DRAWS
    assert report.ok
    assert "claims kept by 2 firings, on 1 call and 12 draws" in " ".join(report.text().split())


def test_what_is_wrong_in_a_later_call_only_is_told_with_that_call():
    report = reported(
        pt.sin(x + y), ([1.0], [0.0]), ([2.0], [0.0]), ([1.0], [2.0]), rules=[sine_of_sum]
    )
    (f,) = report.functions
    assert f.check.verdict is Agreement.DISAGREE
    assert f.check.outputs[0][1].text.endswith("(call 3)")
    (one,) = f.check.claims.untrue
    assert (one.kind, one.basis, one.number) == ("claim", "call 3", 1)
    assert one.rule.endswith("sine_of_sum")
    assert "claims refines, but off by 5.8e+16 units, was 0.309" in one.text
    assert not report.ok


def test_a_claim_to_be_exact_is_taken_at_its_word():
    values = (np.arange(10.0) * 1.1, np.arange(10.0) * 0.7)
    report = reported((x + y) * 0.1, values, rules=[shares])
    (f,) = report.functions
    assert f.check.verdict is Agreement.AGREE
    (one,) = f.check.claims.untrue
    assert one.text.startswith("claims exact, but other bits; first difference: ")
    assert not report.ok
    assert not is_strictly_right(report)
    text = " ".join(report.text(width=300).split())
    assert "in 1 function a claim or declaration is UNTRUE." in text
    assert "UNTRUE call 1: #1" in text


def test_approx_allows_what_exact_does_not():
    @rule(phase="canonicalize", claim=approx(ulps=4))
    def nearly(a: Inexact, b: Inexact):
        """For a test."""
        return (a + b) * 0.1 >> a * 0.1 + b * 0.1

    values = (np.arange(10.0) * 1.1, np.arange(10.0) * 0.7)
    assert reported((x + y) * 0.1, values, rules=[nearly]).ok


def test_special_values_find_what_the_calls_do_not():
    report = reported(pt.sinh(x) - pt.sinh(x), ([1.0, 2.0], [0.0]), rules=[nothing_left])
    (f,) = report.functions
    assert f.check.verdict is Agreement.IDENTICAL
    (one,) = f.check.claims.untrue
    assert (one.kind, one.basis) == ("claim", "special values")
    assert one.rule.endswith("nothing_left")


def test_nothing_is_held_against_a_rule_where_an_assumption_is_granted():
    @rule(phase="canonicalize", claim=assumes("fastmath"))
    def nothing(a: Inexact):
        """For a test."""
        return pt.sinh(a) - pt.sinh(a) >> pt.second(a, 0.0)

    mode = (rw.Mode().excluding("difference_with_itself") + nothing).including("fastmath")
    report = explain(pt.sinh(x) - pt.sinh(x), values=[[1.0, 2.0]], mode=mode)
    assert any(step.rule_name.endswith("nothing") for step in report.functions[0].steps)
    assert report.ok


def test_a_declaration_that_a_later_call_breaks_is_told_once_and_not_what_follows():
    z = pt.abs(rw.assume(x, nonneg=True)) + 1
    calls = ([1.0, 2.0], [0.0]), ([1.0, 3.0], [0.0]), ([1.0, -2.0], [0.0])
    report = reported(z, *calls)
    (f,) = report.functions
    (one,) = f.check.claims.untrue
    assert (one.kind, one.basis) == ("declaration", "call 3")
    assert "x is not nonneg, as declared at" in one.text
    assert f.check.claims.why_not == "what is declared would not hold"
    assert not report.ok


def test_random_values_that_are_not_as_it_was_declared_are_no_fault():
    report = explain(pt.abs(rw.assume(x, bounded=(100, 200))))
    (f,) = report.functions
    assert f.check.verdict is Agreement.UNKNOWN
    assert "random inputs are not as it was declared" in f.check.problem
    assert f.check.claims.untrue == ()


def test_a_range_that_is_not_true_of_results_is_told():
    def wave(a, out=None):
        return np.sin(a, out=out)

    op = Elemwise(
        ScalarOp(
            "wave", 1, compute=wave, inner=float_dtype, dtypes=float_dtype, range="(0, 1]",
            keeps="finite",
        )
    )  # fmt: skip
    report = reported(pt.abs(op(x)), ([1.0, -1.0], [0.0]))
    (one,) = report.functions[0].check.claims.untrue
    assert one.kind == "op"
    assert (
        "wave: output 0 violates a declaration of the op: all elements are numbers between 0 and 1"
        in (one.text)
    )


def test_a_wrong_rule_in_a_loop_is_found():
    def step(a, b):
        return pt.sin(a + b)

    ys, _ = rw.scan(step, sequences=[x], outputs_info=[pt.as_tensor_variable(1.0)])
    report = reported(ys[-1], ([1.0, 2.0, 3.0], [0.0]), rules=[sine_of_sum])
    (f,) = report.functions
    (one,) = f.check.claims.untrue
    assert f.steps[one.number - 1].rule_name == one.rule
    assert one.rule.endswith("sine_of_sum")
    [(_, answer)] = report.suspects()
    assert answer.step.rule_name == one.rule
    assert answer.excused


def test_calls_are_not_compared_for_ever(monkeypatch):
    monkeypatch.setattr("rewrite_engine.explain.compare.SECONDS", -1.0)
    report = reported(x + y, *[([1.0], [2.0])] * 5)
    assert report.functions[0].check.basis == "the inputs of the first call"


def test_further_checks_take_no_longer_than_compiling(monkeypatch):
    monkeypatch.setattr("rewrite_engine.explain.record.MIN_SPARE_SECONDS", 0.0)
    calls = [([1.0], [2.0])] * 4
    for share, n in ((1e12, 1), (1e-12, 4)):  # of the seconds of compiling
        monkeypatch.setattr("rewrite_engine.explain.record.KINDS_OF_CHECKS", share)
        (f,) = reported(pt.log(1 + pt.exp(x)) + y, *calls).functions
        assert f.check.claims.calls == n
        assert f.check.basis == (
            "the inputs of the first call" if n == 1 else "the inputs of 4 calls"
        )


def test_a_loop_is_judged_by_the_code_of_the_vm_and_its_steps_one_by_one(monkeypatch):
    names = []
    plain = claims_module.FiringContract.once

    def once(self, node, form, given, cells=None):
        names.append((type(node.op).__name__, form.name))
        return plain(self, node, form, given, cells)

    monkeypatch.setattr(claims_module.FiringContract, "once", once)
    ys, _ = rw.scan(lambda a, b: pt.log(1 + pt.exp(a + b)), x, pt.constant(0.0))
    (f,) = explain(ys, [x], values=[[1.0, 2.0]]).functions
    assert not f.check.claims.untrue
    assert ("Scan", "vm") in names
    assert ("Scan", "perform") not in names
    assert ("Elemwise", "perform") in names


def test_values_that_take_too_much_memory_are_left_out(monkeypatch):
    monkeypatch.setattr(claims_module, "MEMORY", 900)
    y = pt.log(1 + pt.exp(x))
    report = reported(pt.log(1 + pt.exp(pt.sinh(y))), (np.ones(20), [1.0]))
    found = report.functions[0].check.claims
    assert found.left == claims_module.TOO_LARGE
    assert 0 < found.steps < found.firings
    assert found.untrue == ()
    text = " ".join(report.text().split())
    assert f"kept by {found.steps} of {found.firings} firings" in text
    assert claims_module.TOO_LARGE in text


def test_judging_stops_where_it_takes_too_long(monkeypatch):
    monkeypatch.setattr(claims_module, "FIRST_SECONDS", -1.0)
    found = reported(pt.log(1 + pt.exp(x)), ([1.0], [1.0])).functions[0].check.claims
    assert found.steps == 0
    assert found.left == claims_module.TOO_LONG
    monkeypatch.setattr(claims_module, "SECONDS", -1.0)
    report = reported(pt.log(1 + pt.exp(x)), ([1.0], [1.0]))
    assert report.functions[0].check.claims.why_not == claims_module.TOO_LONG
    assert " ".join(report.text().split()).count(claims_module.TOO_LONG) == 1


def test_all_calls_that_were_kept_are_compared():
    report = reported(x + y, *[([1.0], [2.0])] * 5)
    assert report.functions[0].check.basis == "the inputs of 4 of 5 calls"


# --- which firing is to blame ---------------------------------------------------------------------


def test_the_suspect_is_found_by_halving_and_tried_without():
    z = pt.log(1 + pt.exp(x)) * pt.sin(x + y) / 2 + (x**2).sum()
    report = reported(z, ([1.0], [2.0]), rules=[sine_of_sum])
    [(f, answer)] = report.suspects()
    assert answer.step.rule_name.endswith("sine_of_sum")
    assert answer.excused
    assert len(answer.found.probes) < len(f.steps)
    wrong = dict(answer.found.probes)
    assert wrong[answer.step.number]
    [(i, built, before, after)] = answer.found.outputs
    assert i == 0
    np.testing.assert_allclose(built, before)
    assert not np.allclose(before, after)


def test_nobody_is_blamed_where_values_agree():
    [(_, answer)] = reported(x + y, ([1.0], [2.0])).suspects()
    assert answer.step is None
    assert answer.why_none == "no values disagree"


@pytest.mark.skipif(not claims_module.HAS_DIGITS, reason="mpmath is not installed")
def test_without_mpmath_no_special_values_are_tried(monkeypatch):
    monkeypatch.setattr(claims_module, "HAS_DIGITS", False)
    report = reported(pt.sinh(x) - pt.sinh(x), ([1.0], [0.0]), rules=[nothing_left])
    found = report.functions[0].check.claims
    assert found.untrue == ()
    assert "mpmath" in found.why_not


@pytest.mark.parametrize("seed", [0, 1])
def test_rounding_that_grows_from_step_to_step_is_no_false_claim(seed):
    """Of a network of tanh over 30 steps, trained by Adam's rule."""
    draw = np.random.default_rng(seed)
    inputs, target = pt.dtensor3("inputs"), pt.dmatrix("target")
    values = [draw.normal(size=s) * 0.4 for s in ((16, 16), (3, 16), (16,), (16, 1))]
    w, u, b, v = parameters = [rw.shared(value) for value in values]
    states, _ = rw.scan(
        lambda now, h: pt.tanh(h @ w + now @ u + b), sequences=[inputs],
        outputs_info=[pt.zeros((inputs.shape[1], 16))],
    )  # fmt: skip
    loss = pt.sqr(states[-1] @ v - target).mean()
    updates = {}
    for p, g in zip(parameters, rw.grad(loss, parameters), strict=True):
        m, s = [rw.shared(np.zeros(p.get_value().shape)) for _ in range(2)]
        updates[m], updates[s] = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * pt.sqr(g)
        updates[p] = p - 1e-3 * updates[m] / (pt.sqrt(updates[s]) + 1e-8)
    call = draw.normal(size=(30, 5, 3)), draw.normal(size=(5, 1))
    report = reported(loss, call, inputs=(inputs, target), updates=updates)
    assert report.functions[0].check.claims.untrue == ()
    assert report.ok


@pytest.mark.parametrize(
    "z",
    [
        pt.log(pt.erf(x) - pt.erf(y)),
        pt.log(pt.erf(x) - pt.erf(y)) + (pt.erf(x) - pt.erf(y)),
        pt.log(pt.erfc(-x) - pt.erfc(-y)),
        pt.log(pt.sigmoid(x) - pt.sigmoid(y)),
    ],
)
def test_a_shared_operand_that_underflows_does_not_make_an_infinity_right(z):
    """The right side reads the difference, too, which is 0 in floats and not in truth."""
    report = reported(z, ([-333.28, -1.0], [-334.69, -2.0]))
    assert report.functions[0].check.claims.untrue == ()
    assert report.ok


def test_the_largest_difference_is_told_in_units():
    report = reported((x + y) * 0.1, (np.arange(9.0) * 1.1, np.arange(9.0) * 0.7), rules=[shares])
    (one,) = report.functions[0].check.claims.untrue
    assert re.search(r"in \d+ of 9 elements, by up to \d ulps?$", one.text)
