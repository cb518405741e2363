"""Gradients of logarithms of products: each factor's share needs no product of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import rewrite_engine as rw
import rewrite_engine.tensor as pt

PART: dict[str, Callable[[Any], Any]] = {
    "by hand": lambda z: 1 / (1 + pt.exp(-z)),
    "sigmoid": pt.sigmoid,
    "twice": lambda z: pt.exp(z) / (1 + pt.exp(z)),
}


@pytest.mark.parametrize("size", [1.0, 40.0, 800.0, -800.0])
@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("part", PART)
def test_broken_sticks(part: str, count: int, size: float) -> None:
    v = pt.vector("v")
    rest: Any = 1
    weights = []
    for i in range(count):
        b = PART[part](v[i])
        weights.append(b * rest)
        rest = rest * (1 - b)
    slope = rw.function([v], rw.grad(sum(pt.log(w) for w in weights), v))
    for x in (np.full(count, size), np.linspace(-size, size, count)):
        wanted = expit(-x) - (count - 1 - np.arange(count)) * expit(x)
        np.testing.assert_allclose(slope(x), wanted, rtol=1e-9)


def test_shares_of_powers() -> None:
    x, y = pt.vectors("x y")
    term = pt.log(-(x**3) * y / (pt.sqrt(-y) * pt.sqr(x)))
    slopes = [rw.grad(term.sum(), v) for v in (x, y)]
    at = np.array([1e-200, 2.0]), np.array([-1e-150, -3.0])
    plain = rw.Mode(linker="py", optimizer=None)
    for mode in (plain, None):
        found = rw.function([x, y], slopes, mode=mode)(*at)
        np.testing.assert_allclose(found, (1 / at[0], 0.5 / at[1]), rtol=1e-12)
