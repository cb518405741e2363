"""Models of PyMC, of the sizes of its examples, with data that are made up.

The text knows PyTensor's names only: whoever imports this module decides which library has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt


def numbers(*shape: int, seed: int = 0) -> Any:
    """Normal numbers, the same each time."""
    return np.random.default_rng(seed).normal(size=shape)


def eight_schools() -> None:
    """Effects of coaching in eight schools, written without their centre."""
    effect = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    error = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    raw = pm.Normal("raw", shape=8)
    pm.Normal("y", mu + tau * raw, error, observed=effect)


def radon() -> None:
    """Radon in 85 counties, each with an intercept and a slope of its own."""
    rng = np.random.default_rng(1)
    county, floor = rng.integers(85, size=919), rng.integers(0, 2, 919).astype("float64")
    lines = []
    for name in ("a", "b"):
        mean, spread = pm.Normal(f"mu_{name}", 0, 5), pm.HalfNormal(f"sigma_{name}", 2)
        lines.append(mean + spread * pm.Normal(f"raw_{name}", shape=85))
    a, b = lines
    sigma = pm.Exponential("sigma", 1)
    pm.Normal("y", a[county] + b[county] * floor, sigma, observed=numbers(919))


def logistic_regression() -> None:
    """Yes or no, by five numbers."""
    x = numbers(200, 5)
    a, b = pm.Normal("a", 0, 2), pm.Normal("b", 0, 2, shape=5)
    seen = (numbers(200, seed=2) > 0).astype("int64")
    pm.Bernoulli("y", logit_p=a + pt.dot(x, b), observed=seen)


def gaussian_process() -> None:
    """The marginal likelihood of a Gaussian process at 50 points."""
    x = np.linspace(0, 5, 50)[:, None]
    length, scale = pm.Gamma("length", 2, 1), pm.HalfNormal("scale", 2)
    sigma = pm.HalfNormal("sigma", 1)
    process = pm.gp.Marginal(cov_func=scale**2 * pm.gp.cov.ExpQuad(1, length))
    process.marginal_likelihood("y", X=x, y=np.sin(x[:, 0]), sigma=sigma)


def mixture() -> None:
    """A mixture of three normals."""
    w = pm.Dirichlet("w", np.ones(3))
    mu, sigma = pm.Normal("mu", [-2.0, 0.0, 2.0], 2, shape=3), pm.HalfNormal("sigma", 2, shape=3)
    pm.NormalMixture("y", w, mu, sigma, observed=2 * numbers(100))


def random_walk() -> None:
    """A Gaussian random walk that is seen with noise."""
    step = pm.Exponential("step", 2)
    x = pm.GaussianRandomWalk("x", sigma=step, init_dist=pm.Normal.dist(0, 2), steps=99)
    pm.Normal("y", x, 0.5, observed=np.cumsum(numbers(100)) / 3)


def negative_binomial() -> None:
    """Counts by four numbers, with more spread than a Poisson distribution has."""
    x = numbers(150, 4)
    a, b = pm.Normal("a", 0, 2), pm.Normal("b", shape=4)
    alpha = pm.Gamma("alpha", 2, 1)
    seen = np.random.default_rng(3).poisson(3.0, 150)
    pm.NegativeBinomial("y", mu=pt.exp(a + pt.dot(x, b)), alpha=alpha, observed=seen)


def covariance() -> None:
    """Vectors of three normals, whose correlations have the prior of Lewandowski and others."""
    spread = pm.Exponential.dist(1.0, size=3)
    low, _, _ = pm.LKJCholeskyCov("low", n=3, eta=2.0, sd_dist=spread, compute_corr=True)
    mu = pm.Normal("mu", 0, 2, shape=3)
    pm.MvNormal("y", mu, chol=low, observed=numbers(50, 3))


def paths() -> Any:
    """Prey and predators, by 40 steps of Euler in a loop."""
    rates = pm.LogNormal("rates", np.log([0.6, 0.03, 0.8, 0.03]), 0.3, shape=4)
    start = pm.LogNormal("start", np.log(10.0), 0.5, shape=2)
    birth, eaten, death, born = [rates[i] for i in range(4)]

    def step(x: Any, y: Any, *_: Any) -> list[Any]:
        return [x + 0.1 * (birth * x - eaten * x * y), y + 0.1 * (born * x * y - death * y)]

    outputs = [start[0], start[1]]
    return pytensor.scan(
        step, outputs_info=outputs, non_sequences=[rates], n_steps=40, return_updates=False
    )


def counts(seed: int) -> Any:
    """How many are seen at each step."""
    return np.exp(2.5 + 0.3 * numbers(40, seed=seed))


def lotka_volterra() -> None:
    """Prey and predators, seen with errors."""
    sigma = pm.HalfNormal("sigma", 1)
    for name, path, seed in zip(("x", "y"), paths(), (4, 5)):
        pm.LogNormal(f"seen_{name}", pt.log(path), sigma, observed=counts(seed))


def potential() -> None:
    """The same density, given as a number: PyMC then does not look into the loop."""
    sigma = pm.HalfNormal("sigma", 1)
    for name, path, seed in zip(("x", "y"), paths(), (4, 5)):
        seen = pm.logp(pm.LogNormal.dist(pt.log(path), sigma), counts(seed))
        pm.Potential(f"seen_{name}", seen.sum())


MODELS: dict[str, Callable[[], None]] = {
    "eight schools": eight_schools,
    "radon": radon,
    "logistic regression": logistic_regression,
    "Gaussian process": gaussian_process,
    "mixture of three": mixture,
    "random walk": random_walk,
    "negative binomial": negative_binomial,
    "LKJ covariance": covariance,
    "Lotka-Volterra": lotka_volterra,
    "Lotka-Volterra, as a potential": potential,
}


def density(build: Callable[[], None]) -> tuple[list[Any], list[Any], list[Any]]:
    """The log density of a model with its gradient: inputs, outputs, and values near the start."""
    with pm.Model() as model:
        build()
    logp = model.logp()
    gradient = pm.pytensorf.gradient(logp, model.value_vars)
    rng, start = np.random.default_rng(6), model.initial_point(0)
    points = [np.asarray(start[v.name]) for v in model.value_vars]
    values = [x + 0.1 * rng.normal(size=x.shape) for x in points]
    return model.value_vars, [logp, gradient], values
