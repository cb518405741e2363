"""Log densities of many distributions, as libraries of statistical models write them: values
against SciPy, gradients against differences, float32, and arguments far out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import grad, verify_grad


def gamma(x: Any, a: Any, b: Any) -> Any:
    return pt.xlogy(a - 1, x) - b * x - pt.gammaln(a) + a * pt.log(b)


def student_t(x: Any, nu: Any, mu: Any, s: Any) -> Any:
    z = (x - mu) / s
    scale = pt.gammaln((nu + 1) / 2) - pt.gammaln(nu / 2) - 0.5 * pt.log(nu * math.pi) - pt.log(s)
    return scale - (nu + 1) / 2 * pt.log1p(z**2 / nu)


def beta(x: Any, a: Any, b: Any) -> Any:
    return pt.xlogy(a - 1, x) + pt.xlog1py(b - 1, -x) - pt.betaln(a, b)


def negative_binomial(k: Any, mu: Any, alpha: Any) -> Any:
    choose = pt.gammaln(k + alpha) - pt.gammaln(k + 1) - pt.gammaln(alpha)
    return choose + pt.xlogy(k, mu / (mu + alpha)) + alpha * pt.log(alpha / (mu + alpha))


def zero_inflated_poisson(k: Any, psi: Any, mu: Any) -> Any:
    counts = pt.log(psi) + pt.xlogy(k, mu) - mu - pt.gammaln(k + 1)
    return pt.switch(k > 0, counts, pt.logaddexp(pt.log1p(-psi), pt.log(psi) - mu))


def mixture(x: Any, w: Any, mu: Any, s: Any) -> Any:
    each = -0.5 * ((x - mu) / s) ** 2 - pt.log(s) - 0.5 * math.log(2 * math.pi)
    return pt.logsumexp(pt.special.log_softmax(w) + each)


def ordered_logistic(eta: Any, low: Any, high: Any) -> Any:
    """The probability that a logistic variable around eta is between two cuts."""
    inside = pt.log1mexp(low - high) - pt.softplus(eta - high) - pt.softplus(low - eta)
    return inside + 0 * eta


def dirichlet(x: Any, a: Any) -> Any:
    return pt.xlogy(a - 1, x).sum() + pt.gammaln(a.sum()) - pt.gammaln(a).sum()


def von_mises(x: Any, mu: Any, kappa: Any) -> Any:
    return kappa * (pt.cos(x - mu) - 1) - pt.log(2 * math.pi * pt.ive(0, kappa))


def weibull(x: Any, a: Any, b: Any) -> Any:
    return pt.log(a) - pt.log(b) + (a - 1) * pt.log(x / b) - (x / b) ** a


def gumbel(x: Any, mu: Any, s: Any) -> Any:
    z = (x - mu) / s
    return -z - pt.exp(-z) - pt.log(s)


def normal_tail(x: Any) -> Any:
    """The logarithm of the probability to be above x."""
    return pt.log(0.5 * pt.erfc(x / math.sqrt(2)))


def skew_normal(x: Any, a: Any) -> Any:
    return -0.5 * x**2 - 0.5 * math.log(2 * math.pi) + pt.log(pt.erfc(-a * x / math.sqrt(2)))


def ordered(eta: float, low: float, high: float) -> Any:
    return np.log(stats.logistic.cdf(high - eta) - stats.logistic.cdf(low - eta))


def mixed(x: Any, w: Any, mu: Any, s: Any) -> Any:
    p = np.exp(w - np.max(w))
    return np.log((p / p.sum() * stats.norm.pdf(x, mu, s)).sum())


def inflated(k: Any, psi: Any, mu: Any) -> Any:
    return np.log(psi * stats.poisson.pmf(k, mu) + (1 - psi) * (k == 0))


#: ours, SciPy's, points; arrays are parameters of one density
CASES: list[tuple[Any, Any, list[tuple[Any, ...]]]] = [
    (gamma, lambda x, a, b: stats.gamma.logpdf(x, a, scale=1 / b),
     [(0.7, 2.0, 3.0), (5.0, 0.4, 0.1), (1e-3, 30.0, 2.0)]),
    (student_t, lambda x, nu, mu, s: stats.t.logpdf(x, nu, mu, s),
     [(0.7, 4.0, 1.0, 2.0), (-30.0, 1.0, 0.0, 0.5), (2.0, 50.0, 0.3, 1.2)]),
    (beta, stats.beta.logpdf, [(0.3, 2.0, 5.0), (0.9, 0.5, 0.5), (0.01, 20.0, 3.0)]),
    (negative_binomial, lambda k, mu, a: stats.nbinom.logpmf(k, a, a / (mu + a)),
     [(3.0, 2.0, 0.7), (0.0, 4.0, 10.0), (40.0, 12.0, 3.0)]),
    (zero_inflated_poisson, inflated, [(0.0, 0.7, 2.0), (4.0, 0.7, 2.0), (0.0, 0.99, 30.0)]),
    (mixture, mixed, [(0.3, [0.1, -1.0], [-1.0, 2.0], [0.5, 1.5])]),
    (ordered_logistic, ordered, [(0.3, -1.0, 0.5), (2.0, 2.5, 2.6), (-3.0, -9.0, 4.0)]),
    (dirichlet, lambda x, a: stats.dirichlet.logpdf(np.divide(x, np.sum(x)), a),
     [([0.25, 0.5, 0.25], [0.7, 2.0, 5.0])]),
    (von_mises, lambda x, mu, k: stats.vonmises.logpdf(x, k, mu),
     [(0.3, 1.0, 2.0), (3.0, -1.0, 0.1), (0.1, 0.12, 900.0)]),
    (weibull, lambda x, a, b: stats.weibull_min.logpdf(x, a, scale=b),
     [(0.3, 1.5, 2.0), (4.0, 0.7, 1.0)]),
    (gumbel, stats.gumbel_r.logpdf, [(0.3, 1.0, 2.0), (9.0, 1.0, 0.8), (-2.0, 0.0, 1.0)]),
    (normal_tail, stats.norm.logsf, [(0.3,), (-4.0,), (6.0,)]),
    (skew_normal, stats.skewnorm.logpdf, [(0.3, 2.0), (-1.0, 4.0), (2.0, 0.5)]),
]  # fmt: skip


COUNTS = (negative_binomial, zero_inflated_poisson)


def compiled(of: Any, point: Any, dtype: str) -> tuple[Any, Any]:
    """A function of the density and its gradients, and the values to call it with."""
    values = [np.asarray(v, dtype) for v in point]
    inputs = [pt.tensor(shape=(None,) * v.ndim, dtype=dtype) for v in values]
    density = of(*inputs)
    return rw.function(inputs, [density, *grad(density.sum(), inputs)]), values


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("of", "theirs", "points"), CASES, ids=[c[0].__name__ for c in CASES])
def test_densities(of: Any, theirs: Any, points: Any, dtype: str) -> None:
    for point in points:
        f, values = compiled(of, point, dtype)
        found, *slopes = f(*values)
        assert found.dtype == dtype
        wanted = theirs(*[v.astype("float64") for v in values])
        np.testing.assert_allclose(
            found, wanted, *(1e-9, 0) if dtype == "float64" else (2e-4, 1e-6)
        )
        if dtype == "float64":
            k = [v for v in values if of in COUNTS][:1]  # a count, which is not moved
            verify_grad(lambda *xs, k=k, of=of: of(*k, *xs), values[len(k) :])
        else:
            precise, _ = compiled(of, point, "float64")
            for slope, other in zip(slopes, precise(*values)[1:], strict=True):
                np.testing.assert_allclose(slope, other, rtol=2e-3, atol=2e-4)


#: ours, in the words of mpmath, where
FAR: list[tuple[Any, Any, list[tuple[float, ...]]]] = [
    (gamma, lambda x, a, b: (a - 1) * mp.log(x) - b * x - mp.loggamma(a) + a * mp.log(b),
     [(1e-30, 2.0, 3.0), (1e4, 0.5, 0.1), (0.5, 1e-20, 2.0)]),
    (student_t, lambda x, nu, mu, s: mp.loggamma((nu + 1) / 2) - mp.loggamma(nu / 2)
     - mp.log(nu * mp.pi) / 2 - mp.log(s) - (nu + 1) / 2 * mp.log(1 + ((x - mu) / s) ** 2 / nu),
     [(1e5, 3.0, 0.0, 1.0), (1e-10, 4.0, 0.0, 2.0)]),
    (beta, lambda x, a, b: (a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - mp.log(mp.beta(a, b)),
     [(1e-30, 0.5, 3.0), (1e-4, 2.0, 50.0)]),
    (ordered_logistic, lambda e, a, b: mp.log(1 / (1 + mp.exp(e - b)) - 1 / (1 + mp.exp(e - a))),
     [(80.0, -1.0, 0.5), (-80.0, -1.0, 0.5), (0.0, -300.0, 900.0), (0.3, 30.0, 31.0)]),
    (von_mises, lambda x, mu, k: k * (mp.cos(x - mu) - 1)
     - mp.log(2 * mp.pi * mp.besseli(0, k) * mp.exp(-k)), [(0.1, 0.12, 1e5), (3.0, 0.0, 1e-20)]),
    (gumbel, lambda x, mu, s: -(x - mu) / s - mp.exp(-(x - mu) / s) - mp.log(s),
     [(900.0, 0.0, 1.0), (-60.0, 0.0, 1.0)]),
    (normal_tail, lambda x: mp.log(mp.erfc(x / mp.sqrt(2)) / 2), [(40.0,), (-40.0,), (1e4,)]),
    (skew_normal, lambda x, a: -x * x / 2 - mp.log(2 * mp.pi) / 2
     + mp.log(mp.erfc(-a * x / mp.sqrt(2))), [(-20.0, 3.0), (30.0, -5.0), (20.0, 3.0)]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("of", "exact", "points"), FAR, ids=[c[0].__name__ for c in FAR])
def test_densities_far_out(of: Any, exact: Any, points: Any, dtype: str) -> None:
    for point in points:
        f, values = compiled(of, point, dtype)
        with mp.workdps(110):
            at = tuple([mp.mpf(float(v)) for v in values])
            slopes = [tuple([int(i == k) for k in range(len(at))]) for i in range(len(at))]
            h = mp.mpf(10) ** -50
            wanted = [exact(*at), *[mp.diff(exact, at, orders, h=h) for orders in slopes]]
        rtol, atol = (1e-8, 1e-30) if dtype == "float64" else (1e-3, 1e-30)
        np.testing.assert_allclose(f(*values), [float(mp.re(v)) for v in wanted], rtol, atol)
