"""Programs with matrices, loops and layers: recurrent networks, filters, processes, attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from scipy.special import softmax as normalised

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import grad, verify_grad

RNG = np.random.default_rng(11)
DTYPES = ("float64", "float32")


def call(of: Any, *values: Any) -> list[Any]:
    """The value of a function of variables, and its gradients."""
    inputs = [pt.tensor(shape=(None,) * np.ndim(v), dtype=v.dtype) for v in values]
    out = of(*inputs)
    f = rw.function(inputs, [out, *grad(out.sum(), inputs, disconnected_inputs="ignore")])
    return f(*values)  # type: ignore[no-any-return]


def tolerance(dtype: str) -> float:
    return 1e-9 if dtype == "float64" else 3e-4


# --- a recurrent network --------------------------------------------------------------------------


def lstm(x: Any, w: Any, u: Any, b: Any) -> Any:
    """The last state of a cell with gates, of inputs (time, features)."""
    n = u.shape[0]

    def step(x: Any, h: Any, c: Any) -> Any:
        gates = x @ w + h @ u + b
        i, f, o = [pt.sigmoid(gates[k * n : (k + 1) * n]) for k in range(3)]
        c = f * c + i * pt.tanh(gates[3 * n :])
        return o * pt.tanh(c), c

    zero = pt.zeros((n,), dtype=u.dtype)
    (h, _), _ = rw.scan(step, sequences=[x], outputs_info=[zero, zero])
    return h[-1]


def lstm_of_numbers(x: Any, w: Any, u: Any, b: Any) -> Any:
    h = c = np.zeros(len(u))
    for row in x:
        i, f, o, g = np.split(row @ w + h @ u + b, 4)
        c = expit(f) * c + expit(i) * np.tanh(g)
        h = expit(o) * np.tanh(c)
    return h


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_recurrent_network(dtype: str) -> None:
    shapes = [(5, 2), (2, 12), (3, 12), (12,)]
    values = [RNG.normal(size=s).astype(dtype) for s in shapes]
    found, *slopes = call(lstm, *values)
    wanted = lstm_of_numbers(*[v.astype("float64") for v in values])
    np.testing.assert_allclose(found, wanted, rtol=tolerance(dtype))
    assert {g.dtype for g in slopes} == {np.dtype(dtype)}
    if dtype == "float64":
        verify_grad(lstm, values)
    for g in call(lstm, *[v * 1000 for v in values]):  # all gates are 0 or 1
        assert np.isfinite(g).all()


# --- a filter -------------------------------------------------------------------------------------


def kalman(y: Any, a: Any, q: Any, r: Any) -> Any:
    """The log density of observations (time,) of the first part of a state x = a @ x + noise."""
    n = a.shape[0]
    e = pt.eye(n, dtype=a.dtype)

    def step(y: Any, x: Any, p: Any, total: Any) -> Any:
        x, p = a @ x, a @ p @ a.T + q * e
        s, error = p[0, 0] + r, y - x[0]
        gain = p[:, 0] / s
        density = -0.5 * (pt.log(2 * math.pi * s) + error**2 / s)
        return x + gain * error, p - pt.outer(gain, p[0]), total + density

    start = [pt.zeros((n,), dtype=a.dtype), e, pt.zeros((), dtype=a.dtype)]
    (_, _, totals), _ = rw.scan(step, sequences=[y], outputs_info=start)
    return totals[-1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_kalman_filter(dtype: str) -> None:
    a, q, r = np.array([[0.9, 0.2], [-0.1, 0.7]]), 0.3, 0.5
    y = RNG.normal(size=6)
    n, spread, states = len(y), np.eye(2), []
    for _ in range(n):  # the covariance of all observations
        spread = a @ spread @ a.T + q * np.eye(2)
        states.append(spread)
    cov = np.zeros((n, n))
    for i in range(n):
        for k in range(i, n):
            cov[i, k] = cov[k, i] = (np.linalg.matrix_power(a, k - i) @ states[i])[0, 0]
    wanted = stats.multivariate_normal(np.zeros(n), cov + r * np.eye(n)).logpdf(y)
    values = [np.asarray(v, dtype) for v in (y, a, q, r)]
    np.testing.assert_allclose(call(kalman, *values)[0], wanted, rtol=tolerance(dtype))
    if dtype == "float64":
        verify_grad(kalman, values)


# --- processes ------------------------------------------------------------------------------------


def distance(x: Any) -> Any:
    square = (x[:, None] - x) ** 2
    return pt.switch(square > 0, pt.sqrt(square), 0)  # a root that has a slope at 0


KERNELS: dict[str, tuple[Any, Any]] = {
    "squared": (lambda x, s: pt.exp(-0.5 * ((x[:, None] - x) / s) ** 2),
                lambda x, s: np.exp(-0.5 * ((x[:, None] - x) / s) ** 2)),
    "matern": (lambda x, s: (1 + math.sqrt(3) * distance(x) / s)
               * pt.exp(-math.sqrt(3) * distance(x) / s),
               lambda x, s: (1 + math.sqrt(3) * abs(x[:, None] - x) / s)
               * np.exp(-math.sqrt(3) * abs(x[:, None] - x) / s)),
    "periodic": (lambda x, s: pt.exp(-2 * (pt.sin(math.pi * (x[:, None] - x)) / s) ** 2),
                 lambda x, s: np.exp(-2 * (np.sin(math.pi * (x[:, None] - x)) / s) ** 2)),
    "rational": (lambda x, s: (1 + ((x[:, None] - x) / s) ** 2 / 4) ** -2.0,
                 lambda x, s: (1 + ((x[:, None] - x) / s) ** 2 / 4) ** -2.0),
    "linear": (lambda x, s: pt.outer(x, x) / s**2, lambda x, s: np.outer(x, x) / s**2),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_a_gaussian_process(name: str, dtype: str) -> None:
    ours, theirs = KERNELS[name]

    def density(x: Any, y: Any, s: Any, noise: Any) -> Any:
        k = ours(x, s) + noise**2 * pt.eye(x.shape[0], dtype=x.dtype)
        low = pt.linalg.cholesky(k)
        half = pt.linalg.solve_triangular(low, y, lower=True)
        return (
            -0.5 * (half**2).sum()
            - pt.log(pt.diag(low)).sum()
            - 0.5 * y.size * math.log(2 * math.pi)
        )

    values = [np.asarray(v, dtype) for v in (RNG.normal(size=5), RNG.normal(size=5), 0.7, 0.5)]
    x, y, s, noise = [v.astype("float64") for v in values]
    cov = theirs(x, s) + noise**2 * np.eye(5)
    wanted = stats.multivariate_normal(np.zeros(5), cov).logpdf(y)
    found, *slopes = call(density, *values)
    np.testing.assert_allclose(found, wanted, rtol=tolerance(dtype))
    assert all([np.isfinite(g).all() for g in slopes])
    if dtype == "float64":
        verify_grad(density, values)


def test_the_factor_of_a_correlation_matrix() -> None:
    """The density of Lewandowski, Kurowicka & Joe, of 2 variables: (1 - r**2)**(eta - 1)."""

    def density(low: Any, eta: Any) -> Any:
        n = low.shape[0]
        k = pt.arange(1, n)
        return ((n - k - 1 + 2 * (eta - 1)) * pt.log(pt.diag(low)[1:])).sum()

    r, eta = 0.6, 2.5
    low = np.linalg.cholesky(np.array([[1, r], [r, 1]]))
    found = call(density, low, np.asarray(eta))[0]
    np.testing.assert_allclose(found, (eta - 1) * np.log(1 - r**2))
    verify_grad(density, [np.linalg.cholesky(np.eye(3) + 0.2), np.asarray(eta)])


# --- groups and directions ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_step_of_k_means(dtype: str) -> None:
    x = RNG.normal(size=(20, 2)).astype(dtype)
    centres = np.append(x[:3], [[50, 50]], 0).astype(dtype)  # of the last one there is nothing
    points, old = pt.matrix(dtype=dtype), pt.matrix(dtype=dtype)
    apart = ((points[:, None] - old) ** 2).sum(axis=-1)
    nearest = pt.argmin(apart, axis=1)
    member = pt.eq(nearest[:, None], pt.arange(old.shape[0]))
    count = member.sum(axis=0)[:, None]
    new = pt.switch(count > 0, member.T.astype(dtype) @ points / count, old)
    found, loss, slope = rw.function(
        [points, old], [new, pt.min(apart, axis=1).sum(), grad(pt.min(apart, axis=1).sum(), old)]
    )(x, centres)
    near = ((x[:, None] - centres) ** 2).sum(-1).argmin(1)
    wanted = [x[near == k].mean(0) if (near == k).any() else centres[k] for k in range(4)]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(loss, ((x - centres[near]) ** 2).sum(), rtol=1e-5)
    pulls = [2 * (centres[k] - x[near == k]).sum(0) for k in range(4)]
    np.testing.assert_allclose(slope, pulls, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_principal_components(dtype: str) -> None:
    x = (RNG.normal(size=(9, 3)) * [3, 2, 0.5]).astype(dtype)

    def explained(x: Any) -> Any:
        values = pt.linalg.svd(x - x.mean(axis=0), full_matrices=False)[1] ** 2
        return values / values.sum()

    def directions(x: Any) -> Any:
        centred = x - x.mean(axis=0)
        v = pt.linalg.eigh(centred.T @ centred)[1][:, ::-1]
        return v * pt.sign(v[0])

    values, vectors = np.linalg.eigh(np.cov(x.T.astype("float64")))
    rtol = tolerance(dtype)
    np.testing.assert_allclose(call(explained, x)[0], values[::-1] / values.sum(), rtol=rtol)
    turned = vectors[:, ::-1] * np.sign(vectors[0, ::-1])
    np.testing.assert_allclose(call(directions, x)[0], turned, rtol=rtol, atol=rtol)
    if dtype == "float64":
        verify_grad(explained, [x])
        verify_grad(directions, [x])


# --- layers ---------------------------------------------------------------------------------------


def attention(x: Any, q: Any, k: Any, v: Any) -> Any:
    """Heads (h, features, width) on words (n, features), each of which sees those before it."""
    n, scale = x.shape[0], q.shape[-1].astype(x.dtype) ** -0.5
    scores = (x @ q) @ (x @ k).mT * scale
    seen = pt.arange(n)[:, None] >= pt.arange(n)
    weights = pt.special.softmax(pt.switch(seen, scores, -np.inf), axis=-1)
    mixed = (weights @ (x @ v)).transpose(1, 0, 2).reshape((n, -1))
    centred = mixed - mixed.mean(axis=-1, keepdims=True)
    return centred / pt.sqrt(pt.sqr(centred).mean(axis=-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_attention(dtype: str) -> None:
    values = [RNG.normal(size=s).astype(dtype) for s in [(4, 3), (2, 3, 5), (2, 3, 5), (2, 3, 5)]]
    x, q, k, v = [a.astype("float64") for a in values]
    scores = np.where(np.tri(4) > 0, (x @ q) @ (x @ k).mT / np.sqrt(5), -np.inf)
    mixed = np.hstack([*(normalised(scores, -1) @ (x @ v))])
    centred = mixed - mixed.mean(-1, keepdims=True)
    wanted = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    found, *slopes = call(attention, *values)
    np.testing.assert_allclose(found, wanted, rtol=tolerance(dtype), atol=tolerance(dtype))
    assert all([np.isfinite(g).all() for g in slopes])
    assert found.dtype == dtype
    if dtype == "float64":
        verify_grad(attention, values)
    for g in call(attention, *[a * 300 for a in values]):  # weights of 0 and 1
        assert np.isfinite(g).all()


def network(x: Any, w: Any, u: Any) -> Any:
    """Scores (n, classes) of signals (n, time): filters (f, width), maxima, a layer."""
    rows = pt.stack([pt.signal.convolve1d(x, w[k], mode="valid") for k in range(2)], axis=1)
    return pt.special.log_softmax(pt.maximum(rows, 0).max(axis=-1) @ u, axis=-1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_filters_of_signals(dtype: str) -> None:
    values = [RNG.normal(size=s).astype(dtype) for s in [(3, 9), (2, 4), (2, 3)]]
    x, w, u = [a.astype("float64") for a in values]
    rows = [[max(0, np.convolve(signal, f, "valid").max()) for f in w] for signal in x]
    wanted = np.log(normalised(np.asarray(rows) @ u, -1))
    np.testing.assert_allclose(call(network, *values)[0], wanted, rtol=tolerance(dtype))
    if dtype == "float64":
        verify_grad(network, values)
    for g in call(network, *[a * 1e4 for a in values]):
        assert np.isfinite(g).all()


# --- regressions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_ordinal_regression(dtype: str) -> None:
    """Cuts that rise, from parameters without bounds; the classes are between them."""

    def loss(x: Any, w: Any, steps: Any) -> Any:
        cuts = steps[0] + pt.concatenate([[0.0], pt.cumsum(pt.exp(steps[1:]))])
        below = pt.sigmoid(cuts - (x @ w)[:, None])
        edge = pt.zeros_like(below[:, :1])
        p = pt.concatenate([below, 1 + edge], axis=1) - pt.concatenate([edge, below], axis=1)
        return -pt.log(p[pt.arange(x.shape[0]), classes]).mean()

    classes = np.array([0, 1, 2, 2, 1])
    values = [a.astype(dtype) for a in (RNG.normal(size=(5, 2)), RNG.normal(size=2), np.zeros(2))]
    x, w, _ = [a.astype("float64") for a in values]
    below = expit(np.array([0.0, 1.0]) - (x @ w)[:, None])
    p = np.diff(np.hstack([np.zeros((5, 1)), below, np.ones((5, 1))]))
    wanted = -np.log(p[np.arange(5), classes]).mean()
    np.testing.assert_allclose(call(loss, *values)[0], wanted, rtol=tolerance(dtype))
    if dtype == "float64":
        verify_grad(loss, values)


def test_a_regression_of_proportions_with_few_counts() -> None:
    """Counts of a beta-binomial distribution, whose mean is a logistic function."""

    def density(k: Any, n: Any, x: Any, w: Any, size: Any) -> Any:
        p = pt.sigmoid(x @ w)
        a, b = p * size, (1 - p) * size
        choose = pt.gammaln(n + 1) - pt.gammaln(k + 1) - pt.gammaln(n - k + 1)
        return (choose + pt.betaln(k + a, n - k + b) - pt.betaln(a, b)).sum()

    k, n = np.array([0.0, 3.0, 7.0]), np.array([4.0, 5.0, 7.0])
    x, w, size = RNG.normal(size=(3, 2)), RNG.normal(size=2), np.asarray(3.5)
    p = expit(x @ w)
    wanted = stats.betabinom.logpmf(k, n, p * size, (1 - p) * size).sum()
    np.testing.assert_allclose(call(density, k, n, x, w, size)[0], wanted, rtol=1e-10)
    verify_grad(lambda x, w, size: density(k, n, x, w, size), [x, w, size])
