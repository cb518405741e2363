"""Shared arrays stay on JAX's device between calls, and are NumPy's for everybody else."""

from __future__ import annotations

import pickle
from typing import Any

import jax
import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt


def step_of(w: Any, mode: str = "jax") -> Any:
    """Return a function that doubles a shared array, and returns its sum."""
    return rw.function([], w.sum(), updates={w: 2 * w}, mode=mode)


def is_on_device(w: Any) -> bool:
    return isinstance(w.container.held, jax.Array)


@pytest.fixture
def w() -> Any:
    return rw.shared(np.arange(3.0), name="w")


def test_a_new_value_stays_on_the_device(w: Any) -> None:
    step = step_of(w)
    assert [step() for _ in range(3)] == [3.0, 6.0, 12.0]
    assert is_on_device(w)
    first = w.container.held
    total = rw.function([], w.sum(), mode="jax")
    assert total() == 24.0
    assert w.container.held is first  # read, and not moved


def test_a_value_that_is_only_read_is_moved_once(w: Any) -> None:
    total = rw.function([], w.sum(), mode="jax")
    total()
    moved = w.container.held
    assert isinstance(moved, jax.Array)
    assert total() == 3.0
    assert w.container.held is moved


def test_a_copy_leaves_the_value_on_the_device(w: Any) -> None:
    step = step_of(w)
    step()
    copy = w.get_value()
    copy[:] = -1.0
    assert is_on_device(w)
    np.testing.assert_array_equal(w.get_value(), [0.0, 2.0, 4.0])
    assert type(copy) is np.ndarray
    assert copy.flags.writeable


def test_the_value_itself_can_be_changed_in_place(w: Any) -> None:
    step = step_of(w)
    step()
    w.get_value(borrow=True)[0] = 10.0
    assert not is_on_device(w)
    assert step() == 16.0
    w.zero(borrow=True)
    assert step() == 0.0


@pytest.mark.parametrize("mode", ["vm", "native", "py"])
def test_functions_of_other_linkers_share_the_value(w: Any, mode: str) -> None:
    if mode == "native":
        pytest.importorskip("llvmlite")
    before, step = step_of(w, mode), step_of(w)
    after = step_of(w, mode)
    found = [float(f()) for f in (before, step, after, step, before, after)]
    assert found == [3.0, 6.0, 12.0, 24.0, 48.0, 96.0]
    np.testing.assert_array_equal(w.get_value(), [0.0, 64.0, 128.0])


def test_a_value_set_between_calls(w: Any) -> None:
    step = step_of(w)
    step()
    w.set_value(np.ones(5))
    assert step() == 5.0
    with pytest.raises(rw.errors.NDimError):
        w.set_value(np.ones((5, 5)))
    assert step() == 10.0


def test_a_state_that_is_a_result_too(w: Any) -> None:
    new = 2 * w
    f = rw.function([], [new, new.sum()], updates={w: new}, mode="jax")
    for power in (1, 2):
        found, total = f()
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, np.arange(3.0) * 2**power)
        found[:] = -1.0  # (nobody else's)
        assert total == 3.0 * 2**power


def test_an_error_leaves_the_state(w: Any) -> None:
    i = pt.lscalar("i")
    f = rw.function([i], w[i], updates={w: w + 1}, mode="jax")
    assert f(2) == 2.0
    with pytest.raises(IndexError):
        f(3)
    np.testing.assert_array_equal(w.get_value(), [1.0, 2.0, 3.0])
    assert f(0) == 1.0


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64"])
def test_dtypes_stay(dtype: str) -> None:
    w = rw.shared(np.array([0, 1, 1], dtype), name="w")
    f = rw.function([], w.sum(), updates={w: w[::-1]}, mode="jax")
    f()
    f()
    assert w.get_value().dtype == dtype
    np.testing.assert_array_equal(w.get_value(), np.array([0, 1, 1], dtype))


def test_pickled_with_its_value(w: Any) -> None:
    step = step_of(w)
    step()
    again = pickle.loads(pickle.dumps(w))
    assert type(again.container).__name__ == "Cell"
    np.testing.assert_array_equal(again.get_value(), [0.0, 2.0, 4.0])
    assert is_on_device(w)
    g = pickle.loads(pickle.dumps(step))
    assert g() == 6.0
    assert step() == 6.0
