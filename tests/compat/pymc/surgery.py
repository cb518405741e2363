"""Models that are changed, copied, frozen; and what is predicted with other data."""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
from checks import density, filled, logp, moments, near, positive, sample
from numpy.testing import assert_allclose
from pymc.model.fgraph import clone_model
from pymc.model.transform import (
    change_value_transforms,
    extract_deterministics,
    freeze_dims_and_data,
    insert_deterministics,
    prune_vars_detached_from_observed,
    remove_minibatched_nodes,
    remove_value_transforms,
)
from scipy import stats

RNG = np.random.default_rng(27)
norm = stats.norm


def _causal(size=None):
    """A confounder, a treatment, an outcome."""
    with pm.Model() as model:
        b = pm.Normal("b", 0, 1, shape=3)
        c = pm.Normal("c", 0, 1, shape=size)
        z = pm.Bernoulli("z", p=pm.math.invlogit(2 * c), shape=size)
        mu = pm.Deterministic("mu", b[0] + b[1] * z + b[2] * c)
        pm.Normal("y", mu, 0.5, shape=size)
    return model


def intervention():
    """What would be if the treatment were set: `do`; with parameters learnt by `observe`."""
    truth = pm.do(_causal(40), {"b": np.array([0.5, 1.0, -1.0])})
    assert "b" in [v.name for v in truth.data_vars]
    c, z, y = pm.draw([truth["c"], truth["z"], truth["y"]], random_seed=3)
    seen = pm.observe(_causal(40), {"c": c, "z": z, "y": y})
    assert {v.name for v in seen.observed_RVs} == {"c", "z", "y"}
    assert [v.name for v in seen.free_RVs] == ["b"]

    def want(b):
        found = norm.logpdf(b).sum() + norm.logpdf(c).sum()
        found += stats.bernoulli.logpmf(z, 1 / (1 + np.exp(-2 * c))).sum()
        return found + norm.logpdf(y, b[0] + b[1] * z + b[2] * c, 0.5).sum()

    density(seen, want, {"b": [0.4, 0.9, -0.8]})
    trace = sample(seen, 60, 80)
    near(trace.posterior["b"].isel(b_dim_0=1), 1.0, 0.25)
    effects = []
    for value in (0, 1):
        with pm.do(seen, {"z": np.full(40, value)}, prune_vars=True):
            drawn = pm.sample_posterior_predictive(
                trace, var_names=["mu"], predictions=True, progressbar=False, random_seed=1
            )
        effects.append(float(drawn.predictions["mu"].mean()))
    near(effects[1] - effects[0], float(trace.posterior["b"].isel(b_dim_0=1).mean()), 1e-6)


def observed_later():
    """A prior that becomes a likelihood, with named dimensions, and part of a vector."""
    with pm.Model(coords={"unit": ["a", "b", "c"]}) as model:
        mu = pm.Normal("mu", 0, 2)
        sigma = pm.HalfNormal("sigma", 1)
        pm.Normal("y", mu, sigma, dims="unit")
    data = np.array([0.5, 1.0, 1.7])
    seen = pm.observe(model, {"y": data})
    assert model.observed_RVs == []
    assert seen.named_vars_to_dims["y"] == ("unit",)

    def want(mu, sigma_log__):
        found = norm.logpdf(mu, 0, 2) + positive(stats.halfnorm(), sigma_log__)
        return found + norm.logpdf(data, mu, np.exp(sigma_log__)).sum()

    density(seen, want, {"mu": 0.8, "sigma_log__": -0.3})
    fixed = pm.do(seen, {"mu": 1.0, "sigma": 0.5})
    assert_allclose(logp(fixed), norm.logpdf(data, 1.0, 0.5).sum(), rtol=1e-6)
    with fixed:
        drawn = pm.sample_prior_predictive(200, random_seed=1)
    moments(drawn.prior_predictive["y"].values[0], 1.0, 0.5)


def transforms_changed():
    with pm.Model() as model:
        p = pm.Beta("p", 2, 3)
        s = pm.HalfNormal("s", 1)
        pm.Normal("y", p, s, observed=0.3)
    plain = remove_value_transforms(model)
    assert {v.name for v in plain.value_vars} == {"p", "s"}
    want = stats.beta.logpdf(0.4, 2, 3) + stats.halfnorm.logpdf(0.8) + norm.logpdf(0.3, 0.4, 0.8)
    assert_allclose(logp(plain, {"p": 0.4, "s": 0.8}), want, rtol=1e-6)
    half = change_value_transforms(model, {"p": None})
    assert {v.name for v in half.value_vars} == {"p", "s_log__"}
    assert_allclose(logp(half, {"p": 0.4, "s_log__": np.log(0.8)}), want + np.log(0.8), rtol=1e-6)


def copied():
    """Copies are models of their own, with data and dimensions of their own."""
    with pm.Model(coords={"obs": range(4)}) as model:
        x = pm.Data("x", np.arange(4.0), dims="obs")
        b = pm.Normal("b", 0, 1)
        mu = pm.Deterministic("mu", b * x, dims="obs")
        pm.Potential("pull", -pt.sqr(b))
        pm.Normal("y", mu, 1.0, observed=np.ones(4), dims="obs")
    copies = [clone_model(model), model.copy()]
    want = norm.logpdf(0.3) - 0.09 + norm.logpdf(1, 0.3 * np.arange(4)).sum()
    for copy in copies:
        assert_allclose(logp(copy, {"b": 0.3}), want, rtol=1e-6)
        assert copy.named_vars_to_dims == model.named_vars_to_dims
    with copies[0]:
        pm.set_data({"x": np.zeros(4)})
    assert_allclose(logp(model, {"b": 0.3}), want, rtol=1e-6)
    frozen = freeze_dims_and_data(model)
    assert frozen["x"].type.shape == (4,)
    assert frozen["mu"].type.shape == (4,)
    assert_allclose(logp(frozen, {"b": 0.3}), want, rtol=1e-6)


def deterministics_moved():
    """Deterministics that are taken out and put back; what no data needs is left out."""
    with pm.Model() as model:
        x = pm.Data("x", np.arange(3.0))
        b = pm.Normal("b", 0, 1)
        mu = pm.Deterministic("mu", x * b)
        pm.Deterministic("twice", 2 * mu)
        pm.Normal("idle", b, 1)
        pm.Normal("y", mu, 1, observed=np.ones(3))
    bare, taken = extract_deterministics(model)
    assert bare.deterministics == []
    assert len(taken) == 2
    at = {"b": 0.4, "idle": 0.0}
    assert_allclose(logp(bare, at), logp(model, at))
    again = insert_deterministics(bare, taken)
    assert [v.name for v in again.deterministics] == ["mu", "twice"]
    assert_allclose(again["twice"].eval({again["b"]: 0.5}), [0.0, 1.0, 2.0])
    pruned = prune_vars_detached_from_observed(model)
    assert "idle" not in pruned.named_vars
    assert_allclose(
        logp(pruned, {"b": 0.4}), norm.logpdf(0.4) + norm.logpdf(1, 0.4 * np.arange(3)).sum()
    )


def new_coordinates():
    """Predictions for other observations and groups, by name."""
    frame = pd.DataFrame({"group": list("aabbcc"), "x": np.arange(6.0), "y": np.arange(6.0) + 1})
    index, groups = pd.factorize(frame["group"])
    with pm.Model(coords={"group": groups, "obs": frame.index}) as model:
        g = pm.Data("g", index, dims="obs")
        x = pm.Data("x", frame["x"], dims="obs")
        y = pm.Data("y_data", frame["y"], dims="obs")
        a = pm.Normal("a", 0, 5, dims="group")
        b = pm.Normal("b", 0, 5)
        sigma = pm.HalfNormal("sigma", 1)
        mu = pm.Deterministic("mu", a[g] + b * x, dims="obs")
        pm.Normal("y", mu, sigma, observed=y, dims="obs")
    at = {"a": [1.0, 1.1, 0.9], "b": 0.9}
    first = logp(model, at)
    trace = sample(model, 30, 60)
    with model:
        new = {"g": [0, 2], "x": [10.0, 20.0], "y_data": [0.0, 0.0]}
        pm.set_data(new, coords={"obs": ["u", "v"]})
        drawn = pm.sample_posterior_predictive(
            trace, var_names=["mu", "y"], predictions=True, progressbar=False, random_seed=1
        )
        assert drawn.predictions["y"].sizes == {"chain": 1, "draw": 30, "obs": 2}
        assert list(drawn.predictions["obs"].values) == ["u", "v"]
        post = trace.posterior
        want = post["a"].sel(group="c") + 20 * post["b"]
        assert_allclose(drawn.predictions["mu"].sel(obs="v"), want)
        pm.set_data(
            {"g": index, "x": frame["x"], "y_data": frame["y"]}, coords={"obs": frame.index}
        )
    assert_allclose(logp(model, at), first)
    assert model.dim_lengths["obs"].eval() == 6


def zero_sums():
    """Effects that add up to 0 along one or two dimensions, of changing lengths."""
    with pm.Model(coords={"row": range(3), "column": range(4)}) as model:
        one = pm.ZeroSumNormal("one", 2.0, dims="row")
        two = pm.ZeroSumNormal("two", 1.0, n_zerosum_axes=2, dims=("row", "column"))
        pm.Normal("y", one[:, None] + two, 1, observed=np.zeros((3, 4)))
    start = filled(model, {})
    assert {k: v.shape for k, v in start.items()} == {
        "one_zerosum__": (2,),
        "two_zerosum__": (2, 3),
    }
    drawn = pm.draw([one, two], 200, random_seed=2)
    assert_allclose(drawn[0].sum(-1), 0, atol=1e-9)
    assert_allclose(drawn[1].sum((-1, -2)), 0, atol=1e-9)
    moments(drawn[0][:, 0], 0, 2 * np.sqrt(2 / 3))
    zeros = norm.logpdf(0, 0, 2) * 2 + norm.logpdf(0) * 6 + 12 * norm.logpdf(0)
    assert_allclose(logp(model), zeros, rtol=1e-6)
    with pm.Model(coords={"k": range(3)}) as other:
        pm.Data("k_data", np.zeros(3), dims="k")
        pm.ZeroSumNormal("z", 1.0, dims="k")
        other.set_data("k_data", np.zeros(7), coords={"k": range(7)})
    assert other.initial_point()["z_zerosum__"].shape == (6,)
    assert pm.draw(other["z"], random_seed=1).shape == (7,)
    assert_allclose(logp(other), 6 * norm.logpdf(0), rtol=1e-6)


def missing_values():
    """Holes in data, of one law and of vectors; and in what explains."""
    y = np.array([0.3, np.nan, 1.2, np.nan, 0.8])
    x = np.ma.masked_invalid([0.1, 0.5, np.nan, 1.0, 1.5])
    with pm.Model() as model:
        m = pm.Normal("m", 0, 1)
        explains = pm.Normal("x", m, 0.5, observed=x)
        b = pm.Normal("b", 0, 1)
        pm.Normal("y", b * explains, 0.3, observed=y)

    def want(m, b, x_unobserved, y_unobserved):
        full, seen = np.array(x.filled(0.0)), np.array(y)
        full[2], seen[[1, 3]] = x_unobserved[0], y_unobserved
        found = norm.logpdf([m, b]).sum() + norm.logpdf(full, m, 0.5).sum()
        return found + norm.logpdf(seen, b * full, 0.3).sum()

    density(model, want, {"m": 0.4, "b": 0.7, "x_unobserved": [0.9], "y_unobserved": [0.2, 0.5]})
    trace = sample(model, 40, 60)
    post = trace.posterior
    assert_allclose(
        post["y"].isel(y_dim_0=[0, 2, 4]).values, np.broadcast_to([0.3, 1.2, 0.8], (1, 40, 3))
    )
    assert_allclose(
        post["y"].isel(y_dim_0=1).values, post["y_unobserved"].isel(y_unobserved_dim_0=0).values
    )


def all_of_the_data():
    """Batches of data, and the model of all of them: also where lengths are read of a batch."""
    data = np.arange(20.0)
    rows = np.arange(60.0).reshape(20, 3) / 60

    def means(batch):
        mu = pm.Normal("mu") + batch.mean() * pt.ones(batch.shape[0])
        pm.Normal("y", mu, 1, observed=batch, total_size=20)

    def lines():
        x, y = pm.Minibatch(rows, data, batch_size=5)
        b = pm.Normal("b", dims="k")
        pm.Normal("y", x @ b, x.shape[0] / 10, observed=y, total_size=20)

    with pm.Model() as one:
        means(pm.Minibatch(data, batch_size=5))
    with pm.Model(coords={"k": range(3)}) as other:
        lines()
    of_means = lambda mu: norm.logpdf(mu) + norm.logpdf(data, mu + 9.5).sum()
    density(remove_minibatched_nodes(one), of_means, {"mu": 0.3})
    of_lines = lambda b: norm.logpdf(b).sum() + norm.logpdf(data, rows @ b, 2.0).sum()
    density(remove_minibatched_nodes(other), of_lines, {"b": [1.0, -0.5, 2.0]})
