"""Log densities with gradients, written as formulas."""

import numpy as np
from numpy.random import Generator

import rewrite_engine as rw
import rewrite_engine.tensor as pt


def mixture_of_normals(draw: Generator) -> None:
    """Weigh densities, add them up, and take the logarithm, as a textbook writes it."""
    x, logits, means, log_sigma = pt.vectors("x", "logits", "means", "log_sigma")
    weights = pt.special.softmax(logits, axis=0)
    z = (x[:, None] - means) / pt.exp(log_sigma)
    densities = pt.exp(-0.5 * z**2) / (pt.exp(log_sigma) * np.sqrt(2 * np.pi))
    value = pt.log((weights * densities).sum(axis=1)).sum()
    f = rw.function(
        [x, logits, means, log_sigma], [value, *rw.grad(value, [logits, means, log_sigma])]
    )
    for _ in range(2):
        f(draw.normal(size=10), draw.normal(size=3), draw.normal(size=3), draw.normal(size=3) * 0.2)


def student_t(draw: Generator) -> None:
    """Evaluate a regression with errors of Student's distribution."""
    x, y, beta = pt.vectors("x", "y", "beta")
    log_nu, log_sigma = pt.scalars("log_nu", "log_sigma")
    nu, sigma = pt.exp(log_nu), pt.exp(log_sigma)
    z = (y - beta[0] - beta[1] * x) / sigma
    value = (
        pt.gammaln((nu + 1) / 2)
        - pt.gammaln(nu / 2)
        - 0.5 * pt.log(nu * np.pi)
        - pt.log(sigma)
        - (nu + 1) / 2 * pt.log(1 + z**2 / nu)
    ).sum()
    wrt = [beta, log_nu, log_sigma]
    f = rw.function([x, y, *wrt], [value, *rw.grad(value, wrt)])
    for _ in range(2):
        f(draw.normal(size=10), draw.normal(size=10), draw.normal(size=2), 1.0, -0.3)


def negative_binomial(draw: Generator) -> None:
    """Evaluate counts with a regression of their means."""
    k, x, beta = pt.lvector("k"), pt.vector("x"), pt.vector("beta")
    log_alpha = pt.scalar("log_alpha")
    mu, alpha = pt.exp(beta[0] + beta[1] * x), pt.exp(log_alpha)
    value = (
        pt.gammaln(k + alpha)
        - pt.gammaln(alpha)
        - pt.gammaln(k + 1)
        + alpha * pt.log(alpha / (mu + alpha))
        + k * pt.log(mu / (mu + alpha))
    ).sum()
    f = rw.function([k, x, beta, log_alpha], [value, *rw.grad(value, [beta, log_alpha])])
    for _ in range(2):
        f(draw.poisson(3.0, 10), draw.normal(size=10), draw.normal(size=2) * 0.5, 0.4)


def beta_with_bounds(draw: Generator) -> None:
    """Evaluate a beta density by its mean and precision; -inf outside of [0, 1]."""
    p, logit, log_kappa = pt.vector("p"), pt.scalar("logit"), pt.scalar("log_kappa")
    mean, kappa = pt.sigmoid(logit), pt.exp(log_kappa)
    a, b = mean * kappa, (1 - mean) * kappa
    log_beta = pt.gammaln(a) + pt.gammaln(b) - pt.gammaln(a + b)
    inside = (a - 1) * pt.log(p) + (b - 1) * pt.log1p(-p) - log_beta
    value = pt.switch((p > 0) & (p < 1), inside, -np.inf).sum()
    f = rw.function([p, logit, log_kappa], [value, *rw.grad(value, [logit, log_kappa])])
    for _ in range(2):
        f(draw.uniform(0.01, 0.99, 10), 0.3, 1.0)
