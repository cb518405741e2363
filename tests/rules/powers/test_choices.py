"""Sums whose terms choose by one condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.language import rewritten
from tests.growth import exponent


def loss_of_choices(levels: int) -> tuple[Any, list[Any]]:
    """A chain of choices, and its gradient."""
    x = pt.vector("x")
    v = x
    for _ in range(levels):
        v = pt.switch(v > 0, pt.log(v) - v * 0.5, v * 1.01 + pt.exp(v * 0.1))
    return x, [v, rw.grad(v.sum(), x)]


def test_products_with_one_choice_are_not_computed_in_both_branches() -> None:
    c, x, y, a = pt.bvector("c"), *pt.vectors("x y a")
    one = pt.switch(c, pt.log(x), y)
    wanted = "switch(c, log(x), y) * 1.01 + switch(c, log(x), y) * exp(a)"
    assert str(rewritten(one * 1.01 + one * pt.exp(a))) == wanted
    # where something cancels in a branch, and of several choices, it is one choice
    steep = pt.switch(c, pt.sigmoid(a), y)
    wanted = "switch(c, sigmoid(a), y) * sigmoid(-a)"
    assert str(rewritten(steep - steep * pt.sigmoid(a))) == wanted
    both = pt.switch(c, 0.0, y * 2.0) + pt.switch(c, y * pt.exp(a), 0.0)
    assert str(rewritten(both)) == "switch(c, y * exp(a), y * 2.0)"


def test_chains_of_choices_take_linear_time() -> None:
    def prepare(levels: int) -> Callable[[], Any]:
        x, outputs = loss_of_choices(levels)
        return lambda: rw.function([x], outputs)

    assert exponent(prepare, 15, 60) < 1.4
    x, outputs = loss_of_choices(12)
    at = np.array([0.5, -1.0, 3.0])
    value, slope = rw.function([x], outputs)(at)
    plain, wanted = rw.function([x], outputs, mode=rw.Mode(linker="py", optimizer=None))(at)
    np.testing.assert_allclose(value, plain, rtol=1e-12)
    np.testing.assert_allclose(slope, wanted, rtol=1e-12)
