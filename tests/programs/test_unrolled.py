"""Models whose loops are written in Python: each step makes nodes of the steps before. They are
compiled, with gradients, by work that somebody waits for, and mean what they say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from tests.growth import exponent, lines

MAX_LINES = 10_000_000  # of Python, to compile one; they take some seconds
AS_BUILT = rw.Mode(linker="py", optimizer=None)
pytestmark = pytest.mark.timeout(120)

Model = tuple[list[Any], Any, list[Any], list[Any]]  # inputs, value, by what, values of the inputs


# --- the spread of an illness ---------------------------------------------------------------------


def spread(n: int) -> tuple[list[Any], list[Any], Any]:
    """Inputs, how many fall ill in each of n steps, and how many are ill at the end."""
    b, susceptible, ill = inputs = pt.dscalars("b", "susceptible", "ill")
    new = []
    for _ in range(n):
        d = pt.exp(b) * susceptible * ill
        susceptible, ill = susceptible - d, ill + d
        new.append(d)
    return list(inputs), new, ill


def epidemic(n: int) -> Model:
    """How many are ill after n steps."""
    inputs, _, ill = spread(n)
    return inputs, ill, inputs, [-1.0, 0.9, 0.1]


def epidemic_of_counts(n: int) -> Model:
    """The log density of counts that have Poisson distributions."""
    inputs, new, _ = spread(n)
    k = pt.dvector("k")
    terms = [k[t] * pt.log(d) - d - pt.gammaln(k[t] + 1) for t, d in enumerate(new)]
    return [*inputs, k], sum(terms), inputs, [-5.0, 90.0, 5.0, np.arange(n) + 2.0]


# --- filters and series ---------------------------------------------------------------------------


def kalman(n: int) -> Model:
    """The log density of n numbers around a random walk, by the logs of both variances."""
    y, log_q, log_r = pt.dvector("y"), pt.dscalar("log_q"), pt.dscalar("log_r")
    mean: Any = pt.constant(0.0)
    variance: Any = pt.constant(1.0)
    density: Any = 0.0
    for t in range(n):
        variance = variance + pt.exp(log_q)
        seen = variance + pt.exp(log_r)
        off, gain = y[t] - mean, variance / seen
        density = density - 0.5 * (pt.log(2 * math.pi * seen) + off**2 / seen)
        mean, variance = mean + gain * off, (1 - gain) * variance
    return [y, log_q, log_r], density, [log_q, log_r], [np.sin(np.arange(n)), -0.5, 0.3]


def garch(n: int) -> Model:
    """The log density of n returns whose variance depends on the one before."""
    y, w, a, b = pt.dvector("y"), *pt.dscalars("w", "a", "b")
    variance: Any = pt.exp(w)
    density: Any = 0.0
    for t in range(n):
        density = density - 0.5 * (pt.log(2 * math.pi * variance) + y[t] ** 2 / variance)
        variance = pt.exp(w) + pt.sigmoid(a) * y[t] ** 2 + pt.sigmoid(b) * variance
    values = [np.cos(np.arange(n)), -1.0, -1.5, 0.4]
    return [y, w, a, b], density, [w, a, b], values


# --- equations of motion --------------------------------------------------------------------------


def growth(y: Any, rate: Any, h: float) -> Any:
    """One step of Runge and Kutta of y' = e^rate y (1 - y)."""

    def slope(y: Any) -> Any:
        return pt.exp(rate) * y * (1 - y)

    k1 = slope(y)
    k2 = slope(y + 0.5 * h * k1)
    k3 = slope(y + 0.5 * h * k2)
    k4 = slope(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def runge_kutta(n: int) -> Model:
    """n steps, one after the other."""
    y, rate = inputs = pt.dscalars("y", "rate")
    for _ in range(n):
        y = growth(y, rate, 0.1)
    return list(inputs), y, list(inputs), [0.2, 0.3]


def runge_kutta_in_a_loop(n: int) -> Model:
    """n steps in `scan`."""
    y, rate = inputs = pt.dscalars("y", "rate")
    states = rw.scan(
        lambda y, rate: growth(y, rate, 0.1), outputs_info=[y], non_sequences=[rate], n_steps=n,
        return_updates=False,
    )  # fmt: skip
    return list(inputs), states[-1], list(inputs), [0.2, 0.3]


# --- hidden states --------------------------------------------------------------------------------


def hidden_markov(states: int) -> Callable[[int], Model]:
    """The log density of n numbers around the means of hidden states: the forward algorithm."""

    def model(n: int) -> Model:
        y, logits, mu = pt.dvector("y"), pt.dmatrix("logits"), pt.dvector("mu")
        moves = logits - pt.log(pt.exp(logits).sum(axis=1, keepdims=True))
        seen = [-0.5 * (y[t] - mu) ** 2 for t in range(n)]
        alpha: Any = seen[0] - math.log(states)
        for t in range(1, n):
            alpha = pt.log(pt.exp(alpha[:, None] + moves).sum(axis=0)) + seen[t]
        density = pt.log(pt.exp(alpha).sum())
        start = np.arange(states**2).reshape(states, states) / 5
        values = [np.sin(np.arange(n)), start, np.linspace(-1, 1, states)]
        return [y, logits, mu], density, [logits, mu], values

    return model


def two_states(n: int) -> Model:
    """The same of two states, by probabilities and without arrays."""
    y, a, b, mu = pt.dvector("y"), *pt.dscalars("a", "b", "mu")
    stay, back = pt.sigmoid(a), pt.sigmoid(b)
    p: Any = pt.constant(0.5)
    q: Any = pt.constant(0.5)
    for t in range(n):
        low, high = pt.exp(-0.5 * y[t] ** 2), pt.exp(-0.5 * (y[t] - mu) ** 2)
        p, q = low * (p * stay + q * back), high * (p * (1 - stay) + q * (1 - back))
    return [y, a, b, mu], pt.log(p + q), [a, b, mu], [np.sin(np.arange(n)), 0.5, -0.3, 1.2]


def knowledge(n: int) -> Model:
    """The log probability of n answers of somebody who learns: known at first, learned, guessed,
    slipped. (Two answers of three are right.)
    """
    inputs = pt.dscalars("known", "learned", "guessed", "slipped")
    p, learned, guess, slip = [pt.sigmoid(v) for v in inputs]
    density: Any = 0.0
    for t in range(n):
        right = p * (1 - slip) + (1 - p) * guess
        if t % 3:
            density, after = density + pt.log(right), p * (1 - slip) / right
        else:
            density, after = density + pt.log(1 - right), p * slip / (1 - right)
        p = after + (1 - after) * learned
    return list(inputs), density, list(inputs), [-0.5, -1.0, -1.5, -2.0]


# --- the tests ------------------------------------------------------------------------------------

MODELS: dict[str, tuple[Callable[[int], Model], int]] = {
    "epidemic": (epidemic, 4),
    "epidemic of counts": (epidemic_of_counts, 4),
    "Kalman filter": (kalman, 3),
    "Runge and Kutta": (runge_kutta, 1),
    "Runge and Kutta in a loop": (runge_kutta_in_a_loop, 10),
    "hidden Markov model, 2 states": (hidden_markov(2), 8),
    "hidden Markov model, 3 states": (hidden_markov(3), 8),
    "hidden Markov model, written out": (two_states, 8),
    "GARCH": (garch, 10),
    "knowledge tracing": (knowledge, 20),
}


def compiled(model: Model, mode: Any = None) -> Any:
    """The function of a value and its gradient."""
    inputs, value, by, _ = model
    return rw.function(inputs, [value, *rw.grad(value, by)], mode=mode)


@pytest.mark.parametrize("name", MODELS)
def test_unrolled(name: str) -> None:
    build, n = MODELS[name]
    f, model = compiled(build(n)), build(n)
    assert lines(lambda: compiled(model)) < MAX_LINES
    values = build(n)[3]
    as_built = compiled(build(n), AS_BUILT)
    for found, wanted in zip(f(*values), as_built(*values), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def chain(levels: int) -> Model:
    """tanh of one more, again and again."""
    x = y = pt.dvector("x")
    for _ in range(levels):
        y = pt.tanh(y + 1)
    return [x], y.sum(), [x], [np.linspace(-1, 1, 5)]


def test_compiling_a_chain_of_2000_levels_is_linear() -> None:
    def prepare(levels: int) -> Callable[[], Any]:
        model = chain(levels)
        return lambda: compiled(model)

    assert exponent(prepare, 250, 2000) < 1.3


def test_the_values_of_a_chain() -> None:
    model = chain(50)
    (found, slope), (wanted, other) = (
        compiled(model)(*model[3]),
        compiled(model, AS_BUILT)(*model[3]),
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(slope, other, rtol=1e-9, atol=1e-300)
