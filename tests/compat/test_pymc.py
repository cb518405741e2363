"""PyMC, where it is installed (the extra `pymc`), runs on what is here: `docs/compat.md`."""

import json
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import beta, expit

from tests.compat.test_programs import PROGRAMS, compat

pytestmark = pytest.mark.skipif(
    find_spec("pymc") is None, reason='PyMC is not installed: pip install "rewrite-engine[pymc]"'
)
DATA = np.array([0.1, 1.2, -0.3, 0.8])


@pytest.fixture(scope="module")
def told() -> Any:
    """What the program prints."""
    done = compat(PROGRAMS / "pymc_model.py")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def density(at: Any) -> Any:
    """The log density of the model at (mu, log s)."""
    mu, s = at[0], np.exp(at[1])
    prior = stats.norm.logpdf(mu) + stats.gamma.logpdf(s, 2) + at[1]
    return prior + stats.norm.logpdf(DATA, mu, s).sum()


def slopes(f: Any, at: Any, step: float) -> Any:
    """Differences of a function along each of two numbers."""
    moves = step * np.eye(2)
    return np.array([(f(at + m) - f(at - m)) / (2 * step) for m in moves])


def test_the_density_and_its_derivatives(told: Any) -> None:
    at = np.array([0.3, -0.2])
    np.testing.assert_allclose(told["logp"], density(at), rtol=1e-12)
    np.testing.assert_allclose(told["dlogp"], slopes(density, at, 1e-6), rtol=1e-7)
    second = slopes(lambda x: slopes(density, x, 1e-4), at, 1e-4)
    np.testing.assert_allclose(told["d2logp"], second, rtol=1e-5)


def test_points_to_start_from(told: Any) -> None:
    assert told["start"] == pytest.approx({"mu": 0.0, "s_log__": np.log(2)})
    assert told["tree"] == {"top": 1.5, "a": 1.5, "b": 1.5}


def test_draws(told: Any) -> None:
    assert told["d"] == [0.0] * 5
    assert told["prior"] == [1, 7]
    assert told["seen"] == [1, 800, 4]
    assert told["steps"] == [1, 50]


def test_what_nuts_samples_has_the_means_of_the_posterior(told: Any) -> None:
    mu, s = np.meshgrid(np.linspace(-4, 4, 401), np.linspace(0.02, 8, 400), indexing="ij")
    logs = stats.norm.logpdf(mu) + stats.gamma.logpdf(s, 2)
    logs = logs + stats.norm.logpdf(DATA, mu[..., None], s[..., None]).sum(-1)
    weights = np.exp(logs - logs.max())
    want = [(x * weights).sum() / weights.sum() for x in (mu, s)]
    np.testing.assert_allclose(told["sampled"], want, atol=0.1)


def mvnormal(x: Any) -> Any:
    return stats.multivariate_normal.logpdf(x, [0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]])


def of_beta(z: Any) -> Any:
    """With the log of the slope of the sigmoid."""
    p = expit(z)
    return stats.beta.logpdf(p, 2, 3) + np.log(p * (1 - p))


def uniform(z: Any) -> Any:
    return -np.log(4) + np.log(4) + np.log(expit(z) * expit(-z))


def inflated(p: Any) -> Any:
    """Of 0, 3, 1: drawn with probability p, else 0."""
    chances = p * stats.poisson.pmf([0, 3, 1], 2.0) + (1 - p) * np.array([1, 0, 0])
    return np.log(chances).sum()


WANTED = {
    "HalfNormal": lambda x_log__: stats.halfnorm.logpdf(np.exp(x_log__), 0, 2.0) + x_log__,
    "Uniform": lambda x_interval__: uniform(x_interval__),
    "Beta": lambda x_logodds__: of_beta(x_logodds__),
    "Exponential": lambda x_log__: stats.expon.logpdf(np.exp(x_log__), 0, 0.5) + x_log__,
    "Bernoulli": lambda p_logodds__: (
        of_beta(p_logodds__) + stats.bernoulli.logpmf([0, 1, 1], expit(p_logodds__)).sum()
    ),
    "Poisson": lambda rate_log__: (
        stats.gamma.logpdf(np.exp(rate_log__), 2)
        + rate_log__
        + stats.poisson.logpmf([0, 3, 1], np.exp(rate_log__)).sum()
    ),
    "MvNormal": lambda x: mvnormal(x),
    "HalfCauchy": lambda x_log__: stats.halfcauchy.logpdf(np.exp(x_log__), 0, 2.0) + x_log__,
    "Weibull": lambda x_log__: stats.weibull_min.logpdf(np.exp(x_log__), 2.0, 0, 3.0) + x_log__,
    "NormalMixture": lambda x: np.log(
        0.3 * stats.norm.pdf(x) + 0.7 * stats.norm.pdf(np.asarray(x), 1.0, 2.0)
    ),
    "ZeroInflatedPoisson": lambda p_logodds__: of_beta(p_logodds__) + inflated(expit(p_logodds__)),
    "Censored": lambda m: (
        stats.norm.logpdf(m)
        + stats.norm.logpdf(0.2, m)
        + stats.norm.logcdf(-1 - np.asarray(m))
        + stats.norm.logsf(1 - np.asarray(m))
    ),
    "Truncated": lambda m: (
        stats.norm.logpdf(m)
        + stats.norm.logpdf([0.2, 0.3], m).sum()
        - 2 * np.log(stats.norm.cdf(1 - np.asarray(m)) - stats.norm.cdf(-1 - np.asarray(m)))
    ),
    "MvStudentT": lambda x: stats.multivariate_t.logpdf(x, [0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]], 5),
    "CustomDist": lambda: stats.lognorm.logpdf(2.0, 1, 0, np.e),
}


@pytest.mark.parametrize("name", [*WANTED, "Dirichlet"])
def test_distributions(told: Any, name: str) -> None:
    start, logp, dlogp, differences = told["models"][name]
    if name in WANTED:
        np.testing.assert_allclose(logp, WANTED[name](**start), rtol=1e-10)
    np.testing.assert_allclose(dlogp, differences, rtol=1e-5, atol=1e-7)
    assert told["drawn"][name]


def test_derived_densities(told: Any) -> None:
    want = [
        stats.lognorm.logpdf(2.0, 1.0), stats.norm.logpdf(2.0, 3, 2), stats.norm.logcdf(0.3),
        stats.norm.ppf(0.3),
    ]  # fmt: skip
    np.testing.assert_allclose(told["derived"], want, rtol=1e-9)


def test_models_by_other_means() -> None:
    """Densities of powers, names that are no identifiers, copies, products of functions, and which
    step is chosen for which variable.
    """
    done = compat(PROGRAMS / "pymc_means.py")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    root = 0.4 ** np.array([1 / 2, 1 / 3, -1])
    slope = root / 0.4 * np.array([1 / 2, 1 / 3, 1])
    both = np.array([2, 1, 1])  # (a square has two roots)
    np.testing.assert_allclose(found["powers"], np.log(both * stats.norm.pdf(root) * slope))
    density = stats.norm.logpdf(0) + 5 * stats.norm.logpdf(1)
    np.testing.assert_allclose([found["named"], found["copied"]], density)
    np.testing.assert_allclose(found["observed"], stats.norm.logpdf(0) + stats.norm.logpdf(1))
    assert found["product"] == "Prod"
    assert found["steps"] == {
        "CategoricalGibbsMetropolis": ["c"],
        "BinaryGibbsMetropolis": ["b"],
        "Metropolis": ["n"],
        "NUTS": ["x", "g"],
    }


def test_densities_that_ask_for_shapes_of_draws() -> None:
    """Random walks, regressions on earlier values, mixtures of one component."""
    done = compat(PROGRAMS / "pymc_walks.py")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    at, norm = np.array([0.3, -0.2, 0.5, 1.1]), stats.norm.logpdf
    steps = np.diff(at.reshape(2, 2), axis=0) - 1
    told = 0.4 * at[1:3] - 0.3 * at[:2]
    prior, means = norm([0.4, -0.3]).sum(), np.array([0.5, -1.0])
    parts = np.log([0.3, 0.7]) + norm(at[:, None], means)
    want = {
        "walk": norm(0.3, 0, 2) + norm(np.diff(at), 0.1, 0.5).sum(),
        "walk of vectors": norm(at[:2]).sum() + norm(steps).sum(),
        "regression": prior + norm(at[:2], 0, 2).sum() + norm(at[2:], told, 0.5).sum(),
        "mixture": norm(means).sum() + np.logaddexp(*parts.T).sum(),
    }
    assert found == pytest.approx(want, rel=1e-12)


def test_elements_of_variables_and_missing_values() -> None:
    done = compat(PROGRAMS / "pymc_elements.py")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    norm, mu = stats.norm.logpdf, np.array([0.1, 0.2])
    y, z = np.array([[0.3, 0.5], [-0.2, 1.1]]), np.array([[0.3, 0.6], [-0.7, 1.1]])
    prior, seen, vectors = norm(mu).sum(), norm(y, mu, 2), norm(z, mu)
    apart = [(mu - y[0])[1] / 4, *(mu - z)[[0, 1], [1, 0]]]
    want = {
        "item": [norm(0.3, 1, 2)],
        "sized": [norm(0.3, 0, 2)],
        "slice": norm([0.3, 0.4], [1, 2], 2),
        "mask": norm([0.3, 0.4], [0, 2], 2),
        "row": [stats.multivariate_normal.logpdf([0.3, 0.4], [0, 0], [[2, 0.5], [0.5, 1]])],
        "turned": np.ravel(norm([[0, 1], [1, 2], [2, 3]], np.arange(3.0)[:, None], 2)),
        "missing": prior + seen.sum() + vectors.sum(),
        "slopes": [*(((y - mu) / 4).sum(0) + (z - mu).sum(0) - mu), *apart],
    }
    for name, value in want.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, err_msg=name)
    shapes = {"mu": [2], "y": [2, 2], "y_unobserved": [1], "z": [2, 2], "z_unobserved": [2]}
    assert found["drawn"] == shapes


def test_covariances() -> None:
    """Lewandowski, Kurowicka & Joe (2009) have the densities of correlations, and their laws."""
    done = compat(PROGRAMS / "pymc_matrices.py")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    whole = 2**11 * beta(2.5, 2.5) ** 2 * beta(2, 2)
    assert found["at the unit matrix"] == pytest.approx(-np.log(whole), rel=1e-9)
    np.testing.assert_allclose(found["slopes"], found["differences"], rtol=1e-6, atol=1e-8)
    near = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    precision = 2 * (np.diag(near.sum(0)) - 0.5 * near)
    points = np.array([[0.1, 0.2, 0.3, 0.4], [-1.0, 0.5, 0.0, 2.0]])
    mean, cov = [0.5, 0, 0, 1], np.linalg.inv(precision)
    want = stats.multivariate_normal.logpdf(points, mean, cov)
    assert np.subtract(*found["neighbours"]) == pytest.approx(np.subtract(*want), rel=1e-9)
    for n in (2, 3):  # for two, the loop that makes the rows behind the second has no steps
        np.testing.assert_allclose(found[f"of {n}"], 1)
        assert found[f"variance of {n}"] == pytest.approx(1 / (n + 3), rel=0.15)
