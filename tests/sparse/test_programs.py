"""Whole programs: a regression on a design that is too large to be dense, and the density of a
conditional autoregression, whose precision is a graph Laplacian.
"""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
from scipy import sparse as ss
from scipy import stats

import rewrite_engine as rw
import rewrite_engine.sparse as sparse
import rewrite_engine.tensor as pt

ROWS, COLUMNS = 100_000, 1_000


def design() -> Any:
    """A design with 1 % of its elements."""
    rng = np.random.default_rng(0)
    k = ROWS * COLUMNS // 100
    places = rng.integers(0, ROWS, k), rng.integers(0, COLUMNS, k)
    found = ss.csr_array((rng.normal(size=k), places), shape=(ROWS, COLUMNS))
    found.sum_duplicates()
    return found


def test_a_regression_is_never_dense() -> None:
    X = design()
    rng = np.random.default_rng(1)
    true = rng.normal(size=COLUMNS)
    y = X @ true + rng.normal(size=ROWS)
    x, target, b, tau = sparse.csr_matrix("x"), pt.vector("y"), pt.vector("b"), pt.scalar("tau")
    logp = -0.5 * tau * pt.sqr(target - x @ b).sum() + 0.5 * ROWS * pt.log(tau) - b @ b / 2
    slopes = rw.grad(logp, [b, tau, x])
    f = rw.function([x, target, b, tau], [logp, *slopes])
    at = (X, y, true + 0.1, 0.5)
    f(*at)  # (what is loaded and compiled is not counted)
    tracemalloc.start()
    value, gb, gtau, gx = f(*at)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    assert peak < 4 * stored < 0.1 * 8 * ROWS * COLUMNS
    off = y - X @ at[2]
    np.testing.assert_allclose(value, -0.25 * off @ off + 5e4 * np.log(0.5) - at[2] @ at[2] / 2)
    np.testing.assert_allclose(gb, 0.5 * (X.T @ off) - at[2], rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(gtau, -0.5 * off @ off + 0.5 * ROWS / 0.5)
    assert gx.nnz == X.nnz
    some = np.random.default_rng(2).integers(0, X.nnz, 50)
    rows, columns = X.tocoo().coords
    np.testing.assert_allclose(gx.data[some], 0.5 * off[rows[some]] * at[2][columns[some]])


def test_a_logistic_regression_is_fitted() -> None:
    rng = np.random.default_rng(3)
    X = ss.random_array((2000, 50), density=0.1, format="csc", rng=rng)
    true = rng.normal(size=50)
    labels = (rng.random(2000) < 1 / (1 + np.exp(-4 * (X @ true)))).astype(float)
    w = rw.shared(np.zeros(50), name="w")
    x = sparse.constant(X)
    loss = (pt.softplus(4 * (x @ w)) - labels * 4 * (x @ w)).mean() + 1e-4 * (w @ w)
    step = rw.function([], loss, updates={w: w - 2 * rw.grad(loss, w)})
    losses = [float(step()) for _ in range(100)]
    np.testing.assert_allclose(losses[0], np.log(2))
    assert losses[-1] < 0.55
    assert np.corrcoef(w.get_value(), true)[0, 1] > 0.9
    products = [n for n in step.nodes if "structured_dot" in str(n.op)]
    assert len(products) == 2  # one there, one back


def grid(n: int) -> Any:
    """The adjacency of a grid."""
    line = ss.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    eye = ss.eye_array(n)
    return ss.csr_array(ss.kron(line, eye) + ss.kron(eye, line))


def test_the_density_of_a_graph_and_its_gradient() -> None:
    """log N(phi; 0, (tau (D - alpha W))^-1), of a sparse precision."""
    W = grid(6)
    n = W.shape[0]
    phi, tau, alpha = pt.vector("phi"), pt.scalar("tau"), pt.scalar("alpha")
    adjacency = sparse.constant(W)
    laplacian = sparse.square_diagonal(adjacency.sum(axis=1), "csr") - alpha * adjacency
    precision = tau * laplacian
    logp = 0.5 * (
        sparse.slogdet(precision).logabsdet - phi @ (precision @ phi) - n * np.log(2 * np.pi)
    )
    inputs = [phi, tau, alpha]
    f = rw.function(inputs, [logp, *rw.grad(logp, inputs)])
    assert not [node for node in f.nodes if "dense" in str(node.op)]
    at = np.random.default_rng(4).normal(size=n), 1.7, 0.8
    D, dense = np.diag(W.toarray().sum(1)), W.toarray()

    def density(phi: Any, tau: Any, alpha: Any) -> Any:
        covariance = np.linalg.inv(tau * (D - alpha * dense))
        return stats.multivariate_normal.logpdf(phi, np.zeros(n), covariance)

    value, gphi, gtau, galpha = f(*at)
    np.testing.assert_allclose(value, density(*at))
    Q = at[1] * (D - at[2] * dense)
    np.testing.assert_allclose(gphi, -Q @ at[0])
    trace = np.trace(np.linalg.inv(Q) @ (-at[1] * dense))
    np.testing.assert_allclose(galpha, 0.5 * (trace + at[1] * at[0] @ dense @ at[0]))
    np.testing.assert_allclose(gtau, 0.5 * n / at[1] - 0.5 * at[0] @ (D - at[2] * dense) @ at[0])


def test_a_graph_is_smoothed() -> None:
    """The minimum of a quadratic form, and how it changes with a parameter, by sparse solving."""
    W = grid(5)
    lam, y = pt.scalar("lam"), pt.vector("y")
    adjacency = sparse.constant(W)
    laplacian = sparse.square_diagonal(adjacency.sum(axis=1), "csr") - adjacency
    smooth = sparse.spsolve(sparse.eye(25) + lam * laplacian, y)
    cost = pt.sqr(smooth - y).sum()
    f = rw.function([lam, y], [smooth, cost, rw.grad(cost, lam)])
    given = np.random.default_rng(5).normal(size=25)
    L = np.diag(W.toarray().sum(1)) - W.toarray()

    def costs(lam: float) -> Any:
        return ((np.linalg.solve(np.eye(25) + lam * L, given) - given) ** 2).sum()

    found, value, slope = f(0.7, given)
    np.testing.assert_allclose(found, np.linalg.solve(np.eye(25) + 0.7 * L, given))
    np.testing.assert_allclose(value, costs(0.7))
    np.testing.assert_allclose(slope, (costs(0.7 + 1e-6) - costs(0.7 - 1e-6)) / 2e-6, rtol=1e-6)
