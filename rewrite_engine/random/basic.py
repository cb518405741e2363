"""Distributions as functions: `normal(0, 1, size=(3,), rng=rng)`.

Most are ops made of the table in `distributions.py`: their arguments are its parameters, then
`size`, `rng`, `dtype`, `return_next_rng` and `name`, as `RandomVariable` says. The others are made
of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rewrite_engine.errors import DTypeError, MethodNotDefined, NDimError, OptionError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.origin import located
from rewrite_engine.random.distributions import DISTRIBUTIONS, call_signature, normal_vectors
from rewrite_engine.random.op import ParameterError, RandomVariable, applies_to_inputs
from rewrite_engine.tensor.constant import operand
from rewrite_engine.tensor.creation import arange
from rewrite_engine.tensor.shape import lengths, specify_shape

__all__ = [
    "bernoulli", "beta", "betabinom", "binomial", "categorical", "cauchy", "chisquare", "choice",
    "dirichlet", "exponential", "gamma", "gengamma", "geometric", "gumbel", "halfcauchy",
    "halfnormal", "hypergeometric", "integers", "invgamma", "laplace", "logistic", "lognormal",
    "multinomial", "multivariate_normal", "nbinom", "negative_binomial", "normal", "pareto",
    "permutation", "poisson", "rayleigh", "standard_normal", "t", "triangular", "truncexpon",
    "uniform", "vonmises", "wald", "weibull",
]  # fmt: skip


class Draws(RandomVariable):
    """Draws from a distribution of the table: `Draws("normal")`."""

    def __init__(
        self,
        name: str,
        signature: str | None = None,
        dtype: Any = None,
        inplace: bool = False,
        lengths: tuple[int | None, ...] | None = None,
    ) -> None:
        entry = DISTRIBUTIONS[name]
        core = signature or entry.signature
        super().__init__(name, None, None, dtype or entry.dtype, inplace, core, lengths)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the draws; see `RandomVariable`. Parameters may be given by name."""
        if applies_to_inputs(args):
            return super().__call__(*args, **kwargs)
        try:
            bound = call_signature(self.name).bind(*args, **kwargs)
        except TypeError as error:
            raise OptionError(located(str(error), op=self)) from None
        bound.apply_defaults()
        given = bound.arguments
        params = [given.pop(name) for name in self.parameters]
        return super().__call__(*params, **given)

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters."""
        return list(call_signature(self.name).parameters)[: len(self.ins)]

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Where the draws do not depend on each other."""
        if self.name.endswith("choice_without_replacement"):
            raise MethodNotDefined(located("draws have no batch", op=self, inputs=inputs))
        return super().vectorize(node, inputs)

    def rng_fn(self, rng: Any, *args: Any) -> Any:
        """As the table says."""
        draw = DISTRIBUTIONS[self.name].draw
        return getattr(rng, self.name)(*args) if draw is None else draw(rng, *args)


class MultivariateNormal(Draws):
    """Draws from a multivariate normal distribution.

    method: how a root of the covariance is found: "cholesky", "svd" or "eigh".
    """

    __props__ = (*(Draws.__props__ or ()), "method")

    def __init__(self, *args: Any, method: str = "cholesky", **kwargs: Any) -> None:
        if method not in ("cholesky", "svd", "eigh"):
            raise OptionError(f"method is 'cholesky', 'svd' or 'eigh', not {method!r}")
        super().__init__(*args, **kwargs)
        self.method = method

    def rng_fn(self, rng: Any, *args: Any) -> Any:
        """By the method."""
        mean, cov, size = args
        return normal_vectors(rng, mean, cov, size, self.method)


bernoulli = Draws("bernoulli")
beta = Draws("beta")
betabinom = Draws("beta_binomial")
binomial = Draws("binomial")
categorical = Draws("categorical")
cauchy = Draws("cauchy")
dirichlet = Draws("dirichlet")
exponential = Draws("exponential")
gengamma = Draws("gengamma")
geometric = Draws("geometric")
gumbel = Draws("gumbel")
halfcauchy = Draws("halfcauchy")
halfnormal = Draws("halfnormal")
hypergeometric = Draws("hypergeometric")
invgamma = Draws("invgamma")
laplace = Draws("laplace")
logistic = Draws("logistic")
lognormal = Draws("lognormal")
multinomial = Draws("multinomial")
nbinom = negative_binomial = Draws("negative_binomial")
normal = Draws("normal")
pareto = Draws("pareto")
poisson = Draws("poisson")
rayleigh = Draws("rayleigh")
t = Draws("t")
triangular = Draws("triangular")
truncexpon = Draws("truncexpon")
uniform = Draws("uniform")
vonmises = Draws("vonmises")
wald = Draws("wald")
weibull = Draws("weibull")

_gamma = Draws("gamma")
_integers = Draws("integers")
_distinct = Draws("choice_without_replacement")
_distinct_weighed = Draws("weighted_choice_without_replacement")
_permutation = Draws("permutation")


def multivariate_normal(
    mean: Any, cov: Any, size: Any = None, method: str | None = None, **options: Any
) -> Any:
    """Draw vectors around `mean` (n) with the covariance `cov` (n, n).

    method: how a root of `cov` is found: "cholesky" (the default), or, where it may be singular,
    "svd" or "eigh". size, options: as of all distributions.

    >>> multivariate_normal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], size=(5,)).type
    TensorType(float64, (5, 2))
    """
    op = MultivariateNormal("multivariate_normal", method=method or "cholesky")
    return op(mean, cov, size, **options)


def gamma(shape: Any, rate: Any = None, scale: Any = None, **options: Any) -> Any:
    """Draw from a gamma distribution with the mean `shape * scale`; `rate` is 1 / scale. One of
    both is given: `ParameterError`. options: `size`, … as of all distributions.

    >>> gamma([1.0, 2.0], scale=0.5).type
    TensorType(float64, (2,))
    """
    if (rate is None) == (scale is None):
        raise ParameterError(located("gamma: takes scale, or rate = 1 / scale"))
    return _gamma(shape, 1.0 / operand(rate) if scale is None else scale, **options)


def integers(low: Any, high: Any = None, size: Any = None, **options: Any) -> Any:
    """Draw integers from `low` up to (not including) `high`; of one number: from 0 up to that.

    >>> integers(10, size=(3,)).type
    TensorType(int64, (3,))
    """
    return _integers(*((0, low) if high is None else (low, high)), size, **options)


def standard_normal(
    *, size: Any = None, rng: Any = None, dtype: Any = None, return_next_rng: bool = False
) -> Any:
    """Draw from a normal distribution with the mean 0 and the standard deviation 1."""
    return normal(0.0, 1.0, size, rng=rng, dtype=dtype, return_next_rng=return_next_rng)


def chisquare(df: Any, size: Any = None, rng: Any = None, return_next_rng: bool = False) -> Any:
    """Draw from a chi-square distribution with `df` degrees of freedom.

    >>> chisquare([1.0, 3.0], size=(5, 2)).type
    TensorType(float64, (5, 2))
    """
    half = operand(df) / 2.0
    return _gamma(half, 2.0, size, rng=rng, return_next_rng=return_next_rng)


def permutation(x: Any, size: Any = None, rng: Any = None, return_next_rng: bool = False) -> Any:
    """Return the parts of `x` along its first dimension in an arbitrary order; of an integer, the
    numbers from 0 up to it. size: how often.

    >>> permutation([1.5, 2.5, 3.5], size=(2,)).type
    TensorType(float64, (2, 3))
    """
    x, n = _things("permutation", x)
    next_rng, order = _permutation(arange(n), size, rng=rng, return_next_rng=True)
    draw = x[order] if x.type.ndim else order
    return (next_rng, draw) if return_next_rng else draw


def choice(
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    rng: Any = None,
    return_next_rng: bool = False,
) -> Any:
    """Draw parts of `a` along its first dimension; of an integer, of the numbers from 0 up to it.

    replace: whether one may be drawn again. p: the probability of each, a vector. Raises
    `NDimError`, `DTypeError`.

    >>> choice([1.5, 2.5, 3.5], size=(2,), replace=False).type
    TensorType(float64, (2,))
    """
    a, n = _things("choice", a)
    weights = []
    if p is not None:
        p = operand(p)
        if p.type.ndim != 1:
            raise NDimError(located(f"choice: p is a vector, not a {p.type}"))
        weights = [specify_shape(p, (n,))]
    if size is not None and not replace:
        op, params = _distinct_weighed if weights else _distinct, [n, *weights]
    else:
        op, params = (categorical, weights) if weights else (_integers, [0, n])
    next_rng, drawn = op(*params, size, rng=rng, return_next_rng=True)
    draw = a[drawn] if a.type.ndim else drawn
    return (next_rng, draw) if return_next_rng else draw


def _things(function: str, x: Any) -> tuple[Any, Any]:
    """What is drawn of, or how many things that are, as a tensor; and how many there are. Raises
    `DTypeError`.
    """
    x = operand(x)
    if x.type.ndim:
        return x, lengths(x)[0]
    if x.type.kind not in "iu":
        raise DTypeError(located(f"{function}: a number of things is an integer, not a {x.type}"))
    return x, x


def method(rng: Any, name: str) -> Any:
    """A function of this module that draws with a state, and returns the next one, too."""
    if name not in __all__:
        raise AttributeError(f"{type(rng).__name__} has no attribute {name!r}")
    return partial(globals()[name], rng=rng, return_next_rng=True)
