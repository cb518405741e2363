"""What is discrete, inflated, censored, truncated or mixed."""

import sys

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from checks import density, near, positive, sample, unit
from numpy.testing import assert_allclose
from pymc.logprob.basic import conditional_logp
from scipy import special, stats

RNG = np.random.default_rng(22)
DISASTERS = np.array([4, 5, 4, 0, 1, 4, 3, 4, 0, 6, 3, 3, 4, 0, 2, 1, 0, 1, 0, 1, 0, 0, 1, 0, 2, 1])
norm = stats.norm


def coal_mining():
    """A switch at an unknown year; two years are missing."""
    counts = np.ma.masked_values(np.where(np.isin(np.arange(26), [6, 20]), -999, DISASTERS), -999)
    years = np.arange(26)
    with pm.Model() as model:
        switch = pm.DiscreteUniform("switch", lower=0, upper=25)
        early = pm.Exponential("early", 1.0)
        late = pm.Exponential("late", 1.0)
        rate = pm.math.switch(switch >= years, early, late)
        pm.Poisson("disasters", rate, observed=counts)

    def want(switch, early_log__, late_log__, disasters_unobserved):
        prior = -np.log(26) + positive(stats.expon(), np.array([early_log__, late_log__])).sum()
        all_counts = np.array(counts.filled(0))
        all_counts[[6, 20]] = disasters_unobserved
        rate = np.where(switch >= years, np.exp(early_log__), np.exp(late_log__))
        return prior + stats.poisson.logpmf(all_counts, rate).sum()

    at = {"switch": 12, "early_log__": 1.0, "late_log__": -0.2, "disasters_unobserved": [3, 1]}
    density(model, want, at)
    trace = sample(model, 80, 120)
    near(trace.posterior["switch"], 13, 2)
    assert trace.posterior["disasters_unobserved"].shape == (1, 80, 2)
    near(trace.posterior["early"], 2.9, 0.5)


def inflated():
    counts = np.array([0, 0, 0, 2, 1, 0, 4, 3])
    with pm.Model() as model:
        psi = pm.Beta("psi", 2, 2)
        mu = pm.Gamma("mu", 2, 1)
        pm.ZeroInflatedPoisson("p", psi=psi, mu=mu, observed=counts)
        pm.ZeroInflatedBinomial("b", psi=psi, n=5, p=0.4, observed=counts)
        pm.ZeroInflatedNegativeBinomial("n", psi=psi, mu=mu, alpha=2.0, observed=counts)
        pm.HurdlePoisson("h", psi=psi, mu=mu, observed=counts)

    def want(psi_logodds__, mu_log__):
        psi, mu = special.expit(psi_logodds__), np.exp(mu_log__)
        found = unit(stats.beta(2, 2), psi_logodds__) + positive(stats.gamma(2), mu_log__)
        for law in (stats.poisson(mu), stats.binom(5, 0.4), stats.nbinom(2.0, 2 / (2 + mu))):
            found += np.log(psi * law.pmf(counts) + (1 - psi) * (counts == 0)).sum()
        some = np.log(psi) + stats.poisson.logpmf(counts, mu) - np.log1p(-np.exp(-mu))
        return found + np.where(counts == 0, np.log1p(-psi), some).sum()

    density(model, want, {"psi_logodds__": 0.3, "mu_log__": 0.5})
    with model:
        drawn = pm.sample_prior_predictive(200, random_seed=1)
    assert float((drawn.prior_predictive["p"] == 0).mean()) > 0.4


def censored():
    raw = norm.rvs(1.0, 2.0, size=40, random_state=RNG)
    seen = np.clip(raw, -1, 3)
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        sigma = pm.HalfNormal("sigma", 5)
        pm.Censored("y", pm.Normal.dist(mu, sigma), lower=-1, upper=3, observed=seen)

    def want(mu, sigma_log__):
        law = norm(mu, np.exp(sigma_log__))
        prior = norm.logpdf(mu, 0, 5) + positive(stats.halfnorm(0, 5), sigma_log__)
        inside = np.where(seen <= -1, law.logcdf(-1), law.logpdf(seen))
        return prior + np.where(seen >= 3, law.logsf(3), inside).sum()

    density(model, want, {"mu": 0.7, "sigma_log__": 0.5})
    trace = sample(model, 60, 100)
    near(trace.posterior["mu"], raw.mean(), 0.4)
    with model:
        drawn = pm.sample_posterior_predictive(trace, progressbar=False, random_seed=1)
    values = drawn.posterior_predictive["y"].values
    assert (values.min(), values.max()) == (-1, 3)


def truncated():
    seen = np.array([0.3, 1.2, 0.8, 2.0, 1.5])
    counts = np.array([1, 3, 2, 5])
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 2)
        sigma = pm.HalfNormal("sigma", 2)
        pm.TruncatedNormal("t", mu=mu, sigma=sigma, lower=0, observed=seen)
        pm.Truncated("g", pm.Gamma.dist(2.0, sigma), lower=0.1, upper=2.5, observed=seen)
        pm.Truncated("c", pm.Poisson.dist(pm.math.exp(mu)), lower=1, observed=counts)

    def want(mu, sigma_log__):
        s = np.exp(sigma_log__)
        found = norm.logpdf(mu, 0, 2) + positive(stats.halfnorm(0, 2), sigma_log__)
        found += (norm.logpdf(seen, mu, s) - norm.logsf(0, mu, s)).sum()
        law = stats.gamma(2.0, 0, 1 / s)
        found += (law.logpdf(seen) - np.log(law.cdf(2.5) - law.cdf(0.1))).sum()
        return (
            found
            + (stats.poisson.logpmf(counts, np.exp(mu)) - stats.poisson.logsf(0, np.exp(mu))).sum()
        )

    density(model, want, {"mu": 0.6, "sigma_log__": 0.1})
    with model:
        drawn = pm.draw([model["t"], model["g"], model["c"]], 40, random_seed=5)
    assert drawn[0].min() >= 0
    assert 0.1 <= drawn[1].min() <= drawn[1].max() <= 2.5
    assert drawn[2].min() >= 1


def gaussian_mixture():
    """Three components in order; a Dirichlet for the weights."""
    seen = np.concatenate([norm.rvs(m, 0.5, 15, random_state=RNG) for m in (-3, 0, 3)])
    with pm.Model(coords={"cluster": range(3)}) as model:
        mu = pm.Normal(
            "mu", 0, 5, dims="cluster", initval=[-4, 0, 4],
            transform=pm.distributions.transforms.ordered,
        )  # fmt: skip
        sigma = pm.HalfNormal("sigma", 1, dims="cluster")
        w = pm.Dirichlet("w", np.ones(3), dims="cluster")
        pm.NormalMixture("x", w=w, mu=mu, sigma=sigma, observed=seen)

    def want(mu_ordered__, sigma_log__, w_simplex__):
        z = mu_ordered__
        mu = z[0] + np.append(0.0, np.cumsum(np.exp(z[1:])))
        found = norm.logpdf(mu, 0, 5).sum() + z[1:].sum()
        found += positive(stats.halfnorm(), sigma_log__).sum()
        w = special.softmax(np.append(w_simplex__, -w_simplex__.sum()))
        # the Jacobian of the softmax of what adds up to 0
        found += stats.dirichlet.logpdf(w, np.ones(3)) + np.log(w).sum() + np.log(3)
        parts = np.log(w) + norm.logpdf(seen[:, None], mu, np.exp(sigma_log__))
        return found + special.logsumexp(parts, 1).sum()

    at = {
        "mu_ordered__": [-2.5, 1.0, 1.0],
        "sigma_log__": [-0.5, 0.1, 0.0],
        "w_simplex__": [0.2, -0.1],
    }
    density(model, want, at)
    trace = sample(model, 40, 80)
    assert_allclose(trace.posterior["mu"].mean(("chain", "draw")), [-3, 0, 3], atol=0.7)


def mixture_of_laws():
    """Components of different laws, and of a batch of weights."""
    seen = np.array([0.5, 2.0, 1.2])
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.ones((3, 2)))
        rate = pm.Exponential("rate", 1.0)
        parts = [pm.Exponential.dist(rate), pm.LogNormal.dist(0.0, 1.0)]
        pm.Mixture("x", w=w, comp_dists=parts, observed=seen)

    def want(w_simplex__, rate_log__):
        w = special.softmax(np.column_stack([w_simplex__, -w_simplex__]), 1)
        found = positive(stats.expon(), rate_log__) + (np.log(w).sum() + 3 * np.log(2))
        laws = stats.expon(0, np.exp(-rate_log__)), stats.lognorm(1)
        return found + np.log(sum(w[:, i] * law.pdf(seen) for i, law in enumerate(laws))).sum()

    density(model, want, {"w_simplex__": [[0.1], [0.3], [-0.2]], "rate_log__": 0.4})


def mixture_by_index():
    """A latent class of each observation, sampled by Gibbs; and the density of `laws[index]`."""
    seen = np.array([-2.1, -1.9, 2.2, 1.8, 2.0])
    with pm.Model() as model:
        mu = pm.Normal("mu", [-2, 2], 1, shape=2)
        z = pm.Categorical("z", p=[0.4, 0.6], shape=5)
        pm.Normal("y", mu[z], 0.5, observed=seen)

    def want(mu, z):
        found = norm.logpdf(mu, [-2, 2]).sum() + np.log(np.take([0.4, 0.6], z)).sum()
        return found + norm.logpdf(seen, mu[z], 0.5).sum()

    density(model, want, {"mu": [-1.5, 1.7], "z": [0, 0, 1, 1, 0]})
    trace = sample(model, 60, 60)
    assert_allclose(trace.posterior["z"].mean(("chain", "draw")), [0, 0, 1, 1, 1], atol=0.1)
    index = pm.Bernoulli.dist(0.3)
    either = pt.stack([pm.Normal.dist(-1, 1), pm.Normal.dist(3, 2)])[index]
    value, which = pt.dscalar("value"), pt.lscalar("which")
    found = conditional_logp({either: value, index: which})
    got = [found[value].eval({value: 0.5, which: i}) for i in (0, 1)]
    assert_allclose(got, [norm.logpdf(0.5, -1), norm.logpdf(0.5, 3, 2)], rtol=1e-6)
    assert_allclose(found[which].eval({which: 1}), np.log(0.3), rtol=1e-6)


def switched_and_rounded():
    """The density of `switch(index, x, y)` with what is drawn, and of clipped and rounded draws."""
    index = pm.Bernoulli.dist(0.3)
    chosen = pt.switch(index, pm.Normal.dist(3, 2), pm.Normal.dist(-1, 1))
    value, which = pt.dscalar("value"), pt.lscalar("which")
    found = conditional_logp({chosen: value, index: which})
    got = [found[value].eval({value: 0.5, which: i}) for i in (0, 1)]
    assert_allclose(got, [norm.logpdf(0.5, -1), norm.logpdf(0.5, 3, 2)], rtol=1e-6)
    clipped = pt.clip(pm.Normal.dist(0, 1), -1, 1)
    assert_allclose(pm.logp(clipped, [-1.0, 0.2]).eval(), [norm.logcdf(-1), norm.logpdf(0.2)])
    rounded = pt.round(pm.Normal.dist(0, 3))
    assert_allclose(pm.logp(rounded, 2.0).eval(), np.log(norm.cdf(2.5, 0, 3) - norm.cdf(1.5, 0, 3)))


def gibbs():
    """Discrete variables with their own steps."""
    with pm.Model() as model:
        p = pm.Beta("p", 1, 1)
        k = pm.Categorical("k", p=[0.2, 0.3, 0.5])
        on = pm.Bernoulli("on", p, shape=3)
        n = pm.Poisson("n", 3.0)
        pm.Normal("y", k + on.sum() + n, 1.0, observed=6.0)
    with model:
        steps = [
            pm.CategoricalGibbsMetropolis([k]),
            pm.BinaryGibbsMetropolis([on]),
            pm.Metropolis([n]),
        ]
    trace = sample(model, 100, 100, step=steps)
    assert set(np.unique(trace.posterior["k"])) <= {0, 1, 2}
    near(
        trace.posterior["k"] + trace.posterior["on"].sum("on_dim_0") + trace.posterior["n"],
        5.8,
        0.2,
    )


def laws_of_one_number():
    """Densities and distribution functions of many laws against SciPy's."""
    x, k = np.array([0.2, 0.5, 0.9]), np.array([0, 1, 4])
    laws = [
        (pm.Laplace.dist(0.3, 2), stats.laplace(0.3, 2), x),
        (pm.Logistic.dist(0.3, 2), stats.logistic(0.3, 2), x),
        (pm.Gumbel.dist(0.3, 2), stats.gumbel_r(0.3, 2), x),
        (pm.Cauchy.dist(0.3, 2), stats.cauchy(0.3, 2), x),
        (pm.InverseGamma.dist(2, 3), stats.invgamma(2, 0, 3), x),
        (pm.Pareto.dist(2.0, 0.1), stats.pareto(2.0, 0, 0.1), x),
        (pm.Triangular.dist(lower=0, c=0.4, upper=1), stats.triang(0.4), x),
        (pm.SkewNormal.dist(mu=0, sigma=1, alpha=2), stats.skewnorm(2), x),
        (pm.Moyal.dist(0.3, 2), stats.moyal(0.3, 2), x),
        (pm.Wald.dist(mu=1.0, lam=2.0), stats.invgauss(0.5, 0, 2.0), x),
        (pm.ExGaussian.dist(0.1, 0.5, nu=2), stats.exponnorm(4, 0.1, 0.5), x),
        (pm.VonMises.dist(0.1, 2.0), stats.vonmises(2.0, 0.1), x),
        (pm.Rice.dist(1.0, 0.5), stats.rice(2.0, 0, 0.5), x),
        (pm.StudentT.dist(3, mu=0.3, sigma=2), stats.t(3, 0.3, 2), x),
        (pm.Uniform.dist(0, 2), stats.uniform(0, 2), x),
        (pm.Geometric.dist(0.3), stats.geom(0.3), k + 1),
        (pm.HyperGeometric.dist(20, 7, 6), stats.hypergeom(20, 7, 6), k),
        (pm.NegativeBinomial.dist(n=3, p=0.4), stats.nbinom(3, 0.4), k),
        (pm.BetaBinomial.dist(2, 3, n=5), stats.betabinom(5, 2, 3), k),
        (pm.DiscreteUniform.dist(0, 5), stats.randint(0, 6), k),
    ]
    for ours, law, at in laws:
        name = ours.owner.op.name
        density_of = law.logpmf if hasattr(law.dist, "logpmf") else law.logpdf
        assert_allclose(pm.logp(ours, at).eval(), density_of(at), rtol=1e-6, err_msg=name)
        drawn = pm.draw(ours, 50, random_seed=3)
        assert np.isfinite(drawn).all(), name
        if name not in (
            "vonmises",
            "wald",
            "hypergeometric",
            "rice",
            "skewnormal",
            "beta_binomial",
        ):
            assert_allclose(pm.logcdf(ours, at).eval(), law.logcdf(at), rtol=1e-5, err_msg=name)


def by_index():
    """Rows, and columns, of stacked vectors, chosen by an index that is drawn."""
    for axis in (0, 1):
        low, high = pm.Normal.dist([0.0, 1.0, 2.0], 1, size=3), pm.Normal.dist(5, 2, size=3)
        i = pm.Bernoulli.dist(0.3)
        both = pt.stack([low, high], axis=axis)
        chosen = both[i] if axis == 0 else both[:, i]
        value, at = pt.dvector("value"), pt.lscalar("at")
        terms = conditional_logp({chosen: value, i: at})
        f = pytensor.function([value, at], [terms[value], terms[at]])
        x = np.array([0.1, 0.2, 0.3])
        for k, law in enumerate([norm([0.0, 1.0, 2.0], 1), norm(5, 2)]):
            density_of, of_index = f(x, k)
            assert_allclose(density_of, law.logpdf(x), rtol=1e-6)
            assert_allclose(of_index, np.log([0.7, 0.3])[k], rtol=1e-6)


def dirichlet_process():
    """Sticks that are broken; weights add up to nearly 1."""
    seen = np.concatenate([norm.rvs(m, 0.5, 12, random_state=RNG) for m in (-2, 2)])
    with pm.Model() as model:
        alpha = pm.Gamma("alpha", 1, 1)
        v = pm.Beta("v", 1, alpha, shape=6)
        w = pm.Deterministic("w", v * pt.concatenate([[1.0], pt.cumprod(1 - v)[:-1]]))
        mu = pm.Normal("mu", 0, 3, shape=6)
        pm.Mixture("x", w=w / w.sum(), comp_dists=pm.Normal.dist(mu, 0.5), observed=seen)

    def want(alpha_log__, v_logodds__, mu):
        a, v = np.exp(alpha_log__), special.expit(v_logodds__)
        found = positive(stats.gamma(1), alpha_log__) + norm.logpdf(mu, 0, 3).sum()
        found += (stats.beta.logpdf(v, 1, a) + np.log(v * (1 - v))).sum()
        w = v * np.append(1.0, np.cumprod(1 - v)[:-1])
        parts = np.log(w / w.sum()) + norm.logpdf(seen[:, None], mu, 0.5)
        return found + special.logsumexp(parts, 1).sum()

    at = {"alpha_log__": 0.3, "v_logodds__": np.linspace(-1, 1, 6), "mu": np.linspace(-2, 2, 6)}
    density(model, want, at)
    sticks = pm.StickBreakingWeights.dist(2.0, K=5)
    drawn = pm.draw(sticks, 30, random_seed=1)
    assert_allclose(drawn.sum(-1), 1)


def named_components():
    """Parameters with named dimensions, one of them a whole number, and several observations."""
    seen, w = np.array([1.0, 2.0]), [0.2, 0.3, 0.5]
    with pm.Model(coords={"k": range(3)}) as model:
        x = pm.Exponential("x", 2, dims="k")
        pm.NormalMixture("y", w, x, 1, observed=seen)

    def want(x_log__):
        parts = np.log(w) + norm.logpdf(seen[:, None], np.exp(x_log__), 1)
        return positive(stats.expon(0, 0.5), x_log__).sum() + special.logsumexp(parts, 1).sum()

    density(model, want, {"x_log__": [-0.5, 0.1, 0.4]})


def dirichlet_process_with_dims():
    """PyMC's example of one, with a scale of each component, all through `dims`."""
    seen, k = np.random.default_rng(0).normal(size=150), 8
    with pm.Model(coords={"component": np.arange(k), "obs_id": np.arange(150)}) as model:
        alpha = pm.Gamma("alpha", 1.0, 1.0)
        beta = pm.Beta("beta", 1.0, alpha, dims="component")
        sticks = beta * pt.concatenate([[1], pt.cumprod(1 - beta)[:-1]])
        w = pm.Deterministic("w", sticks / sticks.sum(), dims="component")
        tau = pm.Gamma("tau", 1.0, 1.0, dims="component")
        lambda_ = pm.Gamma("lambda_", 10.0, 1.0, dims="component")
        mu = pm.Normal("mu", 0, tau=lambda_ * tau, dims="component")
        pm.NormalMixture("obs", w, mu, tau=lambda_ * tau, observed=seen, dims="obs_id")

    def want(alpha_log__, beta_logodds__, tau_log__, lambda__log__, mu):
        b = special.expit(beta_logodds__)
        found = positive(stats.gamma(1), alpha_log__)
        found += (stats.beta.logpdf(b, 1, np.exp(alpha_log__)) + np.log(b * (1 - b))).sum()
        found += positive(stats.gamma(1), tau_log__).sum()
        found += positive(stats.gamma(10), lambda__log__).sum()
        sigma = np.exp(-0.5 * (tau_log__ + lambda__log__))
        found += norm.logpdf(mu, 0, sigma).sum()
        w = b * np.append(1.0, np.cumprod(1 - b)[:-1])
        parts = np.log(w / w.sum()) + norm.logpdf(seen[:, None], mu, sigma)
        return found + special.logsumexp(parts, 1).sum()

    at = {"alpha_log__": 0.3, "beta_logodds__": np.linspace(-1, 1, k), "mu": np.linspace(-1, 1, k)}
    density(model, want, at | {"tau_log__": np.linspace(-1, 0.5, k)})


def slopes_at_bounds():
    """One-sided truncated laws, whose other bound is infinite; a component of weight 0."""
    mu, sigma = pt.dscalars("mu", "sigma")
    ours = "rewrite_engine" in sys.modules  # (over PyTensor some of these slopes are NaN)

    def slopes_of(term, at):
        roots = list(at)
        f = pytensor.function(roots, [term, *pytensor.grad(term, roots)])
        return f(*at.values())[1:]

    at = {mu: 1.0, sigma: 1.5}
    for lower, upper in ((0, None), (None, 4)):
        law = pm.Truncated.dist(pm.Normal.dist(mu, sigma), lower=lower, upper=upper)
        z = (np.array([-9e9 if lower is None else lower, 3, upper or 9e9]) - 1.0) / 1.5
        below, at_seen, above = norm.cdf(z)
        wanted = []
        for a, b, c in (norm.pdf(z), z * norm.pdf(z)):  # slopes of cdf(z), but for their sign
            moved = (a - b) / (at_seen - below) - (a - c) / (above - below)
            wanted.append(moved / 1.5)
        count = 2 if ours else 1
        assert_allclose(slopes_of(pm.logcdf(law, 3.0), at)[:count], wanted[:count], rtol=1e-6)

    w, seen = pt.dvector("w"), np.array([0.5, 2.0])
    term = pm.logp(pm.NormalMixture.dist(w, [0.0, 1.0, 2.0], 1.0), seen).sum()
    f = pytensor.function([w], pytensor.grad(term, w))
    for weights in ([0.1, 0.2, 0.7], [0.0, 0.3, 0.7]):
        parts = norm.pdf(seen[:, None], [0.0, 1.0, 2.0])
        wanted = (parts / (parts @ weights)[:, None]).sum(0)
        start = 0 if ours or weights[0] else 1
        assert_allclose(f(weights)[start:], wanted[start:], rtol=1e-6)
