"""Ways to a posterior: gradients, slices, populations, variational, sequential; by processes."""

import multiprocessing
import pickle
from importlib.util import find_spec

import cloudpickle
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from checks import filled, logp, near, sample
from joblib import Parallel, delayed
from numpy.testing import assert_allclose
from scipy import stats

RNG = np.random.default_rng(28)
norm = stats.norm
DATA = norm.rvs(1.0, 2.0, size=60, random_state=RNG)


def _conjugate():
    """A normal mean with a normal prior: the posterior is known."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 1)
        pm.Normal("y", mu, 2, observed=DATA)
    return model


PRECISION = 1 + 60 / 4
MEAN, SD = DATA.sum() / 4 / PRECISION, PRECISION**-0.5


def maximum():
    """The most likely point, with its curvature."""
    model = _conjugate()
    found = pm.find_MAP(model=model, progressbar=False)
    assert_allclose(found["mu"], MEAN, rtol=1e-4)
    with pm.Model():
        n = pm.Poisson("n", 3.0)
        s = pm.HalfNormal("s", 1)
        pm.Normal("y", n, s, observed=[5.2, 4.9])
        found = pm.find_MAP(progressbar=False, method="powell")
    assert set(found) == {"n", "s", "s_log__"}
    second = model.compile_d2logp()({"mu": np.array(0.3)})
    assert_allclose(np.abs(second), [[PRECISION]], rtol=1e-6)


def by_nutpie():
    """A sampler of another library, which calls a function for value and gradient; new data."""
    if find_spec("nutpie") is None:
        return
    import nutpie

    with pm.Model(coords={"row": range(60), "half": ["a", "b"]}) as model:
        mu = pm.Normal("mu", 0, 1, dims="half")
        pm.Deterministic("double", 2 * mu, dims="half")
        y = pm.Data("y", DATA, dims="row")
        pm.Normal("seen", mu[np.repeat([0, 1], 30)], 2, observed=y, dims="row")
        trace = pm.sample(
            300, tune=300, chains=2, random_seed=1, nuts_sampler="nutpie", progressbar=False
        )
    halves = DATA.reshape(2, 30).sum(1) / 4 / (1 + 30 / 4)
    for i, half in enumerate(["a", "b"]):
        near(trace.posterior["mu"].sel(half=half), halves[i], 0.15)
        assert_allclose(trace.posterior["double"], 2 * trace.posterior["mu"])
    compiled = nutpie.compile_pymc_model(model).with_data(y=DATA + 10)
    trace = nutpie.sample(compiled, draws=300, tune=300, chains=1, seed=2, progress_bar=False)
    near(trace.posterior["mu"].sel(half="a"), halves[0] + 300 / 4 / (1 + 30 / 4), 0.15)


def variational():
    """Mean field and full rank."""
    model = _conjugate()
    with model:
        approx = pm.fit(
            3000,
            method="advi",
            progressbar=False,
            random_seed=1,
            obj_optimizer=pm.adam(learning_rate=0.02),
        )
        trace = approx.sample(300, random_seed=2)
    near(trace.posterior["mu"], MEAN, 0.15)
    assert_allclose(approx.std.eval(), SD, rtol=0.3)
    assert approx.hist[-100:].mean() < approx.hist[:100].mean()
    with model:
        full = pm.fit(
            500, method="fullrank_advi", progressbar=False, random_seed=1,
            obj_optimizer=pm.adam(learning_rate=0.05),
            callbacks=[pm.variational.callbacks.CheckParametersConvergence(every=200)],
        )  # fmt: skip
    near(full.sample(200, random_seed=1).posterior["mu"], MEAN, 0.2)


def minibatches():
    """Parts of the data at a time, of a total size."""
    x = RNG.normal(size=500)
    y = 1 + 2 * x + 0.5 * RNG.normal(size=500)
    batch_x, batch_y = pm.Minibatch(x, y, batch_size=50)
    with pm.Model() as model:
        b = pm.Normal("b", 0, 5, shape=2)
        pm.Normal("y", b[0] + b[1] * batch_x, 0.5, observed=batch_y, total_size=500)
        approx = pm.fit(
            800, progressbar=False, random_seed=1, obj_optimizer=pm.adam(learning_rate=0.05)
        )
    assert model.basic_RVs
    assert_allclose(approx.mean.eval(), [1, 2], atol=0.25)


def particles():
    """Stein's gradient descent of particles."""
    with _conjugate():
        approx = pm.fit(
            150, method="svgd", inf_kwargs={"n_particles": 30}, progressbar=False, random_seed=1,
            obj_optimizer=pm.adam(learning_rate=0.1),
        )  # fmt: skip
    values = approx.histogram.eval() if hasattr(approx, "histogram") else approx.sample(50)
    assert np.shape(values)[0] == 30
    near(values, MEAN, 0.2)


def sequential():
    """From the prior to the posterior, with two peaks."""

    def two_peaks(x):
        parts = [pm.logp(pm.Normal.dist(m, 0.3), x) + np.log(w) for m, w in ((-2, 0.3), (2, 0.7))]
        return pm.math.logaddexp(*parts)

    with pm.Model():
        x = pm.Uniform("x", -6, 6)
        pm.Potential("peaks", two_peaks(x))
        trace = pm.sample_smc(
            600,
            chains=1,
            cores=1,
            progressbar=False,
            random_seed=2,
            compute_convergence_checks=False,
        )
    values = trace.posterior["x"].values.ravel()
    assert 0.45 < (values > 0).mean() < 0.95
    near(values[values > 0], 2.0, 0.1)


def sequential_by_processes():
    """Several chains in several processes."""
    with _conjugate():
        trace = pm.sample_smc(
            150,
            chains=2,
            cores=2,
            progressbar=False,
            random_seed=2,
            compute_convergence_checks=False,
        )
    assert trace.posterior["mu"].shape == (2, 150)
    near(trace.posterior["mu"], MEAN, 0.15)


def without_gradients():
    """Slices, Metropolis with differential evolution, and several steps together."""
    model = _conjugate()
    with model:
        slices = pm.Slice()
    near(sample(model, 80, 50, step=slices).posterior["mu"], MEAN, 0.1)
    with model:
        evolution = pm.DEMetropolisZ()
    near(sample(model, 300, 200, step=evolution).posterior["mu"], MEAN, 0.15)
    with pm.Model() as mixed:
        a = pm.Normal("a")
        b = pm.Normal("b", a, 1, shape=2)
        k = pm.Bernoulli("k", 0.5)
        pm.Normal("y", b.sum() + k, 1, observed=2.0)
        steps = [pm.NUTS([a]), pm.Slice([b]), pm.BinaryMetropolis([k])]
    trace = sample(mixed, 40, 40, step=steps)
    assert trace.posterior["b"].shape == (1, 40, 2)
    assert set(np.unique(trace.posterior["k"])) <= {0, 1}


def population():
    """Chains that learn of each other."""
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 1, shape=2)
        pm.Normal("y", mu.sum(), 1, observed=1.0)
        step = pm.DEMetropolis()
    trace = sample(model, 60, 60, step=step, chains=5)
    assert trace.posterior["mu"].shape == (5, 60, 2)
    near(trace.posterior["mu"].sum("mu_dim_0"), 0.67, 0.25)


def run_by_hand():
    """A callback, points to start from, statistics, and what is returned without arviz."""
    seen = []
    model = _conjugate()
    trace = sample(
        model, 30, 20, return_inferencedata=False, initvals={"mu": 0.9}, init="adapt_diag",
        callback=lambda trace, draw: seen.append(draw.draw_idx), discard_tuned_samples=False,
    )  # fmt: skip
    assert len(trace) == 50
    assert len(seen) == 50
    assert trace["mu"].shape == (50,)
    assert (trace.get_sampler_stats("tree_size") > 0).all()
    near(trace["mu"][20:], MEAN, 0.1)
    with model:
        step = pm.NUTS(target_accept=0.9, max_treedepth=6)
        data = pm.sample(
            20, tune=30, chains=1, cores=1, step=step, progressbar=False, random_seed=1,
            compute_convergence_checks=False, idata_kwargs={"log_likelihood": True},
        )  # fmt: skip
        pm.compute_log_prior(data, progressbar=False)
    want = norm.logpdf(DATA, data.posterior["mu"].values[..., None], 2)
    assert_allclose(data.log_likelihood["y"].values, want, rtol=1e-6)
    assert_allclose(
        data.log_prior["mu"].values, norm.logpdf(data.posterior["mu"].values), rtol=1e-6
    )
    assert data.sample_stats["tree_depth"].max() <= 6


def chains_by_processes():
    """Chains in processes that are forked, and in ones that are started anew."""
    model = _conjugate()
    trace = sample(model, 30, 40, chains=2, cores=2)
    near(trace.posterior["mu"], MEAN, 0.15)
    assert not np.allclose(trace.posterior["mu"][0], trace.posterior["mu"][1])
    again = sample(model, 30, 40, chains=2, cores=2, mp_ctx=multiprocessing.get_context("spawn"))
    assert_allclose(again.posterior["mu"], trace.posterior["mu"])


def pickled():
    """Models and functions that are pickled, copied, and sent to other processes."""
    with pm.Model(coords={"k": range(3)}) as model:
        x = pm.Data("x", np.arange(3.0), dims="k")
        b = pm.Normal("b", 0, 1)
        s = pm.HalfNormal("s", 1)
        own = pm.CustomDist("own", b, logp=lambda value, b: -pt.sqr(value - b), shape=2)
        pm.Normal("y", b * x + own.sum(), s, observed=np.ones(3), dims="k")
    at = filled(model, {"b": 0.3, "own": [0.1, 0.2]})
    want = logp(model, at)
    again = cloudpickle.loads(cloudpickle.dumps(model))
    assert_allclose(logp(again, at), want)
    f = cloudpickle.loads(cloudpickle.dumps(model.compile_logp()))
    assert_allclose(f(at), want)
    g = pickle.loads(cloudpickle.dumps(model.logp_dlogp_function(ravel_inputs=True)))
    g.set_extra_values({})
    found, slopes_ = g(np.zeros(4))
    assert np.isfinite(found)
    assert slopes_.shape == (4,)
    x = pt.vector("x")
    h = pytensor.function([x], pt.exp(x).sum())
    assert_allclose(pickle.loads(pickle.dumps(h))([0.0, 1.0]), 1 + np.e)


def _density_at(value):
    """The log density of the conjugate model, computed elsewhere."""
    return logp(_conjugate(), {"mu": value})


def jobs():
    """Models that are built and evaluated by workers of joblib."""
    points = [0.0, 0.5, 1.0]
    found = Parallel(n_jobs=2)(delayed(_density_at)(p) for p in points)
    want = [norm.logpdf(p) + norm.logpdf(DATA, p, 2).sum() for p in points]
    assert_allclose(found, want, rtol=1e-6)
