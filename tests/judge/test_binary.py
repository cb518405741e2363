"""Numbers of gmpy2 in the place of those of mpmath: the same results, and lossless conversions."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

from rewrite_engine.judge import binary

gmpy2 = pytest.importorskip("gmpy2")


@binary.with_fast_numbers
def quotients(a, b):
    return np.asarray(a / b, object)


@binary.with_fast_numbers
def kinds(a):
    return np.array([type(x).__name__ for x in a.ravel()]), a


def test_conversions_lose_nothing():
    with mp.workdps(80):
        numbers = [mpf(1) / 3, -mp.pi, mpf(0), mpf(2) ** -5000, mpf("inf"), mpf("-inf"), mpf(7)]
        names, back = kinds(np.array(numbers, object))
        assert {*names} == {"mpfr"}
        assert list(back) == numbers
        assert all(isinstance(x, mpf) for x in back)


def test_a_nan_stays_one():
    _, back = kinds(np.array([mpf("nan")], object))
    assert mp.isnan(back[0])


def test_results_have_all_digits():
    with mp.workdps(60):
        (found,) = quotients(np.array([mpf(1)], object), np.array([mpf(7)], object))
        assert abs(found - mpf(1) / 7) < mpf(10) ** -60


def test_other_arguments_stay_as_they_are():
    same = np.array([1, 2], "int32")
    assert kinds(same)[1] is same


def test_roots():
    with mp.workdps(50):
        assert binary.root(mpf(2)) == mp.sqrt(2)
    with gmpy2.context(precision=200):
        assert abs(float(binary.root(gmpy2.mpfr(2))) - 2**0.5) < 1e-15
