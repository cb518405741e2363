"""The fuzzer itself: it runs, says the same of the same seed, and finds what is wrong."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from fuzz import facts, gradients, graphs
from fuzz.__main__ import KINDS, WEAK, chunk, try_one, wanted_chunks
from fuzz.arrays import same_layout
from fuzz.case import snippet
from fuzz.generate import random_case
from fuzz.report import report
from fuzz.shrink import shrink
from rewrite_engine.compile.mode import Mode
from rewrite_engine.judge.verdict import Broken
from rewrite_engine.language import node_rewriter, rule
from rewrite_engine.match.claim import exact
from tests.fuzz.cases import case


@pytest.mark.parametrize("kind", KINDS)
def test_a_short_run(kind: str) -> None:
    outcome = chunk(kind, 0, 0, 10)
    assert outcome.count == 10


def test_a_seed_is_a_case() -> None:
    texts = [snippet(random_case(Random("graphs:0:5"))) for _ in range(2)]
    assert texts[0] == texts[1]


def test_chunks_are_of_all_kinds() -> None:
    chunks = list(wanted_chunks({"graphs": 250, "gradients": 30}, None))
    assert Counter([kind for kind, _, _ in chunks]) == {"graphs": 3, "gradients": 2}
    assert sum(count for _, _, count in chunks) == 280


@rule(phase="canonicalize", claim=exact)
def wrong_cosine(x):
    """A rule that is wrong."""
    return pt.cos(x) >> pt.sin(x + 1.57)


@node_rewriter([pt.arctan2], phase="canonicalize", claim=exact, keeps=None)
def wrong_shape(fgraph, node):
    """A rule that loses an error, and NaN."""
    return pt.arctan(node.inputs[0])


def test_a_wrong_rule_is_found_and_blamed() -> None:
    values = np.array([1.0, 2.0]), np.array([[3.0, 4.0]])
    big = case(lambda x, y: pt.exp(pt.cos(x * 2) + y), *values)
    mode = Mode("fast_run") + wrong_cosine
    check = graphs.Checker()
    finding = check(big, mode)
    assert finding is not None
    assert finding.kind == Broken.ACCURACY
    told = report("graphs:0:0", big, "default", mode, check, finding)
    assert told is not None
    assert told.key == (Broken.ACCURACY, wrong_cosine.name)
    small = shrink(big, lambda c: check(c, mode) is not None)
    assert [str(node.op) for node in small.nodes] == ["cos"]


@pytest.mark.parametrize(("which", "raises"), [(1, False), (0, True)])
def test_a_branch_that_is_not_taken_has_no_error(which: int, raises: bool) -> None:
    values = np.array(which), np.ones((2, 1)), np.ones((1, 2))
    one = case(lambda c, x, y: pt.ifelse(c, x.sum(), (x * y).sum()), *values)
    assert isinstance(graphs.wanted_of(one), Exception) is raises
    assert graphs.Checker()(one) is None


def test_an_absolute_value_of_nothing_has_no_second_derivative() -> None:
    one = case(lambda x: abs(x * x), np.array([0.0]))
    assert gradients.Checker("second")(one) is None
    assert gradients.Checker("gradient")(one) is None


def test_a_lost_error_is_found() -> None:
    bad = case(pt.arctan2, np.ones(2), np.ones(3))
    finding = graphs.Checker()(bad, Mode("fast_run") + wrong_shape)
    assert finding is not None
    assert finding.kind == "error lost"
    assert graphs.Checker()(bad, graphs.AS_BUILT) is None


@pytest.mark.parametrize("kind", ["gradient", "second", "rop"])
def test_right_derivatives_are_no_findings(kind: str) -> None:
    one = case(lambda x: pt.switch(x > 0, pt.sqr(x) * x, pt.exp(x)), np.array([0.5, -1.0]))
    assert gradients.Checker(kind)(one) is None


def test_conditions_that_underflow_have_no_gradient() -> None:
    one = case(lambda x, y: pt.switch(pt.exp(x), y, 0), np.array([-1e3]), np.array([3.0]))
    assert gradients.Checker()(one) is None


@pytest.mark.parametrize(("given", "is_told"), [(-1e3, False), (0.5, True)])
def test_remainders_of_what_underflows_have_no_gradient(
    monkeypatch: Any, given: float, is_told: bool
) -> None:
    """exp(-1000) is 0, of which -1000 is not taken away once."""
    monkeypatch.setattr(pt.mod.scalar_op, "gradient", (lambda m, g, z, x, y: g,) * 2)
    one = case(lambda x: pt.mod(pt.exp(x), x), np.array([given]))
    finding = gradients.Checker()(one)
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("other", "is_told"), [(0.0, False), (1e-30, True)])
def test_conditions_of_which_no_digit_is_known(
    monkeypatch: Any, other: float, is_told: bool
) -> None:
    """x - log(exp(x)) is 0, but in no number of digits, and not in floating point."""
    monkeypatch.setattr(pt.sin.scalar_op, "gradient", (lambda m, g, z, x: g * m.sin(x),))
    given = np.array([-7.95591410615516e-09]), np.array([other])
    one = case(lambda x, y: pt.switch(x - pt.log(pt.exp(x)) + y, pt.sin(x), 0), *given)
    finding = gradients.Checker()(one)
    assert (finding is not None) is is_told


def test_a_root_of_what_cancels_has_no_slope() -> None:
    """|x - log(exp(x))|: what is left is 0, in no number of digits."""
    one = case(lambda x: pt.sqrt(pt.sqr(x - pt.log(pt.exp(x)))), np.array(-7.695662034772009e-07))
    assert gradients.Checker()(one) is None


def test_products_added_up_in_a_narrower_dtype() -> None:
    one = case(
        lambda x: pt.exp(pt.Prod(acc_dtype="float32", keepdims=True)(x)), np.array([20.061905])
    )
    assert gradients.Checker()(one) is None


def test_logarithms_of_sums_have_the_digits_of_the_largest() -> None:
    """log(1 + exp(-17)) is 0 in float32."""
    given = np.float32([-17, 0]), np.zeros((2, 2), "float32")
    one = case(lambda x, y: pt.prod(y * pt.LogSumExp()(x), axis=0), *given)
    assert gradients.Checker("second")(one) is None


def test_bounds_that_tie_with_what_they_bound_have_no_gradient() -> None:
    one = case(lambda x, y: pt.clip(y, x, x), np.array([3.0]), np.array([3.0]))
    assert gradients.Checker()(one) is None


def test_a_slope_beside_a_number_that_is_too_large() -> None:
    one = case(lambda x: pt.exp(x).sum(), np.array([22436.0, 0.5]))
    assert gradients.Checker()(one) is None


@pytest.mark.parametrize(("x", "is_told"), [(745.0, False), (3.0, True)])
def test_infinities_tie_where_true_numbers_do_not(
    monkeypatch: Any, x: float, is_told: bool
) -> None:
    """A sum of exponentials is larger than each, and infinite as they are."""
    monkeypatch.setattr(rw.config, "stable_gradients", False)  # of exp, and not of LogSoftmax
    if is_told:
        monkeypatch.setattr(pt.exp.scalar_op, "gradient", (lambda m, g, z, x: g,))
    one = case(lambda x: pt.maximum(pt.exp(x), pt.exp(x).sum()), np.array([0.0, x]))
    assert (gradients.Checker()(one) is not None) is is_told


def test_a_branch_that_is_not_taken_behind_what_mixes_elements() -> None:
    """Masks end there; they go through what works element by element."""

    def guarded(f: Any) -> Any:
        return case(lambda x, y: pt.switch(y, x, f(pt.log1mexp(y))), np.zeros(1), np.ones(1))

    assert gradients.Checker()(guarded(pt.exp)) is None
    finding = gradients.Checker()(guarded(pt.special.log_softmax))
    assert finding is not None
    assert finding.kind in WEAK


def test_a_quotient_of_what_cancels_has_no_slope() -> None:
    """x - log(exp(x)) is 0, though not in floating point."""
    one = case(lambda x: (x - pt.log(pt.exp(x))) / (x - pt.log(pt.exp(x))), np.float32([1.6e-6]))
    assert gradients.Checker()(one) is None


@pytest.mark.parametrize("is_told", [False, True])
def test_digits_that_cancel_beside_what_overflows(monkeypatch: Any, is_told: bool) -> None:
    """1 - sigmoid(17) is 4e-8, up to the last digit of 1."""
    monkeypatch.setattr(rw.config, "stable_gradients", False)  # of exp, and not of LogSoftmax
    if is_told:
        monkeypatch.setattr(pt.exp.scalar_op, "gradient", (lambda m, g, z, x: g * z * (1 + 1e-8),))
    log_softmax = lambda x: x - pt.log(pt.exp(x).sum(axis=1, keepdims=True))
    values = np.array([[1000.0, -89.0], [0.0, -17.0], [-40.0, 0.0]])
    one = case(lambda x: pt.Softmax(axis=(0,))(log_softmax(x)), values)
    assert (gradients.Checker()(one) is not None) is is_told


@pytest.mark.parametrize(("apart", "is_told"), [(0.0, False), (5e-5, False), (1e-3, True)])
def test_large_numbers_that_cancel_leave_digits_of_their_size(apart: float, is_told: bool) -> None:
    """The second slope of x / p * p is 0; in it numbers of 3,600 are added up."""

    def itself(x: Any, y: Any) -> Any:
        total = lambda v: pt.Sum(axis=(1,), keepdims=True)(v)
        e = pt.exp(y)
        above = y / pt.Softmax(axis=(1,))(y) / total(e) + pt.second(e, total(y / total(e)))
        p = pt.exp(above * e) / total(pt.exp(above * e))
        return x / p * p

    y = np.float32([[3.0, -2.9590001]])
    target, is_wrong = gradients.Checker("second").tester(case(itself, np.float32([-0.5, 0.25]), y))
    by_x, by_y = target.compile(gradients.DEFAULT)()
    by_y[0, 1] += apart
    assert is_wrong([by_x, by_y]) is is_told


def test_what_underflows_is_an_excuse() -> None:
    one = case(lambda x, y: pt.arctan2(y, pt.softplus(x)), np.array([-5e3]), np.array([0.0]))
    finding = gradients.Checker()(one)
    assert finding is not None
    assert finding.kind in WEAK


@pytest.mark.parametrize(("x", "is_told"), [(-744.5, False), (-600.0, True)])
def test_products_of_what_has_no_digits(monkeypatch: Any, x: float, is_told: bool) -> None:
    """A sixth of the smallest number is 0, and so is what that is multiplied by; a gradient that
    is 0 for another reason is wrong.
    """
    monkeypatch.setattr(rw.config, "stable_gradients", False)  # of exp, and not of LogSoftmax
    if is_told:
        monkeypatch.setattr(pt.exp.scalar_op, "gradient", (lambda m, g, z, x: g * 0,))
    values = np.array(x), np.array([x, 0.0, -36.0 - x])
    one = case(lambda x, y: (pt.exp(pt.exp(x) * pt.exp(y)) / 6).sum(), *values)
    finding = gradients.Checker()(one)
    assert (finding is not None) is is_told


@pytest.mark.parametrize(("x", "is_told"), [(np.inf, False), (1e3, True)])
def test_slopes_beside_infinite_inputs(monkeypatch: Any, x: float, is_told: bool) -> None:
    """0 times what is infinite; of a branch that is not taken the gradient is 0."""
    nothing = lambda m, g, z, x: g * 0 / (x - x)
    if is_told:
        monkeypatch.setattr(pt.sigmoid.scalar_op, "gradient", (nothing,))
    one = case(lambda x, y: pt.sigmoid(x / y), np.array([x]), np.array([2.0]))
    assert (gradients.Checker()(one) is not None) is is_told
    one = case(
        lambda x, y: pt.sigmoid(pt.switch(y < x, -np.inf, x) / y), *map(np.array, (1e3, 2.0))
    )
    assert gradients.Checker()(one) is None
    one = case(lambda x, y: pt.switch(x < 1, pt.sigmoid(x / y), y), np.array([x]), np.array([2.0]))
    assert gradients.Checker()(one) is None
    one = case(lambda x, y: x + pt.switch(y > 3, y, -np.inf), *map(np.array, (1e3, 2.0)))
    assert gradients.Checker()(one) is None  # -inf has the slope of the sum that it is, or none


@pytest.mark.parametrize(("low", "is_told"), [(-np.inf, False), (-1e300, True)])
def test_functions_of_infinity_have_no_gradient(
    monkeypatch: Any, low: float, is_told: bool
) -> None:
    zero_by_zero = lambda m, g, z, x, y: g * (x - x) / (x - x)
    monkeypatch.setattr(pt.arctan2.scalar_op, "gradient", (zero_by_zero,) * 2)
    one = case(lambda x: pt.arctan2(pt.switch(x > 1, x, low), x), np.array([0.5]))
    finding = gradients.Checker()(one)
    assert (finding is not None) is is_told


def test_a_pole_beside_a_zero_is_an_excuse() -> None:
    def guarded(x: Any, y: Any) -> Any:
        value = y / (0.5 / x)
        return pt.switch(pt.isnan(value), 0.0, value)

    assert gradients.Checker("gradient")(case(guarded, np.zeros(1), np.zeros(1))) is None


def test_a_pole_has_no_gradient() -> None:
    one = case(lambda x, y: y / (2 / x), np.array([0.0]), np.array([3.0]))
    assert gradients.Checker()(one) is None


def test_a_slope_without_end_is_none() -> None:
    """|x| ** (2 x) at 0: the nearer, the steeper."""
    one = case(lambda x: pt.pow(x * x, x), np.array([0.0]))
    assert gradients.Checker()(one) is None


@pytest.mark.parametrize(("apart", "is_told"), [(5e-6, False), (-5e-6, False), (5e-4, True)])
def test_slopes_that_the_last_digit_of_an_input_changes(
    monkeypatch: Any, apart: float, is_told: bool
) -> None:
    """exp(-66.7) in float32, where the slope as it is written is lost."""
    monkeypatch.setattr(rw.config, "stable_gradients", False)
    points = np.array([100], "float32")
    one = case(lambda x: pt.log(1 - 1 / (1 + pt.exp(2 * x / 3))), points)
    checker = gradients.Checker()
    assert checker(one) is None
    target, truth = checker.target(one)
    judge = gradients.Judge(checker, one, target, truth(True), checker.nearby(one))
    found = [np.array(a * (1 + apart), "float32") for a in truth()]
    assert (judge.compare(found) is not None) is is_told


@pytest.mark.parametrize(("apart", "is_told"), [(1e-8, False), (1e-5, True)])
def test_what_is_added_at_an_index_is_rounded(apart: float, is_told: bool) -> None:
    """(1 + x) ** x of a small x: the logarithm of 1 + x has only the digits that the sum has."""
    points = np.array([3.6113239724589073e-09])
    one = case(lambda x: pt.pow(x[-1:].inc(1.0), x), points)
    checker = gradients.Checker("rop")
    assert checker(one) is None
    target, truth = checker.target(one)
    judge = gradients.Judge(checker, one, target, truth(True))
    found = [np.array(a * (1 + apart), "float64") for a in truth()]
    assert (judge.compare(found) is not None) is is_told


def test_wrong_gradients_are_found(monkeypatch: Any) -> None:
    monkeypatch.setattr(pt.cos.scalar_op, "gradient", (lambda m, g, z, x: g * m.sin(x),))
    finding = gradients.Checker()(case(pt.cos, np.array([0.5])))
    assert finding is not None
    assert finding.kind == "gradient wrong"


def test_wrong_facts_are_found(monkeypatch: Any) -> None:
    one = case(pt.exp, np.array([0.5, -0.5]))
    assert facts.Checker()(one) is None
    monkeypatch.setattr(facts, "holds", lambda *args: False)
    assert facts.Checker()(one) is not None


def test_what_is_told_can_be_run() -> None:
    told, _ = try_one("graphs", 0, 1, Counter())
    assert isinstance(told, list)
    space: dict[str, Any] = {}
    exec(snippet(random_case(Random("graphs:0:7"))), space)
    assert "f" in space


def test_numbers_are_copied_as_arrays() -> None:
    """NumPy's numbers have another address whenever they are asked."""
    kept = []

    class Moving(np.float64):
        @property
        def __array_interface__(self) -> Any:
            kept.append(np.array(float(self)))
            return kept[-1].__array_interface__

    copy: Any = same_layout(Moving(2.5))  # type: ignore[arg-type]
    assert (copy, copy.shape) == (2.5, ())
