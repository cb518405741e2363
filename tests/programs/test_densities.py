"""Log densities as programs of statistics have them, with gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import verify_grad

RNG = np.random.default_rng(5)


def normal(x: Any, mu: Any, sigma: Any) -> Any:
    """The logarithm of the normal density."""
    return -0.5 * ((x - mu) / sigma) ** 2 - pt.log(sigma) - 0.5 * math.log(2 * math.pi)


def mixture(x: Any, weights: Any, mu: Any, sigma: Any) -> Any:
    """The log density of points (n,) in a mixture of k normal distributions."""
    each = pt.log(weights) + normal(x[:, None], mu, sigma)
    return pt.logsumexp(each, axis=1).sum()


def test_a_mixture_of_normal_distributions():
    x, w, mu, sigma = pt.dvectors("x", "w", "mu", "sigma")
    f = rw.function([x, w, mu, sigma], mixture(x, w, mu, sigma))
    X = RNG.normal(size=9)
    weights, means, deviations = np.array([0.2, 0.8]), np.array([-1.0, 2.0]), np.array([0.5, 1.5])
    density = (weights * scipy.stats.norm.pdf(X[:, None], means, deviations)).sum(axis=1)
    np.testing.assert_allclose(f(X, weights, means, deviations), np.log(density).sum(), rtol=1e-12)
    far = f([1e4], weights, means, deviations)  # each density is 0 in floating point
    expected = np.log(0.8) + scipy.stats.norm.logpdf(1e4, 2.0, 1.5)
    np.testing.assert_allclose(far, expected, rtol=1e-14)
    verify_grad(mixture, [X, weights, means, deviations])


def test_a_mixture_written_the_naive_way():
    x = pt.dscalar("x")
    mu = np.array([-1.0, 2.0])
    naive = pt.log(pt.sum(pt.exp(-((x - mu) ** 2) / 2)))
    value, slope = rw.function([x], [naive, rw.grad(naive, x)])(1000.0)
    np.testing.assert_allclose(value, -(998.0**2) / 2, rtol=1e-14)
    np.testing.assert_allclose(slope, -998.0, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_log_normal_density(dtype):
    y, mu, sigma = (pt.scalar(name, dtype=dtype) for name in ("y", "mu", "sigma"))
    density = normal(pt.log(y), mu, sigma) - pt.log(y)
    slopes = rw.grad(density, [y, mu, sigma])
    f = rw.function([y, mu, sigma], [density, *slopes])
    at = np.array([1.3, 0.2, 0.7], dtype)
    value, dy, dmu, dsigma = f(*at)
    v, m, s = at.astype("float64")
    z = (np.log(v) - m) / s
    expected = [scipy.stats.lognorm.logpdf(v, s, scale=np.exp(m)), -(1 + z / s) / v, z / s]
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose([value, dy, dmu], expected, rtol=tolerance)
    np.testing.assert_allclose(dsigma, (z**2 - 1) / s, rtol=tolerance)
    assert {v.dtype.name for v in (value, dy, dmu, dsigma)} == {dtype}


def hierarchical(
    a: Any, b: Any, mu: Any, log_tau: Any, log_sigma: Any, county: Any, x: Any, y: Any
) -> Any:
    """The log density of measurements in counties, each with its own intercept a[county]."""
    above = normal(mu, 0.0, 10.0) + normal(b, 0.0, 10.0) + normal(log_tau, 0.0, 1.0)
    counties = normal(a, mu, pt.exp(log_tau)).sum()
    houses = normal(y, a[county] + b * x, pt.exp(log_sigma)).sum()
    return above + counties + houses


def test_a_hierarchy_of_normal_distributions():
    n, k = 40, 6
    county, floor = RNG.integers(0, k, n), RNG.integers(0, 2, n).astype("float64")
    radon = RNG.normal(size=n)
    a, c = pt.dvector("a"), pt.lvector("county")
    b, mu, log_tau, log_sigma = pt.dscalars("b", "mu", "log_tau", "log_sigma")
    x, y = pt.dvectors("x", "y")
    density = hierarchical(a, b, mu, log_tau, log_sigma, c, x, y)
    wrt = [a, b, mu, log_tau, log_sigma]
    f = rw.function([*wrt, c, x, y], [density, *rw.grad(density, wrt)])
    at = [RNG.normal(size=k), -0.6, 1.4, -0.3, 0.2]
    value, da, db, dmu, dlog_tau, dlog_sigma = f(*at, county, floor, radon)

    tau, sigma = np.exp(at[3]), np.exp(at[4])
    norm = scipy.stats.norm.logpdf
    residual = radon - (at[0][county] + at[1] * floor)
    expected = norm(at[2], 0, 10) + norm(at[1], 0, 10) + norm(at[3]) + norm(at[0], at[2], tau).sum()
    np.testing.assert_allclose(value, expected + norm(residual, 0, sigma).sum(), rtol=1e-12)
    away = at[0] - at[2]
    by_county = np.bincount(county, residual, minlength=k) / sigma**2
    np.testing.assert_allclose(da, -away / tau**2 + by_county, rtol=1e-10)
    np.testing.assert_allclose(db, -at[1] / 100 + (residual * floor).sum() / sigma**2, rtol=1e-10)
    np.testing.assert_allclose(dmu, -at[2] / 100 + away.sum() / tau**2, rtol=1e-10)
    np.testing.assert_allclose(dlog_tau, -at[3] + ((away / tau) ** 2 - 1).sum(), rtol=1e-10)
    np.testing.assert_allclose(dlog_sigma, ((residual / sigma) ** 2 - 1).sum(), rtol=1e-10)


def test_a_log_density_of_proportions():
    """Beta and binomial: the counts' probabilities have a density of their own."""
    p, n, k = pt.dvector("p"), pt.lvector("n"), pt.lvector("k")
    a, b = pt.dscalars("a", "b")
    prior = pt.xlogy(a - 1, p) + pt.xlog1py(b - 1, -p) - pt.betaln(a, b)
    choices = pt.gammaln(n + 1) - pt.gammaln(k + 1) - pt.gammaln(n - k + 1)
    density = (prior + choices + pt.xlogy(k, p) + pt.xlog1py(n - k, -p)).sum()
    f = rw.function([p, n, k, a, b], [density, rw.grad(density, p)])
    P, N, K = np.array([0.1, 0.6, 0.999]), np.array([10, 4, 7]), np.array([0, 4, 7])
    value, slope = f(P, N, K, 2.0, 3.0)
    stats = scipy.stats
    expected = stats.beta.logpdf(P, 2, 3).sum() + stats.binom.logpmf(K, N, P).sum()
    np.testing.assert_allclose(value, expected, rtol=1e-11)
    np.testing.assert_allclose(slope, (K + 1) / P - (N - K + 2) / (1 - P), rtol=1e-11)
