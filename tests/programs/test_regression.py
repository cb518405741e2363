"""Linear models, trained: least squares, classes, counts, outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import verify_grad

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_logistic_regression(dtype):
    n, features, rate, penalty = 60, 5, 0.1, 0.01
    X = RNG.normal(size=(n, features)).astype(dtype)
    Y = (X[:, 0] - 0.5 * X[:, 1] > 0).astype(dtype)
    w0 = RNG.normal(size=features).astype(dtype)

    x, y = pt.matrix("x", dtype=dtype), pt.vector("y", dtype=dtype)
    w, b = rw.shared(w0, name="w"), rw.shared(np.zeros((), dtype), name="b")
    p = 1 / (1 + pt.exp(-pt.dot(x, w) - b))
    surprise = -y * pt.log(p) - (1 - y) * pt.log(1 - p)
    cost = surprise.mean() + penalty * (w**2).sum()
    gw, gb = pt.grad(cost, [w, b])
    assert cost.type.dtype == dtype
    train = rw.function(
        [x, y], [p > 0.5, surprise], updates=((w, w - rate * gw), (b, b - rate * gb))
    )
    predict = rw.function([x], p > 0.5)

    v, c = w0.astype("float64"), 0.0
    for _ in range(25):
        train(X, Y)
        error = scipy.special.expit(X @ v + c) - Y
        v, c = v - rate * (X.T @ error / n + 2 * penalty * v), c - rate * error.mean()
    tolerance = 1e-12 if dtype == "float64" else 1e-4
    np.testing.assert_allclose(w.get_value(), v, rtol=tolerance)
    np.testing.assert_allclose(b.get_value(), c, rtol=tolerance)
    assert w.get_value().dtype == dtype
    np.testing.assert_array_equal(predict(X), X @ v + c > 0)
    # saturated: the textbook's logarithm of 1 - p would be -inf
    w.set_value(np.full(features, 1000, dtype))
    _, losses = train(np.ones((2, features), dtype), np.array([0, 1], dtype))
    np.testing.assert_allclose(losses, [5000, 0], rtol=1e-4, atol=1e-30)
    assert np.isfinite(w.get_value()).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_classifier_with_softmax_and_bias(dtype):
    n, features, classes = 12, 4, 3
    X = RNG.normal(size=(n, features)).astype(dtype)
    K = RNG.integers(0, classes, n)
    x, k = pt.matrix("x", dtype=dtype), pt.lvector("k")
    W = rw.shared(RNG.normal(size=(features, classes)).astype(dtype), name="W")
    b = rw.shared(np.zeros(classes, dtype), name="b")
    p = pt.softmax(pt.dot(x, W) + b, axis=-1)
    loss = -pt.mean(pt.log(p)[pt.arange(k.shape[0]), k])
    wrong = pt.mean(pt.neq(pt.argmax(p, axis=1), k))
    f = rw.function([x, k], [loss, wrong, *rw.grad(loss, [W, b])])

    value, errors, gW, gb = f(X, K)
    logits = (X @ W.get_value()).astype("float64")
    q = scipy.special.softmax(logits, axis=1)
    tolerance = {"rtol": 1e-10} if dtype == "float64" else {"rtol": 1e-4, "atol": 1e-6}
    np.testing.assert_allclose(value, -np.log(q[np.arange(n), K]).mean(), **tolerance)
    np.testing.assert_allclose(errors, (q.argmax(1) != K).mean(), **tolerance)
    np.testing.assert_allclose(gW, X.T @ (q - np.eye(classes)[K]) / n, **tolerance)
    np.testing.assert_allclose(gb, (q - np.eye(classes)[K]).mean(0), **tolerance)

    W.set_value(np.zeros((features, classes), dtype))
    b.set_value(np.array([0, 2000, 0], dtype))
    value, _, _, gb = f(X[:1], [0])  # the true class has probability 0 in floating point
    assert value == 2000
    np.testing.assert_array_equal(gb, [-1, 1, 0])


def test_ridge_regression_reaches_its_closed_form():
    X, y, penalty = RNG.normal(size=(40, 3)), RNG.normal(size=40), 0.5
    features, target, rate = pt.dmatrix("X"), pt.dvector("y"), pt.dscalar("rate")
    w = rw.shared(np.zeros(3), name="w")
    cost = pt.sum((target - features @ w) ** 2) + penalty * pt.sum(pt.sqr(w))
    step = rw.function(
        [features, target, rw.In(rate, value=0.005)],
        cost,
        updates={w: w - rate * rw.grad(cost, w)},
    )
    costs = [step(X, y) for _ in range(400)]
    assert (np.diff(costs) <= 1e-9).all()
    exact = np.linalg.solve(X.T @ X + penalty * np.eye(3), X.T @ y)
    np.testing.assert_allclose(w.get_value(), exact, rtol=1e-9)


def test_regression_of_counts():
    X = np.column_stack([np.ones(50), RNG.normal(size=50)])
    counts = RNG.poisson(np.exp(X @ [0.5, 0.8]))
    x, k, beta = pt.dmatrix("x"), pt.lvector("k"), pt.dvector("beta")
    eta = x @ beta
    log_p = (k * eta - pt.exp(eta) - pt.gammaln(k + 1)).sum()
    f = rw.function([x, k, beta], [log_p, rw.grad(log_p, beta)])
    at = np.array([0.4, 0.7])
    value, slope = f(X, counts, at)
    mean = np.exp(X @ at)
    np.testing.assert_allclose(value, scipy.stats.poisson.logpmf(counts, mean).sum(), rtol=1e-12)
    np.testing.assert_allclose(slope, X.T @ (counts - mean), rtol=1e-11)


def student(x: Any, y: Any, beta: Any, log_sigma: Any, nu: Any) -> Any:
    """The log density of y around x @ beta, by Student's distribution."""
    sigma = pt.exp(log_sigma)
    t = (y - x @ beta) / sigma
    peak = pt.gammaln((nu + 1) / 2) - pt.gammaln(nu / 2) - 0.5 * pt.log(nu * np.pi) - log_sigma
    return (peak - (nu + 1) / 2 * pt.log1p(t**2 / nu)).sum()


def test_robust_regression():
    X, y = RNG.normal(size=(15, 2)), RNG.normal(size=15)
    y[3] = 1e8  # an outlier
    x, v, beta = pt.dmatrix("x"), pt.dvector("y"), pt.dvector("beta")
    log_sigma, nu = pt.dscalars("log_sigma", "nu")
    f = rw.function([x, v, beta, log_sigma, nu], student(x, v, beta, log_sigma, nu))
    at = [np.array([0.2, -0.3]), 0.1, 4.0]
    expected = scipy.stats.t.logpdf(y, at[2], X @ at[0], np.exp(at[1])).sum()
    np.testing.assert_allclose(f(X, y, *at), expected, rtol=1e-12)
    y[3] = 4.0
    verify_grad(lambda b, s, n: student(X, y, b, s, n), at)


def test_an_autoencoder_with_tied_weights():
    X = (RNG.random((8, 6)) > 0.5).astype("float64")
    x = pt.dmatrix("x")
    W = rw.shared(0.1 * RNG.normal(size=(6, 3)), name="W")
    hidden_bias, visible_bias = rw.shared(np.zeros(3)), rw.shared(np.zeros(6))
    parameters = [W, hidden_bias, visible_bias]
    hidden = pt.sigmoid(pt.dot(x, W) + hidden_bias)
    again = pt.sigmoid(pt.dot(hidden, W.T) + visible_bias)
    loss = -pt.sum(x * pt.log(again) + (1 - x) * pt.log(1 - again), axis=1).mean()
    slopes = pt.grad(loss, parameters)
    train = rw.function([x], loss, updates=[(p, p - 0.5 * g) for p, g in zip(parameters, slopes)])
    first = train(X)
    np.testing.assert_allclose(first, 6 * np.log(2), rtol=0.2)
    for _ in range(200):
        last = train(X)
    assert last < 0.8 * first

    def cost(w: Any, c: Any, d: Any) -> Any:
        h = pt.sigmoid(X @ w + c)
        out = h @ w.T + d
        return (pt.softplus(out) - X * out).sum(axis=1).mean()

    verify_grad(cost, [p.get_value() for p in parameters])
    values = [p.get_value() for p in parameters]
    h = scipy.special.expit(X @ values[0] + values[1])
    out = h @ values[0].T + values[2]
    np.testing.assert_allclose(train(X), (np.logaddexp(0, out) - X * out).sum(1).mean(), rtol=1e-9)
