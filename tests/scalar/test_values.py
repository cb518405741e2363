"""What scalar ops declare of their values, on values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.facts import bounded, finite, nonneg, nonzero, positive
from rewrite_engine.scalar import ScalarOp, ops
from rewrite_engine.scalar.bounds import Interval
from rewrite_engine.tensor.elemwise import Elemwise

ALL = [v for v in vars(ops).values() if isinstance(v, ScalarOp)]
FLOATS = ["float16", "float32", "float64"]


def numbers(dtype: str) -> Any:
    """From the smallest to the largest, in order, with zeros and infinities."""
    info = np.finfo(dtype)
    ends = [float(info.smallest_subnormal), float(info.tiny), float(info.max), np.inf]
    steps = np.geomspace(float(info.eps) / 8, min(1e30, float(info.max)), 400)
    above = np.array([0.0, *ends, *steps, 0.5, 1.0]).astype(dtype)
    return np.unique(np.concatenate([-above, above]))


def values(op: ScalarOp, dtype: str) -> Any:
    at = numbers(dtype)
    if op.nin == 1:
        columns = [at]
    else:
        few = at[:: len(at) // 40]
        columns = [a.ravel() for a in np.meshgrid(*[few] * (op.nin or 2))]
    with np.errstate(all="ignore"):
        return columns, np.asarray(op.impl(*columns))


@pytest.mark.parametrize("op", [op for op in ALL if op.range], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_results_are_in_the_range(op: ScalarOp, dtype: str) -> None:
    _, found = values(op, dtype)
    found = found[~np.isnan(found)]
    low, high = np.array(op.range[:2]).astype(dtype)
    assert found.size
    assert low <= found.min()
    assert found.max() <= high


@pytest.mark.parametrize("op", [op for op in ALL if op.increasing], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_what_is_increasing_rises_but_for_rounding(op: ScalarOp, dtype: str) -> None:
    _, found = values(op, dtype)
    found = found[np.isfinite(found)].astype("float64")
    allowed = 0 if op.correctly_rounded else 8 * float(np.finfo(dtype).eps)
    assert found.size > 100
    assert (np.diff(found) >= -allowed * np.abs(found[1:])).all()


@pytest.mark.parametrize("op", [op for op in ALL if op.implied], ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_operands_that_are_finite_or_not_negative(op: ScalarOp, dtype: str) -> None:
    columns, found = values(op, dtype)
    if op.implied.get("finite") == "finite":
        good = np.all([np.isfinite(c) for c in columns], axis=0)
        assert np.isfinite(found[good]).all()
    if op.implied.get("nonneg") == "nonneg":
        good = np.all([c >= 0 for c in columns], axis=0)
        assert not (found[good] < 0).any()


def test_what_an_op_of_a_user_declares() -> None:
    bump = Elemwise(
        ScalarOp("bump", 1, compute=_bump, dtypes=lambda x: x, range="(0, 1]", keeps="finite")
    )
    x, y = pt.vector("x"), pt.tanh(pt.vector("y", dtype="int8"))
    assert positive(bump(x))
    assert nonneg(bump(x))
    assert not finite(bump(x))
    assert not nonzero(bump(x))
    assert bounded(bump(y)).value == (0, 1)
    assert str(positive(bump(x))) == "because a result of bump"


def _bump(x: Any, out: Any = None) -> Any:
    return np.exp(-np.square(x), out=out)


def test_intervals() -> None:
    assert Interval.parse("(-inf, 2]") == (-np.inf, 2.0, True, False)
    assert Interval.parse("[0, 1]").limited
    assert not Interval.parse("[0, inf)").limited


def test_there_is_no_bound_where_a_value_may_be_none() -> None:
    x = pt.tanh(pt.vector("i", dtype="int8"))
    assert not bounded(pt.log(x))  # of numbers below 0
    assert not bounded(pt.arcsin(x + 1))
    assert not bounded(pt.exp(1000 * (x + 3)))


def test_bounds_of_what_underflows() -> None:
    x = pt.as_tensor_variable(np.float32([-100.0, 0.0]))
    low, high = bounded(pt.sigmoid(x)).value
    found = np.asarray(ops.sigmoid.impl(np.float32([-100.0, 0.0])))
    assert low <= found.min() == 0.0  # SciPy's function gives no subnormal numbers
    assert high == pytest.approx(0.5)
