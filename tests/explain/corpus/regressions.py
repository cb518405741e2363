"""Programs that fit lines and hazards to data."""

import numpy as np
from numpy.random import Generator

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import sparse


def logistic_regression(draw: Generator) -> None:
    """Fit a logistic regression by gradient descent, and predict."""
    x, y = pt.matrix("x"), pt.vector("y")
    w, b = rw.shared(draw.normal(size=3), name="w"), rw.shared(0.0, name="b")
    p = 1 / (1 + pt.exp(-(x @ w) - b))
    cost = (-y * pt.log(p) - (1 - y) * pt.log(1 - p)).mean() + 0.01 * (w**2).sum()
    gw, gb = rw.grad(cost, [w, b])
    train = rw.function([x, y], cost, updates=[(w, w - 0.1 * gw), (b, b - 0.1 * gb)])
    predict = rw.function([x], p > 0.5)
    data = draw.normal(size=(20, 3))
    for _ in range(3):
        train(data, (data[:, 0] > 0) * 1.0)
    predict(data)


def normal_equations(draw: Generator) -> None:
    """Solve a least squares problem by an inverse, as a textbook writes it."""
    x, y = pt.matrix("x"), pt.vector("y")
    beta = pt.linalg.inv(x.T @ x) @ x.T @ y
    residual = y - x @ beta
    variance = (residual**2).sum() / (x.shape[0] - x.shape[1])
    errors = pt.sqrt(variance * pt.diag(pt.linalg.inv(x.T @ x)))
    fit = rw.function([x, y], [beta, errors])
    for n in 12, 20:
        fit(draw.normal(size=(n, 3)), draw.normal(size=n))


def ridge_by_cholesky(draw: Generator) -> None:
    """Solve a ridge regression by a Cholesky factor; take a gradient by the penalty."""
    x, y, penalty = pt.matrix("x"), pt.vector("y"), pt.scalar("penalty")
    factor = pt.linalg.cholesky(x.T @ x + penalty * pt.eye(x.shape[1]))
    half = pt.linalg.solve_triangular(factor, x.T @ y, lower=True)
    beta = pt.linalg.solve_triangular(factor.T, half, lower=False)
    loss = ((y - x @ beta) ** 2).mean()
    fit = rw.function([x, y, penalty], [beta, loss, rw.grad(loss, penalty)])
    for penalty_value in 0.1, 2.0:
        fit(draw.normal(size=(15, 4)), draw.normal(size=15), penalty_value)


def sparse_regression(draw: Generator) -> None:
    """Take gradient steps of a regression on a sparse matrix of features."""
    from scipy.sparse import random_array

    x, y = sparse.csr_matrix("x"), pt.vector("y")
    w = rw.shared(np.zeros(8), name="w")
    loss = ((sparse.dot(x, w[:, None])[:, 0] - y) ** 2).mean() + 0.1 * pt.abs(w).sum()
    step = rw.function([x, y], loss, updates={w: w - 0.1 * rw.grad(loss, w)})
    for _ in range(2):
        data = random_array((12, 8), density=0.3, rng=draw, format="csr")
        step(data, draw.normal(size=12))


def cox_partial_likelihood(draw: Generator) -> None:
    """Evaluate a partial likelihood of survival times by cumulated sums; and its gradient."""
    x, event, beta = pt.matrix("x"), pt.vector("event"), pt.vector("beta")
    risk = x @ beta
    at_risk = pt.log(pt.cumsum(pt.exp(risk)[::-1])[::-1])
    loss = -(event * (risk - at_risk)).sum()
    f = rw.function([x, event, beta], [loss, rw.grad(loss, beta)])
    for _ in range(2):
        f(draw.normal(size=(12, 2)), draw.integers(0, 2, 12) * 1.0, draw.normal(size=2))


def poisson_in_float32(draw: Generator) -> None:
    """Fit a Poisson regression in float32."""
    x, y = pt.fmatrix("x"), pt.fvector("y")
    w = rw.shared(np.zeros(3, "float32"), name="w")
    rate = pt.exp(x @ w)
    loss = (rate - y * pt.log(rate)).mean()
    step = rw.function([x, y], loss, updates={w: w - np.float32(0.1) * rw.grad(loss, w)})
    for _ in range(3):
        step(draw.normal(size=(10, 3)).astype("f"), draw.poisson(2.0, 10).astype("f"))


def mean_without_missing(draw: Generator) -> None:
    """Average columns without their missing numbers; standardise, and fill with 0."""
    x = pt.matrix("x")
    known = pt.invert(pt.isnan(x))
    count = known.sum(axis=0)
    mean = pt.switch(known, x, 0.0).sum(axis=0) / count
    variance = (pt.switch(known, x - mean, 0.0) ** 2).sum(axis=0) / count
    filled = pt.switch(known, (x - mean) / pt.sqrt(variance), 0.0)
    f = rw.function([x], [mean, filled])
    for _ in range(2):
        data = draw.normal(size=(9, 3))
        data[draw.random((9, 3)) < 0.2] = np.nan
        f(data)
