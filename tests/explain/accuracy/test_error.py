"""Relative errors and digits, at ordinary and at special numbers."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

from rewrite_engine.explain.accuracy.error import (
    ValuePair,
    all_digits,
    are_zero,
    digits,
    unit,
    where_known,
    written,
)
from rewrite_engine.judge import wide

INF, NAN = float("inf"), float("nan")


def error(computed, true, dtype="float64"):
    exact = np.array([mpf(t) if not isinstance(t, mpf) else t for t in [true]], object)
    (found,) = ValuePair(np.array([computed], dtype), exact).error
    return found


@pytest.mark.parametrize(
    ("computed", "true", "wanted"),
    [
        (1.0, 1, 0), (1.1, 1, mpf(0.1)), (NAN, NAN, 0), (NAN, 1, INF), (1.0, NAN, INF),
        (INF, INF, 0), (-INF, INF, INF), (INF, "1e400", 0), (-INF, "1e400", INF),
        (INF, "1e300", INF), (1.0, "1e400", INF), (0.0, "1e-400", 0), (0.0, "1e-300", 1),
        (5e-324, "1e-400", 0), (0.0, 0, 0), (1e-20, 0, INF), (-0.0, 0, 0),
    ],
)  # fmt: skip
def test_errors_of_numbers(computed, true, wanted):
    assert error(computed, true) == pytest.approx(float(wanted), rel=1e-14)


def test_dtypes_have_limits_of_their_own():
    assert error(INF, "1e39", "float32") == 0
    assert error(INF, "1e38", "float32") == INF
    assert error(0.0, "1e-46", "float32") == 0


def test_errors_of_complex_numbers():
    pair = ValuePair(np.array([1 + 1e-8j]), np.array([mp.mpc(1, 0)], object))
    assert pair.error[0] == pytest.approx(1e-8)


def test_other_values():
    assert ValuePair(np.array([1, 2]), np.array([1, 3])).error.tolist() == [0, INF]
    assert ValuePair(np.array([True]), np.array([True])).error.tolist() == [0]
    assert ValuePair(None, None).error == 0
    assert ValuePair(np.zeros(2), np.zeros(3, object)).error.tolist() == [INF, INF]


def test_elements_that_are_not_known():
    true = np.array([mpf(1), mpf("nan")], object)
    pair = ValuePair(np.array([1.0, 5.0]), true, np.array([True, False]))
    assert pair.error[0] == 0
    assert np.isnan(pair.error[1])
    assert where_known(lambda t: True, pair).tolist() == [True, False]
    assert are_zero(ValuePair(np.zeros(2), np.array([mpf(0), mpf(1)], object))).tolist() == [
        True,
        False,
    ]


@pytest.mark.skipif(not wide.IS_WIDER, reason="the machine has no wider floats")
def test_errors_against_wider_floats():
    computed = np.array([1.0, INF, NAN, NAN, 0.0, 1.0])
    true = np.array(["1.1", "1e4000", "nan", "1", "1e-400", "inf"]).astype(wide.WIDE)
    found = ValuePair(computed, true).error
    assert found[0] == pytest.approx(0.1 / 1.1)
    assert found[1:].tolist() == [0, 0, INF, 0, INF]


def test_digits():
    most = all_digits("float64")
    assert most == pytest.approx(53 * np.log10(2))
    assert digits(np.array([0, unit("float64"), 1e-3, 1, INF]), most).tolist() == [
        most, most, 3.0, 0.0, 0.0
    ]  # fmt: skip
    assert np.isnan(digits(NAN, most))
    assert str(digits(2.0, most)) == "0.0"
    assert all_digits("float32") == pytest.approx(24 * np.log10(2))
    assert all_digits("int64") == most


def test_numbers_as_text():
    with mp.workdps(50):
        assert written(mpf(1) / 3) == "0.33333333333333333333"
    assert written(True) == "True"
    if wide.IS_WIDER:
        assert written(wide.WIDE("1") / 3).startswith("0.333333333333333333")
        assert written(wide.WIDE("1e-30")).endswith("e-30")
