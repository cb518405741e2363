"""Losses written with a naive softmax: values and gradients at logits where exp overflows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

import rewrite_engine as rw
import rewrite_engine.tensor as pt

LOGITS = np.array([[1000.0, -1000.0, 1000.0], [0.5, -0.25, 1.0]])
ONE_HOT = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def naive(z: Any) -> Any:
    """The textbook softmax of the rows."""
    return pt.exp(z) / pt.exp(z).sum(axis=1, keepdims=True)


def naive_log_from_difference(z: Any) -> Any:
    return z - pt.log(pt.exp(z).sum(axis=1, keepdims=True))


LOSSES: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "summed": (lambda z, y: -(y * pt.log(naive(z))).sum(), 1.0),
    "summed, sign inside": (lambda z, y: (-y * pt.log(naive(z))).sum(), 1.0),
    "positive": (lambda z, y: (y * pt.log(naive(z))).sum(), -1.0),
    "mean over all": (lambda z, y: -(y * pt.log(naive(z))).mean(), 1 / 6),
    "rows summed, then their mean": (lambda z, y: -(y * pt.log(naive(z))).sum(axis=1).mean(), 0.5),
    "as a difference": (lambda z, y: -(y * naive_log_from_difference(z)).sum(), 1.0),
}


@pytest.mark.parametrize("name", LOSSES)
def test_cross_entropy_and_its_gradient_are_finite_and_right(name: str) -> None:
    spelling, factor = LOSSES[name]
    z, y = pt.matrix("z"), pt.matrix("y")
    loss = spelling(z, y)
    value, slope = rw.function([z, y], [loss, rw.grad(loss, z)])(LOGITS, ONE_HOT)
    expected = -(ONE_HOT * log_softmax(LOGITS, axis=1)).sum()
    np.testing.assert_allclose(value, factor * expected, rtol=1e-14)
    np.testing.assert_allclose(slope, factor * (softmax(LOGITS, axis=1) - ONE_HOT), atol=1e-15)


def test_squared_error_of_probabilities() -> None:
    z, y = pt.matrix("z"), pt.matrix("y")
    loss = ((naive(z) - y) ** 2).sum()
    slope = rw.function([z, y], rw.grad(loss, z))(LOGITS, ONE_HOT)
    p = softmax(LOGITS, axis=1)
    by_p = 2 * (p - ONE_HOT)
    np.testing.assert_allclose(
        slope, p * (by_p - (by_p * p).sum(axis=1, keepdims=True)), atol=1e-15
    )


def test_a_numerator_of_smaller_rank_is_left_alone() -> None:
    z, v = pt.matrix("z"), pt.vector("v")
    s = pt.exp(z).sum(axis=1, keepdims=True)
    term = (v / s).sum(axis=1, keepdims=True) * pt.exp(z)
    small, row = LOGITS[1:], np.array([0.5, 2.0, -1.0])
    expected = row.sum() * softmax(small, axis=1)
    np.testing.assert_allclose(rw.function([z, v], term)(small, row), expected, rtol=1e-14)
