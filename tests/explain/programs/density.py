"""A hierarchical density with its gradient."""

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt

rng = np.random.default_rng(0)
GROUPS, N = 5, 40
group = rng.integers(0, GROUPS, N)
y, x = rng.normal(size=N), rng.normal(size=N)


def normal(value, mu, sigma):
    """The log density of a normal distribution, as it is written in books."""
    return -0.5 * ((value - mu) / sigma) ** 2 - pt.log(sigma) - 0.5 * np.log(2 * np.pi)


def half_cauchy(value, beta):
    """The log density of the absolute value of a Cauchy distribution."""
    return pt.log(2) - pt.log(np.pi * beta * (1 + (value / beta) ** 2))


mu_a, ls_a, ls = pt.scalar("mu_a"), pt.scalar("ls_a"), pt.scalar("ls")
a, slope = pt.vector("a"), pt.vector("slope")
sigma_a, sigma = pt.exp(ls_a), pt.exp(ls)
mean = a[group] + slope[group] * x
logp = normal(mu_a, 0.0, 10.0)
logp = logp + half_cauchy(sigma_a, 5.0) + pt.log(sigma_a)
logp = logp + half_cauchy(sigma, 5.0) + pt.log(sigma)
logp = logp + normal(a, mu_a, sigma_a).sum() + normal(slope, 0.0, 1.0).sum()
logp = logp + normal(y, mean, sigma).sum()
wrt = [mu_a, ls_a, ls, a, slope]
f = rw.function(wrt, [logp, *rw.grad(logp, wrt)], name="logp_dlogp")
f(0.1, 0.2, 0.3, rng.normal(size=GROUPS), rng.normal(size=GROUPS))
