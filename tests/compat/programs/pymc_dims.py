"""Models of `pymc.dims`, each beside the same model without names."""

import json
import logging
from collections.abc import Callable

import numpy as np
import pymc as pm
import pymc.dims as pmd

logging.disable(logging.CRITICAL)

named = pmd.as_xtensor
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(9, 2)), rng.normal(size=9)
GROUP = np.array([0, 1, 2, 0, 1, 2, 0, 1, 1])
COUNT, KIND = rng.poisson(2, size=9), rng.integers(0, 3, size=9)
COV = np.array([[2.0, 0.5], [0.5, 1.0]])
LENGTHS = {"obs": 9, "f": 2, "g": 3, "k": 3, "t": 4}
COORDS = {name: range(n) for name, n in LENGTHS.items()}
of_obs = {name: named(v, dims="obs") for name, v in [("y", Y), ("g", GROUP), ("k", KIND)]}


def regression() -> None:
    x = pmd.Data("x", X, dims=("obs", "f"))
    b, s = pmd.Normal("b", 0, 1, dims="f"), pmd.HalfNormal("s", 1)
    mu = pmd.Deterministic("mu", x.dot(b))
    pmd.Normal("y", mu, s, observed=pmd.Data("seen", Y, dims="obs"))


def regression_plain() -> None:
    b, s = pm.Normal("b", 0, 1, dims="f"), pm.HalfNormal("s", 1)
    pm.Normal("y", X @ b, s, observed=Y)


def hierarchy() -> None:
    mu, tau = pmd.Normal("mu", 0, 5), pmd.HalfNormal("tau", 2)
    a = mu + tau * pmd.Normal("z", dims="g")
    pmd.Poisson("y", pmd.math.exp(a.isel(g=of_obs["g"])), observed=named(COUNT, dims="obs"))


def hierarchy_plain() -> None:
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfNormal("tau", 2)
    a = mu + tau * pm.Normal("z", dims="g")
    pm.Poisson("y", pm.math.exp(a[GROUP]), observed=COUNT)


def zero_sum() -> None:
    a = pmd.ZeroSumNormal("a", 2.0, core_dims="g", dims=("t", "g"))
    pmd.Normal("y", a.mean("t").isel(g=of_obs["g"]), 1, observed=of_obs["y"])


def zero_sum_plain() -> None:
    a = pm.ZeroSumNormal("a", 2.0, n_zerosum_axes=1, shape=(4, 3))
    pm.Normal("y", a.mean(0)[GROUP], 1, observed=Y)


def categorical() -> None:
    alpha = named(np.array([1.0, 2.0, 3.0]), dims="k")
    w = pmd.Dirichlet("w", alpha, core_dims="k", dims=("g", "k"))
    pmd.Categorical("y", w.isel(g=of_obs["g"]), core_dims="k", observed=of_obs["k"])


def categorical_plain() -> None:
    w = pm.Dirichlet("w", np.array([1.0, 2.0, 3.0]), dims=("g", "k"))
    pm.Categorical("y", w[GROUP], observed=KIND)


def mixture() -> None:
    w = pmd.Dirichlet("w", named(np.ones(3), dims="k"), core_dims="k")
    mu = pmd.Normal("mu", named(np.array([-1.0, 0.0, 1.0]), dims="k"), 1)
    parts = pmd.math.log(w) - 0.5 * (of_obs["y"] - mu) ** 2
    pmd.Potential("y", pmd.math.logsumexp(parts, dim="k").sum())


def mixture_plain() -> None:
    w = pm.Dirichlet("w", np.ones(3))
    mu = pm.Normal("mu", np.array([-1.0, 0.0, 1.0]), 1)
    parts = pm.math.log(w) - 0.5 * (Y[:, None] - mu) ** 2
    pm.Potential("y", pm.math.logsumexp(parts, axis=-1).sum())


def vectors() -> None:
    zero, cov = named(np.zeros(2), dims="f"), named(COV, dims=("f", "f2"))
    b = pmd.MvNormal("b", zero, cov, core_dims=("f", "f2"), dims=("f", "g"))
    root = pmd.math.linalg.cholesky(cov, dims=("f", "f2"))
    pmd.MvNormal("e", b, chol=root, core_dims=("f", "f2"))


def vectors_plain() -> None:
    b = pm.MvNormal("b", np.zeros(2), COV, shape=(3, 2))
    pm.MvNormal("e", b, chol=np.linalg.cholesky(COV))


def censored() -> None:
    mu = pmd.Normal("mu")
    seen = named(np.clip(Y, -0.5, 0.5), dims="obs")
    pmd.Censored("y", pmd.Normal.dist(mu, 1.0), lower=-0.5, upper=0.5, observed=seen)


def censored_plain() -> None:
    y = pm.Normal.dist(pm.Normal("mu"), 1.0)
    pm.Censored("y", y, lower=-0.5, upper=0.5, observed=np.clip(Y, -0.5, 0.5))


def in_both_ways() -> None:
    a = pm.Normal("a", dims="g")
    b = pmd.Gamma("b", mu=pmd.math.exp(named(a, dims="g")), sigma=1.0)
    pm.Normal("y", b.values, 1, observed=np.ones(3))


def in_both_ways_plain() -> None:
    a = pm.Normal("a", dims="g")
    b = pm.Gamma("b", mu=pm.math.exp(a), sigma=1.0, dims="g")
    pm.Normal("y", b, 1, observed=np.ones(3))


def at_a_point(build: Callable[[], None], turned: tuple[str, ...] = ()) -> list[object]:
    """The log density and its gradient by each variable near the start, its axes turned."""
    with pm.Model(coords=COORDS) as model:
        build()
    point = {}
    for name, value in sorted(model.initial_point().items()):
        order = name in turned
        wave = np.sin(1 + np.arange(value.size)).reshape(value.T.shape if order else value.shape)
        point[name] = value + 0.3 * (wave.T if order else wave)
    logp, dlogp = float(model.compile_logp()(point)), model.compile_dlogp()(point)
    slopes, k = {}, 0
    for v in model.value_vars:
        size = point[v.name].size
        own = dlogp[k : k + size].reshape(point[v.name].shape)
        slopes[v.name], k = (own.T if v.name in turned else own).ravel().tolist(), k + size
    return [logp, slopes]


def of_data() -> dict[str, object]:
    """The regression at data of another length, and what is drawn of it."""
    with pm.Model(coords=COORDS) as model:
        regression()
        before = float(model.compile_logp()({"b": np.ones(2), "s_log__": 0.0}))
        trace = pm.sample(20, tune=20, chains=1, cores=1, progressbar=False, random_seed=1)
        seen = pm.sample_posterior_predictive(trace, progressbar=False, random_seed=1)
        pm.set_data({"x": X[:4], "seen": Y[:4]}, coords={"obs": range(4)})
        other = pm.sample_posterior_predictive(
            trace, predictions=True, progressbar=False, random_seed=1
        )
        after = float(model.compile_logp()({"b": np.ones(2), "s_log__": 0.0}))
    done = pm.do(model, {"b": np.array([1.0, 2.0])})
    return {
        "logp": [before, after],
        "b": list(trace.posterior["b"].dims),
        "seen": list(seen.posterior_predictive["y"].shape),
        "other": list(other.predictions["y"].shape),
        "done": pm.draw(done["mu"]).tolist(),
        "dims": {name: list(dims) for name, dims in model.named_vars_to_dims.items()},
        "text": model.str_repr(),
    }


pairs = {
    "regression": (regression, regression_plain),
    "hierarchy": (hierarchy, hierarchy_plain),
    "zero_sum": (zero_sum, zero_sum_plain),
    "categorical": (categorical, categorical_plain),
    "mixture": (mixture, mixture_plain),
    "censored": (censored, censored_plain),
    "in_both_ways": (in_both_ways, in_both_ways_plain),
}
models = {name: [at_a_point(one) for one in both] for name, both in pairs.items()}
models["vectors"] = [at_a_point(vectors, turned=("b",)), at_a_point(vectors_plain)]
print(json.dumps({"models": models, "data": of_data()}))
