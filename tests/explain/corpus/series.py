"""Programs with loops over time."""

from typing import Any

import numpy as np
from numpy.random import Generator

import rewrite_engine as rw
import rewrite_engine.tensor as pt


def kalman_filter(draw: Generator) -> None:
    """Evaluate the likelihood of a linear state space model, with its gradient."""
    ys, log_q, log_r = pt.vector("ys"), pt.scalar("log_q"), pt.scalar("log_r")
    move = np.array([[1.0, 1.0], [0.0, 1.0]])

    def step(y: Any, mean: Any, cov: Any, q: Any, r: Any) -> Any:
        mean, cov = move @ mean, move @ cov @ move.T + q * np.diag([0.0, 1.0])
        variance, error = cov[0, 0] + r, y - mean[0]
        gain = cov[:, 0] / variance
        log_density = -0.5 * (pt.log(2 * np.pi * variance) + error**2 / variance)
        return mean + gain * error, cov - pt.outer(gain, cov[0]), log_density

    (means, _covs, logs), _ = rw.scan(
        step,
        sequences=ys,
        outputs_info=[pt.zeros(2), 100.0 * pt.eye(2), None],
        non_sequences=[pt.exp(log_q), pt.exp(log_r)],
    )
    f = rw.function([ys, log_q, log_r], [means, logs.sum(), *rw.grad(logs.sum(), [log_q, log_r])])
    for _ in range(2):
        f(np.cumsum(draw.normal(size=15)), -1.0, 0.5)


def autoregression(draw: Generator) -> None:
    """Evaluate the likelihood of an autoregression of order 2 in a loop; and its gradient."""
    ys, phi, log_sigma = pt.vector("ys"), pt.vector("phi"), pt.scalar("log_sigma")
    errors, _ = rw.scan(
        lambda before2, before1, now, phi: now - phi[0] * before1 - phi[1] * before2,
        sequences=[{"input": ys, "taps": [-2, -1, 0]}],
        non_sequences=[phi],
    )
    loss = 0.5 * ((errors / pt.exp(log_sigma)) ** 2).sum() + errors.shape[0] * log_sigma
    f = rw.function([ys, phi, log_sigma], [loss, *rw.grad(loss, [phi, log_sigma])])
    for _ in range(2):
        f(draw.normal(size=20), draw.normal(size=2) * 0.3, 0.1)


def simulated_autoregression(draw: Generator) -> None:
    """Simulate an autoregression of order 2 from its own last two values."""
    noise, phi = pt.vector("noise"), pt.vector("phi")
    ys, _ = rw.scan(
        lambda e, before2, before1, phi: phi[0] * before1 + phi[1] * before2 + e,
        sequences=[noise],
        outputs_info=[{"initial": pt.zeros(2), "taps": [-2, -1]}],
        non_sequences=[phi],
    )
    f = rw.function([noise, phi], [ys, rw.grad((ys**2).mean(), phi)])
    for _ in range(2):
        f(draw.normal(size=20), np.array([0.5, -0.3]))


def changing_volatility(draw: Generator) -> None:
    """Evaluate the likelihood of a GARCH(1, 1) model, with its gradient."""
    returns, logs = pt.vector("returns"), pt.vector("logs")
    base, react, keep = [pt.exp(logs[i]) for i in range(3)]
    variances, _ = rw.scan(
        lambda r, variance, base, react, keep: base + react * r**2 + keep * variance,
        sequences=[returns[:-1]],
        outputs_info=[pt.var(returns)],
        non_sequences=[base, react, keep],
    )
    loss = 0.5 * (pt.log(variances) + returns[1:] ** 2 / variances).sum()
    f = rw.function([returns, logs], [loss, rw.grad(loss, logs)])
    for _ in range(2):
        f(draw.normal(size=20), np.log([0.1, 0.1, 0.8]))


def hidden_markov_model(draw: Generator) -> None:
    """Run the forward algorithm on logarithms, with the gradient by the transitions."""
    ys, logits, means = pt.vector("ys"), pt.matrix("logits"), pt.vector("means")
    log_moves = logits - pt.logsumexp(logits, axis=1, keepdims=True)
    densities = -0.5 * (ys[:, None] - means) ** 2 - 0.5 * np.log(2 * np.pi)
    states, _ = rw.scan(
        lambda density, state, moves: pt.logsumexp(state[:, None] + moves, axis=0) + density,
        sequences=[densities[1:]],
        outputs_info=[densities[0] - np.log(3.0)],
        non_sequences=[log_moves],
    )
    value = pt.logsumexp(states[-1])
    f = rw.function([ys, logits, means], [value, *rw.grad(value, [logits, means])])
    for _ in range(2):
        f(draw.normal(size=12), draw.normal(size=(3, 3)), np.array([-1.0, 0.0, 1.0]))


def random_walk(draw: Generator) -> None:
    """Evaluate a random walk that is observed with noise, from its increments; and its gradient."""
    steps, ys, log_sigma = pt.vector("steps"), pt.vector("ys"), pt.scalar("log_sigma")
    walk = pt.cumsum(pt.exp(log_sigma) * steps)
    value = -0.5 * (steps**2).sum() - 0.5 * ((ys - walk) ** 2).sum() - log_sigma
    f = rw.function([steps, ys, log_sigma], [value, *rw.grad(value, [steps, log_sigma])])
    for _ in range(2):
        f(draw.normal(size=15), draw.normal(size=15), -0.5)


def simulated_random_walks(draw: Generator) -> None:
    """Draw walks step by step in a loop."""
    stream = pt.random.RandomStream(seed=3)
    n, sigma = pt.lscalar("n"), pt.scalar("sigma")
    walks, updates = rw.scan(
        lambda now, sigma: now + sigma * stream.normal(size=(4,)),
        outputs_info=[pt.zeros(4)],
        non_sequences=[sigma],
        n_steps=n,
    )
    f = rw.function([n, sigma], [walks, pt.abs(walks).max()], updates=updates)
    for _ in range(2):
        f(10, 0.5)


def predator_and_prey(draw: Generator) -> None:
    """Integrate an ordinary differential equation by Euler's method, with a gradient."""
    rates, start = pt.vector("rates"), pt.vector("start")

    def step(state: Any, a: Any) -> Any:
        prey, hunters = state[0], state[1]
        slope = pt.stack([a[0] * prey - a[1] * prey * hunters, a[2] * prey * hunters - hunters])
        return state + 0.05 * slope

    states, _ = rw.scan(step, outputs_info=[start], non_sequences=[rates], n_steps=30)
    f = rw.function([rates, start], [states, rw.grad(states[-1].sum(), rates)])
    for _ in range(2):
        f(draw.uniform(0.5, 1.5, 3), draw.uniform(0.5, 1.5, 2))


def pendulum(draw: Generator) -> None:
    """Integrate a pendulum by the method of Runge and Kutta."""
    start, friction = pt.vector("start"), pt.scalar("friction")

    def slope(s: Any, friction: Any) -> Any:
        return pt.stack([s[1], -pt.sin(s[0]) - friction * s[1]])

    def step(s: Any, friction: Any) -> Any:
        k1 = slope(s, friction)
        k2 = slope(s + 0.05 * k1, friction)
        k3 = slope(s + 0.05 * k2, friction)
        k4 = slope(s + 0.1 * k3, friction)
        return s + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    states, _ = rw.scan(step, outputs_info=[start], non_sequences=[friction], n_steps=20)
    f = rw.function([start, friction], [states, rw.grad(states[-1, 0], friction)])
    for _ in range(2):
        f(draw.normal(size=2), 0.2)
