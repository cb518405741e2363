"""What is measured beside the models of PyMC: thirteen graphs, and four losses that run far out.

A case is (inputs, outputs, values) of a library; `pt` and `lib` are its modules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks import graphs, models

Case = tuple[list[Any], list[Any], list[Any]]
SIDE = 100  # of arrays whose lengths are open

#: from `benchmarks/graphs.py`; those of `benchmarks/models.py` that are no more than one op or
#: a loop are left out
GRAPHS: dict[str, tuple[Callable[..., graphs.Graph], int]] = {
    "large_fuseable(25)": (graphs.large_fuseable, 25),
    "large_fuseable(100)": (graphs.large_fuseable, 100),
    "deep(80)": (graphs.deep, 80),
    "chain(400)": (graphs.chain, 400),
    "mlp(32)": (graphs.mlp, 32),
    "product(40)": (graphs.product, 40),
    "total(40)": (graphs.total, 40),
    "scalars(400)": (graphs.scalars, 400),
    "gathers(40)": (graphs.gathers, 40),
    "radon(85)": (graphs.radon, 85),
}
WITH_VALUES: dict[str, tuple[Callable[..., Case], int]] = {
    "normal density(50)": (models.normal_density, 50),
    "process(50)": (models.gaussian_process, 50),
    "Kalman step(4)": (models.kalman_step, 4),
}
THIRTEEN = (*GRAPHS, *WITH_VALUES)


def some_values(inputs: list[Any]) -> list[Any]:
    """Values between 0.5 and 1.5 (of matrices a hundredth), and indices."""
    rng, values = np.random.default_rng(0), []
    for v in inputs:
        shape = [SIDE if n is None else n for n in v.type.shape]
        if v.type.dtype.startswith("int"):
            values.append(rng.integers(0, SIDE, shape))
        else:
            values.append(rng.uniform(0.5, 1.5, shape) / (SIDE if len(shape) == 2 else 1))
    return values


def mixture_parts(pt: Any) -> tuple[list[Any], Any, Any, Any, list[Any]]:
    """Inputs, weights, means and scales of a mixture of four normals, and values."""
    inputs = [pt.dvector(name) for name in ("x", "w", "mu", "log_sd")]
    _, w, mu, log_sd = inputs
    values = [np.linspace(-3, 3, SIDE), np.zeros(4), np.arange(4.0) - 2, np.zeros(4)]
    return inputs, pt.exp(w) / pt.exp(w).sum(), mu, pt.exp(log_sd), values


def mixture(lib: Any, pt: Any) -> Case:
    """The log of a sum of densities along an axis, and its gradient."""
    inputs, p, mu, sd, values = mixture_parts(pt)
    x = inputs[0]
    each = p[None, :] * pt.exp(-0.5 * ((x[:, None] - mu[None, :]) / sd[None, :]) ** 2)
    loss = pt.log((each / sd[None, :]).sum(axis=1)).sum()
    return inputs, [loss, *lib.grad(loss, inputs[1:])], values


def written_out(lib: Any, pt: Any) -> Case:
    """The same, one density after the other."""
    inputs, p, mu, sd, values = mixture_parts(pt)
    x = inputs[0]
    terms = [p[k] * pt.exp(-0.5 * ((x - mu[k]) / sd[k]) ** 2) / sd[k] for k in range(4)]
    loss = pt.log(terms[0] + terms[1] + terms[2] + terms[3]).sum()
    return inputs, [loss, *lib.grad(loss, inputs[1:])], values


def regression(pt: Any) -> tuple[list[Any], Any, Any, list[Any]]:
    """Inputs, the linear predictor and the answers of a regression, and values."""
    x, y = pt.dmatrix("x"), pt.dvector("y")
    w, b = pt.dvector("w"), pt.dscalar("b")
    rng = np.random.default_rng(7)
    values = [rng.normal(size=(SIDE, 5)), rng.integers(0, 2, SIDE) * 1.0, np.ones(5) / 3, 0.2]
    return [x, y, w, b], pt.dot(x, w) + b, y, values


def logistic(lib: Any, pt: Any) -> Case:
    """The loss of a logistic regression as textbooks have it, and its gradient."""
    inputs, z, y, values = regression(pt)
    p = 1 / (1 + pt.exp(-z))
    loss = -(y * pt.log(p) + (1 - y) * pt.log(1 - p)).mean()
    return inputs, [loss, *lib.grad(loss, inputs[2:])], values


def probit(lib: Any, pt: Any) -> Case:
    """The loss of a probit regression, and its gradient."""
    inputs, z, y, values = regression(pt)
    p = 0.5 * pt.erfc(-z / math.sqrt(2))
    loss = -(y * pt.log(p) + (1 - y) * pt.log(1 - p)).mean()
    return inputs, [loss, *lib.grad(loss, inputs[2:])], values


LOSSES: dict[str, Callable[[Any, Any], Case]] = {
    "log mixture of 4, along an axis": mixture,
    "log mixture of 4, written out": written_out,
    "logistic loss": logistic,
    "probit loss": probit,
}


def chain(pt: Any) -> Case:
    """tanh of one more, 2,000 times."""
    x = y = pt.dvector("x")
    for _ in range(2000):
        y = pt.tanh(y + 1)
    return [x], [y.sum()], [np.linspace(-1, 1, SIDE)]


def chain_with_gradient(lib: Any, pt: Any) -> Case:
    """The same, and its gradient."""
    inputs, outputs, values = chain(pt)
    return inputs, [*outputs, lib.grad(outputs[0], inputs[0])], values


#: what is measured here alone: microseconds a node
CHAINS: dict[str, Callable[[Any, Any], Case]] = {
    "tanh(y + 1), 2,000 times": lambda lib, pt: chain(pt),
    "tanh(y + 1), 2,000 times, with gradient": chain_with_gradient,
}


def cases(lib: Any, pt: Any, peer: bool) -> Iterator[tuple[str, Callable[[], Case]]]:
    """The name of each graph that is no model of PyMC, and what builds it. peer: for PyTensor."""
    for name, (graph, n) in GRAPHS.items():

        def build(graph: Any = graph, n: int = n) -> Case:
            inputs, outputs = graph(pt, lib.grad, n)
            return inputs, outputs, some_values(inputs)

        yield name, build
    for name, (model, n) in WITH_VALUES.items():
        yield name, lambda model=model, n=n: model(lib, pt, n)
    for name, loss in (LOSSES if peer else LOSSES | CHAINS).items():
        yield name, lambda loss=loss: loss(lib, pt)
