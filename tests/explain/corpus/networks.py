"""Programs that train networks, and their layers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

import rewrite_engine as rw
import rewrite_engine.tensor as pt


def _parameters(draw: Generator, *shapes: tuple[int, ...]) -> list[Any]:
    return [
        rw.shared(draw.normal(size=shape) * 0.4, name=f"w{i}") for i, shape in enumerate(shapes)
    ]


def _adam(parameters: Sequence[Any], loss: Any) -> list[tuple[Any, Any]]:
    """Return the updates of Adam's rule."""
    count = rw.shared(0.0, name="count")
    updates = [(count, count + 1)]
    for p, g in zip(parameters, rw.grad(loss, parameters), strict=True):
        m, v = rw.shared(np.zeros_like(p.get_value())), rw.shared(np.zeros_like(p.get_value()))
        new_m, new_v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        rate = 1e-3 * pt.sqrt(1 - 0.999 ** (count + 1)) / (1 - 0.9 ** (count + 1))
        updates += [(m, new_m), (v, new_v), (p, p - rate * new_m / (pt.sqrt(new_v) + 1e-8))]
    return updates


def two_layers_with_adam(draw: Generator) -> None:
    """Train two layers on a regression."""
    x, y = pt.matrix("x"), pt.vector("y")
    w1, b1, w2, b2 = parameters = _parameters(draw, (3, 8), (8,), (8,), ())
    hidden = pt.maximum(x @ w1 + b1, 0)
    loss = ((hidden @ w2 + b2 - y) ** 2).mean()
    train = rw.function([x, y], loss, updates=_adam(parameters, loss))
    for _ in range(3):
        train(draw.normal(size=(10, 3)), draw.normal(size=10))


def softmax_classifier(draw: Generator) -> None:
    """Train a classifier of three classes by its log likelihood."""
    x, label = pt.matrix("x"), pt.lvector("label")
    w, b = parameters = _parameters(draw, (4, 3), (3,))
    p = pt.special.softmax(x @ w + b, axis=1)
    loss = -pt.log(p)[pt.arange(label.shape[0]), label].mean()
    errors = pt.neq(pt.argmax(p, axis=1), label).mean()
    updates = [(v, v - 0.5 * g) for v, g in zip(parameters, rw.grad(loss, parameters), strict=True)]
    train = rw.function([x, label], [loss, errors], updates=updates)
    for _ in range(3):
        train(draw.normal(size=(12, 4)), draw.integers(0, 3, 12))


def recurrent_network_with_adam(draw: Generator) -> None:
    """Train a network of tanh over 30 steps."""
    inputs, target = pt.tensor3("inputs"), pt.matrix("target")
    w, u, b, v = parameters = _parameters(draw, (8, 8), (3, 8), (8,), (8, 1))
    states, _ = rw.scan(
        lambda now, h: pt.tanh(h @ w + now @ u + b),
        sequences=[inputs],
        outputs_info=[pt.zeros((inputs.shape[1], 8))],
    )
    loss = ((states[-1] @ v - target) ** 2).mean()
    train = rw.function([inputs, target], loss, updates=_adam(parameters, loss))
    for _ in range(2):
        train(draw.normal(size=(30, 5, 3)), draw.normal(size=(5, 1)))


def gated_recurrent_unit(draw: Generator) -> None:
    """Run a gated recurrent unit over a sequence, with gradients."""
    x = pt.matrix("x")
    w_z, w_r, w_h = parameters = _parameters(draw, (7, 4), (7, 4), (7, 4))

    def step(now: Any, h: Any) -> Any:
        both = pt.concatenate([h, now])
        z, r = pt.sigmoid(both @ w_z), pt.sigmoid(both @ w_r)
        new = pt.tanh(pt.concatenate([r * h, now]) @ w_h)
        return (1 - z) * h + z * new

    states, _ = rw.scan(step, sequences=[x], outputs_info=[pt.zeros(4)])
    loss = (states**2).mean()
    f = rw.function([x], [loss, *rw.grad(loss, parameters)])
    for _ in range(2):
        f(draw.normal(size=(10, 3)))


def long_short_term_memory(draw: Generator) -> None:
    """Run a long short-term memory, its four gates in one product, with gradients."""
    x = pt.matrix("x")
    w, b = parameters = _parameters(draw, (7, 16), (16,))

    def step(now: Any, h: Any, c: Any) -> Any:
        gates = pt.concatenate([h, now]) @ w + b
        keep, write, show = [pt.sigmoid(gates[4 * i : 4 * i + 4]) for i in range(3)]
        c = keep * c + write * pt.tanh(gates[12:])
        return show * pt.tanh(c), c

    (states, _cells), _ = rw.scan(step, sequences=[x], outputs_info=[pt.zeros(4), pt.zeros(4)])
    loss = ((states[-1] - 0.5) ** 2).sum()
    f = rw.function([x], [loss, *rw.grad(loss, parameters)])
    for _ in range(2):
        f(draw.normal(size=(10, 3)))


def attention(draw: Generator) -> None:
    """Attend to earlier words of sentences with two heads; take gradients."""
    x = pt.tensor3("x")
    parameters = _parameters(draw, (2, 6, 3), (2, 6, 3), (2, 6, 3))
    q, k, v = [x[:, None] @ w for w in parameters]
    length = x.shape[1]
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(3.0)
    scores = pt.switch(pt.tril(pt.ones((length, length))) > 0, scores, -1e9)
    out = pt.special.softmax(scores, axis=-1) @ v
    loss = (out**2).mean()
    f = rw.function([x], [out, *rw.grad(loss, parameters)])
    for _ in range(2):
        f(draw.normal(size=(2, 5, 6)))


def layer_norm(draw: Generator) -> None:
    """Normalise rows by their means and variances; take gradients."""
    x = pt.matrix("x")
    gain, bias = parameters = _parameters(draw, (6,), (6,))
    centred = x - x.mean(axis=1, keepdims=True)
    normal = centred / pt.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    out = gain * normal + bias
    f = rw.function([x], [out, *rw.grad(pt.tanh(out).sum(), [x, *parameters])])
    for _ in range(2):
        f(draw.normal(size=(5, 6)))


def convolution_by_windows(draw: Generator) -> None:
    """Convolve a series with filters by windows of it; pool, and take gradients."""
    x = pt.vector("x")
    (filters,) = _parameters(draw, (3, 2))
    windows = pt.stack([x[i : x.shape[0] - 2 + i] for i in range(3)], axis=1)
    features = pt.maximum(windows @ filters, 0).max(axis=0)
    loss = ((features - 1) ** 2).sum()
    f = rw.function([x], [features, loss, rw.grad(loss, filters)])
    for n in 12, 20:
        f(draw.normal(size=n))


def variational_autoencoder(draw: Generator) -> None:
    """Train a small autoencoder by a bound on the evidence, with draws of the code."""
    stream = pt.random.RandomStream(seed=1)
    x = pt.matrix("x")
    w_m, w_s, w_d, b = parameters = _parameters(draw, (5, 2), (5, 2), (2, 5), (5,))
    mean, log_scale = x @ w_m, x @ w_s
    code = mean + pt.exp(log_scale) * stream.normal(size=mean.shape)
    logit = code @ w_d + b
    fit = (x * pt.log(pt.sigmoid(logit)) + (1 - x) * pt.log(1 - pt.sigmoid(logit))).sum(axis=1)
    divergence = 0.5 * (mean**2 + pt.exp(2 * log_scale) - 1 - 2 * log_scale).sum(axis=1)
    loss = (divergence - fit).mean()
    train = rw.function([x], loss, updates=_adam(parameters, loss))
    for _ in range(3):
        train(draw.integers(0, 2, (8, 5)) * 1.0)
