"""What people write by hand that over- or underflows on the way: the library promises its value,
and its gradient, wherever they exist.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from fuzz.arrays import array
from fuzz.case import Case

MOODS = ("plain", "saturated", "saturated", "wide")

exp, log = pt.exp, pt.log


def sigmoids(v: Any) -> list[Any]:
    """A sigmoid, as one writes it."""
    return [1 / (1 + exp(-v)), exp(v) / (1 + exp(v)), pt.sigmoid(v), 1 - 1 / (1 + exp(v))]


def softmax(v: Any, **options: Any) -> Any:
    """A softmax with one exponential."""
    e = exp(v)
    return e / e.sum(**options)


#: of one term
ONE: list[Callable[[Any, Any], Any]] = [
    lambda v, p: p,
    lambda v, p: log(p),
    lambda v, p: log(1 - p),
    lambda v, p: pt.log1p(-p),
    lambda v, p: 1 - p,
    lambda v, p: v * p,
    lambda v, p: log(1 + exp(v)),
    lambda v, p: log(1 + exp(-pt.abs(v))) + pt.maximum(v, 0),
    lambda v, p: -log(1 / (1 + exp(-v))),
    lambda v, p: log(exp(v) / (1 + exp(v))),
    lambda v, p: log(pt.erfc(v)),
    lambda v, p: pt.sigmoid(v) * exp(-v),
    lambda v, p: log(pt.ones_like(v) + exp(v)),
    lambda v, p: log(np.ones(1, v.type.dtype) + exp(v)),
    lambda v, p: pt.tanh(log(1 + exp(v))) * v,
    lambda v, p: exp(v - log(1 + exp(v))),
    lambda v, p: pt.softmax(v),
    lambda v, p: exp(v) / exp(v).sum(),
    lambda v, p: log(exp(v) / exp(v).sum()),
    lambda v, p: softmax(v, axis=-1, keepdims=True),
    lambda v, p: log(softmax(v, axis=0)),
    lambda v, p: log(pt.softmax(v)),
    lambda v, p: log(exp(v).sum()),
    lambda v, p: v - log(exp(v).sum()),
    lambda v, p: exp(v - v.max()) / exp(v - v.max()).sum(),
    lambda v, p: v.max() + log(exp(v - v.max()).sum()),
]
#: of two, the second between 0 and 1
TWO: list[Callable[[Any, Any, Any], Any]] = [
    lambda v, p, y: -y * log(p) - (1 - y) * log(1 - p),
    lambda v, p, y: -(y * log(p) + (1 - y) * log(1 - p)),
    lambda v, p, y: -(y * log(p) + (1 - y) * pt.log1p(-p)),
    lambda v, p, y: log(1 + exp(v)) - y * v,
    lambda v, p, y: -(y * log(exp(v) / exp(v).sum())).sum(),
    lambda v, p, y: -(y * log(pt.softmax(v))).sum(),
    lambda v, p, y: -log(pt.softmax(v)[0]),
    lambda v, p, y: -log((exp(v) / exp(v).sum())[-1]),
    lambda v, p, y: -(y * log(softmax(v))).sum(),
    lambda v, p, y: -(y * log(softmax(v, axis=0, keepdims=True))).mean(),
    lambda v, p, y: -log(softmax(v)[-1]),
    lambda v, p, y: log(1 + exp(-v * (2 * y - 1))),
    lambda v, p, y: pt.switch(v > 0, log(pt.abs(v)) - v, -v),
]
#: of two terms that are alike
PAIR: list[Callable[[Any, Any], Any]] = [
    lambda v, w: log(exp(v) + exp(w)),
    lambda v, w: log(exp(v) + exp(w) + exp(v - w)),
    lambda v, w: log(exp(v) + exp(w) + 1),
    lambda v, w: exp(v) / (exp(v) + exp(w)),
    lambda v, w: log(exp(v) / (exp(v) + exp(w))),
]


def random_case(rng: Random) -> Case:
    """One idiom on a vector; sometimes on products, as of a model."""
    dtype = rng.choice(("float64", "float32"))
    n = rng.choice((1, 2, 3))
    given: dict[Any, Any] = {}

    def leaf(values: Any) -> Any:
        v = pt.tensor(f"x{len(given)}", dtype=dtype, shape=(None,))
        given[v] = np.asarray(values, dtype)
        return v

    v = leaf(array(rng, dtype, (n,), rng.choice(MOODS)))
    kind = rng.random()
    if kind < 0.2:
        return Case.of([rng.choice(PAIR)(v, leaf(array(rng, dtype, (n,), "saturated")))], given)
    x = v * leaf(array(rng, dtype, (n,), "few")) + 0.5 if kind > 0.85 else v
    p = rng.choice(sigmoids(x))
    if kind < 0.6:
        return Case.of([rng.choice(ONE)(x, p)], given)
    y = np.asarray([rng.choice((0, 1, 0.25)) for _ in range(n)], dtype)
    return Case.of([rng.choice(TWO)(x, p, y)], given)
