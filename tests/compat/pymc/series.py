"""Series in time: random walks, volatility, regressions on what was before, trends."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from checks import density, logp, moments, near, positive, sample, slopes
from numpy.testing import assert_allclose
from scipy import special, stats

RNG = np.random.default_rng(23)
norm = stats.norm
RETURNS = stats.t.rvs(5, scale=0.3, size=25, random_state=RNG)


def volatility():
    """Stochastic volatility of returns, along a dimension of days."""
    with pm.Model(coords={"time": np.arange(25)}) as model:
        step_size = pm.Exponential("step_size", 10)
        h = pm.GaussianRandomWalk("h", sigma=step_size, dims="time", init_dist=pm.Normal.dist(0, 1))
        nu = pm.Exponential("nu", 0.1)
        spread = pm.Deterministic("spread", pm.math.exp(h), dims="time")
        pm.StudentT("returns", nu=nu, sigma=spread, observed=RETURNS, dims="time")

    def want(step_size_log__, h, nu_log__):
        found = positive(stats.expon(0, 0.1), step_size_log__)
        found += positive(stats.expon(0, 10), nu_log__)
        found += norm.logpdf(h[0]) + norm.logpdf(np.diff(h), 0, np.exp(step_size_log__)).sum()
        return found + stats.t.logpdf(RETURNS, np.exp(nu_log__), 0, np.exp(h)).sum()

    at = {"step_size_log__": -1.0, "h": np.linspace(-1.5, -0.8, 25), "nu_log__": 1.5}
    density(model, want, at)
    trace = sample(model, 30, 50)
    assert trace.posterior["spread"].sizes["time"] == 25


def walk_of_new_length():
    """A dimension that gets another length, for draws."""
    with pm.Model(coords={"time": range(5)}) as model:
        x = pm.Data("x", np.arange(5.0), dims="time")
        walk = pm.GaussianRandomWalk(
            "walk", mu=0.5, sigma=1.0, init_dist=pm.Normal.dist(), dims="time"
        )
        pm.Normal("y", walk + x, 0.1, dims="time")
    assert_allclose(logp(model, {"walk": np.zeros(5), "y": np.arange(5.0)}), (
        norm.logpdf(0) + 4 * norm.logpdf(0.5) + 5 * norm.logpdf(0, 0, 0.1)
    ), rtol=1e-6)  # fmt: skip
    assert pm.draw(walk, random_seed=1).shape == (5,)
    with model:
        pm.set_data({"x": np.zeros(300)}, coords={"time": range(300)})
        drawn = pm.sample_prior_predictive(20, random_seed=4)
    assert drawn.prior["walk"].shape == (1, 20, 300)
    moments(np.diff(drawn.prior["walk"].values[0]).ravel(), 0.5, 1.0)


def autoregression():
    """An order of two with a constant; steps ahead by another model."""
    y = np.array([0.1, 0.4, 0.2, 0.7, 0.9, 0.5, 0.6])
    with pm.Model(coords={"time": range(7)}) as model:
        rho = pm.Normal("rho", 0, 0.5, shape=3)
        sigma = pm.HalfNormal("sigma", 1)
        pm.AR(
            "y",
            rho,
            sigma=sigma,
            constant=True,
            init_dist=pm.Normal.dist(0, 2),
            observed=y,
            dims="time",
        )

    def want(rho, sigma_log__):
        found = norm.logpdf(rho, 0, 0.5).sum() + positive(stats.halfnorm(), sigma_log__)
        mu = rho[0] + rho[1] * y[1:-1] + rho[2] * y[:-2]
        found += norm.logpdf(y[:2], 0, 2).sum()
        return found + norm.logpdf(y[2:], mu, np.exp(sigma_log__)).sum()

    density(model, want, {"rho": [0.2, 0.5, -0.1], "sigma_log__": -0.5})
    trace = sample(model)
    with pm.Model(coords={"ahead": range(4)}):
        rho = pm.Flat("rho", shape=3)
        sigma = pm.HalfFlat("sigma")
        pm.AR(
            "later", rho, sigma=sigma, constant=True, init_dist=pm.DiracDelta.dist(y[-2:]),
            shape=6,
        )  # fmt: skip
        drawn = pm.sample_posterior_predictive(
            trace, var_names=["later"], predictions=True, progressbar=False, random_seed=1
        )
    later = drawn.predictions["later"].values
    assert later.shape == (1, 50, 6)
    assert_allclose(later[..., :2], np.broadcast_to(y[-2:], (1, 50, 2)))


def latent_autoregression():
    """What is drawn inside a loop: prior draws have the moments of the process."""
    with pm.Model() as model:
        x = pm.AR("x", rho=[0.8], sigma=0.6, init_dist=pm.Normal.dist(0, 1), steps=60)
        pm.Poisson("n", pm.math.exp(x), observed=np.ones(61, int))

    def want(x):
        found = norm.logpdf(x[0]) + norm.logpdf(x[1:], 0.8 * x[:-1], 0.6).sum()
        return found + stats.poisson.logpmf(1, np.exp(x)).sum()

    density(model, want, {"x": np.sin(np.arange(61.0))})
    drawn = pm.draw(x, 300, random_seed=2)
    moments(drawn[:, -1], 0.0, 1.0)
    moments(drawn[:, 40] - 0.8 * drawn[:, 39], 0.0, 0.6)


def diffusion():
    """A stochastic differential equation, by Euler and Maruyama."""
    with pm.Model() as model:
        k = pm.HalfNormal("k", 1)
        x = pm.EulerMaruyama(
            "x", dt=0.1, sde_fn=lambda x, k: (-k * x, 0.5), sde_pars=(k,),
            init_dist=pm.Normal.dist(0, 1), shape=12,
        )  # fmt: skip
        pm.Normal("y", x, 0.2, observed=np.linspace(1, 0, 12))

    def want(k_log__, x):
        found = positive(stats.halfnorm(), k_log__) + norm.logpdf(x[0])
        mu, sd = x[:-1] - 0.1 * np.exp(k_log__) * x[:-1], np.sqrt(0.1) * 0.5
        return (
            found
            + norm.logpdf(x[1:], mu, sd).sum()
            + norm.logpdf(np.linspace(1, 0, 12), x, 0.2).sum()
        )

    density(model, want, {"k_log__": 0.2, "x": np.linspace(0.9, 0.2, 12)})
    with model:
        drawn = pm.sample_prior_predictive(10, random_seed=1)
    assert drawn.prior["x"].shape == (1, 10, 12)


def garch():
    with pm.Model() as model:
        omega = pm.HalfNormal("omega", 1)
        alpha = pm.Beta("alpha", 2, 5)
        pm.GARCH11(
            "y", omega=omega, alpha_1=alpha, beta_1=0.3, initial_vol=0.5, observed=RETURNS[:8]
        )

    def want(omega_log__, alpha_logodds__):
        omega, alpha = np.exp(omega_log__), special.expit(alpha_logodds__)
        found = positive(stats.halfnorm(), omega_log__)
        found += stats.beta.logpdf(alpha, 2, 5) + np.log(alpha * (1 - alpha))
        vol = [0.5]
        for r in RETURNS[:7]:
            vol.append(np.sqrt(omega + alpha * r**2 + 0.3 * vol[-1] ** 2))
        return found + norm.logpdf(RETURNS[:8], 0, vol).sum()

    density(model, want, {"omega_log__": -1.0, "alpha_logodds__": -0.5})
    with model:
        assert pm.draw(model["y"], 3, random_seed=1).shape == (3, 8)


def trend_and_seasons():
    """A trend whose slope changes, and a Fourier series of the year."""
    t = np.linspace(0, 1, 36)
    changes, order = np.array([0.25, 0.5, 0.75]), 2
    waves = 2 * np.pi * np.outer(t, np.arange(1, order + 1)) * 3
    y = 1 + t - 2 * np.maximum(t - 0.5, 0) + 0.3 * np.sin(waves[:, 0])
    coords = {"change": range(3), "wave": [f"{f}{i}" for f in ("sin", "cos") for i in range(order)]}
    with pm.Model(coords=coords) as model:
        time = pm.Data("time", t, dims="month")
        k, m = pm.Normal("k", 0, 2), pm.Normal("m", 0, 2)
        delta = pm.Laplace("delta", 0, 0.5, dims="change")
        after = time[:, None] > changes
        trend = pm.Deterministic("trend", (k + pt.dot(after * 1.0, delta)) * time + (
            m + pt.dot(after * 1.0, -changes * delta)
        ), dims="month")  # fmt: skip
        beta = pm.Normal("beta", 0, 1, dims="wave")
        angle = 2 * np.pi * time[:, None] * np.arange(1, order + 1) * 3
        season = pt.dot(pt.concatenate([pt.sin(angle), pt.cos(angle)], axis=1), beta)
        sigma = pm.HalfNormal("sigma", 0.5)
        pm.Normal("y", trend + season, sigma, observed=y, dims="month")

    def want(k, m, delta, beta, sigma_log__):
        found = norm.logpdf([k, m], 0, 2).sum() + stats.laplace.logpdf(delta, 0, 0.5).sum()
        found += norm.logpdf(beta).sum() + positive(stats.halfnorm(0, 0.5), sigma_log__)
        after = t[:, None] > changes
        mu = (k + after @ delta) * t + m - after @ (changes * delta)
        mu = mu + np.column_stack([np.sin(waves), np.cos(waves)]) @ beta
        return found + norm.logpdf(y, mu, np.exp(sigma_log__)).sum()

    density(model, want, {"k": 0.5, "m": 1.1, "delta": [0.1, -1.0, 0.2], "beta": [0.2, 0, 0.1, 0]})
    found = pm.find_MAP(model=model, progressbar=False)
    assert_allclose(found["trend"][0] + found["beta"][2:].sum(), y[0], atol=0.3)


def walks_of_vectors():
    """A walk of two series whose steps are correlated."""
    y = np.cumsum(RNG.normal(size=(10, 2)), 0)
    with pm.Model(coords={"time": range(10), "asset": ["a", "b"]}) as model:
        chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.HalfNormal.dist(1, shape=2))
        pm.MvGaussianRandomWalk(
            "walk", mu=np.zeros(2), chol=chol, init_dist=pm.MvNormal.dist(np.zeros(2), np.eye(2)),
            dims=("time", "asset"),
        )  # fmt: skip
        pm.Normal("y", model["walk"], 0.5, observed=y, dims=("time", "asset"))
    at = {"walk": y + 0.1}
    with model:
        parts = model.point_logps(model.initial_point(random_seed=1) | at)
    assert set(parts) == {"chol", "walk", "y"}
    packed = model.initial_point(random_seed=1)["chol_cholesky-cov-packed__"]
    L = np.array([[np.exp(packed[0]), 0], [packed[1], np.exp(packed[2])]])
    steps = stats.multivariate_normal.logpdf(np.diff(y, axis=0), [0, 0], L @ L.T).sum()
    first = stats.multivariate_normal.logpdf(y[0] + 0.1, [0, 0])
    assert_allclose(parts["walk"], steps + first, atol=0.006)
    slopes(model, at)
    trace = sample(model, 20, 30)
    near(trace.posterior["walk"].isel(time=4, asset=0), y[4, 0], 0.4)
