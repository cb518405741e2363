"""Random variables with named dimensions: `XRV`, and a function for each distribution.

`normal(mu, sigma, extra_dims={"city": 3}, rng=rng)` draws for all dimensions of the parameters, and
for additional ones of these lengths. Distributions of vectors take the names of the vector's
dimensions: `dirichlet(a, core_dims="kind")`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, ClassVar

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.compile.shared import SharedVariable
from rewrite_engine.errors import DimsError, DTypeError, ForeignObjectError, OptionError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.null import disconnected, grad_undefined
from rewrite_engine.graph.origin import located
from rewrite_engine.random import functions
from rewrite_engine.random.functions import MvNormalRV
from rewrite_engine.random.op import RNGConsumerOp, new_rng
from rewrite_engine.random.type import RandomGeneratorType, RandomGeneratorVariable, copied
from rewrite_engine.xtensor.alignment import as_xtensor, in_order, joined, refuse_missing
from rewrite_engine.xtensor.math import sqrt
from rewrite_engine.xtensor.ops import XOp
from rewrite_engine.xtensor.type import named, xtensor_from_tensor

CoreDims = tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]


class XRV(RNGConsumerOp, XOp):
    """Draws from a distribution with named dimensions.

    The inputs of a node are the state of a generator, the lengths of additional dimensions, and the
    parameters; its outputs are the next state and the draws. `op(…)` returns the draws. Their
    dimensions are the additional ones, those of the parameters, and those of one draw.

    core_op: the `RandomVariable` (or an op with its inputs). core_dims: for each parameter the
    names of its dimensions in one draw, and those of a draw. extra_dims: the names of the
    additional ones. name: by default that of core_op. Raises `DimsError`.
    """

    __props__ = ("core_op", "core_dims", "extra_dims")
    default_output = 1

    def __init__(
        self, core_op: Any, core_dims: CoreDims, extra_dims: Sequence[str], name: str | None = None
    ) -> None:
        self.core_op = core_op
        self.core_dims = tuple([named(dims) for dims in core_dims[0]]), named(core_dims[1])
        self.extra_dims = named(extra_dims)
        self.name = name or getattr(core_op, "name", None)
        printed = getattr(core_op, "_print_name", None)
        if printed:
            self._print_name = printed

    def __state__(self) -> dict[str, Any]:
        """Return all attributes except caches such as `_print_name`."""
        kept = {"_print_name": self._print_name} if hasattr(self, "_print_name") else {}
        return super().__state__() | kept

    def __str__(self) -> str:
        name = self.name or str(self.core_op)
        return f"{name}{{core_dims={self.core_dims}, extra_dims={self.extra_dims}}}"

    def convert_inputs(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Convert the inputs to a state, lengths as 0-d tensors of integers, and parameters. Raise
        `ForeignObjectError`, `DTypeError`, `OptionError`.
        """
        rng, *others = inputs
        if not isinstance(getattr(rng, "type", None), RandomGeneratorType):
            hint = "create one by rewrite_engine.xtensor.random.shared_rng(seed=…)"
            what = "the first input must be a variable with the state of a generator"
            raise ForeignObjectError(located(what, op=self, inputs=[rng], hint=hint))
        count = len(self.extra_dims)
        if len(others) != count + len(self.core_dims[0]):
            what = f"takes {count} lengths and {len(self.core_dims[0])} parameters"
            raise OptionError(located(f"{what}, not {len(others)} of both", op=self))
        lengths = [pt.as_tensor(n, allow_xtensor_conversion=True) for n in others[:count]]
        for n in lengths:
            if n.type.ndim or n.type.kind not in "iu":
                raise DTypeError(located("a length must be an integer", op=self, inputs=[n]))
        return (rng, *lengths, *map(as_xtensor, others[count:]))

    def lowered(self, *inputs: Any) -> list[Any]:
        """Return the next state, and the draws of the core op.

        Raises `DimsError` for parameters that have a core dimension of another parameter, or an
        additional dimension.
        """
        rng, lengths, params = inputs[0], *self.parts(inputs)
        ins, out = self.core_dims
        core = {*chain.from_iterable(ins)}
        for x, dims in zip(params, ins, strict=True):
            refuse_missing(x, dims)
            for d in x.type.dims:
                if d in self.extra_dims or (d in core and d not in dims):
                    what = f"a parameter has dimension {d!r}, a core or extra dimension of others"
                    raise DimsError(located(what, op=self, inputs=[x]))
        known = joined(params)
        batch = [d for d in known if d not in core]
        tensors = [in_order(x, [*batch, *d], known) for x, d in zip(params, ins, strict=True)]
        size = [*lengths, *batch_shape(tensors, ins)] if lengths else None
        next_rng, draw = self.core_op.make_node(rng, size, *tensors).outputs
        return [next_rng, xtensor_from_tensor(draw, [*self.extra_dims, *batch, *out])]

    def parts(self, inputs: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the lengths, and the parameters, among the inputs of a node."""
        count = 1 + len(self.extra_dims)
        return inputs[1:count], inputs[count:]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the draws to the elements of the parameters."""
        first = 1 + len(self.extra_dims)
        return [[False, i >= first] for i in range(len(node.inputs))]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Any]:
        """Return undefined gradients for the parameters."""
        first, why = 1 + len(self.extra_dims), "no gradient is defined for random variables"
        params = [grad_undefined(self, i, inputs[i], why) for i in range(first, len(inputs))]
        return [*[disconnected()] * first, *params]

    def vectorize_named(self, inputs: Sequence[Any], batch: tuple[str, ...]) -> Sequence[Any]:
        """Apply the op to a batch of parameters: independent draws for each, with one state. Raise
        `DimsError` if lengths have a batch.
        """
        if any([n.type.ndim for n in self.parts(inputs)[0]]):
            raise DimsError(located("a length cannot have a batch", op=self, inputs=inputs))
        return self.make_node(*inputs).outputs

    # --- as others read it ------------------------------------------------------------------------

    def rng_param(self, node: Apply) -> Any:
        """Return the state with which a node draws."""
        return node.inputs[0]

    def size_params(self, node: Apply) -> Sequence[Any]:
        """Return the lengths of the additional dimensions."""
        return self.parts(node.inputs)[0]

    def dist_params(self, node: Apply) -> Sequence[Any]:
        """Return the parameters of a node's distribution."""
        return self.parts(node.inputs)[1]

    def update(self, node: Apply) -> dict[Any, Any]:
        """Return {state: next state} for a node."""
        return {node.inputs[0]: node.outputs[0]}


def batch_shape(tensors: Sequence[Any], core_dims: Sequence[Sequence[str]]) -> list[Any]:
    """Return the lengths of the dimensions before the core dimensions; each tensor has equally
    many.
    """
    found: list[Any] = []
    for x, dims in zip(tensors, core_dims, strict=True):
        for k in range(x.type.ndim - len(dims)):
            n = x.type.shape[k]
            if k == len(found):
                found.append(1)
            if found[k] == 1 and n != 1:
                found[k] = x.shape[k] if n is None else n
    return found


def as_xrv(
    core_op: Any,
    core_inps_dims_map: Sequence[Sequence[int]] | None = None,
    core_out_dims_map: Sequence[int] | None = None,
    name: str | None = None,
) -> Callable[..., Any]:
    """Return the function that draws with named dimensions from the distribution of a
    `RandomVariable`.

    core_inps_dims_map: for each parameter, the positions of its dimensions among the `core_dims`
    passed to the function; core_out_dims_map: those of a draw. By default they are the first ones,
    in order.

    The function takes the parameters, `core_dims` (names), `extra_dims` ({name: length}), `rng` (a
    state; by default a new shared one) and `return_next_rng`: whether to return the next state
    before the draws. It raises `DimsError`.
    """
    if core_inps_dims_map is None:
        core_inps_dims_map = [range(n) for n in core_op.ndims_params]
    if core_out_dims_map is None:
        core_out_dims_map = range(core_op.ndim_supp)
    ins, out = [tuple(m) for m in core_inps_dims_map], tuple(core_out_dims_map)
    count = max(chain.from_iterable([*ins, out]), default=-1) + 1
    called = name or core_op.name

    def draw(
        *params: Any,
        core_dims: Sequence[str] | str | None = None,
        extra_dims: Mapping[str, Any] | None = None,
        rng: Any = None,
        return_next_rng: bool = False,
    ) -> Any:
        names, more = named(core_dims or ()), extra_dims or {}
        if len(names) != count:
            raise DimsError(located(f"{called}: takes {count} core_dims, got {names}"))
        dims = tuple([tuple([names[k] for k in m]) for m in ins]), tuple([names[k] for k in out])
        op = XRV(core_op, dims, tuple(more), name)
        node = op.make_node(new_rng() if rng is None else rng, *more.values(), *params)
        return tuple(node.outputs) if return_next_rng else node.outputs[1]

    draw.__name__ = draw.__qualname__ = called
    draw.__doc__ = (
        f"Draw from the distribution `{called}`, with named dimensions (arguments: see `as_xrv`)."
    )
    return draw


# --- distributions --------------------------------------------------------------------------------

bernoulli = as_xrv(functions.bernoulli)
beta = as_xrv(functions.beta)
betabinom = as_xrv(functions.betabinom)
binomial = as_xrv(functions.binomial)
categorical = as_xrv(functions.categorical)
cauchy = as_xrv(functions.cauchy)
dirichlet = as_xrv(functions.dirichlet)
exponential = as_xrv(functions.exponential)
gamma = as_xrv(functions._gamma)
gengamma = as_xrv(functions.gengamma)
geometric = as_xrv(functions.geometric)
gumbel = as_xrv(functions.gumbel)
halfcauchy = as_xrv(functions.halfcauchy)
halfnormal = as_xrv(functions.halfnormal)
hypergeometric = as_xrv(functions.hypergeometric)
integers = as_xrv(functions._integers)
invgamma = as_xrv(functions.invgamma)
laplace = as_xrv(functions.laplace)
logistic = as_xrv(functions.logistic)
lognormal = as_xrv(functions.lognormal)
multinomial = as_xrv(functions.multinomial)
nbinom = negative_binomial = as_xrv(functions.nbinom)
normal = as_xrv(functions.normal)
pareto = as_xrv(functions.pareto)
poisson = as_xrv(functions.poisson)
t = as_xrv(functions.t)
triangular = as_xrv(functions.triangular)
truncexpon = as_xrv(functions.truncexpon)
uniform = as_xrv(functions.uniform)
vonmises = as_xrv(functions.vonmises)
wald = as_xrv(functions.wald)
weibull = as_xrv(functions.weibull)


def multivariate_normal(
    mean: Any, cov: Any, *, core_dims: Sequence[str], method: str = "cholesky", **options: Any
) -> Any:
    """Draw vectors around `mean` with covariance `cov`.

    core_dims: the two dimensions of `cov`; `mean` and the draws have one of them. method: see
    `MvNormalRV`. options: those of all distributions.
    """
    mean, names = as_xtensor(mean), named(core_dims)
    if names and names[0] not in mean.type.dims:
        names = names[::-1]
    return as_xrv(MvNormalRV(method=method))(mean, cov, core_dims=names, **options)


def standard_normal(**options: Any) -> Any:
    """Draw from a normal distribution with the mean 0 and the standard deviation 1."""
    return normal(0.0, 1.0, **options)


def chisquare(df: Any, **options: Any) -> Any:
    """Draw from a chi-square distribution with `df` degrees of freedom."""
    return gamma(as_xtensor(df) / 2.0, 2.0, **options)


def rayleigh(scale: Any, *, return_next_rng: bool = False, **options: Any) -> Any:
    """Draw from a Rayleigh distribution: the length of two normal draws with standard deviation
    `scale`.
    """
    scale = as_xtensor(scale)
    next_rng, draws = gamma(scale * 0 + 1.0, 2.0, return_next_rng=True, **options)
    found = sqrt(draws) * scale
    return (next_rng, found) if return_next_rng else found


__all__ = [
    "as_xrv", "bernoulli", "beta", "betabinom", "binomial", "categorical", "cauchy", "chisquare",
    "dirichlet", "exponential", "gamma", "gengamma", "geometric", "gumbel", "halfcauchy",
    "halfnormal", "hypergeometric", "integers", "invgamma", "laplace", "logistic", "lognormal",
    "multinomial", "multivariate_normal", "nbinom", "negative_binomial", "normal", "pareto",
    "poisson", "rayleigh", "rng", "shared_rng", "standard_normal", "t", "triangular", "truncexpon",
    "uniform", "vonmises", "wald", "weibull",
]  # fmt: skip


# --- states ---------------------------------------------------------------------------------------


class XRandomGeneratorVariable(RandomGeneratorVariable):
    """Variable for the state of a generator, with the functions of this module as methods.

    They return the next state and the draws: `next_rng, x = rng.normal(0, 1, extra_dims={"city":
    3})`.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name in ("as_xrv", "rng", "shared_rng") or name not in __all__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return partial(globals()[name], rng=self, return_next_rng=True)


class XRandomGeneratorType(RandomGeneratorType):
    """Type of states of `numpy.random.Generator` whose variables draw with named dimensions;
    otherwise equal to its base class.
    """

    variable_type: ClassVar[type[Variable]] = XRandomGeneratorVariable


xrandom_generator_type = XRandomGeneratorType()


class XRandomGeneratorSharedVariable(SharedVariable, XRandomGeneratorVariable):
    """Shared generator with methods that draw with named dimensions."""

    __slots__ = ()


def rng(name: str | None = None) -> Any:
    """Return a variable for the state of a generator, to use as an input of a function."""
    return xrandom_generator_type(name)


def shared_rng(
    value: Any = None, *, seed: Any = None, name: str | None = None, borrow: bool = False
) -> Any:
    """Return a shared generator: `value` (a copy, unless borrow), or a new one made from a seed.

    >>> state = shared_rng(seed=3)
    >>> next_state, x = state.normal(0.0, 1.0, extra_dims={"city": 3})
    >>> x.dims
    ('city',)
    """
    if value is not None and seed is not None:
        raise OptionError(located("shared_rng: takes a generator or a seed, not both"))
    made = np.random.default_rng(seed) if value is None else value
    kept = made if borrow or value is None else copied(made)
    return XRandomGeneratorSharedVariable(xrandom_generator_type, kept, name=name)
