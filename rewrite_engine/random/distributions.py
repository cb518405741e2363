"""Table of distributions: their parameters, and functions that draw from them.

The streams are those of `numpy.random.Generator`, or of `scipy.stats` for distributions that NumPy
does not have.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from typing import Any, NamedTuple

import numpy as np

__all__ = ["DISTRIBUTIONS", "Distribution"]


class Distribution(NamedTuple):
    """Description of a distribution.

    parameters: their names, and defaults. draw(rng, *parameters, size): function that draws; by
    default the generator's method of this name. dtype: dtype of the draws. core: dimensions of the
    parameters of one draw, and of the draw, if these are not all numbers.
    """

    parameters: str
    draw: Callable[..., Any] | None = None
    dtype: str = "floatX"
    core: str = ""

    @property
    def signature(self) -> str:
        """The dimensions of the parameters of one draw, and of the draw."""
        return self.core or f"{','.join(['()'] * (self.parameters.count(',') + 1))}->()"


@cache
def call_signature(name: str) -> Signature:
    """Return the signature of a distribution's function.

    >>> call_signature("exponential")
    <Signature (scale=1.0, size=None, *, rng=None, dtype=None, return_next_rng=False, name=None)>
    """
    either, only = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    listed = []
    for text in DISTRIBUTIONS[name].parameters.split(", "):
        own, _, default = text.partition("=")
        given = literal_eval(default) if default else Parameter.empty
        listed.append(Parameter(own, either, default=given))
    listed.append(Parameter("size", either, default=None))
    options = {"rng": None, "dtype": None, "return_next_rng": False, "name": None}
    return Signature([*listed, *[Parameter(k, only, default=v) for k, v in options.items()]])


# --- draws --------------------------------------------------------------------------------------


def _scipy(name: str, *own: str) -> Callable[..., Any]:
    """Return the function that draws from a distribution of `scipy.stats`, which is loaded at run
    time.

    own: the names of the parameters there. (Without a size, SciPy drops leading lengths of 1.)
    """

    def draw(rng: Any, *args: Any) -> Any:
        from scipy import stats

        *params, size = args
        given = dict(zip(own, params, strict=True))
        return getattr(stats, name).rvs(**given, size=_all(size, *params), random_state=rng)

    return draw


def _all(size: Any, *params: Any) -> Any:
    """Return the shape of all draws."""
    return np.broadcast_shapes(*map(np.shape, params)) if size is None else size


def _beta_binomial(rng: Any, n: Any, a: Any, b: Any, size: Any) -> Any:
    size = _all(size, n, a, b)
    return rng.binomial(n, rng.beta(a, b, size), size)


def _student_t(rng: Any, df: Any, loc: Any, scale: Any, size: Any) -> Any:
    if not np.all(np.greater(scale, 0)):
        raise ValueError("scale <= 0")
    return loc + scale * rng.standard_t(df, _all(size, df, loc, scale))


def _general_gamma(rng: Any, alpha: Any, p: Any, lambd: Any, size: Any) -> Any:
    return _scipy("gengamma", "a", "c", "scale")(rng, alpha / p, p, lambd, size)


def _inverse_gamma(rng: Any, shape: Any, scale: Any, size: Any) -> Any:
    return 1.0 / rng.gamma(shape, 1.0 / scale, size)


def _dirichlet(rng: Any, alphas: Any, size: Any) -> Any:
    """Draw as NumPy does: gamma numbers over their sum, added in order; for small `alphas` by its
    other algorithm, one by one.
    """
    if alphas.ndim == 1:
        return rng.dirichlet(alphas, size)
    if not np.all(alphas >= 0):
        raise ValueError("alpha < 0")
    wide = _wide(alphas, size)
    if np.any(wide.max(-1, initial=0.0) < 0.1):
        return _one_by_one(rng.dirichlet, wide, "float64")
    drawn = rng.standard_gamma(wide)
    return drawn * (1.0 / drawn.cumsum(-1)[..., -1:])


def _permutation(rng: Any, x: Any, size: Any) -> Any:
    return _one_by_one(rng.permutation, np.array(_wide(x, size)), x.dtype)


def _wide(x: Any, size: Any) -> Any:
    """Return one vector of parameters for each draw."""
    return np.broadcast_to(x, (*(x.shape[:-1] if size is None else size), x.shape[-1]))


def _one_by_one(draw: Callable[..., Any], xs: Any, dtype: Any) -> Any:
    """Draw one by one, each with a vector as parameter."""
    out = np.empty(xs.shape, dtype)
    for index in np.ndindex(xs.shape[:-1]):
        out[index] = draw(xs[index])
    return out


def _categorical(rng: Any, p: Any, size: Any) -> Any:
    """Return how many of the sums p[0], p[0] + p[1], … (except the last) a uniform number
    exceeds.
    """
    if not np.all(p >= 0):
        raise ValueError("p < 0 or p is NaN")
    if not np.all(np.abs(p.sum(-1, dtype="float64") - 1.0) <= _tolerance(p)):
        raise ValueError("the elements of p must add up to 1")
    sums = p.cumsum(-1)[..., :-1]
    drawn = rng.uniform(size=p.shape[:-1] if size is None else size)
    if p.ndim == 1:
        return np.searchsorted(sums, drawn)
    return (sums < np.expand_dims(drawn, -1)).sum(-1)


def normal_vectors(rng: Any, mean: Any, cov: Any, size: Any, method: str = "cholesky") -> Any:
    """Draw vectors around means: standard normal draws times a root of `cov`.

    method: the root: the "cholesky" factor, or that of the "svd" or "eigh" decomposition.
    """
    if method == "cholesky":
        root = np.linalg.cholesky(cov)
    else:
        if not np.isfinite(cov).all():  # of these, LAPACK may find none without an end
            raise ValueError("the covariance has numbers that are not finite")
        if method == "svd":
            vectors, values, _ = np.linalg.svd(cov)
        else:
            values, vectors = np.linalg.eigh(cov)
        root = vectors * np.sqrt(np.maximum(values, 0))[..., None, :]
        most = np.abs(cov).max((-1, -2), keepdims=True, initial=0)
        if not np.all(np.abs(root @ root.mT - cov) <= _tolerance(cov) * most):
            raise ValueError("the covariance is not symmetric, or has a negative eigenvalue")
    batch = np.broadcast_shapes(mean.shape[:-1], cov.shape[:-2]) if size is None else size
    drawn = rng.standard_normal((*batch, mean.shape[-1]))
    if root.ndim == 2:
        return mean + drawn @ root.T
    return mean + np.einsum("...ij,...j->...i", root, drawn)


def _tolerance(x: Any) -> float:
    """Return the relative error allowed for numbers of this precision."""
    return float(np.finfo(x.dtype if x.dtype.kind == "f" else np.float64).eps ** 0.5)


def _distinct(rng: Any, n: Any, size: Any) -> Any:
    return rng.choice(int(n), size, replace=False)


def _distinct_weighed(rng: Any, n: Any, p: Any, size: Any) -> Any:
    return rng.choice(int(n), size, replace=False, p=p)


# --- the table ----------------------------------------------------------------------------------

DISTRIBUTIONS: dict[str, Distribution] = {
    "bernoulli": Distribution("p", lambda rng, p, size: rng.binomial(1, p, size), "int64"),
    "beta": Distribution("alpha, beta"),
    "beta_binomial": Distribution("n, a, b", _beta_binomial, "int64"),
    "binomial": Distribution("n, p", dtype="int64"),
    "categorical": Distribution("p", _categorical, "int64", "(p)->()"),
    "cauchy": Distribution("loc=0.0, scale=1.0", _scipy("cauchy", "loc", "scale")),
    "choice_without_replacement": Distribution("n", _distinct, "int64"),
    "weighted_choice_without_replacement": Distribution(
        "n, p", _distinct_weighed, "int64", "(),(p)->()"
    ),
    "dirichlet": Distribution("alphas", _dirichlet, core="(a)->(a)"),
    "exponential": Distribution("scale=1.0"),
    "gamma": Distribution("shape, scale"),
    "gengamma": Distribution("alpha=1.0, p=1.0, lambd=1.0", _general_gamma),
    "geometric": Distribution("p", dtype="int64"),
    "gumbel": Distribution("loc, scale=1.0", _scipy("gumbel_r", "loc", "scale")),
    "halfcauchy": Distribution("loc=0.0, scale=1.0", _scipy("halfcauchy", "loc", "scale")),
    "halfnormal": Distribution("loc=0.0, scale=1.0", _scipy("halfnorm", "loc", "scale")),
    "hypergeometric": Distribution("ngood, nbad, nsample", dtype="int64"),
    "integers": Distribution("low, high", dtype="int64"),
    "invgamma": Distribution("shape, scale", _inverse_gamma),
    "laplace": Distribution("loc=0.0, scale=1.0"),
    "logistic": Distribution("loc=0.0, scale=1.0"),
    "lognormal": Distribution("mean=0.0, sigma=1.0"),
    "multinomial": Distribution("n, p", dtype="int64", core="(),(p)->(p)"),
    "multivariate_normal": Distribution("mean, cov", normal_vectors, core="(n),(n,n)->(n)"),
    "negative_binomial": Distribution("n, p", dtype="int64"),
    "normal": Distribution("loc=0.0, scale=1.0"),
    "pareto": Distribution("b, scale=1.0", _scipy("pareto", "b", "scale")),
    "permutation": Distribution("x", _permutation, "int64", "(x)->(x)"),
    "poisson": Distribution("lam=1.0", dtype="int64"),
    "rayleigh": Distribution("scale=1.0"),
    "t": Distribution("df, loc=0.0, scale=1.0", _student_t),
    "triangular": Distribution("left, mode, right"),
    "truncexpon": Distribution("b, loc=0.0, scale=1.0", _scipy("truncexpon", "b", "loc", "scale")),
    "uniform": Distribution("low=0.0, high=1.0"),
    "vonmises": Distribution("mu, kappa"),
    "wald": Distribution("mean=1.0, scale=1.0"),
    "weibull": Distribution("shape"),
}
