"""Densities and probabilities as books write them, far out: values and gradients against numbers
with many digits. Each dictionary is a kind of formula.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

import rewrite_engine as rw
import rewrite_engine.tensor as pt

Formula = Callable[..., Any]
ROOT = 2**0.5
EXACT = SimpleNamespace(
    exp=mp.exp, log=mp.log, erf=mp.erf, erfc=mp.erfc, tanh=mp.tanh, cosh=mp.cosh, expm1=mp.expm1,
    log1p=mp.log1p, sqrt=mp.sqrt, wide=lambda c: mpf(c),
)  # fmt: skip
OURS = SimpleNamespace(
    exp=pt.exp, log=pt.log, erf=pt.erf, erfc=pt.erfc, tanh=pt.tanh, cosh=pt.cosh, expm1=pt.expm1,
    log1p=pt.log1p, sqrt=pt.sqrt, wide=np.float64,
)  # fmt: skip


def probit(m: Any, z: Any) -> Any:
    return 0.5 * (1 + m.erf(z / ROOT))


def logit(m: Any, z: Any) -> Any:
    return 1 / (1 + m.exp(-z))


def cloglog(m: Any, z: Any) -> Any:
    return 1 - m.exp(-m.exp(z))


def normal(m: Any, z: Any) -> Any:
    return m.exp(-0.5 * z**2) / m.wide(np.sqrt(2 * np.pi))


def exgauss(m: Any, z: Any) -> Any:
    return m.exp(0.5 - z) * probit(m, z - 1)


def check(formula: Formula, dtype: str, *columns: Any, rtol: float = 1e-11) -> None:
    """The values and the gradients of a formula of vectors."""
    given = [np.array(c, dtype) for c in columns]
    inputs = [pt.vector(f"x{i}", dtype=dtype) for i in range(len(given))]
    term = formula(OURS, *inputs)
    slopes = rw.grad(term.sum(), inputs, disconnected_inputs="ignore")
    found = rw.function(inputs, [term, *slopes], on_unused_input="ignore")(*given)
    rtol, tiny = (rtol, 1e-300) if dtype == "float64" else (3e-4, 1e-36)
    with mp.workdps(900):
        for at, *values in zip(zip(*given, strict=True), *found, strict=True):
            point = [mpf(float(v)) for v in at]
            wanted = [formula(EXACT, *point)]
            for i in range(len(point)):
                order = tuple(int(i == j) for j in range(len(point)))
                wanted.append(mpmath.diff(lambda *xs: formula(EXACT, *xs), tuple(point), order))
            for value, true in zip(values, wanted, strict=True):
                true = float(true)
                np.testing.assert_allclose(value, true, rtol, max(tiny, abs(true) * rtol), str(at))


BETWEEN: dict[str, Formula] = {
    "cdfs": lambda m, x, y: m.log(probit(m, x) - probit(m, y)),
    "cdfs by erfc": lambda m, x, y: m.log(0.5 * m.erfc(-x / ROOT) - 0.5 * m.erfc(-y / ROOT)),
    "erf": lambda m, x, y: m.log(m.erf(x) - m.erf(y)),
    "half of erf": lambda m, x, y: m.log(0.5 * (m.erf(x / ROOT) - m.erf(y / ROOT))),
    "erfc": lambda m, x, y: m.log(m.erfc(-x) - m.erfc(-y)),
    "cuts": lambda m, x, y: m.log(probit(m, 1 - (0.5 - x)) - probit(m, y - 0.5 + 1)),
    "a multiple": lambda m, x, y: m.log(0.25 * probit(m, x) - 0.25 * probit(m, y)),
    "logistic": lambda m, x, y: m.log(0.25 * logit(m, x) - 0.25 * logit(m, y)),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", BETWEEN)
def test_what_lies_between_two_cuts(name: str, dtype: str) -> None:
    """At both ends, and around 0."""
    x, y = [20, 31, 0.5, -8, -30, 7, 3], [19, 30, -0.5, -9, -31, 6.5, -20]
    check(BETWEEN[name], dtype, x, y)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["erf", "half of erf", "erfc"])
def test_cuts_that_are_near_0(name: str, dtype: str) -> None:
    check(BETWEEN[name], dtype, [3e-20, 2e-9, -1e-30, 0.25], [-1e-20, 1e-9, -2e-30, 0.125])


def test_cuts_at_infinity() -> None:
    x, y = [np.inf, 3.0, np.inf, -np.inf, 0.5], [1.0, -np.inf, -np.inf, -np.inf, 0.5]
    u, v = pt.vectors("u v")
    value = rw.function([u, v], pt.log(pt.erf(u) - pt.erf(v)))(x, y)
    wanted = [float(mp.log(mp.erfc(1))), float(mp.log(1 + mp.erf(3))), np.log(2), -np.inf, -np.inf]
    np.testing.assert_allclose(value, wanted, rtol=1e-14)


COMPLEMENTARY: dict[str, Formula] = {
    "log p": lambda m, z: m.log(cloglog(m, z)),
    "expm1": lambda m, z: m.log(-m.expm1(-m.exp(z))),
    "log1p": lambda m, z: m.log1p(-m.exp(-m.exp(z))),
    "with a rate": lambda m, z: m.log(1 - m.exp(-3 * m.exp(z))),
    "log odds": lambda m, z: m.log(cloglog(m, z) / (1 - cloglog(m, z))),
    "loglog": lambda m, z: m.log(1 - m.exp(-m.exp(0.0 - (2 - z)))),
    "label": lambda m, z: -(0.9 * m.log(cloglog(m, z)) + 0.1 * m.log(1 - cloglog(m, z))),
    "focal": lambda m, z: -((1 - cloglog(m, z)) ** 2) * m.log(cloglog(m, z)),
    "odds": lambda m, z: m.log(m.exp(-m.exp(z)) / (1 - m.exp(-m.exp(z)))),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", COMPLEMENTARY)
def test_the_complementary_log_log_link(name: str, dtype: str) -> None:
    z = [-800, -120, -90, -40, -16.5, -15.5, -3, 0, 1.5, 3]
    check(COMPLEMENTARY[name], dtype, z)


MIXTURE: dict[str, Formula] = {
    "logit": lambda m, x, a, b: m.log(
        logit(m, x) * normal(m, a) + (1 - logit(m, x)) * normal(m, b)
    ),
    "probit": lambda m, x, a, b: m.log(
        probit(m, x) * normal(m, a) + (1 - probit(m, x)) * normal(m, b)
    ),
    "cloglog": lambda m, x, a, b: m.log(
        cloglog(m, x) * normal(m, a) + (1 - cloglog(m, x)) * normal(m, b)
    ),
    "three": lambda m, x, a, b: m.log(
        0.2 * normal(m, a) + 0.3 * normal(m, b) + 0.5 * probit(m, x) * normal(m, a - b)
    ),
    "skewed": lambda m, x, a, b: m.log(
        normal(m, a) * probit(m, 2 * a) + normal(m, b - x) * probit(m, 2 * (b - x))
    ),
    "exgauss": lambda m, x, a, b: m.log(0.3 * exgauss(m, a) + 0.7 * exgauss(m, b + x)),
    "zero-inflated": lambda m, x, a, b: m.log(
        logit(m, x) + (1 - logit(m, x)) * exgauss(m, a) * normal(m, b)
    ),
    "hyperbolic": lambda m, x, a, b: m.log(0.5 / m.cosh(a) + logit(m, x) / m.cosh(b)),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", MIXTURE)
def test_mixtures(name: str, dtype: str) -> None:
    """Where no component has a density that is a number, too; with numbers of NumPy."""
    x, a, b = [2, -3, 1, -2.5], [0.5, 30, -25, -14], [-1, 30.5, -24, -40]
    check(MIXTURE[name], dtype, x, a, b)


SHIFTED: dict[str, Formula] = {
    "probit": lambda m, x, y: m.log(probit(m, x - 3.0 + y)),
    "turned": lambda m, x, y: m.log(1 - probit(m, 2.0 - y - x)),
    "scaled": lambda m, x, y: m.log(probit(m, (x + y - 1) / 3.0)),
    "exgauss": lambda m, x, y: m.log(exgauss(m, x + y)),
    "skewed": lambda m, x, y: m.log(2 * normal(m, x - 1) * probit(m, 1.5 * (x - 1))) + 0 * y,
    "ratio": lambda m, x, y: m.log(probit(m, x - 1) / probit(m, x + y)),
    "power": lambda m, x, y: m.log(probit(m, x - 1) ** 5) + 0 * y,
    "order": lambda m, x, y: m.log(probit(m, x) ** 3 * (1 - probit(m, y - 1)) ** 4),
    "root": lambda m, x, y: m.log(m.sqrt(0.5 * probit(m, x - 1)) * probit(m, y - 1) ** 2),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", SHIFTED)
def test_arguments_with_numbers_in_them(name: str, dtype: str) -> None:
    check(SHIFTED[name], dtype, [0.5, -14, -30, 3], [0.25, -1.5, -2, 1], rtol=1e-10)


BERNOULLI: dict[str, Formula] = {"logit": logit, "probit": probit}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("link", BERNOULLI)
def test_powers_of_probabilities(link: str, dtype: str) -> None:
    p = BERNOULLI[link]
    x, y = [-30, -20, 0.5, 14, 25, -120 if link == "logit" else -3], [1, 0.5, 2, 0.25, 0, 3]
    check(lambda m, x, y: m.log(p(m, x) ** y * (1 - p(m, x)) ** (3 - y)), dtype, x, y)


def test_a_power_of_0_is_1() -> None:
    x, y = pt.vectors("x y")
    p = 1 / (1 + pt.exp(-x))
    term = pt.log(p**y * (1 - p) ** (1 - y))
    value, by_x = rw.function([x, y], [term, rw.grad(term.sum(), x)])(
        [-np.inf, np.inf, -800.0, 800.0, 0.0], [0.0, 1.0, 1.0, 0.0, 1.0]
    )
    np.testing.assert_allclose(value, [0, 0, -800, -800, -np.log(2)])
    np.testing.assert_allclose(by_x[2:], [1, -1, 0.5])
    u = rw.function([x, y], rw.grad(pt.log(x**y).sum(), [x, y]))([0.0, 2.0, -3.0], [0.0, 3.0, 2.0])
    np.testing.assert_allclose(u[0], [0, 1.5, -2 / 3])
    np.testing.assert_allclose(u[1][:2], [-np.inf, np.log(2)])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_power_of_1_is_1(dtype: str) -> None:
    x, y = pt.scalar("x", dtype=dtype), pt.vector("y", dtype=dtype)
    given = np.array([np.inf, -np.inf, np.nan, 0.0, 3.0], dtype)
    for base in (x, pt.sigmoid(x) / pt.sigmoid(x)):
        power = rw.function([x, y], pt.log(abs(base) ** y), on_unused_input="ignore")
        np.testing.assert_array_equal(power(np.array(1.0, dtype), given), np.zeros(5))
    half = rw.function([x, y], pt.log(abs(x) ** y))(np.array(0.5, dtype), given)
    np.testing.assert_allclose(half, [-np.inf, np.inf, np.nan, 0, 3 * np.log(0.5)], rtol=1e-6)
