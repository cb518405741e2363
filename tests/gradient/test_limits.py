"""Slopes of stable forms far out, at infinity and at 0, against limits by many digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import jacobian

INF = np.inf
DIGITS = 1200  # erfc(40) is 1e-697
ROOT = np.sqrt(2.0)


class Exact:
    """The functions that the forms are made of, by many digits."""

    exp, log, expm1, erf, erfc = mp.exp, mp.log, mp.expm1, mp.erf, mp.erfc
    tanh, sqrt, cosh = mp.tanh, mp.sqrt, mp.cosh

    @staticmethod
    def log1p(x: Any) -> Any:
        return mp.log(1 + x)

    @staticmethod
    def sigmoid(x: Any) -> Any:
        return 1 / (1 + mp.exp(-x))

    @staticmethod
    def softplus(x: Any) -> Any:
        return mp.log(1 + mp.exp(x))

    @staticmethod
    def logaddexp(x: Any, y: Any) -> Any:
        return mp.log(mp.exp(x) + mp.exp(y))

    @staticmethod
    def erfcx(x: Any) -> Any:
        return mp.exp(x * x) * mp.erfc(x)


Form = Callable[[Any, Any], Any]
#: a form of the functions m, and the limits of its slope at -inf and inf
FORMS: dict[str, tuple[Form, float, float]] = {
    "log(sigmoid)": (lambda m, x: m.log(m.sigmoid(x)), 1, 0),
    "log(1 - sigmoid)": (lambda m, x: m.log(1 - m.sigmoid(x)), 0, -1),
    "log1p(-sigmoid)": (lambda m, x: m.log1p(-m.sigmoid(x)), 0, -1),
    "log(1 / (1 + exp(-x)))": (lambda m, x: m.log(1 / (1 + m.exp(-x))), 1, 0),
    "log(exp / (1 + exp))": (lambda m, x: m.log(m.exp(x) / (1 + m.exp(x))), 1, 0),
    "log(1 + exp)": (lambda m, x: m.log(1 + m.exp(x)), 0, 1),
    "log1p(exp)": (lambda m, x: m.log1p(m.exp(x)), 0, 1),
    "softplus": (lambda m, x: m.softplus(x), 0, 1),
    "log(exp + 3)": (lambda m, x: m.log(m.exp(x) + 3.0), 0, 1),
    "log(0.3 + 0.7 exp)": (lambda m, x: m.log(0.3 + 0.7 * m.exp(x)), 0, 1),
    "log(0.3 + 0.7 sigmoid)": (lambda m, x: m.log(0.3 + 0.7 * m.sigmoid(x)), 0, 0),
    "logaddexp": (lambda m, x: m.logaddexp(x, 1.0), 0, 1),
    "sigmoid": (lambda m, x: m.sigmoid(x), 0, 0),
    "1 / (1 + exp(-x))": (lambda m, x: 1 / (1 + m.exp(-x)), 0, 0),
    "exp / (1 + exp)": (lambda m, x: m.exp(x) / (1 + m.exp(x)), 0, 0),
    "sigmoid (1 - sigmoid)": (lambda m, x: m.sigmoid(x) * (1 - m.sigmoid(x)), 0, 0),
    "log(1 - tanh)": (lambda m, x: m.log(1 - m.tanh(x)), 0, -2),
    "log(1 - tanh**2)": (lambda m, x: m.log(1 - m.tanh(x) ** 2), 2, -2),
    "log(cosh)": (lambda m, x: m.log(m.cosh(x)), -1, 1),
    "log(erfc)": (lambda m, x: m.log(m.erfc(x)), 0, -INF),
    "log(erfc / 2)": (lambda m, x: m.log(m.erfc(x) / 2), 0, -INF),
    "log1p(-erfc / 2)": (lambda m, x: m.log1p(-m.erfc(x) / 2), INF, 0),
    "log1p(-0.5 erfc(-x))": (lambda m, x: m.log1p(-0.5 * m.erfc(-x)), 0, -INF),
    "log(1 - erfc / 2)": (lambda m, x: m.log(1 - m.erfc(x) / 2), INF, 0),
    "log1p(erf)": (lambda m, x: m.log1p(m.erf(x)), INF, 0),
    "log(0.5 + 0.5 erf)": (lambda m, x: m.log(0.5 + 0.5 * m.erf(x)), INF, 0),
    "log(1 - erf)": (lambda m, x: m.log(1 - m.erf(x)), 0, -INF),
    "log1p(-erf)": (lambda m, x: m.log1p(-m.erf(x)), 0, -INF),
}
#: where slopes are compared, besides infinity
AT = [-700.0, -30.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 5.0, 30.0, 700.0]


def exact_slope(form: Form, at: float) -> float:
    """The slope by a quotient of differences of so many digits that none is seen."""
    with mp.workdps(DIGITS if abs(at) < 100 else 60):
        x, step = mp.mpf(at), mp.mpf(10) ** (-100 if abs(at) < 100 else -25)
        return float((form(Exact, x + step) - form(Exact, x - step)) / (2 * step))


@pytest.mark.parametrize("name", FORMS)
def test_slopes_of_stable_forms(name: str) -> None:
    form, below, above = FORMS[name]
    x = pt.vector("x")
    slope = rw.function([x], rw.grad(form(pt, x).sum(), x))
    found = dict(zip(AT, slope(np.array(AT)), strict=True))
    for at, got in found.items():
        if abs(at) < 100:
            np.testing.assert_allclose(got, exact_slope(form, at), rtol=1e-9, atol=1e-300)
        else:
            limit = below if at < 0 else above
            if np.isfinite(limit):
                np.testing.assert_allclose(got, limit, atol=1e-290)
            else:
                assert np.sign(got) == np.sign(limit)
                np.testing.assert_allclose(abs(got), 2 * abs(at), rtol=1e-5)
    np.testing.assert_array_equal(slope(np.array([-INF, INF])), [below, above])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_slopes_of_erfcx(dtype: str) -> None:
    x = pt.vector("x", dtype=dtype)
    slope = rw.function([x], rw.grad(pt.erfcx(x).sum(), x))
    at = np.array([-3.0, 0.0, 1.0, 13.0, 15.0, 26.0, 700.0, 1e5], dtype)
    wanted = []
    for v in at:
        with mp.workdps(60):
            z = mp.mpf(float(v))
            near = 2 * z * Exact.erfcx(z) - 2 / mp.sqrt(mp.pi) if v < 1e3 else -1 / mp.sqrt(mp.pi)
            wanted.append(float(near if v < 1e3 else near / z**2))
    rtol = 1e-9 if dtype == "float64" else 1e-3
    np.testing.assert_allclose(slope(at), wanted, rtol=rtol)
    assert slope(np.array([INF], dtype)) == 0


# --- terms that an infinite constant keeps infinite -----------------------------------------------


def log_mass(lower: Any, upper: Any, mu: Any, sigma: Any) -> Any:
    """The logarithm of the mass of a normal distribution between two bounds."""
    a, b = [(v - mu) / (sigma * ROOT) for v in (lower, upper)]
    return pt.log(0.5 * (pt.erfc(a) - pt.erfc(b)))


@pytest.mark.parametrize(("lower", "upper"), [(0.0, INF), (-INF, 3.0), (-1.0, 3.0)])
def test_normal_mass_between_bounds(lower: float, upper: float) -> None:
    mu, sigma = pt.dscalars("mu", "sigma")
    term = log_mass(lower, upper, mu, sigma)
    found = rw.function([mu, sigma], rw.grad(term, [mu, sigma]))(1.0, 1.5)
    a, b = (lower - 1) / 1.5, (upper - 1) / 1.5
    pdf, mass = stats.norm.pdf, stats.norm.cdf(b) - stats.norm.cdf(a)
    times = lambda z: 0.0 if np.isinf(z) else z * pdf(z)
    wanted = (pdf(a) - pdf(b)) / 1.5 / mass, (times(a) - times(b)) / 1.5 / mass
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_bounds_of_which_some_are_infinite() -> None:
    """Where they are finite the slope is that of the chain rule."""
    mu, sigma = pt.dscalars("mu", "sigma")
    uppers = np.array([3.0, INF, 0.5])
    term = log_mass(-1.0, pt.constant(uppers), mu, sigma)
    slopes = rw.function([mu, sigma], [jacobian(term, v) for v in (mu, sigma)])(1.0, 1.5)
    for i, upper in enumerate(uppers):
        one = rw.grad(log_mass(-1.0, float(upper), mu, sigma), [mu, sigma])
        wanted = rw.function([mu, sigma], one)(1.0, 1.5)
        np.testing.assert_allclose([s[i] for s in slopes], wanted, rtol=1e-12)


LAWS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "logistic": (lambda z: -pt.softplus(-z), INF),
    "Gumbel": (lambda z: -pt.exp(-z), INF),
    "exponential": (lambda z: pt.log1p(-pt.exp(-z)), INF),
    "normal": (lambda z: pt.log(0.5 * pt.erfc(-z / ROOT)), INF),
    "arc tangent": (lambda z: pt.log(0.5 + pt.arctan(z) / np.pi), INF),
    "a density": (lambda z: pt.exp(-(z**2) / 2), -INF),
    "a quotient": (lambda z: 1 / (1 + z**2), INF),
}


@pytest.mark.parametrize("name", LAWS)
def test_slopes_at_a_bound_that_is_infinite_are_zero(name: str) -> None:
    law, bound = LAWS[name]
    mu, sigma = pt.dscalars("mu", "sigma")
    term = law((bound - mu) / sigma)
    found = rw.function([mu, sigma], rw.grad(term, [mu, sigma]))(0.3, 1.5)
    np.testing.assert_array_equal(found, [0.0, 0.0])


def test_what_is_differentiated_itself_is_not_stopped() -> None:
    x = pt.vector("x")
    z = np.array([INF, 1.0]) - x
    np.testing.assert_array_equal(
        rw.function([x], rw.grad(pt.exp(-z).sum(), z))([1.0, 1.0]), [0, -1]
    )


# --- weights that are 0 ---------------------------------------------------------------------------

LOGS = np.array([-1.0, -2.0, -3.0])
MIXTURES: dict[str, Callable[[Any, Any], Any]] = {
    "logsumexp": lambda w, l: pt.logsumexp(pt.log(w) + l),
    "by hand": lambda w, l: pt.log(pt.exp(pt.log(w) + l).sum()),
    "weighted sum": lambda w, l: pt.log((w * pt.exp(l)).sum()),
    "difference": lambda w, l: pt.logsumexp(pt.log(w) - (-l)),
    "more addends": lambda w, l: pt.logsumexp(2 * l + (pt.log(w) - l)),
}


@pytest.mark.parametrize("weights", [[0.0, 0.3, 0.7], [0.0, 0.0, 1.0], [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("name", MIXTURES)
def test_slopes_for_weights(name: str, weights: list[float]) -> None:
    w, l = pt.vectors("w", "l")
    term = MIXTURES[name](w, l)
    slopes = rw.function([w, l], rw.grad(term, [w, l]))(weights, LOGS)
    parts = np.exp(LOGS) / np.dot(weights, np.exp(LOGS))
    np.testing.assert_allclose(slopes, [parts, weights * parts], rtol=1e-12)
    if name == "weighted sum":  # (its second slopes are those of the sum)
        return
    second = rw.function([w, l], jacobian(rw.grad(term, w), w))(weights, LOGS)
    np.testing.assert_allclose(second, -np.outer(parts, parts), rtol=1e-12)


def test_a_weight_and_what_it_lacks_to_one() -> None:
    w = pt.dscalar("w")
    term = pt.logaddexp(pt.log(w) - 1.0, pt.log(1 - w) - 2.0)
    slope = rw.function([w], rw.grad(term, w))
    a, b = np.exp([-1.0, -2.0])
    for at in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(slope(at), (a - b) / (at * a + (1 - at) * b), rtol=1e-12)


def test_many_observations_far_out() -> None:
    """Densities that all underflow; weights along an axis of their own."""
    w, mu = pt.vectors("w", "mu")
    seen = np.array([100.0, -3.0, 2.0])
    logs = -0.5 * (seen[:, None] - mu) ** 2
    slope = rw.function([w, mu], rw.grad(pt.logsumexp(pt.log(w) + logs, axis=-1).sum(), w))
    at = np.array([0.0, 1.0, 50.0])
    given = -0.5 * (seen[:, None] - at) ** 2
    weights = np.array([0.4, 0.6, 0.0])
    whole = special.logsumexp(given, axis=-1, b=weights)
    wanted = np.exp(np.minimum(given - whole[:, None], 708.0)).sum(0)
    found = slope(weights, at)
    np.testing.assert_allclose(found[:2], wanted[:2], rtol=1e-9)
    assert found[2] > 1e300  # (it is larger than any float)
