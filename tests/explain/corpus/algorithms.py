"""Programs of algorithms: iterations, clusters, resampling, second derivatives, branches."""

import numpy as np
from numpy.random import Generator

import rewrite_engine as rw
import rewrite_engine.tensor as pt


def newton_iteration(draw: Generator) -> None:
    """Find a root in a loop that stops when steps are small."""
    start, a = pt.scalar("start"), pt.scalar("a")

    def step(x, a):
        new = x - (pt.exp(x) + x - a) / (pt.exp(x) + 1)
        return new, rw.loops.until(pt.abs(new - x) < 1e-10)

    xs, _ = rw.scan(step, outputs_info=[start], non_sequences=[a], n_steps=50)
    f = rw.function([start, a], [xs[-1], xs.shape[0]])
    for a_value in 2.0, 5.0:
        f(0.0, a_value)


def newton_for_logistic_regression(draw: Generator) -> None:
    """Take Newton's steps by the Hessian of a loss."""
    x, y, w = pt.matrix("x"), pt.vector("y"), pt.vector("w")
    loss = (pt.softplus(x @ w) - y * (x @ w)).sum() + 0.5 * (w**2).sum()
    step = pt.linalg.solve(rw.gradient.hessian(loss, w), rw.grad(loss, w))
    f = rw.function([x, y, w], [loss, w - step])
    for _ in range(2):
        f(draw.normal(size=(12, 3)), draw.integers(0, 2, 12) * 1.0, np.zeros(3))


def hessian_of_banana(draw: Generator) -> None:
    """Take the Hessian of Rosenbrock's function."""
    x = pt.vector("x")
    value = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    f = rw.function([x], [value, rw.gradient.hessian(value, x)])
    for _ in range(2):
        f(draw.normal(size=4))


def jacobian_by_loop(draw: Generator) -> None:
    """Take a Jacobian row by row in a loop."""
    x, w = pt.vector("x"), pt.matrix("w")
    y = pt.tanh(w @ x) * pt.exp(x[0])
    rows, _ = rw.scan(
        lambda i, y, x: rw.grad(y[i], x), sequences=pt.arange(y.shape[0]), non_sequences=[y, x]
    )
    f = rw.function([x, w], [y, rows])
    for _ in range(2):
        f(draw.normal(size=3), draw.normal(size=(4, 3)))


def k_means_step(draw: Generator) -> None:
    """Assign points to centres, and move each centre to the mean of its points."""
    x = pt.matrix("x")
    centres = rw.shared(draw.normal(size=(3, 2)), name="centres")
    distances = ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    nearest = pt.argmin(distances, axis=1)
    member = pt.eq(nearest[:, None], pt.arange(3)[None, :])
    count = pt.maximum(member.sum(axis=0), 1)
    moved = pt.dot(member.T * 1.0, x) / count[:, None]
    step = rw.function([x], distances.min(axis=1).sum(), updates={centres: moved})
    data = draw.normal(size=(15, 2))
    for _ in range(3):
        step(data)


def bootstrap(draw: Generator) -> None:
    """Resample rows at random, and report means and deviations."""
    stream = pt.random.RandomStream(seed=7)
    x = pt.vector("x")
    rows = stream.integers(0, x.shape[0], size=(50, x.shape[0]))
    means = x[rows].mean(axis=1)
    f = rw.function([x], [means.mean(), means.std(), pt.sort(means)[2]])
    for _ in range(2):
        f(draw.normal(size=12))


def branches(draw: Generator) -> None:
    """Choose between two computations by a condition, with gradients."""
    x, w = pt.vector("x"), pt.vector("w")
    error = x @ w - 1
    huber = rw.ifelse(pt.abs(error) < 1, 0.5 * error**2, pt.abs(error) - 0.5)
    f = rw.function([x, w], [huber, rw.grad(huber, w)])
    for size in 0.1, 5.0:
        f(size * draw.normal(size=3), draw.normal(size=3))


def graph_as_op(draw: Generator) -> None:
    """Build an op of a graph, use it twice, and take gradients through it."""
    a, b = pt.vectors("a", "b")
    distance = rw.OpFromGraph([a, b], [pt.sqrt(((a - b) ** 2).sum() + 1e-6)])
    x, y, z = pt.vectors("x", "y", "z")
    loss = pt.maximum(distance(x, y) - distance(x, z) + 1, 0)
    f = rw.function([x, y, z], [loss, *rw.grad(loss, [x, y, z])])
    for _ in range(2):
        f(*draw.normal(size=(3, 4)))


def metropolis(draw: Generator) -> None:
    """Sample a density by Metropolis' rule in a loop."""
    stream = pt.random.RandomStream(seed=5)
    start = pt.vector("start")

    def log_density(x):
        return -0.5 * (x**2).sum() + pt.log(1 + x[0] ** 2)

    def step(x):
        proposal = x + 0.5 * stream.normal(size=(2,))
        accepted = pt.log(stream.uniform()) < log_density(proposal) - log_density(x)
        return pt.switch(accepted, proposal, x)

    xs, updates = rw.scan(step, outputs_info=[start], n_steps=15)
    f = rw.function([start], [xs, xs.mean(axis=0)], updates=updates)
    for _ in range(2):
        f(draw.normal(size=2))
