"""Items, abilities, survival: models of who wins, answers, fails, and when."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from checks import density, near, positive, sample
from numpy.testing import assert_allclose
from scipy import special, stats

RNG = np.random.default_rng(21)


def answers():
    """Two parameters of each item; abilities add up to 0."""
    who, which = np.repeat(np.arange(12), 5), np.tile(np.arange(5), 12)
    levels = np.linspace(-2, 2, 12)[who] - np.linspace(-1, 1, 5)[which]
    right = RNG.binomial(1, special.expit(levels))
    coords = {"person": [f"p{i}" for i in range(12)], "item": list("abcde")}
    with pm.Model(coords=coords) as model:
        ability = pm.ZeroSumNormal("ability", 1.5, dims="person")
        difficulty = pm.Normal("difficulty", 0, 1, dims="item")
        sharpness = pm.LogNormal("sharpness", 0, 0.5, dims="item")
        logit = sharpness[which] * (ability[who] - difficulty[which])
        pm.Bernoulli("right", logit_p=logit, observed=right)

    def want(ability_zerosum__, difficulty, sharpness_log__):
        z, n = ability_zerosum__, 12  # (the sum goes to all of them, as in PyMC's transform)
        part = z.sum() / (np.sqrt(n) + n)
        full = np.append(z, part - z.sum() / np.sqrt(n)) - part
        prior = stats.norm.logpdf(full, 0, 1.5).sum() - stats.norm.logpdf(0, 0, 1.5)
        prior += stats.norm.logpdf(difficulty).sum()
        prior += positive(stats.lognorm(0.5), sharpness_log__).sum()
        eta = np.exp(sharpness_log__)[which] * (full[who] - difficulty[which])
        return prior + stats.bernoulli.logpmf(right, special.expit(eta)).sum()

    at = {"ability_zerosum__": np.linspace(-1, 1.2, 11), "difficulty": 0.1 * np.ones(5)}
    density(model, want, at)
    trace = sample(model, 40, 60)
    assert_allclose(trace.posterior["ability"].sum("person"), 0, atol=1e-9)


def matches():
    """Bradley-Terry: who wins against whom."""
    first, second = np.triu_indices(4, 1)
    won = np.array([3, 6, 8, 5, 7, 6])
    with pm.Model(coords={"team": list("wxyz")}) as model:
        sigma = pm.HalfNormal("sigma", 1)
        skill = pm.ZeroSumNormal("skill", sigma=sigma, dims="team")
        pm.Binomial("won", n=10, logit_p=skill[first] - skill[second], observed=won)
    value = model.initial_point()
    assert value["skill_zerosum__"].shape == (3,)
    trace = sample(model, 60, 100)
    strengths = trace.posterior["skill"].mean(("chain", "draw"))
    assert float(strengths.sel(team="w")) > float(strengths.sel(team="z"))
    assert abs(float(strengths.sum())) < 1e-9


def lifetimes():
    """Weibull regression; of some it is known only that they lived longer."""
    age = RNG.normal(size=30)
    time = stats.weibull_min.rvs(1.5, scale=np.exp(1 + 0.4 * age), random_state=RNG)
    limit = 4.0
    gone = time < limit
    time = np.minimum(time, limit)
    with pm.Model() as model:
        b = pm.Normal("b", 0, 2, shape=2)
        alpha = pm.Gamma("alpha", 2, 1)
        scale = pt.exp(b[0] + b[1] * age)
        pm.Weibull("seen", alpha, scale[gone], observed=time[gone])
        lived = -((time[~gone] / scale[~gone]) ** alpha)
        pm.Potential("lived", lived)

    def want(b, alpha_log__):
        prior = stats.norm.logpdf(b, 0, 2).sum() + positive(stats.gamma(2), alpha_log__)
        law = stats.weibull_min(np.exp(alpha_log__), 0, np.exp(b[0] + b[1] * age))
        return prior + np.where(gone, law.logpdf(time), law.logsf(time)).sum()

    density(model, want, {"b": [0.9, 0.3], "alpha_log__": 0.3})
    found = pm.find_MAP(model=model, progressbar=False)
    assert 0.5 < found["alpha"] < 3
    assert_allclose(found["b"], [1, 0.4], atol=0.7)


def hazards():
    """A hazard that is constant in each of some intervals: Poisson in disguise."""
    n, k = 20, 4
    treated = np.tile([0, 1], 10)
    length = RNG.exponential(np.where(treated, 4.0, 2.0))
    ends = np.arange(k + 1) * 1.5
    exposed = np.clip(length[:, None] - ends[:-1], 0, 1.5)
    last = np.minimum((length / 1.5).astype(int), k - 1)
    dead = np.zeros((n, k))
    dead[np.arange(n), last] = length < ends[-1]
    with pm.Model(coords={"interval": np.arange(k)}) as model:
        base = pm.Gamma("base", 1, 1, dims="interval")
        effect = pm.Normal("effect", 0, 1)
        rate = pm.Deterministic("rate", pt.outer(pt.exp(effect * treated), base))
        pm.Poisson("dead", rate * exposed + 1e-12, observed=dead)

    def want(base_log__, effect):
        base = np.exp(base_log__)
        mu = np.outer(np.exp(effect * treated), base) * exposed + 1e-12
        prior = positive(stats.gamma(1), base_log__).sum() + stats.norm.logpdf(effect)
        return prior + stats.poisson.logpmf(dead, mu).sum()

    density(model, want, {"base_log__": [-1, -0.5, 0, 0.2], "effect": -0.4})


def votes():
    """Beta-binomial of groups, with an improper prior by a potential."""
    n = np.array([20, 20, 18, 25, 30, 12])
    y = np.array([2, 4, 1, 6, 9, 2])
    with pm.Model() as model:
        ab = pm.HalfFlat("ab", shape=2, initval=[1.0, 3.0])
        pm.Potential("prior", -2.5 * pt.log(pt.sum(ab)))
        theta = pm.Beta("theta", ab[0], ab[1], shape=6)
        pm.Binomial("y", n=n, p=theta, observed=y)
        pm.BetaBinomial("whole", n=int(n.sum()), alpha=ab[0], beta=ab[1], observed=int(y.sum()))

    def want(ab_log__, theta_logodds__):
        ab, p = np.exp(ab_log__), special.expit(theta_logodds__)
        prior = ab_log__.sum() - 2.5 * np.log(ab.sum())
        law = stats.beta(*ab)
        prior += (law.logpdf(p) + np.log(p * (1 - p))).sum()
        seen = stats.binom.logpmf(y, n, p).sum()
        return prior + seen + stats.betabinom.logpmf(y.sum(), n.sum(), *ab)

    at = {"ab_log__": [0.2, 1.3], "theta_logodds__": np.linspace(-2, 0, 6)}
    density(model, want, at)
    trace = sample(model, 50, 80)
    near(trace.posterior["theta"].sel(theta_dim_0=5), 0.2, 0.06)
