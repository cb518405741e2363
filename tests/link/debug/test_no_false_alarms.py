"""What is right passes DebugMode: every op at its samples, elementwise functions, graphs of all
kinds, loops, random numbers.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from fuzz.generate import random_case
from rewrite_engine import random
from rewrite_engine.compile.debug import DebugMode
from tests.tensor.test_samples import CASES, Case, apply

CHECKED = DebugMode(check_isfinite=False)
DTYPES = ["float64", "int8"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_ops_at_their_samples(dtype: str) -> None:
    ran = 0
    for case in CASES:
        if dtype == "float64" or case.arrays:
            ran += check_case(case, dtype)
    assert ran > 100


def check_case(case: Case, dtype: str) -> int:
    """Run an op; 0 if it does not take the dtype, or these values."""
    values = case.values(dtype)
    try:
        inputs, outputs = apply(case.op, values, known=False)
        expected = rw.function(inputs, outputs, mode="py", on_unused_input="ignore")(*values)
    except Exception:
        return 0
    found = rw.function(inputs, outputs, mode=CHECKED, on_unused_input="ignore")(*values)
    for a, b in zip(found, expected, strict=True) if case.op.determined else ():
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True, err_msg=str(case))
    return 1


@pytest.mark.filterwarnings("ignore")
def test_graphs_at_extreme_values() -> None:
    ran = 0
    for seed in range(60):
        case: Any = random_case(Random(f"debug:{seed}"))
        if case.wrong or case.updates:
            continue
        try:
            rw.function(list(case.given), case.outputs, mode="py", on_unused_input="ignore")(
                *case.given.values()
            )
        except Exception:
            continue
        f = rw.function(list(case.given), case.outputs, mode=CHECKED, on_unused_input="ignore")
        f(*case.given.values())
        ran += 1
    assert ran > 25


def test_a_regression_with_updates() -> None:
    rng = np.random.default_rng(0)
    x, y = pt.dmatrix("x"), pt.dvector("y")
    w = rw.shared(np.zeros(4), name="w")
    loss = -pt.log(pt.sigmoid((2 * y - 1) * (x @ w))).mean()
    step = {w: w - 0.5 * rw.grad(loss, w)}
    f = rw.function([x, y], loss, updates=step, mode="DebugMode")
    values = rng.standard_normal((30, 4))
    truth = (values[:, 0] > 0).astype(float)
    losses = [float(f(values, truth)) for _ in range(5)]
    assert losses == sorted(losses, reverse=True)


def test_loops_with_gradients_and_random_numbers() -> None:
    x = pt.dvector("x")
    states, _ = rw.scan(
        lambda s, a: s * pt.exp(a), outputs_info=x, non_sequences=x.sum(), n_steps=6
    )
    f = rw.function([x], [states[-1], rw.grad(states[-1].sum(), x)], mode="DebugMode")
    value = np.array([0.1, -0.2])
    np.testing.assert_allclose(f(value)[0], value * np.exp(6 * value.sum()))
    draws = rw.function([], random.RandomStream(3).normal(size=(3,)), mode="DebugMode")
    a, b = draws(), draws()
    assert a.shape == (3,)
    assert not np.allclose(a, b)


def test_memory_that_is_filled_later() -> None:
    n = pt.lscalar("n")
    y = pt.set_subtensor(pt.empty((n, 2))[:, :], pt.ones((n, 2)))
    np.testing.assert_array_equal(rw.function([n], y, mode="DebugMode")(3), np.ones((3, 2)))


def test_states_without_a_seed() -> None:
    draw = random.default_rng().normal()[1] * 2
    f = rw.function([], draw, mode="DebugMode")
    assert f() != f()


def test_graphs_inside_ops_and_branches() -> None:
    x, c = pt.dvector("x"), pt.lscalar("c")
    inner = rw.compile.OpFromGraph([x], [pt.log(pt.exp(x) * 2)])
    y = pt.ifelse(c, inner(x + 1), pt.sqrt(x - 100))
    f = rw.function([c, x], y, mode="DebugMode")
    np.testing.assert_allclose(f(1, [1.0, 2.0]), np.array([2.0, 3.0]) + np.log(2))
