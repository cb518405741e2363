"""Exponentials of which a part cancels in a sum."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.language import rewritten


@pytest.mark.parametrize("first", [True, False])
def test_an_exponential_that_cannot_overflow_is_not_split(first: bool) -> None:
    """exp(x - max(x, y)) is at most 1, exp(-max(x, y)) may be infinite."""
    x, y = pt.vectors("x y")
    e = pt.exp(x - pt.maximum(x, y))
    sums = 3.0 / (pt.exp(x) + 2.0) / (pt.exp(y - pt.maximum(x, y)) + 2.0 * e)
    term = e * sums if first else sums * e
    a, b = np.array([-1000.0, -740.0, 0.0, 300.0]), np.array([-2000.0, -740.0, 0.0, 600.0])
    wanted = 3.0 / (np.exp(a) + 2.0) / (np.exp(b - a) + 2.0)
    np.testing.assert_allclose(rw.function([x, y], term)(a, b), wanted, rtol=1e-12)
    assert "exp(-maximum" not in repr(rewritten(term))


def test_second_gradients_of_several_exponents_far_below() -> None:
    x, out = pt.tensor("x", shape=(3,)), pt.tensor("out", dtype="bool", shape=(3,))
    total = pt.switch(out, 0.0, pt.logaddexp(x, x, x + x)).sum()
    slope = rw.function([x, out], rw.grad(rw.grad(total, x).sum(), x), on_unused_input="ignore")
    found = slope(np.array([-89.0, 1000.0, -1000.0]), np.zeros(3, bool))
    np.testing.assert_allclose(found, [0.5 * np.exp(-89.0), 0.0, 0.0], rtol=1e-12)
