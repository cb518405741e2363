"""Models of PyMC: densities and their gradients at a point, draws, a sampler. Prints JSON."""

import json
import logging

import numpy as np
import pymc as pm

logging.disable(logging.INFO)
DATA = np.array([0.1, 1.2, -0.3, 0.8])
told = {}

with pm.Model() as model:
    mu = pm.Normal("mu")
    s = pm.Gamma("s", 2, 1)
    d = pm.Deterministic("d", mu * 2)
    y = pm.Normal("y", mu, s, observed=DATA)
point = {"mu": np.array(0.3), "s_log__": np.array(-0.2)}
told["start"] = {name: float(value) for name, value in model.initial_point().items()}
told["logp"] = float(model.compile_logp()(point))
told["dlogp"] = model.compile_dlogp()(point).tolist()
told["d2logp"] = model.compile_d2logp(negate_output=False)(point).tolist()
told["d"] = pm.draw([mu, d], draws=5, random_seed=1)
told["d"] = [float(x) for x in told["d"][1] - 2 * told["d"][0]]
with model:
    trace = pm.sample(
        800, tune=400, chains=1, cores=1, random_seed=1, progressbar=False,
        compute_convergence_checks=False,
    )  # fmt: skip
    seen = pm.sample_posterior_predictive(trace, progressbar=False, random_seed=1)
    steps = pm.sample(
        50, tune=50, chains=1, cores=1, random_seed=1, progressbar=False, step=pm.Metropolis(),
        compute_convergence_checks=False,
    )  # fmt: skip
told["sampled"] = [float(trace.posterior[name].mean()) for name in ("mu", "s")]
told["seen"] = list(seen.posterior_predictive["y"].shape)
told["steps"] = list(steps.posterior["mu"].shape)
told["prior"] = list(pm.sample_prior_predictive(7, model=model, random_seed=1).prior["s"].shape)

with pm.Model() as tree:  # the start of one is that of another, by name
    top = pm.Normal("top", 1.5, 1)
    pm.Normal("a", top, 1)
    pm.Normal("b", top, 1)
told["tree"] = {name: float(value) for name, value in tree.initial_point().items()}

MODELS = {
    "HalfNormal": lambda: pm.HalfNormal("x", 2.0),
    "Uniform": lambda: pm.Uniform("x", -1, 3),
    "Beta": lambda: pm.Beta("x", 2, 3),
    "Exponential": lambda: pm.Exponential("x", 2.0),
    "Bernoulli": lambda: pm.Bernoulli("x", pm.Beta("p", 2, 3), observed=[0, 1, 1]),
    "Poisson": lambda: pm.Poisson("x", pm.Gamma("rate", 2, 1), observed=[0, 3, 1]),
    "MvNormal": lambda: pm.MvNormal("x", [0.0, 1.0], cov=[[2.0, 0.5], [0.5, 1.0]]),
    "Dirichlet": lambda: pm.Dirichlet("x", [1.0, 2.0, 3.0]),
    "HalfCauchy": lambda: pm.HalfCauchy("x", 2.0),
    "Weibull": lambda: pm.Weibull("x", 2.0, 3.0),
    "NormalMixture": lambda: pm.NormalMixture("x", [0.3, 0.7], [0.0, 1.0], [1.0, 2.0]),
    "ZeroInflatedPoisson": lambda: pm.ZeroInflatedPoisson(
        "x", pm.Beta("p", 2, 3), 2.0, observed=[0, 3, 1]
    ),
    "Censored": lambda: pm.Censored(
        "x", pm.Normal.dist(pm.Normal("m"), 1), -1, 1, observed=[-1, 0.2, 1]
    ),
    "Truncated": lambda: pm.Truncated(
        "x", pm.Normal.dist(pm.Normal("m"), 1), -1, 1, observed=[0.2, 0.3]
    ),
    "MvStudentT": lambda: pm.MvStudentT("x", nu=5, mu=[0.0, 1.0], scale=[[2.0, 0.5], [0.5, 1.0]]),
    "CustomDist": lambda: pm.CustomDist(
        "x", 1.0, dist=lambda m, size: pm.math.exp(pm.Normal.dist(m, 1, size=size)), observed=[2.0]
    ),
}
told["models"] = {}
told["drawn"] = {}
for name, build in MODELS.items():
    with pm.Model() as one:
        made = build()
    told["drawn"][name] = bool(np.isfinite(pm.draw(made, random_seed=1)).all())
    start = {k: v + 0.25 for k, v in one.initial_point().items()}
    f, slopes = one.compile_logp(), []
    for key in start:
        for i in np.ndindex(start[key].shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = np.array(start[key])
                moved[i] += step
                ends.append(float(f(start | {key: moved})))
            slopes.append((ends[0] - ends[1]) / 2e-6)
    told["models"][name] = [
        {k: np.asarray(v).tolist() for k, v in start.items()}, float(f(start)),
        one.compile_dlogp()(start).tolist(), slopes,
    ]  # fmt: skip

told["derived"] = [
    float(pm.logp(pm.math.exp(pm.Normal.dist(0.0, 1.0)), 2.0).eval()),
    float(pm.logp(pm.Normal.dist(0.0, 1.0) * 2 + 3, 2.0).eval()),
    float(pm.logcdf(pm.Normal.dist(0.0, 1.0), 0.3).eval()),
    float(pm.icdf(pm.Normal.dist(0.0, 1.0), 0.3).eval()),
]
print(json.dumps(told))
