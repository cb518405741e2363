"""Distributions as functions: `normal(0, 1, size=(3,), rng=rng)`.

Most are ops built from the table in `distributions.py`: their arguments are its parameters, then
`size`, `rng`, `dtype`, `return_next_rng` and `name`, as for `RandomVariable`. The others are built
from these.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rewrite_engine.errors import (
    DTypeError,
    MethodNotDefined,
    NDimError,
    OptionError,
    ParameterError,
)
from rewrite_engine.graph.intern import Interned
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.origin import located
from rewrite_engine.random.distributions import DISTRIBUTIONS, call_signature, normal_vectors
from rewrite_engine.random.op import RandomVariable, applies_to_inputs
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import arange
from rewrite_engine.tensor.op import with_parameters
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
    """Draws from a distribution of the table, which a subclass names as `distribution`."""

    distribution: str

    def __init__(
        self,
        name: str | None = None,
        signature: str | None = None,
        dtype: Any = None,
        inplace: bool = False,
        lengths: tuple[int | None, ...] | None = None,
    ) -> None:
        entry = DISTRIBUTIONS[self.distribution]
        core = signature or entry.signature
        super().__init__(name, None, None, dtype or entry.dtype, inplace, core, lengths)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the draws (arguments: see `RandomVariable`). Parameters may be passed by name."""
        if applies_to_inputs(args):
            return super().__call__(*args, **kwargs)
        try:
            bound = call_signature(self.distribution).bind(*args, **kwargs)
        except TypeError as error:
            raise OptionError(located(str(error), op=self)) from None
        bound.apply_defaults()
        given = bound.arguments
        params = [given.pop(name) for name in self.parameters]
        return super().__call__(*params, **given)

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters."""
        return list(call_signature(self.distribution).parameters)[: len(self.ins)]

    @property
    def is_independent(self) -> bool:
        """Whether no draw depends on the others, so that the op has batches."""
        return not self.distribution.endswith("choice_without_replacement")

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to a batch, if the draws are independent."""
        if not self.is_independent:
            raise MethodNotDefined(
                located(
                    "draws that depend on each other cannot have a batch", op=self, inputs=inputs
                )
            )
        return super().vectorize(node, inputs)

    def rng_fn(self, rng: Any, *args: Any, **size: Any) -> Any:
        """Draw by the function of the table. The size may be passed by name."""
        args = (*args, *size.values()) if size else args
        draw = DISTRIBUTIONS[self.distribution].draw
        return getattr(rng, self.distribution)(*args) if draw is None else draw(rng, *args)


def draws(name: str, of: str) -> Any:
    """Return the op of a distribution of the table, the only instance of a class named `of`."""
    own = {
        "__module__": __name__,
        "__doc__": f"Draw from the distribution `{name}({DISTRIBUTIONS[name].parameters})`.",
        "distribution": name,
        "name": name,
    }
    made: Any = Interned(of, (Draws,), own)
    globals()[of] = made
    return made()


bernoulli = draws("bernoulli", "BernoulliRV")
beta = draws("beta", "BetaRV")
betabinom = draws("beta_binomial", "BetaBinomialRV")
binomial = draws("binomial", "BinomialRV")
categorical = draws("categorical", "CategoricalRV")
cauchy = draws("cauchy", "CauchyRV")
dirichlet = draws("dirichlet", "DirichletRV")
exponential = draws("exponential", "ExponentialRV")
gengamma = draws("gengamma", "GenGammaRV")
geometric = draws("geometric", "GeometricRV")
gumbel = draws("gumbel", "GumbelRV")
halfcauchy = draws("halfcauchy", "HalfCauchyRV")
halfnormal = draws("halfnormal", "HalfNormalRV")
hypergeometric = draws("hypergeometric", "HyperGeometricRV")
invgamma = draws("invgamma", "InvGammaRV")
laplace = draws("laplace", "LaplaceRV")
logistic = draws("logistic", "LogisticRV")
lognormal = draws("lognormal", "LogNormalRV")
multinomial = draws("multinomial", "MultinomialRV")
nbinom = negative_binomial = draws("negative_binomial", "NegBinomialRV")
normal = draws("normal", "NormalRV")
pareto = draws("pareto", "ParetoRV")
poisson = draws("poisson", "PoissonRV")
rayleigh = draws("rayleigh", "RayleighRV")
t = draws("t", "StudentTRV")
triangular = draws("triangular", "TriangularRV")
truncexpon = draws("truncexpon", "TruncExponentialRV")
uniform = draws("uniform", "UniformRV")
vonmises = draws("vonmises", "VonMisesRV")
wald = draws("wald", "WaldRV")
weibull = draws("weibull", "WeibullRV")

_gamma = draws("gamma", "GammaRV")
_integers = draws("integers", "IntegersRV")
_distinct = draws("choice_without_replacement", "ChoiceWithoutReplacement")
_distinct_weighed = draws("weighted_choice_without_replacement", "WeighedChoice")
_permutation = draws("permutation", "PermutationRV")


class MvNormalRV(Draws):
    """Draws of vectors around `mean` (n) with covariance `cov` (n, n).

    method: the root of `cov`: "cholesky" (the default), or, if it may be singular, "svd" or "eigh".

    >>> multivariate_normal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], size=(5,)).type
    TensorType(float64, (5, 2))
    """

    __props__ = (*(Draws.__props__ or ()), "method")
    name = distribution = "multivariate_normal"

    def __init__(self, *args: Any, method: str = "cholesky", **kwargs: Any) -> None:
        if method not in ("cholesky", "svd", "eigh"):
            raise OptionError(f"method must be 'cholesky', 'svd' or 'eigh', not {method!r}")
        super().__init__(*args, **kwargs)
        self.method = method

    def __call__(self, *args: Any, method: str | None = None, **kwargs: Any) -> Any:
        """Return the draws, with the root `method` if it is not None (the fourth argument)."""
        if len(args) == 4 and not applies_to_inputs(args):
            method, args = args[-1], args[:-1]
        if method in (None, self.method):
            return super().__call__(*args, **kwargs)
        return with_parameters(self, method=method)(*args, **kwargs)

    def rng_fn(self, rng: Any, *args: Any) -> Any:
        """Draw vectors with the root of this op's `method`."""
        mean, cov, size = args
        return normal_vectors(rng, mean, cov, size, self.method)


multivariate_normal = MvNormalRV()


def gamma(shape: Any, rate: Any = None, scale: Any = None, **options: Any) -> Any:
    """Draw from a gamma distribution with mean `shape * scale`; `rate` is 1 / scale.

    Pass exactly one of rate and scale (`ParameterError`). options: `size` and the other options of
    all distributions.

    >>> gamma([1.0, 2.0], scale=0.5).type
    TensorType(float64, (2,))
    """
    if (rate is None) == (scale is None):
        raise ParameterError(located("gamma: pass either scale or rate = 1 / scale"))
    return _gamma(shape, 1.0 / as_tensor_variable(rate) if scale is None else scale, **options)


def integers(low: Any, high: Any = None, size: Any = None, **options: Any) -> Any:
    """Draw integers from `low` up to (not including) `high`; with one argument from 0 up to it.

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
    half = as_tensor_variable(df) / 2.0
    return _gamma(half, 2.0, size, rng=rng, return_next_rng=return_next_rng)


def permutation(x: Any, size: Any = None, rng: Any = None, return_next_rng: bool = False) -> Any:
    """Return the parts of `x` along its first dimension in random order; for an integer, the
    numbers from 0 up to it.

    size: the shape of independent permutations.

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
    """Draw parts of `a` along its first dimension; for an integer, numbers from 0 up to it.

    replace: whether a part may be drawn more than once. p: the probability of each, a vector.
    Raises `NDimError`, `DTypeError`.

    >>> choice([1.5, 2.5, 3.5], size=(2,), replace=False).type
    TensorType(float64, (2,))
    """
    a, n = _things("choice", a)
    weights = []
    if p is not None:
        p = as_tensor_variable(p)
        if p.type.ndim != 1:
            raise NDimError(located(f"choice: p must be a vector, not type {p.type}"))
        weights = [specify_shape(p, (n,))]
    if size is not None and not replace:
        op, params = _distinct_weighed if weights else _distinct, [n, *weights]
    else:
        op, params = (categorical, weights) if weights else (_integers, [0, n])
    next_rng, drawn = op(*params, size, rng=rng, return_next_rng=True)
    draw = a[drawn] if a.type.ndim else drawn
    return (next_rng, draw) if return_next_rng else draw


def _things(function: str, x: Any) -> tuple[Any, Any]:
    """Return the tensor to draw from, or a number of things, and how many there are. Raise
    `DTypeError`.
    """
    x = as_tensor_variable(x)
    if x.type.ndim:
        return x, lengths(x)[0]
    if x.type.kind not in "iu":
        raise DTypeError(
            located(f"{function}: a number of things must be an integer, not type {x.type}")
        )
    return x, x


def method(rng: Any, name: str) -> Any:
    """Return a function of this module that draws with a state, and also returns the next state."""
    if name not in __all__:
        raise AttributeError(f"{type(rng).__name__} has no attribute {name!r}")
    return partial(globals()[name], rng=rng, return_next_rng=True)
