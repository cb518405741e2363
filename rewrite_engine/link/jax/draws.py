"""Draws: by NumPy, with the numbers of the other linkers, or by `jax.random`.

A state is six words (`state.py`). `jax.random` takes its key from them, and they move on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import local
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax, random

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.jax.funcify import (
    call_host,
    jax_funcify,
    known_value,
    untraceable_error,
)
from rewrite_engine.link.jax.state import generator_of, words_of
from rewrite_engine.random.op import RandomVariable
from rewrite_engine.tensor.type import TensorType


def _scaled(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a law with a location and a scale."""
    return lambda key, shape, loc, scale: loc + scale * draw(key, shape)


def _categorical(key: Any, shape: Any, p: Any) -> Any:
    return random.categorical(key, jnp.log(p), shape=shape)


def _negative_binomial(key: Any, shape: Any, n: Any, p: Any) -> Any:
    """Draw a Poisson number whose mean is drawn from a gamma law."""
    first, second = random.split(key)
    return random.poisson(second, random.gamma(first, n, shape) * ((1 - p) / p), shape)


def _beta_binomial(key: Any, shape: Any, n: Any, a: Any, b: Any) -> Any:
    first, second = random.split(key)
    return random.binomial(second, n, random.beta(first, a, b, shape), shape)


def _permutation(key: Any, shape: Any, x: Any) -> Any:
    wide = jnp.broadcast_to(x, (*shape, x.shape[-1]))
    return random.permutation(key, wide, axis=-1, independent=True)


def _truncated_exponential(key: Any, shape: Any, b: Any, loc: Any, scale: Any) -> Any:
    return loc - scale * jnp.log1p(random.uniform(key, shape) * jnp.expm1(-b))


def _half(draw: Callable[..., Any]) -> Callable[..., Any]:
    return lambda key, shape, loc, scale: loc + scale * jnp.abs(draw(key, shape))


#: {distribution: function of a key, the shape of all draws, and the parameters}, with the
#: parameters of `random/distributions.py`; other ones are drawn by NumPy
DRAWS: dict[str, Callable[..., Any]] = {
    "normal": _scaled(random.normal), "laplace": _scaled(random.laplace),
    "gumbel": _scaled(random.gumbel), "logistic": _scaled(random.logistic),
    "cauchy": _scaled(random.cauchy), "halfnormal": _half(random.normal),
    "halfcauchy": _half(random.cauchy),
    "lognormal": lambda k, s, m, d: jnp.exp(m + d * random.normal(k, s)),
    "uniform": lambda k, s, a, b: a + (b - a) * random.uniform(k, s),
    "exponential": lambda k, s, scale: scale * random.exponential(k, s),
    "rayleigh": lambda k, s, scale: random.rayleigh(k, scale, s),
    "gamma": lambda k, s, a, scale: scale * random.gamma(k, a, s),
    "invgamma": lambda k, s, a, scale: scale / random.gamma(k, a, s),
    "gengamma": lambda k, s, a, p, c: c * random.gamma(k, a / p, s) ** (1 / p),
    "beta": lambda k, s, a, b: random.beta(k, a, b, s),
    "t": lambda k, s, df, m, d: m + d * random.t(k, df, s),
    "pareto": lambda k, s, b, scale: scale * random.pareto(k, b, s),
    "weibull": lambda k, s, shape: random.weibull_min(k, 1.0, shape, s),
    "wald": lambda k, s, mean, scale: scale * random.wald(k, mean / scale, s),
    "triangular": lambda k, s, a, m, b: random.triangular(k, a, m, b, s),
    "truncexpon": _truncated_exponential,
    "bernoulli": lambda k, s, p: random.bernoulli(k, p, s),
    "binomial": lambda k, s, n, p: random.binomial(k, n, p, s),
    "beta_binomial": _beta_binomial, "negative_binomial": _negative_binomial,
    "geometric": lambda k, s, p: random.geometric(k, p, s),
    "poisson": lambda k, s, mean: random.poisson(k, mean, s),
    "integers": lambda k, s, a, b: random.randint(k, s, a, b),
    "categorical": _categorical, "permutation": _permutation,
    "dirichlet": lambda k, s, a: random.dirichlet(k, a, s),
    "multivariate_normal": lambda k, s, m, c: random.multivariate_normal(k, m, c, s),
}  # fmt: skip


WORDS = TensorType("uint64", (6,))


class _How(local):
    """Whether `jax.random` draws, in graphs that are traced now."""

    by_jax = False


_how = _How()


@contextmanager
def drawing(by_jax: bool) -> Iterator[None]:
    """Draw by `jax.random`, or else by NumPy, in graphs that are traced inside."""
    before, _how.by_jax = _how.by_jax, by_jax
    try:
        yield
    finally:
        _how.by_jax = before


@jax_funcify.register(RandomVariable)
def _(op: Any, node: Any = None, **options: Any) -> Callable[..., Any]:
    def call(words: Any, size: Any, *params: Any) -> Any:
        ranks = [np.ndim(p) - n for p, n in zip(params, op.ndims_params, strict=True)]
        if size is None:
            batch = np.broadcast_shapes(*[np.shape(p)[:n] for p, n in zip(params, ranks)])
        else:
            batch = tuple(known_value(node, 1, size).tolist())
        if _how.by_jax and op.name in DRAWS:
            return _by_jax(op, node, words, batch, params)
        return _by_numpy(op, node, words, size, batch, params, ranks)

    return call


def _by_jax(op: Any, node: Apply, words: Any, batch: Any, params: Sequence[Any]) -> Any:
    """Return the next state, and draws by `jax.random`."""
    words = jnp.asarray(words, jnp.uint64)
    seed = lax.bitcast_convert_type(words[0] ^ words[1] ^ words[3], jnp.uint32)
    key, new = random.split(random.wrap_key_data(seed.reshape(2), impl="threefry2x32"))
    after = words.at[:2].set(random.bits(new, (2,), jnp.uint64))
    dtype = node.outputs[1].type.dtype
    floats = [jnp.asarray(p, jnp.result_type(p.dtype, "float32")) for p in params]
    given = params if op.name in ("integers", "permutation") else floats
    return after, jnp.asarray(DRAWS[op.name](key, batch, *given), dtype)


def _by_numpy(
    op: Any, node: Apply, words: Any, size: Any, batch: Any, params: Sequence[Any],
    ranks: Sequence[int],
) -> Any:  # fmt: skip
    """Return the next state, and the draws of the other linkers, by a call of the host."""
    out = node.outputs[1].type
    lengths = {name: int(name) for name in op.out if name.isdigit()}
    for p, r, names in zip(params, ranks, op.ins, strict=True):
        lengths |= dict(zip(names, np.shape(p)[r:], strict=True))
    if not lengths.keys() >= {*op.out}:
        raise untraceable_error(node, "the lengths of one draw depend on values")
    shape = (*batch, *[lengths[name] for name in op.out])

    def draw(words: Any, *params: Any) -> Any:
        cells: list[list[Any]] = [[None], [None]]
        rng, n = generator_of(words), None if size is None else np.asarray(size)
        op.perform(node, [rng, n, *params], cells)
        return words_of(cells[0][0]), cells[1][0]

    results = [(WORDS, (6,)), (out, shape)]
    return call_host(op, draw, results, [words, *params])
