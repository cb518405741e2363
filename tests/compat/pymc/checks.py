"""What the programs hold models against: densities written by hand, slopes, moments of draws."""

import numpy as np
import pymc as pm
from numpy.testing import assert_allclose
from scipy.special import expit

RTOL = 1e-6  # (PyTensor has some constants in single precision)


def filled(model, point):
    """The model's starting point, with other values where `point` has some."""
    start = model.initial_point(random_seed=1)
    for name, value in (point or {}).items():
        start[name] = np.asarray(value, start[name].dtype).reshape(start[name].shape)
    return start


def logp(model, point=None):
    """The log density."""
    return float(model.compile_logp()(filled(model, point)))


def density(model, want, point=None, rtol=RTOL, **how):
    """Hold the log density against `want(**values)`, and its slopes against differences."""
    at = filled(model, point)
    assert_allclose(logp(model, point), np.sum(want(**at)), rtol=rtol)
    slopes(model, point, **how)


def slopes(model, point=None, step=1e-5, rtol=1e-4, atol=1e-5):
    """Hold the derivatives along two directions against quotients of differences."""
    at, rng = filled(model, point), np.random.default_rng(11)
    names = [v.name for v in model.continuous_value_vars]
    f, found = model.compile_logp(), model.compile_dlogp()(at)
    for _ in range(2):
        ways = {n: rng.normal(size=np.shape(at[n])) for n in names}
        way = np.concatenate([np.ravel(ways[n]) for n in names])
        ends = [f({**at, **{n: at[n] + s * ways[n] for n in names}}) for s in (step, -step)]
        assert_allclose(found @ way, (ends[0] - ends[1]) / (2 * step), rtol=rtol, atol=atol)


def positive(law, z):
    """The log density of a law of positive numbers, of their logarithm."""
    return law.logpdf(np.exp(z)) + z


def unit(law, z):
    """The log density of a law on the unit interval, of the log odds."""
    p = expit(z)
    return law.logpdf(p) + np.log(p) + np.log1p(-p)


def sample(model, draws=50, tune=50, **how):
    """A short run of one chain."""
    given = {"chains": 1, "cores": 1, "random_seed": 4, "progressbar": False}
    given |= {"compute_convergence_checks": False, **how}
    with model:
        return pm.sample(draws=draws, tune=tune, **given)


def near(draws, mean, sd, wide=5.0):
    """Hold the mean of draws of one number against a mean, with room for errors of sampling."""
    values = np.asarray(draws, "float64")
    assert np.isfinite(values).all()
    assert abs(values.mean() - mean) < wide * sd, (values.mean(), mean, sd)


def moments(draws, mean, sd, axis=0):
    """Hold means and deviations of independent draws along an axis against those of their law."""
    values = np.asarray(draws, "float64")
    n = values.shape[axis]
    assert_allclose(values.mean(axis), mean, atol=float(6 * np.max(sd) / np.sqrt(n)))
    assert_allclose(values.std(axis), sd, rtol=8 / np.sqrt(n))
