"""The graphs that are measured, built alike with every library that has Theano's interface.

`pt` is the module of tensors (`rewrite_engine.tensor`, `pytensor.tensor`), `grad` the function that
differentiates. Each returns (inputs, outputs), ready for `function`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

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


def log_exp(pt: Any, n: int) -> tuple[Any, Any]:
    """(input, output) of sin(log(exp(·))) n times: a rule fires at each level."""
    x = out = pt.dvector("x")
    for _ in range(n):
        out = pt.sin(pt.log(pt.exp(out)))
    return x, out
