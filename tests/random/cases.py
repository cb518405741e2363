"""Every distribution, with what draws as it does in NumPy and SciPy, and its law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import rewrite_engine as rw
import rewrite_engine.tensor as pt

r = pt.random
PI = np.pi


class Case(NamedTuple):
    """A distribution: our function, parameters, what draws as it does, `drawn(generator,
    *parameters, size)`, and its law. numbers(draws) have that law.
    """

    name: str
    params: tuple[Any, ...]
    drawn: Any
    law: Any
    numbers: Callable[[Any], Any] = lambda x: x

    def wanted(self, params: Any = None, size: Any = None) -> Any:
        rng = np.random.default_rng(7)
        given = self.params if params is None else params
        if isinstance(self.drawn, str):
            return getattr(rng, self.drawn)(*given, size)
        return self.drawn(rng, *given, size)

    @property
    def function(self) -> Any:
        return getattr(r, self.name)

    def draw(self, params: Any = None, **options: Any) -> Any:
        """Draws as a variable, with a shared generator."""
        given: Any = self.params if params is None else params
        if self.name == "gamma":
            given, options = given[:1], options | {"scale": given[1]}
        return self.function(*given, rng=rw.shared(np.random.default_rng(7)), **options)


def by_scipy(name: str, *own: str) -> Any:
    def drawn(rng: Any, *args: Any) -> Any:
        given = dict(zip(own, args[:-1], strict=True))
        return getattr(stats, name).rvs(**given, size=args[-1], random_state=rng)

    return drawn


def one_by_one(draw: Any) -> Any:
    """For NumPy's methods that take one vector at a time."""

    def drawn(rng: Any, x: Any, size: Any) -> Any:
        x = np.asarray(x)
        batch = x.shape[:-1] if size is None else np.zeros(size).shape
        wide = np.broadcast_to(x, (*batch, x.shape[-1]))
        one = np.asarray(draw(np.random.default_rng(), x))
        made = [draw(rng, wide[i]) for i in np.ndindex(batch)]
        return np.reshape(np.array(made, one.dtype), (*batch, *one.shape))

    return drawn


def normal_vectors(rng: Any, mean: Any, cov: Any, size: Any) -> Any:
    return rng.multivariate_normal(mean, cov, size, method="cholesky")


WEIGHTS, MEAN, COV = [0.2, 0.3, 0.5], [1.0, -1.0], [[2.0, 0.5], [0.5, 1.0]]
CASES = [
    Case("bernoulli", (0.3,), by_scipy("bernoulli", "p"), stats.bernoulli(0.3)),
    Case("beta", (2.0, 3.0), "beta", stats.beta(2, 3)),
    Case("betabinom", (10, 2.0, 3.0), by_scipy("betabinom", "n", "a", "b"),
         stats.betabinom(10, 2, 3)),
    Case("binomial", (10, 0.3), "binomial", stats.binom(10, 0.3)),
    Case("categorical", (WEIGHTS,), one_by_one(lambda rng, p: rng.choice(len(p), p=p)),
         stats.rv_discrete(values=([0, 1, 2], WEIGHTS))),
    Case("cauchy", (1.0, 2.0), by_scipy("cauchy", "loc", "scale"), stats.cauchy(1, 2)),
    Case("chisquare", (3.0,), "chisquare", stats.chi2(3)),
    Case("dirichlet", ([1.5, 2.0, 3.0],), one_by_one(lambda rng, a: rng.dirichlet(a)),
         stats.beta(1.5, 5.0), lambda x: x[..., 0]),
    Case("exponential", (2.0,), "exponential", stats.expon(scale=2)),
    Case("gengamma", (2.0, 3.0, 1.5),
         lambda rng, a, p, scale, size: by_scipy("gengamma", "a", "c", "scale")(
             rng, np.divide(a, p), p, scale, size),
         stats.gengamma(2 / 3, 3, scale=1.5)),
    Case("geometric", (0.3,), "geometric", stats.geom(0.3)),
    Case("gumbel", (1.0, 2.0), by_scipy("gumbel_r", "loc", "scale"), stats.gumbel_r(1, 2)),
    Case("halfcauchy", (1.0, 2.0), by_scipy("halfcauchy", "loc", "scale"), stats.halfcauchy(1, 2)),
    Case("halfnormal", (1.0, 2.0), by_scipy("halfnorm", "loc", "scale"), stats.halfnorm(1, 2)),
    Case("hypergeometric", (10, 5, 4), "hypergeometric", stats.hypergeom(15, 10, 4)),
    Case("integers", (2, 10), "integers", stats.randint(2, 10)),
    Case("invgamma", (5.0, 3.0),
         lambda rng, a, scale, size: 1 / rng.gamma(a, np.divide(1.0, scale), size),
         stats.invgamma(5, scale=3)),
    Case("laplace", (1.0, 2.0), "laplace", stats.laplace(1, 2)),
    Case("logistic", (1.0, 2.0), "logistic", stats.logistic(1, 2)),
    Case("lognormal", (1.0, 0.5), "lognormal", stats.lognorm(0.5, scale=np.exp(1))),
    Case("multinomial", (10, WEIGHTS), "multinomial", stats.binom(10, 0.2), lambda x: x[..., 0]),
    Case("multivariate_normal", (MEAN, COV), normal_vectors, stats.norm(1, 2**0.5),
         lambda x: x[..., 0]),
    Case("negative_binomial", (3.0, 0.4), "negative_binomial", stats.nbinom(3, 0.4)),
    Case("normal", (1.0, 2.0), "normal", stats.norm(1, 2)),
    Case("pareto", (5.0, 2.0), by_scipy("pareto", "b", "scale"), stats.pareto(5, scale=2)),
    Case("poisson", (3.0,), "poisson", stats.poisson(3)),
    Case("rayleigh", (2.0,), "rayleigh", stats.rayleigh(scale=2)),
    Case("standard_normal", (), "standard_normal", stats.norm()),
    Case("t", (5.0, 1.0, 2.0), by_scipy("t", "df", "loc", "scale"), stats.t(5, 1, 2)),
    Case("triangular", (-1.0, 0.0, 2.0), "triangular", stats.triang(1 / 3, -1, 3)),
    Case("truncexpon", (3.0, 1.0, 2.0), by_scipy("truncexpon", "b", "loc", "scale"),
         stats.truncexpon(3, 1, 2)),
    Case("uniform", (1.0, 3.0), "uniform", stats.uniform(1, 2)),
    Case("vonmises", (1.0, 2.0), "vonmises", stats.vonmises(2),
         lambda x: (x - 1 + PI) % (2 * PI) - PI),
    Case("wald", (1.0, 2.0), "wald", stats.invgauss(0.5, scale=2)),
    Case("weibull", (2.0,), "weibull", stats.weibull_min(2)),
    Case("gamma", (2.0, 3.0), "gamma", stats.gamma(2, scale=3)),
    Case("permutation", ([0, 1, 2],), one_by_one(lambda rng, x: rng.permutation(x)),
         stats.randint(0, 3), lambda x: x[..., 0]),
]  # fmt: skip
