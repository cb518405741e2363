"""The model of radon in houses, in PyMC: its log density with gradient."""

# ruff: noqa: I001 (PyMC comes after what it shall use)

import numpy as np

import rewrite_engine as rw
import rewrite_engine.compat.pytensor
import pymc as pm

rng = np.random.default_rng(0)
COUNTIES, N = 12, 100
county, floor = rng.integers(0, COUNTIES, N), rng.integers(0, 2, N)
with pm.Model() as model:
    mu_a = pm.Normal("mu_a", 0.0, 1.0)
    sigma_a = pm.Exponential("sigma_a", 1.0)
    mu_b = pm.Normal("mu_b", 0.0, 1.0)
    sigma_b = pm.Exponential("sigma_b", 1.0)
    a = pm.Normal("a", mu_a, sigma_a, shape=COUNTIES)
    b = pm.Normal("b", mu_b, sigma_b, shape=COUNTIES)
    sigma = pm.Exponential("sigma", 1.0)
    pm.Normal("y", a[county] + b[county] * floor, sigma, observed=rng.normal(size=N))
logp = model.logp()
g = rw.function(model.value_vars, [logp, *rw.grad(logp, model.value_vars)], name="radon")
g(**{v.name: model.initial_point()[v.name] for v in model.value_vars})
