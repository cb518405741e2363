"""Choices that are maxima and minima, and bounds that are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import grad
from rewrite_engine.language import rewritten

POINTS = np.array([-np.inf, -2.0, -0.0, 0.0, 0.5, 1.0, 3.0, np.inf, np.nan])


@pytest.mark.parametrize(
    ("build", "expected", "numpy"),
    [
        (lambda x: pt.switch(x < 0, 0, x), "maximum(x, 0.0)", lambda x: np.maximum(x, 0)),
        (lambda x: pt.switch(x <= 0.5, 0.5, x), "maximum(x, 0.5)", lambda x: np.maximum(x, 0.5)),
        (lambda x: pt.switch(x > 0, 0, x), "minimum(x, 0.0)", lambda x: np.minimum(x, 0)),
        (lambda x: pt.switch(x >= 1, 1, x), "minimum(x, 1.0)", lambda x: np.minimum(x, 1)),
        (lambda x: pt.maximum(pt.exp(x), 0), "exp(x)", np.exp),
        (lambda x: pt.sqrt(pt.maximum(x**2, 0)), "abs(x)", np.abs),
        (lambda x: pt.minimum(pt.sigmoid(x), 1), "sigmoid(x)", lambda x: 1 / (1 + np.exp(-x))),
        (lambda x: pt.clip(pt.tanh(x), -1, 1), "tanh(x)", np.tanh),
        (lambda x: pt.maximum(pt.tanh(x), -0.5), "maximum(tanh(x), -0.5)", None),
        (lambda x: pt.minimum(pt.exp(x), 2), "minimum(exp(x), 2.0)", None),
        (lambda x: pt.switch(x > 0, x, 0), "switch(x > 0.0, x, 0.0)", None),
        (lambda x: pt.switch(x < 0, 1, x), "switch(x < 0.0, 1.0, x)", None),
    ],
)  # fmt: skip
def test_what_it_becomes(
    build: Callable[[Any], Any], expected: str, numpy: Callable[[Any], Any] | None
) -> None:
    x = pt.vector("x")
    assert str(rewritten(build(x))) == expected
    if numpy is not None:
        with np.errstate(all="ignore"):
            value, wanted = rw.function([x], build(x))(POINTS), numpy(POINTS)
        np.testing.assert_allclose(value, wanted, rtol=1e-15)


def test_a_choice_of_a_number_that_may_be_nan_needs_a_grant() -> None:
    x, n = pt.vector("x"), pt.ivector("n")
    assert str(rewritten(pt.switch(x > 0, x, 0), including=["fastmath"])) == "maximum(x, 0.0)"
    assert str(rewritten(pt.switch(pt.sin(n) > 0, pt.sin(n), 0))) == "maximum(sin(n), 0.0)"


@pytest.mark.parametrize(
    "build",
    [
        lambda x: pt.switch(x < 0, 0, x),
        lambda x: pt.switch(x <= 0, 0, x),
        lambda x: pt.switch(x > 0, x, 0),
        lambda x: pt.switch(x >= 0, x, 0),
    ],
)
def test_slopes_at_the_choice_stay(build: Callable[[Any], Any]) -> None:
    """The slope of a maximum at a tie is a half, that of a choice is its branch's."""
    x = pt.vector("x")
    slope = rw.function([x], grad(build(x).sum(), x))
    chosen = rw.function([x], grad(build(x).sum(), x), mode=rw.Mode(optimizer=None))
    np.testing.assert_array_equal(slope([-1.0, 0.0, 2.0]), chosen([-1.0, 0.0, 2.0]))
