"""What is moderate stays so: rules for saturation make nothing overflow that did not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import rewrite_engine as rw
import rewrite_engine.tensor as pt

#: a program of two numbers, by which its gradient is taken, where, and what is right (by mpmath)
MODERATE: list[tuple[Callable[[Any, Any], Any], int, tuple[float, float], float]] = [
    (lambda x, y: -pt.log(y * pt.sigmoid(x) + (1 - y) * (1 - pt.sigmoid(x))), 0, (-40, 1), -1),
    (lambda x, y: -pt.log(y * pt.sigmoid(x) + (1 - y) * (1 - pt.sigmoid(x))), 0, (-800, 0), 0),
    (lambda x, y: -pt.log(y * pt.sigmoid(x) + (1 - y) * (1 - pt.sigmoid(x))), 1, (-800, 0), 1),
    (lambda x, y: pt.log(pt.sigmoid(x) - pt.sigmoid(x - y)), 0, (800, 800), -0.5),
    (lambda x, y: pt.log(pt.sigmoid(x) - pt.sigmoid(x - y)), 1, (100, 800), 9.8596765437598e-305),
    (lambda x, y: pt.log(1 - pt.exp(-pt.exp(x))), 0, (800, 0), 0),
    (lambda x, y: pt.log(1 - pt.exp(-pt.exp(x))), 0, (-30, 0), 1),
    (lambda x, y: pt.log(1 - pt.exp(-(pt.exp(x) ** 2))), 0, (800, 0), 0),
    (lambda x, y: pt.log(pt.sigmoid(x) + pt.sigmoid(y)), 0, (-800, -800), 0.5),
    (lambda x, y: pt.log(pt.sigmoid(x + 1) - pt.sigmoid(x)), 0, (40, 0), -1),
    (lambda x, y: pt.log(pt.sqrt(1 + pt.exp(x))), 0, (800, 0), 0.5),
]


@pytest.mark.parametrize("case", MODERATE)
def test_what_is_moderate_stays_so(case: Any) -> None:
    make, i, at, right = case
    both = pt.dscalars("xy")
    cost = make(*both)
    f = rw.function(
        both, rw.grad(cost, both[i], disconnected_inputs="ignore"), on_unused_input="ignore"
    )
    np.testing.assert_allclose(f(*map(float, at)), right, rtol=1e-12)


def test_the_logarithm_of_the_normal_distribution_function() -> None:
    x = pt.dvector("x")
    f = rw.function([x], pt.log1p(-0.5 * pt.erfc(-x / np.sqrt(2))))
    at = np.array([-40.0, -9, -8.3, -1, -0.1, 0, 0.1, 1, 8, 40, np.nan])
    np.testing.assert_allclose(f(at), special.log_ndtr(-at), rtol=1e-13)


def test_no_cycle_without_folding() -> None:
    x, y = pt.dscalars("xy")
    cost = rw.grad(pt.log(pt.sigmoid(x) - pt.sigmoid(x - y)), x)
    f = rw.function([x, y], cost, mode=rw.Mode().excluding("constant_folding"))
    np.testing.assert_allclose(f(1.0, 2.0), rw.function([x, y], cost)(1.0, 2.0), rtol=1e-13)


def test_products_in_what_is_exponentiated() -> None:
    """A product is not known to be above 0: its sign is looked at when the function runs."""
    x, v = pt.dscalar("x"), pt.dvector("v")
    f = rw.function([x, v], rw.grad(pt.log(1 - pt.exp(-(x * v))).sum(), x))
    at = np.array([0.5, 2.0])
    np.testing.assert_allclose(f(3.0, at), (at / np.expm1(3 * at)).sum(), rtol=1e-13)
    np.testing.assert_allclose(f(-3.0, -at), -(at / np.expm1(3 * at)).sum(), rtol=1e-13)
