"""Written by `scripts/stubs`; do not edit. Random variables."""

from typing import Any, Literal, overload

from rewrite_engine.graph.node import Variable
from rewrite_engine.random.stream import RandomStream as _RandomStream
from rewrite_engine.tensor.annotation import DTypeLike, TensorLike
from rewrite_engine.tensor.variable import TensorVariable
from rewrite_engine.errors import ParameterError as ParameterError
from rewrite_engine.random.functions import Draws as Draws
from rewrite_engine.random.op import RNGConsumerOp as RNGConsumerOp
from rewrite_engine.random.op import RandomVariable as RandomVariable
from rewrite_engine.random.op import ScipyRandomVariable as ScipyRandomVariable
from rewrite_engine.random.stream import DefaultGenerator as DefaultGenerator
from rewrite_engine.random.stream import default_rng as default_rng
from rewrite_engine.random.stream import rng as rng
from rewrite_engine.random.stream import shared_rng as shared_rng
from rewrite_engine.random.type import RandomGeneratorType as RandomGeneratorType
from rewrite_engine.random.type import RandomGeneratorVariable as RandomGeneratorVariable
from rewrite_engine.random.type import random_generator_type as random_generator_type

@overload
def bernoulli(p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `bernoulli(p)`."""

@overload
def bernoulli(p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def beta(alpha: TensorLike, beta: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `beta(alpha, beta)`."""

@overload
def beta(alpha: TensorLike, beta: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def betabinom(n: TensorLike, a: TensorLike, b: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `beta_binomial(n, a, b)`."""

@overload
def betabinom(n: TensorLike, a: TensorLike, b: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def binomial(n: TensorLike, p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `binomial(n, p)`."""

@overload
def binomial(n: TensorLike, p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def categorical(p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `categorical(p)`."""

@overload
def categorical(p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def cauchy(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `cauchy(loc=0.0, scale=1.0)`."""

@overload
def cauchy(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def chisquare(df: TensorLike, size: Any = None, rng: Variable | None = None, *, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from a chi-square distribution with `df` degrees of freedom."""

@overload
def chisquare(df: TensorLike, size: Any = None, rng: Variable | None = None, *, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def choice(a: TensorLike, size: Any = None, replace: bool = True, p: TensorLike | None = None, rng: Variable | None = None, *, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw parts of `a` along its first dimension; for an integer, numbers from 0 up to it."""

@overload
def choice(a: TensorLike, size: Any = None, replace: bool = True, p: TensorLike | None = None, rng: Variable | None = None, *, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def dirichlet(alphas: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `dirichlet(alphas)`."""

@overload
def dirichlet(alphas: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def exponential(scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `exponential(scale=1.0)`."""

@overload
def exponential(scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def gamma(shape: TensorLike, rate: TensorLike | None = None, scale: TensorLike | None = None, *, size: Any = None, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from a gamma distribution with mean `shape * scale`; `rate` is 1 / scale."""

@overload
def gamma(shape: TensorLike, rate: TensorLike | None = None, scale: TensorLike | None = None, *, size: Any = None, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def gengamma(alpha: TensorLike = 1.0, p: TensorLike = 1.0, lambd: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `gengamma(alpha=1.0, p=1.0, lambd=1.0)`."""

@overload
def gengamma(alpha: TensorLike = 1.0, p: TensorLike = 1.0, lambd: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def geometric(p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `geometric(p)`."""

@overload
def geometric(p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def gumbel(loc: TensorLike, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `gumbel(loc, scale=1.0)`."""

@overload
def gumbel(loc: TensorLike, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def halfcauchy(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `halfcauchy(loc=0.0, scale=1.0)`."""

@overload
def halfcauchy(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def halfnormal(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `halfnormal(loc=0.0, scale=1.0)`."""

@overload
def halfnormal(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def hypergeometric(ngood: TensorLike, nbad: TensorLike, nsample: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `hypergeometric(ngood, nbad, nsample)`."""

@overload
def hypergeometric(ngood: TensorLike, nbad: TensorLike, nsample: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def integers(low: TensorLike, high: TensorLike | None = None, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw integers from `low` up to (not including) `high`; with one argument from 0 up to it."""

@overload
def integers(low: TensorLike, high: TensorLike | None = None, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def invgamma(shape: TensorLike, scale: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `invgamma(shape, scale)`."""

@overload
def invgamma(shape: TensorLike, scale: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def laplace(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `laplace(loc=0.0, scale=1.0)`."""

@overload
def laplace(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def logistic(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `logistic(loc=0.0, scale=1.0)`."""

@overload
def logistic(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def lognormal(mean: TensorLike = 0.0, sigma: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `lognormal(mean=0.0, sigma=1.0)`."""

@overload
def lognormal(mean: TensorLike = 0.0, sigma: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def multinomial(n: TensorLike, p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `multinomial(n, p)`."""

@overload
def multinomial(n: TensorLike, p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def multivariate_normal(mean: TensorLike, cov: TensorLike, size: Any = None, *, rng: Variable | None = None, method: Literal["cholesky", "svd", "eigh"] | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draws of vectors around `mean` (n) with covariance `cov` (n, n)."""

@overload
def multivariate_normal(mean: TensorLike, cov: TensorLike, size: Any = None, *, rng: Variable | None = None, method: Literal["cholesky", "svd", "eigh"] | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def nbinom(n: TensorLike, p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `negative_binomial(n, p)`."""

@overload
def nbinom(n: TensorLike, p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def negative_binomial(n: TensorLike, p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `negative_binomial(n, p)`."""

@overload
def negative_binomial(n: TensorLike, p: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def normal(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `normal(loc=0.0, scale=1.0)`."""

@overload
def normal(loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def pareto(b: TensorLike, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `pareto(b, scale=1.0)`."""

@overload
def pareto(b: TensorLike, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def permutation(x: TensorLike, size: Any = None, rng: Variable | None = None, *, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Return the parts of `x` along its first dimension in random order; for an integer, the
    numbers from 0 up to it.
    """

@overload
def permutation(x: TensorLike, size: Any = None, rng: Variable | None = None, *, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def poisson(lam: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `poisson(lam=1.0)`."""

@overload
def poisson(lam: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def rayleigh(scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `rayleigh(scale=1.0)`."""

@overload
def rayleigh(scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def standard_normal(*, size: Any = None, rng: Variable | None = None, dtype: DTypeLike = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from a normal distribution with the mean 0 and the standard deviation 1."""

@overload
def standard_normal(*, size: Any = None, rng: Variable | None = None, dtype: DTypeLike = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def t(df: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `t(df, loc=0.0, scale=1.0)`."""

@overload
def t(df: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def triangular(left: TensorLike, mode: TensorLike, right: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `triangular(left, mode, right)`."""

@overload
def triangular(left: TensorLike, mode: TensorLike, right: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def truncexpon(b: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `truncexpon(b, loc=0.0, scale=1.0)`."""

@overload
def truncexpon(b: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def uniform(low: TensorLike = 0.0, high: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `uniform(low=0.0, high=1.0)`."""

@overload
def uniform(low: TensorLike = 0.0, high: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def vonmises(mu: TensorLike, kappa: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `vonmises(mu, kappa)`."""

@overload
def vonmises(mu: TensorLike, kappa: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def wald(mean: TensorLike = 1.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `wald(mean=1.0, scale=1.0)`."""

@overload
def wald(mean: TensorLike = 1.0, scale: TensorLike = 1.0, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

@overload
def weibull(shape: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[False] = False) -> TensorVariable:
    """Draw from the distribution `weibull(shape)`."""

@overload
def weibull(shape: TensorLike, size: Any = None, *, rng: Variable | None = None, dtype: DTypeLike = None, name: str | None = None, return_next_rng: Literal[True]) -> tuple[Variable, TensorVariable]: ...

class RandomStream(_RandomStream):
    def __getattr__(self, name: str) -> Any: ...
    def bernoulli(self, p: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def beta(self, alpha: TensorLike, beta: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def betabinom(self, n: TensorLike, a: TensorLike, b: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def binomial(self, n: TensorLike, p: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def categorical(self, p: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def cauchy(self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def chisquare(self, *args: Any, **options: Any) -> TensorVariable: ...
    def choice(self, *args: Any, **options: Any) -> TensorVariable: ...
    def dirichlet(self, alphas: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def exponential(self, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def gamma(self, *args: Any, **options: Any) -> TensorVariable: ...
    def gengamma(self, alpha: TensorLike = 1.0, p: TensorLike = 1.0, lambd: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def geometric(self, p: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def gumbel(self, loc: TensorLike, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def halfcauchy(self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def halfnormal(self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def hypergeometric(self, ngood: TensorLike, nbad: TensorLike, nsample: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def integers(self, *args: Any, **options: Any) -> TensorVariable: ...
    def invgamma(self, shape: TensorLike, scale: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def laplace(self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def logistic(self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def lognormal(self, mean: TensorLike = 0.0, sigma: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def multinomial(self, n: TensorLike, p: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def multivariate_normal(self, mean: TensorLike, cov: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def nbinom(self, n: TensorLike, p: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def negative_binomial(self, n: TensorLike, p: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def normal(self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def pareto(self, b: TensorLike, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def permutation(self, *args: Any, **options: Any) -> TensorVariable: ...
    def poisson(self, lam: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def rayleigh(self, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def standard_normal(self, *args: Any, **options: Any) -> TensorVariable: ...
    def t(self, df: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def triangular(self, left: TensorLike, mode: TensorLike, right: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def truncexpon(self, b: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def uniform(self, low: TensorLike = 0.0, high: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def vonmises(self, mu: TensorLike, kappa: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def wald(self, mean: TensorLike = 1.0, scale: TensorLike = 1.0, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
    def weibull(self, shape: TensorLike, size: Any = None, *, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable: ...
