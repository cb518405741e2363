"""Products of functions that spoil each other: combining them comes to an end, and is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt

x, y, a = pt.vectors("x y a")
AT = [np.array(v) for v in ([0.3, -1.2, 2.5], [1.1, 0.4, -0.7], [0.5, -2.0, 1.5])]
FORMS = (x, y, -x, x - y, y - x, 2 * x, 0.5 * x + y, x - pt.exp(y), pt.exp(y) - x, x + 3)
KINDS = (pt.exp, pt.sigmoid, pt.expm1, pt.cosh, pt.sinh, pt.tanh, pt.erfc, pt.softplus)


def factor(rng: np.random.Generator) -> Any:
    """A function of a linear form, or a sum or a choice with such terms."""
    u, v = (FORMS[i] for i in rng.integers(len(FORMS), size=2))
    f, g = (KINDS[i] for i in rng.integers(len(KINDS), size=2))
    way = rng.integers(10)
    if way == 0:
        return 1 + pt.exp(u)
    if way == 1:
        return pt.exp(u) + pt.exp(v)
    if way == 2:
        return a - a * f(u)
    if way == 3:
        return pt.switch(pt.gt(a, 0), f(u), a / g(v))
    if way == 4:
        return a / g(v) - x
    return a if way == 5 else f(u)


def product(rng: np.random.Generator) -> Any:
    """A product in any nesting, with signs and numbers."""
    value = factor(rng)
    for _ in range(rng.integers(1, 6)):
        other = factor(rng) if rng.random() < 0.8 else product(rng)
        way = rng.integers(7)
        value = (
            value * other if way < 3 else value / other if way < 5 else -value * other
            if way == 5 else pt.sqr(value) * -1.0 * other
        )  # fmt: skip
    return value


EXPRESSIONS = (pt.exp, pt.sigmoid, pt.expm1, pt.softplus, pt.erfc, pt.tanh)


def expression(rng: np.random.Generator, depth: int = 3) -> Any:
    """Functions within functions."""
    if not depth:
        return FORMS[rng.integers(len(FORMS))]
    way, u = rng.integers(9), expression(rng, depth - 1)
    if way < len(EXPRESSIONS):
        return EXPRESSIONS[way](u)
    v = expression(rng, depth - 1)
    return pt.logaddexp(u, v) if way == 6 else u - v if way == 7 else u * pt.sigmoid(v)


def agrees(terms: list[Any]) -> None:
    """The default mode compiles, and computes what the graph as it was built does."""
    inputs = [x, y, a]
    found = rw.function(inputs, terms, on_unused_input="ignore")(*AT)
    plain = rw.Mode("py", optimizer=None)
    wanted = rw.function(inputs, terms, mode=plain, on_unused_input="ignore")(*AT)
    for f, w in zip(found, wanted, strict=True):
        fine = np.isfinite(w) & (abs(w) < 1e100)
        np.testing.assert_allclose(
            f[fine], w[fine], rtol=1e-6, atol=1e-6 * max(1, *abs(w[fine]), 1)
        )


@pytest.mark.parametrize("seed", range(60))
def test_products(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        agrees([product(rng) for _ in range(3)])


@pytest.mark.parametrize("seed", range(30))
def test_second_gradients(seed: int) -> None:
    term = expression(np.random.default_rng(seed))
    first = rw.grad((term * [1.0, 2.0, 3.0]).sum(), x, disconnected_inputs="ignore")
    second = rw.grad((first * [3.0, 1.0, 2.0]).sum(), [x, y], disconnected_inputs="ignore")
    with np.errstate(all="ignore"):
        agrees([first, *second])


@pytest.mark.parametrize(
    ("x", "y", "z", "wanted"),
    [
        (-500.0, 20.0, np.inf, np.inf),  # the product of the two underflows
        (-500.0, 20.0, 1e300, 3.84432568304083e-93),
        (709.0, -5.0, 1e-300, 164368149.230973),
        (0.0, 3.0, 2.0, 4.41809939971709e-5),
        (np.nan, 3.0, 2.0, np.nan),
        (1.0, np.nan, 2.0, np.nan),
    ],
)
def test_what_is_infinite_beside_an_exponential_and_erfc(
    x: float, y: float, z: float, wanted: float
) -> None:
    """By mpmath."""
    u, v, w = pt.vectors("u v w")
    f = rw.function([u, v, w], w * pt.exp(u) * pt.erfc(v))
    np.testing.assert_allclose(f([x], [y], [z]), [wanted], rtol=1e-12)
