"""Programs of linear algebra."""

import numpy as np
from numpy.random import Generator

import rewrite_engine as rw
import rewrite_engine.tensor as pt


def gaussian_process(draw: Generator) -> None:
    """Evaluate the marginal likelihood of a Gaussian process by a Cholesky factor; gradients."""
    x, y, logs = pt.vector("x"), pt.vector("y"), pt.vector("logs")
    scale, length, noise = [pt.exp(logs[i]) for i in range(3)]
    K = scale**2 * pt.exp(-0.5 * ((x[:, None] - x[None, :]) / length) ** 2)
    L = pt.linalg.cholesky(K + noise**2 * pt.eye(x.shape[0]))
    alpha = pt.linalg.solve_triangular(L, y, lower=True)
    loss = 0.5 * (alpha**2).sum() + pt.log(pt.diag(L)).sum()
    f = rw.function([logs, x, y], [loss, rw.grad(loss, logs)])
    for _ in range(2):
        x_values = np.sort(draw.uniform(0, 10, 15))
        f(np.log([1.0, 1.5, 0.3]), x_values, np.sin(x_values))


def gaussian_process_by_inverse(draw: Generator) -> None:
    """Evaluate the same likelihood by a determinant and an inverse, with gradients."""
    x, y, length = pt.vector("x"), pt.vector("y"), pt.scalar("length")
    K = pt.exp(-0.5 * ((x[:, None] - x[None, :]) / length) ** 2) + 0.1 * pt.eye(x.shape[0])
    loss = 0.5 * y @ pt.linalg.inv(K) @ y + 0.5 * pt.log(pt.linalg.det(K))
    f = rw.function([x, y, length], [loss, rw.grad(loss, length)])
    for _ in range(2):
        f(draw.uniform(0, 10, 10), draw.normal(size=10), 1.2)


def principal_components(draw: Generator) -> None:
    """Project data on its first components by a singular value decomposition."""
    x = pt.matrix("x")
    centred = x - x.mean(axis=0)
    _u, s, vt = pt.linalg.svd(centred, full_matrices=False)
    projected = centred @ vt[:2].T
    f = rw.function([x], [projected, s**2 / (s**2).sum(), projected @ vt[:2] + x.mean(axis=0)])
    for n in 10, 14:
        f(draw.normal(size=(n, 4)))


def log_determinant(draw: Generator) -> None:
    """Evaluate the density of normal vectors by a log determinant, with the gradient."""
    x, cov = pt.matrix("x"), pt.matrix("cov")
    _sign, logdet = pt.linalg.slogdet(cov)
    distance = (x * pt.linalg.solve(cov, x.T).T).sum(axis=1)
    value = (-0.5 * (distance + logdet + 3 * np.log(2 * np.pi))).sum()
    f = rw.function([x, cov], [value, rw.grad(value, cov)])
    for _ in range(2):
        a = draw.normal(size=(3, 3))
        f(draw.normal(size=(6, 3)), a @ a.T + np.eye(3))


def power_iteration(draw: Generator) -> None:
    """Find the largest eigenvalue in a loop of products."""
    a, start = pt.matrix("a"), pt.vector("start")

    def step(v, a):
        w = a @ v
        return w / pt.sqrt((w**2).sum())

    vs, _ = rw.scan(step, outputs_info=[start], non_sequences=[a], n_steps=25)
    v = vs[-1]
    f = rw.function([a, start], [v, v @ a @ v])
    for _ in range(2):
        m = draw.normal(size=(4, 4))
        f(m @ m.T, np.ones(4))


def whitening(draw: Generator) -> None:
    """Whiten data by eigenvalues of its covariance."""
    x = pt.matrix("x")
    centred = x - x.mean(axis=0)
    values, vectors = pt.linalg.eigh(centred.T @ centred / x.shape[0])
    f = rw.function([x], [centred @ vectors / pt.sqrt(values), pt.log(values).sum()])
    for _ in range(2):
        f(draw.normal(size=(12, 3)))
