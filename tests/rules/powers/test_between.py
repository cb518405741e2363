"""Differences of sigmoids, as models of ordered classes have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt

SIGMOID: dict[str, Callable[[Any], Any]] = {
    "sigmoid": pt.sigmoid,
    "1 / (1 + exp(-z))": lambda z: 1 / (1 + pt.exp(-z)),
    "exp(z) / (1 + exp(z))": lambda z: pt.exp(z) / (1 + pt.exp(z)),
    "e / (1 + e)": lambda z: (e := pt.exp(z)) / (1 + e),
    "reciprocal": lambda z: pt.reciprocal(pt.exp(-z) + 1.0),
}


def value_and_slopes(of: Any, dtype: str, *values: Any) -> Any:
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    term = pt.log(of(x) - of(y))
    f = rw.function([x, y], [term, *rw.grad(term.sum(), [x, y])])
    return f(*[np.array(v, dtype) for v in values])


def truth(x: Any, y: Any) -> list[Any]:
    p, q = (1 / (1 + mp.exp(-mpf(float(v)))) for v in (x, y))
    return [mp.log(p - q), p * (1 - p) / (p - q), -q * (1 - q) / (p - q)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", SIGMOID)
def test_probabilities_between_two_cuts(name: str, dtype: str) -> None:
    """At both ends, and where the cuts are near each other."""
    x = [1000, 91, 20, 0.5, -19, -90, -999, 300, 7, -7, 2]
    y = [999, 90, 19, 0.25, -20, -91, -1000, -300, 6.984375, -7.015625, -1000]
    found = value_and_slopes(SIGMOID[name], dtype, x, y)
    with mp.workdps(900):
        wanted = np.array([[float(t) for t in truth(*at)] for at in zip(x, y, strict=True)]).T
    rtol = 1e-13 if dtype == "float64" else 4e-6
    np.testing.assert_allclose(found, wanted, rtol, atol=np.finfo(dtype).tiny)


def test_cuts_at_infinity() -> None:
    """A class that has no upper, or no lower, cut, and one that has no width."""
    x, y = [np.inf, 3.0, np.inf, np.inf, -np.inf], [1.0, -np.inf, -np.inf, np.inf, -np.inf]
    value, *slopes = value_and_slopes(pt.sigmoid, "float64", x, y)
    wanted = [-np.logaddexp(0, 1), -np.logaddexp(0, -3), 0.0, -np.inf, -np.inf]
    np.testing.assert_allclose(value, wanted)
    np.testing.assert_allclose(slopes[0][:3], [0.0, 1 / (1 + np.exp(3)), 0.0])
    np.testing.assert_allclose(slopes[1][:3], [-1 / (1 + np.exp(-1)), 0.0, 0.0])
