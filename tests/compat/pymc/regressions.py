"""Regressions: linear, logistic, robust, of counts, of ordered and unordered choices."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from checks import density, near, positive, sample, slopes
from numpy.testing import assert_allclose
from scipy import special, stats

RNG = np.random.default_rng(20)
X = RNG.normal(size=40)
Y = 1.0 + 2.0 * X + RNG.normal(scale=0.5, size=40)
BOTH = np.column_stack([X, RNG.normal(size=40)])
CHOSEN = RNG.binomial(1, special.expit(0.5 + BOTH @ [1.0, -1.0]))
COUNTS = RNG.poisson(np.exp(0.5 + 0.6 * X))


def linear():
    with pm.Model() as model:
        a = pm.Normal("a", 0, 10)
        b = pm.Normal("b", 0, 10)
        sigma = pm.HalfNormal("sigma", 1)
        pm.Normal("y", a + b * X, sigma, observed=Y)

    def want(a, b, sigma_log__):
        prior = stats.norm.logpdf([a, b], 0, 10).sum() + positive(stats.halfnorm(), sigma_log__)
        return prior + stats.norm.logpdf(Y, a + b * X, np.exp(sigma_log__)).sum()

    density(model, want, {"a": 0.8, "b": 1.7, "sigma_log__": -0.4})
    trace = sample(model, 100, 150)
    near(trace.posterior["b"], np.polyfit(X, Y, 1)[0], 0.1)
    near(trace.posterior["sigma"], 0.5, 0.1)


def logistic():
    with pm.Model(coords={"predictor": ["first", "second"]}) as model:
        data = pm.Data("X", BOTH, dims=("obs_id", "predictor"))
        intercept = pm.Normal("intercept", 0, 5)
        beta = pm.Normal("beta", 0, 2.5, dims="predictor")
        p = pm.Deterministic("p", pm.math.invlogit(intercept + pm.math.dot(data, beta)))
        pm.Bernoulli("y", p=p, observed=CHOSEN)

    def want(intercept, beta):
        prior = stats.norm.logpdf(intercept, 0, 5) + stats.norm.logpdf(beta, 0, 2.5).sum()
        return prior + stats.bernoulli.logpmf(CHOSEN, special.expit(intercept + BOTH @ beta)).sum()

    density(model, want, {"intercept": 0.3, "beta": [0.7, -0.4]})
    trace = sample(model)
    assert trace.posterior["beta"].sizes == {"chain": 1, "draw": 50, "predictor": 2}
    assert trace.posterior["p"].shape == (1, 50, 40)
    assert float(trace.posterior["beta"].sel(predictor="first").mean()) > 0.2


def robust():
    wild = Y.copy()
    wild[:3] += 20
    with pm.Model() as model:
        a, b = pm.Normal("ab", 0, 5, shape=2)
        nu = pm.Gamma("nu", 2, 0.1)
        sigma = pm.HalfCauchy("sigma", 1)
        pm.StudentT("y", nu=nu, mu=a + b * X, sigma=sigma, observed=wild)

    def want(ab, nu_log__, sigma_log__):
        prior = stats.norm.logpdf(ab, 0, 5).sum()
        prior += positive(stats.gamma(2, 0, 10), nu_log__)
        prior += positive(stats.halfcauchy(), sigma_log__)
        mu = ab[0] + ab[1] * X
        return prior + stats.t.logpdf(wild, np.exp(nu_log__), mu, np.exp(sigma_log__)).sum()

    density(model, want, {"ab": [1.1, 1.9], "nu_log__": 1.0, "sigma_log__": -0.3})
    found = pm.find_MAP(model=model, progressbar=False)
    assert_allclose(found["ab"], [1.0, 2.0], atol=0.5)


def radon():
    county = np.repeat(np.arange(5), 8)
    floor = np.tile([0, 1], 20)
    level = np.array([0.5, 1.0, 1.5, 2.0, 1.2])[county] - 0.6 * floor + 0.3 * X
    coords = {"county": list("ABCDE"), "obs": np.arange(40)}
    with pm.Model(coords=coords) as model:
        floors = pm.Data("floor", floor, dims="obs")
        counties = pm.Data("county_idx", county, dims="obs")
        mu = pm.Normal("mu", 0, 2)
        tau = pm.HalfNormal("tau", 1)
        z = pm.Normal("z", 0, 1, dims="county")
        alpha = pm.Deterministic("alpha", mu + tau * z, dims="county")
        slope = pm.Normal("slope", 0, 2)
        sigma = pm.Exponential("sigma", 1)
        pm.Normal("level", alpha[counties] + slope * floors, sigma, observed=level, dims="obs")

    def want(mu, tau_log__, z, slope, sigma_log__):
        prior = stats.norm.logpdf([mu, slope], 0, 2).sum() + stats.norm.logpdf(z).sum()
        prior += positive(stats.halfnorm(), tau_log__) + positive(stats.expon(), sigma_log__)
        alpha = mu + np.exp(tau_log__) * z
        fit = alpha[county] + slope * floor
        return prior + stats.norm.logpdf(level, fit, np.exp(sigma_log__)).sum()

    density(model, want, {"mu": 1.0, "z": [0.1, 0.2, 0.3, -0.5, 0.0], "slope": -0.5})
    trace = sample(model, 60, 120)
    assert list(trace.posterior["alpha"].county.values) == list("ABCDE")
    near(trace.posterior["slope"], -0.6, 0.2)


def counts_out_of_sample():
    with pm.Model() as model:
        x = pm.Data("x", X)
        b = pm.Normal("b", 0, 1, shape=2)
        rate = pm.math.exp(b[0] + b[1] * x)
        pm.Poisson("y", rate, observed=COUNTS, shape=x.shape)

    def want(b):
        prior = stats.norm.logpdf(b).sum()
        return prior + stats.poisson.logpmf(COUNTS, np.exp(b[0] + b[1] * X)).sum()

    density(model, want, {"b": [0.4, 0.5]})
    trace = sample(model)
    with model:
        pm.set_data({"x": np.array([-1.0, 0.0, 1.0])})
        seen = pm.sample_posterior_predictive(
            trace, predictions=True, progressbar=False, random_seed=2
        )
    assert seen.predictions["y"].shape == (1, 50, 3)
    low, _, high = seen.predictions["y"].mean(("chain", "draw")).values
    assert low < high


def negative_binomial():
    exposure = RNG.uniform(1, 3, size=40)
    with pm.Model() as model:
        b = pm.Normal("b", 0, 1, shape=2)
        alpha = pm.Exponential("alpha", 1)
        mu = pm.math.exp(b[0] + b[1] * X + np.log(exposure))
        pm.NegativeBinomial("y", mu=mu, alpha=alpha, observed=COUNTS)

    def want(b, alpha_log__):
        prior = stats.norm.logpdf(b).sum() + positive(stats.expon(), alpha_log__)
        mu, alpha = np.exp(b[0] + b[1] * X) * exposure, np.exp(alpha_log__)
        return prior + stats.nbinom.logpmf(COUNTS, alpha, alpha / (alpha + mu)).sum()

    density(model, want, {"b": [0.1, 0.5], "alpha_log__": 0.4})


def ordinal():
    rating = np.digitize(Y, [-1.0, 1.0, 2.5])
    with pm.Model() as model:
        cuts = pm.Normal(
            "cuts", 0, 5, transform=pm.distributions.transforms.ordered, shape=3,
            initval=[-1.0, 0.0, 1.0],
        )  # fmt: skip
        beta = pm.Normal("beta", 0, 2)
        pm.OrderedLogistic("rating", eta=beta * X, cutpoints=cuts, observed=rating)

    def want(cuts_ordered__, beta):
        z = cuts_ordered__
        cuts = z[0] + np.concatenate([[0.0], np.cumsum(np.exp(z[1:]))])
        prior = stats.norm.logpdf(cuts, 0, 5).sum() + z[1:].sum() + stats.norm.logpdf(beta, 0, 2)
        below = special.expit(cuts - beta * X[:, None])
        chances = np.diff(np.column_stack([np.zeros(40), below, np.ones(40)]))
        return prior + np.log(chances[np.arange(40), rating]).sum()

    density(model, want, {"cuts_ordered__": [-1.5, 0.3, 0.4], "beta": 1.2})
    trace = sample(model)
    assert (np.diff(trace.posterior["cuts"].values) > 0).all()


def multinomial():
    totals = np.full(40, 12)
    chosen = RNG.multinomial(12, special.softmax(np.outer(X, [1.0, 0.0, -1.0]), 1))
    kind = chosen.argmax(1)
    with pm.Model(coords={"kind": ["a", "b", "c"]}) as model:
        slopes_ = pm.Normal("slopes", 0, 1, dims="kind")
        p = pm.math.softmax(X[:, None] * slopes_, axis=1)
        pm.Multinomial("chosen", n=totals, p=p, observed=chosen)
        pm.Categorical("first", p=p, observed=kind)

    def want(slopes):
        p = special.softmax(np.outer(X, slopes), 1)
        seen = stats.multinomial.logpmf(chosen, 12, p).sum() + np.log(p[np.arange(40), kind]).sum()
        return stats.norm.logpdf(slopes).sum() + seen

    density(model, want, {"slopes": [0.9, 0.2, -0.8]})
    with model:
        drawn = pm.sample_prior_predictive(20, random_seed=3)
    assert (drawn.prior_predictive["chosen"].sum("chosen_dim_1") == 12).all()


def quantiles():
    with pm.Model() as model:
        b = pm.Normal("b", 0, 5, shape=2)
        sigma = pm.HalfNormal("sigma", 1)
        pm.AsymmetricLaplace("y", mu=b[0] + b[1] * X, b=1 / sigma, q=0.8, observed=Y)

    def want(b, sigma_log__):
        prior = stats.norm.logpdf(b, 0, 5).sum() + positive(stats.halfnorm(), sigma_log__)
        kappa = np.sqrt(0.8 / 0.2)  # (Koenker & Machado 1999, as PyMC reads q)
        law = stats.laplace_asymmetric(kappa, b[0] + b[1] * X, np.exp(sigma_log__))
        return prior + law.logpdf(Y).sum()

    density(model, want, {"b": [1.2, 1.8], "sigma_log__": -0.9})


def splines():
    knots = np.linspace(-2, 2, 6)
    basis = np.exp(-0.5 * (X[:, None] - knots) ** 2)
    with pm.Model() as model:
        steps = pm.Normal("steps", 0, 1, shape=6)
        weights = pm.Deterministic("weights", pt.cumsum(steps))
        sigma = pm.InverseGamma("sigma", 3, 1)
        mu = pm.Deterministic("mu", basis @ weights)
        pm.Normal("y", mu, sigma, observed=Y)
        pm.Potential("flat", -0.1 * pt.sqr(pt.diff(weights)).sum())

    def want(steps, sigma_log__):
        prior = stats.norm.logpdf(steps).sum() + positive(stats.invgamma(3), sigma_log__)
        seen = stats.norm.logpdf(Y, basis @ np.cumsum(steps), np.exp(sigma_log__)).sum()
        return prior + seen - 0.1 * (steps[1:] ** 2).sum()

    density(model, want, {"steps": [0.1, 0.5, 1.0, -0.3, 0.2, 0.4], "sigma_log__": 0.2})
    slopes(model, {"sigma_log__": 1.0})
