"""Distances in ulps, and verdicts on values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.explain.evaluate import walk_wide
from rewrite_engine.explain.record import recording
from rewrite_engine.explain.report import Report
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.type import generic
from rewrite_engine.judge.compare import Agreement, compare_values, ulps
from rewrite_engine.tensor.type import TensorType

vector = TensorType("float64", (None,))
finite = st.floats(allow_nan=False, allow_infinity=False)


def compare(expected, found, type_=vector):
    return compare_values(type_, np.array(expected, type_.dtype), np.array(found, type_.dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_neighbours_are_one_ulp_apart(dtype):
    x = np.array([1.0, -2.0, 0.0, 3.1e4, -0.0], dtype)
    up = np.nextafter(x, np.array(np.inf, dtype))
    assert ulps(x, up).tolist() == [1.0] * 5


def test_zeros_of_both_signs_are_the_same_place():
    assert ulps(np.array([0.0]), np.array([-0.0])).tolist() == [0.0]


@given(finite, finite)
def test_ulps_are_symmetric_and_zero_only_for_equal_numbers(a, b):
    x, y = np.array([a]), np.array([b])
    assert ulps(x, y) == ulps(y, x)
    assert (ulps(x, y)[0] == 0) == (a == b)


def test_complex_numbers_by_their_worse_part():
    x = np.array([1 + 1j])
    assert ulps(x, np.array([1 + (1 + 2**-51) * 1j])).tolist() == [2.0]


def test_equal_arrays_are_identical_also_empty_ones():
    assert compare([1.0, 2.0], [1.0, 2.0]).verdict is Agreement.IDENTICAL
    assert compare([], []).verdict is Agreement.IDENTICAL


def test_rounding_is_told_in_ulps():
    one = compare([1.0, 8.0], [1.0 + 3 * 2**-52, 8.0])
    assert one.verdict is Agreement.AGREE
    assert one.text == "agree to 3 ulps"
    assert one.ulps == 3


def test_elements_that_cancelled_are_measured_against_the_largest():
    one = compare([4.0, 1e-17], [4.0, 3e-17])
    assert one.text == "agree to 1 ulp of the largest element (4)"


def test_what_is_zero_up_to_rounding_is_measured_against_one():
    one = compare([1e-17], [-2e-17])
    assert one.text == "agree to 1 ulp of 1.0 (they are 0 up to rounding)"


def test_larger_differences_are_told_relatively():
    one = compare([1.0], [1.0 + 1e-9])
    assert one.verdict is Agreement.AGREE
    assert "a relative 1.0e-09" in one.text


def test_nan_that_became_a_number_is_repaired():
    one = compare([np.nan, 1.0], [0.5, 1.0])
    assert one.verdict is Agreement.REPAIRED
    assert one.text == "repaired: nan became 0.5 in 1 of 2 elements, the others agree to 0 ulps"


def test_infinity_that_became_a_number_is_repaired():
    assert compare([-np.inf], [-1000.0]).text == "repaired: -inf became -1000"


def test_nan_in_both_is_no_difference_and_is_told():
    one = compare([np.nan, 1.0, np.inf], [np.nan, 1.0, np.inf])
    assert one.verdict is Agreement.IDENTICAL
    assert one.text == "identical (2 of 3 elements are nan or inf in both)"


@pytest.mark.parametrize(
    ("expected", "found", "text"),
    [
        ([1.0, 2.0], [1.0, 2.5], "2.0 became 2.5 at 1"),
        ([1.0], [np.nan], "1.0 became nan"),
        ([np.inf], [-np.inf], "inf became -inf"),
        ([np.inf], [np.nan], "inf became nan"),
        ([1.0], [1.0, 2.0], "float64 of shape (1,) became float64 of shape (2,)"),
    ],
)
def test_disagreement_has_the_numbers(expected, found, text):
    one = compare(expected, found)
    assert one.verdict is Agreement.DISAGREE
    assert one.text == text


def test_integers_must_be_equal():
    type_ = TensorType("int64", (None,))
    assert compare([1, 2], [1, 2], type_).verdict is Agreement.IDENTICAL
    assert compare([1, 2], [1, 3], type_).text == "2 became 3 at 1"


def test_numbers_have_no_place():
    type_ = TensorType("float64", ())
    assert compare(1.0, 2.0, type_).text == "1.0 became 2.0"


def test_other_objects_are_compared_by_their_type():
    assert compare_values(generic, "a", "a").verdict is Agreement.IDENTICAL
    assert compare_values(generic, "a", "b").text == "'a' became 'b'"


# --- what is better, and what is nan --------------------------------------------------------------


def test_a_more_accurate_value_is_no_disagreement() -> None:
    x = pt.fvector("x")
    values = np.array([1e-6, 1e-5, 3e-3], "float32")
    with recording() as recorder:
        f = rw.function([x], 1e6 * pt.log(1 + x))
        f(values)
    report = Report(recorder.records)
    assert report.ok
    (comparison,) = [one for _, one in report.functions[0].check.outputs]
    assert comparison.verdict is Agreement.REPAIRED
    assert "improved: " in comparison.text
    assert "in float64 it is 0.99999" in comparison.text
    assert "values became more accurate" in " ".join(str(report).split())


def test_a_less_accurate_value_is_one() -> None:
    a, b, exact = (np.array([v], t) for v, t in ((1.0, "f4"), (1.1, "f4"), (1.01, "f8")))
    type_ = pt.fvector().type
    assert compare_values(type_, a, b, exact).verdict is Agreement.DISAGREE
    assert compare_values(type_, b, a, exact).verdict is Agreement.REPAIRED
    assert compare_values(type_, b, a).verdict is Agreement.DISAGREE
    assert compare_values(type_, a, a + np.inf, exact).verdict is Agreement.DISAGREE


def test_the_summary_says_that_results_are_nan_and_why() -> None:
    x = pt.dvector("x")
    with recording() as recorder:
        rw.function([x], pt.log(x) * 2)(np.array([-1.0, 2.0]))
        rw.function([x], x * 2)(np.array([np.nan, np.inf]))
    text = " ".join(str(Report(recorder.records)).split())
    assert "in 2 functions results are NAN OR INF, before and after" in text
    assert "log(x)" in text.split("nan or inf: ")[1]
    assert "is the first to give nan" in text
    assert "the input x has nan and inf" in text


def test_what_is_nan_inside_of_an_op_is_told_by_its_node() -> None:
    x, y = pt.dvectors("x", "y")
    log = rw.OpFromGraph([y], [pt.log(y) * 2], name="twice_log")
    outer = rw.OpFromGraph([y], [pt.exp(log(y - 1.0))], name="outer")
    with recording() as recorder:
        rw.function([x], outer(x) + 1)(np.array([-1.0, 2.0]))
    text = " ".join(str(Report(recorder.records)).split()).split("nan or inf: ")[1]
    first, inside = text.split("; ")[:2]
    assert first.startswith("outer(x)")
    assert inside.startswith("inside of it log(")
    assert "is the first to give nan" in inside


def test_a_wide_reference_of_narrow_graphs() -> None:
    x = pt.fvector("x")
    y = pt.cast(pt.exp(x), "float32").sum() * np.float32(2) + pt.softmax(x)[0]
    graph = FunctionGraph([x], [y])
    (value,) = walk_wide(graph, [np.array([1.0, 2.0], "float32")]) or []
    assert value.dtype == "float64"
    e = np.exp([1.0, 2.0])
    assert value == pytest.approx(2 * e.sum() + e[0] / e.sum(), rel=1e-14)
    assert walk_wide(FunctionGraph([z := pt.dvector()], [z + 1]), [np.ones(2)]) is None
