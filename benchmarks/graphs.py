"""The graphs that are measured, built alike with every library that has Theano's interface.

`pt` is the module of tensors (`rewrite_engine.tensor`, `pytensor.tensor`), `grad` the function that
differentiates. Each returns (inputs, outputs), ready for `function`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Graph = tuple[list[Any], list[Any]]
Grad = Callable[..., Any]


def large_fuseable(pt: Any, grad: Grad, n: int) -> Graph:
    """n terms of a normal log-density added up, with the gradient: PyTensor's own benchmark."""
    sd, means = pt.dscalar("sd"), pt.dvector("means")
    out = 0
    for i in range(n):
        out = out + -0.5 * sd**-2 * (1 - means[i]) ** 2 + 0.5 * pt.log(0.5 * sd**-2 / math.pi)
    return [sd, means], [out, *grad(out, [sd, means])]


def deep(pt: Any, grad: Grad, n: int) -> Graph:
    """sin of the transpose plus cos, n times."""
    x = out = pt.dmatrix("x")
    for _ in range(n):
        out = pt.sin(out.T) + pt.cos(out)
    return [x], [out]


def chain(pt: Any, grad: Grad, n: int) -> Graph:
    """tanh of a multiple and a bit, n times."""
    x = out = pt.dvector("x")
    for _ in range(n):
        out = pt.tanh(out * 1.01 + 0.5)
    return [x], [out]


def mlp(pt: Any, grad: Grad, n: int) -> Graph:
    """n layers, the mean squared error and all gradients."""
    x, target = pt.dmatrix("x"), pt.dmatrix("target")
    hidden, parameters = x, []
    for i in range(n):
        w, b = pt.dmatrix(f"w{i}"), pt.dvector(f"b{i}")
        parameters += [w, b]
        hidden = pt.tanh(pt.dot(hidden, w) + b)
    loss = ((hidden - target) ** 2).mean()
    return [x, target, *parameters], [loss, *grad(loss, parameters)]


def product(pt: Any, grad: Grad, n: int) -> Graph:
    """The gradient of a product of n vectors by each of them."""
    xs = [pt.dvector(f"x{i}") for i in range(n)]
    out = xs[0]
    for x in xs[1:]:
        out = out * x
    return xs, grad(out.sum(), xs)


def total(pt: Any, grad: Grad, n: int) -> Graph:
    """The gradient of a sum of n terms by each of their variables."""
    xs = [pt.dvector(f"x{i}") for i in range(n)]
    out = pt.sin(xs[0])
    for x in xs[1:]:
        out = out + pt.sin(x)
    return xs, grad(out.sum(), xs)


def scalars(pt: Any, grad: Grad, n: int) -> Graph:
    """The gradient by each of n scalar inputs."""
    xs = [pt.dscalar(f"x{i}") for i in range(n)]
    out = pt.sin(xs[0])
    for x in xs[1:]:
        out = out * 0.5 + pt.sin(x)
    return xs, grad(out, xs)


def gathers(pt: Any, grad: Grad, n: int) -> Graph:
    """The gradient by a vector of which entries are taken n times."""
    x = pt.dvector("x")
    indices = [pt.lvector(f"i{k}") for k in range(n)]
    out = pt.sqr(x[indices[0]]).sum()
    for index in indices[1:]:
        out = out + pt.sqr(x[index]).sum()
    return [x, *indices], [grad(out, x)]


def normal(pt: Any, value: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    """The logarithm of the normal density, spelled as PyTensor's benchmark has it."""
    return -0.5 * (((value - mu) / sigma) ** 2) - pt.log(pt.sqrt(2.0 * np.pi)) - pt.log(sigma)


def half_normal(pt: Any, log_value: Any) -> tuple[Any, Any]:
    """(value, log-density) of a positive number that is given by its logarithm."""
    value = pt.exp(log_value)
    density = -0.5 * (value**2) + pt.log(pt.sqrt(2.0 / np.pi))
    return value, pt.switch(value >= 0, density, -np.inf) + value


def zero_sum_normal(pt: Any, raw: Any) -> tuple[Any, Any]:
    """(value, log-density) of numbers whose sum is 0, given by one number less."""
    n, total = raw.shape[0] + 1, raw.sum(0, keepdims=True)
    norm = total / (pt.sqrt(n) + n)
    value = pt.concatenate([raw, norm - total / pt.sqrt(n)]) - norm
    free = pt.prod(value.shape[-1:].inc(-1)) / pt.prod(value.shape)
    return value, pt.sum(-0.5 * (value**2) - pt.log(pt.sqrt(2.0 * np.pi)) * free)


def radon(pt: Any, grad: Grad, n: int) -> Graph:
    """The log-density of a hierarchical model of radon in n counties, with the gradient by all of
    its parameters, which are joined to one vector: PyTensor's own benchmark.
    """
    sizes = [1, 1, n - 1, 1, 1, n - 1, 1]
    ends = np.cumsum(sizes)
    joined = pt.vector("joined", shape=(int(ends[-1]),))
    parts = [
        joined[end - size : end].reshape(() if size == 1 else (size,))
        for size, end in zip(sizes, ends.tolist(), strict=True)
    ]
    intercept, log_sd, raw, floor_effect, log_floor_sd, floor_raw, log_sigma = parts
    rng = np.random.default_rng(1)
    county = np.sort(rng.integers(n, size=919))
    floor, measured = rng.integers(0, 2, 919).astype("float64"), rng.normal(size=919)
    sd, of_sd = half_normal(pt, log_sd)
    floor_sd, of_floor_sd = half_normal(pt, log_floor_sd)
    sigma, of_sigma = half_normal(pt, log_sigma)
    effect, of_effect = zero_sum_normal(pt, raw)
    floor_effects, of_floor_effects = zero_sum_normal(pt, floor_raw)
    mean = intercept + (effect * sd)[county] + floor_effect * floor
    mean = mean + (floor_effects * floor_sd)[county] * floor
    terms = [
        normal(pt, intercept, sigma=10), of_sd, of_effect, normal(pt, floor_effect, sigma=2),
        of_floor_sd, of_floor_effects, of_sigma, normal(pt, pt.as_tensor(measured), mean, sigma),
    ]  # fmt: skip
    density = pt.sum([term.sum() for term in terms])
    gradient = pt.concatenate([g.ravel() for g in grad(density, parts)])
    return [joined], [density, gradient]


def log_exp(pt: Any, n: int) -> tuple[Any, Any]:
    """(input, output) of sin(log(exp(·))) n times: a rule fires at each level."""
    x = out = pt.dvector("x")
    for _ in range(n):
        out = pt.sin(pt.log(pt.exp(out)))
    return x, out
