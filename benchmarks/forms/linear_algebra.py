"""Forms of linear algebra as textbooks and programs write them: inverses, determinants, chains.

Sources are named in words: GP (Rasmussen and Williams, Gaussian Processes for Machine Learning),
PRML (Bishop, Pattern Recognition and Machine Learning), PML (Murphy, Probabilistic Machine
Learning), ESL (Hastie, Tibshirani and Friedman, The Elements of Statistical Learning), MC (Golub
and Van Loan, Matrix Computations).

Matrices called K, S, P, V are symmetric and positive definite; those called A, B, C have no
structure; X, U are tall. The program by hand may use what the text of its source knows.
"""

from __future__ import annotations

import numpy as np
from numpy import log, pi
from scipy import linalg as sl
from scipy.special import logsumexp

from benchmarks.forms.form import Form
from benchmarks.forms.hand import (
    cho_inverse,
    diagonal_plus_low_rank,
    half_log_det,
    kron_solve,
    lower_of,
    quadratic,
    quadratic_and_log_det,
    solve_low,
    solve_pd,
)

E = np.e

GAUSSIAN_PROCESSES = [
    Form("data_fit", "GP, the data fit of a likelihood",
         lambda pt, K, y: y @ pt.linalg.inv(K) @ y,
         lambda K, y: quadratic(K, y),
         "spd vector"),
    Form("gp_likelihood", "GP, the log marginal likelihood",
         lambda pt, K, y: -0.5 * y @ pt.linalg.inv(K) @ y - 0.5 * pt.log(pt.linalg.det(K))
         - 0.5 * y.shape[0] * log(2 * pi),
         lambda K, y: (lambda q, d: -0.5 * q - 0.5 * d - 0.5 * len(y) * log(2 * pi))(
             *quadratic_and_log_det(K, y)),
         "spd vector"),
    Form("gp_likelihood_assumed", "GP, the log marginal likelihood of a declared covariance",
         lambda pt, K, y: -0.5 * y.T @ pt.linalg.inv(K) @ y - 0.5 * pt.log(pt.linalg.det(K)),
         lambda K, y: (lambda q, d: -0.5 * q - 0.5 * d)(*quadratic_and_log_det(K, y)),
         "spd vector", assume="K positive_definite"),
    Form("gp_mean", "GP, the predicted mean with noise",
         lambda pt, K, Ks, y, s: Ks.T @ pt.linalg.inv(K + s**2 * pt.eye(K.shape[0])) @ y,
         lambda K, Ks, y, s: Ks.T @ solve_pd(K + s**2 * np.eye(len(K)), y),
         "spd tall vector variance"),
    Form("gp_variance", "GP, the predicted variances",
         lambda pt, K, Ks, Kss: pt.diag(Kss - Ks.T @ pt.linalg.inv(K) @ Ks),
         lambda K, Ks, Kss: np.diag(Kss) - (solve_low(lower_of(K), Ks) ** 2).sum(axis=0),
         "spd tall small_spd"),
    Form("gp_leave_one_out", "GP, the mean of each left out observation",
         lambda pt, K, y: y - pt.linalg.inv(K) @ y / pt.diag(pt.linalg.inv(K)),
         lambda K, y: (lambda inv: y - inv @ y / np.diag(inv))(cho_inverse(K)),
         "spd vector"),
    Form("gp_slope", "GP, the slope of the likelihood in a parameter",
         lambda pt, K, D, y: 0.5 * pt.linalg.trace(
             (pt.outer(pt.linalg.inv(K) @ y, pt.linalg.inv(K) @ y) - pt.linalg.inv(K)) @ D),
         lambda K, D, y: (lambda inv, a: 0.5 * (a @ D @ a - np.vdot(inv, D)))(
             cho_inverse(K), solve_pd(K, y)),
         "spd symmetric vector"),
    Form("kernel_ridge", "ESL, kernel ridge regression in its dual form",
         lambda pt, X, y: X.T @ pt.linalg.inv(X @ X.T + 0.5 * pt.eye(X.shape[0])) @ y,
         lambda X, y: solve_pd(X.T @ X + 0.5 * np.eye(X.shape[1]), X.T @ y),
         "tall vector"),
]  # fmt: skip

NORMALS = [
    Form("normal_density", "PML, the log density of a multivariate normal",
         lambda pt, x, m, S: -0.5 * (x.shape[0] * log(2 * pi) + pt.log(pt.linalg.det(S))
                                     + (x - m).T @ pt.linalg.inv(S) @ (x - m)),
         lambda x, m, S: -0.5 * (len(x) * log(2 * pi) + sum(quadratic_and_log_det(S, x - m))),
         "vector vector spd"),
    Form("normal_density_assumed", "PML, the log density, the covariance declared",
         lambda pt, x, m, S: -0.5 * pt.log(pt.linalg.det(2 * pi * S))
         - 0.5 * pt.dot(pt.dot(x - m, pt.linalg.inv(S)), x - m),
         lambda x, m, S: -0.5 * (len(x) * log(2 * pi) + sum(quadratic_and_log_det(S, x - m))),
         "vector vector spd", assume="S positive_definite"),

    Form("mahalanobis_rows", "ESL, squared Mahalanobis distances of the rows of a table",
         lambda pt, X, m, S: pt.diag((X - m) @ pt.linalg.inv(S) @ (X - m).T),
         lambda X, m, S: (solve_low(lower_of(S), (X - m).T) ** 2).sum(axis=0),
         "wide vector spd"),
    Form("student_density", "PRML, the log density of a multivariate t, without constants",
         lambda pt, x, m, S: -0.5 * pt.log(pt.linalg.det(S)) - 0.5 * (5.0 + x.shape[0])
         * pt.log(1 + (x - m) @ pt.linalg.inv(S) @ (x - m) / 5.0),
         lambda x, m, S: (lambda q, d: -0.5 * d - 0.5 * (5.0 + len(x)) * np.log1p(q / 5.0))(
             *quadratic_and_log_det(S, x - m)),
         "vector vector spd"),
    Form("wishart_density", "PRML, the log density of a Wishart matrix, without constants",
         lambda pt, W, V: 1.5 * pt.log(pt.linalg.det(W)) - 2.5 * pt.log(pt.linalg.det(V))
         - 0.5 * pt.linalg.trace(pt.linalg.inv(V) @ W),
         lambda W, V: 3 * half_log_det(W) - 5 * half_log_det(V)
         - 0.5 * np.vdot(cho_inverse(V), W),
         "spd spd"),
    Form("divergence", "PML, the Kullback-Leibler divergence of two normals",
         lambda pt, m, S, k, V: 0.5 * (
             pt.linalg.trace(pt.linalg.inv(V) @ S) + (k - m) @ pt.linalg.inv(V) @ (k - m)
             - m.shape[0] + pt.log(pt.linalg.det(V) / pt.linalg.det(S))),
         lambda m, S, k, V: (lambda inv: 0.5 * (np.vdot(inv, S) + (k - m) @ inv @ (k - m)
                                                - len(m)) + half_log_det(V) - half_log_det(S))(
             cho_inverse(V)),
         "vector spd vector spd"),
    Form("normal_entropy", "PML, the entropy of a normal distribution",
         lambda pt, S: 0.5 * pt.log(pt.linalg.det(2 * pi * E * S)),
         lambda S: half_log_det(S) + 0.5 * len(S) * log(2 * pi * E),
         "spd"),
    Form("mixture_density", "PRML, a mixture of two normals with a common covariance",
         lambda pt, x, m, k, S: pt.log(
             0.3 * pt.exp(-0.5 * (x - m) @ pt.linalg.inv(S) @ (x - m))
             + 0.7 * pt.exp(-0.5 * (x - k) @ pt.linalg.inv(S) @ (x - k)))
         - 0.5 * pt.log(pt.linalg.det(S)),
         lambda x, m, k, S: (lambda low: logsumexp(
             -0.5 * (solve_low(low, np.stack([x - m, x - k], 1)) ** 2).sum(0), b=[0.3, 0.7])
             - np.log(np.diag(low)).sum())(lower_of(S)),
         "vector vector vector spd"),
    Form("conditional_mean", "PRML, the mean of a part of a normal vector, given the rest",
         lambda pt, m, S, R, x, k: m + S @ pt.linalg.inv(R) @ (x - k),
         lambda m, S, R, x, k: m + S @ solve_pd(R, x - k),
         "short wide spd vector vector"),
    Form("whitened", "PML, a whitened vector",
         lambda pt, S, x: pt.linalg.inv(pt.linalg.cholesky(S)) @ x,
         lambda S, x: solve_low(lower_of(S), x),
         "spd vector"),
    Form("draw_by_precision", "PML, a draw with a given precision matrix",
         lambda pt, P, z: pt.linalg.inv(pt.linalg.cholesky(P)).T @ z,
         lambda P, z: sl.solve_triangular(lower_of(P), z, lower=True, trans=1),
         "spd vector"),
    Form("sample_covariance", "ESL, centred by a matrix, then multiplied",
         lambda pt, X: X.T @ (pt.eye(X.shape[0]) - pt.ones((X.shape[0], X.shape[0])) / X.shape[0])
         @ X / (X.shape[0] - 1),
         lambda X: (lambda d: d.T @ d / (len(X) - 1))(X - X.mean(axis=0)),
         "tall"),
    Form("correlation", "PML, correlations of a covariance matrix",
         lambda pt, S: pt.diag(1 / pt.sqrt(pt.diag(S))) @ S @ pt.diag(1 / pt.sqrt(pt.diag(S))),
         lambda S: (lambda r: r[:, None] * S * r)(1 / np.sqrt(np.diag(S))),
         "spd"),
]  # fmt: skip

REGRESSION = [
    Form("least_squares", "ESL, the normal equations",
         lambda pt, X, y: pt.linalg.inv(X.T @ X) @ X.T @ y,
         lambda X, y: solve_pd(X.T @ X, X.T @ y),
         "tall vector"),
    Form("ridge", "ESL, ridge regression",
         lambda pt, X, y: pt.linalg.inv(X.T @ X + 0.1 * pt.eye(X.shape[1])) @ X.T @ y,
         lambda X, y: solve_pd(X.T @ X + 0.1 * np.eye(X.shape[1]), X.T @ y),
         "tall vector"),
    Form("fitted", "ESL, fitted values by the hat matrix",
         lambda pt, X, y: X @ pt.linalg.inv(X.T @ X) @ X.T @ y,
         lambda X, y: X @ solve_pd(X.T @ X, X.T @ y),
         "tall vector", is_static=True),
    Form("leverages", "ESL, the diagonal of the hat matrix",
         lambda pt, X: pt.diag(X @ pt.linalg.inv(X.T @ X) @ X.T),
         lambda X: (solve_low(lower_of(X.T @ X), X.T) ** 2).sum(axis=0),
         "tall"),
    Form("residual_squares", "ESL, the sum of squared residuals by a projection",
         lambda pt, X, y: y @ (pt.eye(X.shape[0]) - X @ pt.linalg.inv(X.T @ X) @ X.T) @ y,
         lambda X, y: ((y - X @ solve_pd(X.T @ X, X.T @ y)) ** 2).sum(),
         "tall vector"),
    Form("generalised", "PML, generalised least squares",
         lambda pt, X, S, y: pt.linalg.inv(X.T @ pt.linalg.inv(S) @ X) @ X.T @ pt.linalg.inv(S)
         @ y,
         lambda X, S, y: (lambda low: (lambda w, z: solve_pd(w.T @ w, w.T @ z))(
             solve_low(low, X), solve_low(low, y)))(lower_of(S)),
         "tall spd vector"),
    Form("weighted", "PML, weighted least squares",
         lambda pt, X, w, y: pt.linalg.inv(X.T @ pt.diag(w) @ X) @ X.T @ pt.diag(w) @ y,
         lambda X, w, y: (lambda v: solve_pd(v @ X, v @ y))(X.T * w),
         "tall positive vector"),
    Form("posterior_mean", "PRML, Bayesian linear regression: the posterior mean",
         lambda pt, X, y, a: 2.0 * pt.linalg.inv(a * pt.eye(X.shape[1]) + 2.0 * X.T @ X) @ X.T
         @ y,
         lambda X, y, a: solve_pd(a * np.eye(X.shape[1]) + 2.0 * (X.T @ X), 2.0 * (X.T @ y)),
         "tall vector variance"),
    Form("evidence", "PRML, Bayesian linear regression: the log evidence in the space of data",
         lambda pt, X, y: -0.5 * pt.log(pt.linalg.det(0.5 * pt.eye(X.shape[0]) + X @ X.T))
         - 0.5 * y @ pt.linalg.inv(0.5 * pt.eye(X.shape[0]) + X @ X.T) @ y,
         lambda X, y: (lambda q, d: -0.5 * d - 0.5 * q)(
             *diagonal_plus_low_rank(np.full(len(X), 0.5), X, y)),
         "tall vector"),
]  # fmt: skip

FILTERS = [
    Form("kalman_gain", "PML, the gain of a Kalman filter",
         lambda pt, P, H, R: P @ H.T @ pt.linalg.inv(H @ P @ H.T + R),
         lambda P, H, R: (lambda HP: solve_pd(HP @ H.T + R, HP).T)(H @ P),
         "spd wide small_spd"),
    Form("kalman_update", "PML, the corrected covariance of a Kalman filter",
         lambda pt, P, H, R: (pt.eye(P.shape[0]) - P @ H.T @ pt.linalg.inv(H @ P @ H.T + R) @ H)
         @ P,
         lambda P, H, R: (lambda HP: P - HP.T @ solve_pd(HP @ H.T + R, HP))(H @ P),
         "spd wide small_spd"),
    Form("information_update", "PML, the covariance of an information filter",
         lambda pt, p, H, R: pt.linalg.inv(pt.diag(1 / p) + H.T @ pt.linalg.inv(R) @ H),
         lambda p, H, R: (lambda HP: np.diag(p) - HP.T @ solve_pd(HP @ H.T + R, HP))(H * p),
         "positive wide small_spd"),
]  # fmt: skip

STRUCTURE = [
    Form("woodbury", "PML, a diagonal and a low rank: solved",
         lambda pt, d, U, b: pt.linalg.inv(pt.diag(d) + U @ U.T) @ b,
         lambda d, U, b: (lambda V: b / d - V @ solve_pd(
             np.eye(U.shape[1]) + U.T @ V, V.T @ b))(U / d[:, None]),
         "noises tall vector"),
    Form("determinant_lemma", "PML, a diagonal and a low rank: the log determinant",
         lambda pt, d, U: pt.log(pt.linalg.det(pt.diag(d) + U @ U.T)),
         lambda d, U: np.log(d).sum() + 2 * half_log_det(
             np.eye(U.shape[1]) + U.T @ (U / d[:, None])),
         "noises tall"),
    Form("factor_analysis", "PML, the log density of a factor model",
         lambda pt, d, W, x: -0.5 * pt.log(pt.linalg.det(W @ W.T + pt.diag(d)))
         - 0.5 * x @ pt.linalg.inv(W @ W.T + pt.diag(d)) @ x,
         lambda d, W, x: (lambda q, e: -0.5 * e - 0.5 * q)(*diagonal_plus_low_rank(d, W, x)),
         "noises tall vector"),
    Form("rank_one", "MC, an update of rank one, solved by the Sherman-Morrison formula",
         lambda pt, d, u, b: pt.linalg.solve(pt.diag(d) + pt.outer(u, u), b),
         lambda d, u, b: (lambda v: b / d - v * (v @ b / (1 + u @ v)))(u / d),
         "positive vector vector"),
    Form("rank_one_determinant", "MC, the determinant of the identity and an outer product",
         lambda pt, u, v: pt.linalg.det(pt.eye(u.shape[0]) + pt.outer(u, v)),
         lambda u, v: 1 + u @ v,
         "positive positive"),
    Form("kron_solve", "PML, a Gaussian process on a grid: solved",
         lambda pt, A, B, y: pt.linalg.inv(pt.linalg.kron(A, B)) @ y,
         lambda A, B, y: kron_solve(A, B, y),
         "left_factor right_factor vector"),
    Form("kron_likelihood", "PML, a Gaussian process on a grid: the log likelihood",
         lambda pt, A, B, y: -0.5 * pt.log(pt.linalg.det(pt.linalg.kron(A, B)))
         - 0.5 * y @ pt.linalg.inv(pt.linalg.kron(A, B)) @ y,
         lambda A, B, y: -len(B) * half_log_det(A) - len(A) * half_log_det(B)
         - 0.5 * y @ kron_solve(A, B, y),
         "left_factor right_factor vector"),
    Form("kron_product", "MC, a Kronecker product times a vector",
         lambda pt, A, B, y: pt.linalg.kron(A, B) @ y,
         lambda A, B, y: (A @ y.reshape(len(A), len(B)) @ B.T).ravel(),
         "left_factor right_factor vector"),
    Form("block_solve", "MC, independent blocks, solved together",
         lambda pt, A, B, y: pt.linalg.solve(pt.linalg.block_diag(A, B), y),
         lambda A, B, y: np.concatenate([np.linalg.solve(A, y[: len(A)]),
                                         solve_pd(B, y[len(A):])]),
         "half half_spd vector"),
    Form("block_determinant", "MC, the log determinant of a block triangular matrix",
         lambda pt, A, C, B: pt.log(pt.abs(pt.linalg.det(pt.concatenate(
             [pt.concatenate([A, pt.zeros((A.shape[0], B.shape[0]))], axis=1),
              pt.concatenate([C, B], axis=1)], axis=0)))),
         lambda A, C, B: np.linalg.slogdet(A)[1] + np.linalg.slogdet(B)[1],
         "half half half"),
    Form("inverse_of_diagonal", "programs: the inverse of a diagonal matrix times a vector",
         lambda pt, d, b: pt.linalg.inv(pt.diag(d)) @ b,
         lambda d, b: b / d,
         "positive vector"),
    Form("scaled_rows", "programs: a diagonal matrix times a matrix",
         lambda pt, d, A: pt.diag(d) @ A,
         lambda d, A: d[:, None] * A,
         "positive square"),
    Form("permuted_rows", "MC, a permutation matrix times a matrix",
         lambda pt, p, A: pt.eye(A.shape[0])[p] @ A,
         lambda p, A: A[p],
         "permutation square"),
]  # fmt: skip

PRODUCTS = [
    Form("chain", "MC, a product of matrices times a vector, from the left",
         lambda pt, A, B, x: A @ B @ x,
         lambda A, B, x: A @ (B @ x),
         "square square vector"),
    Form("bilinear_chain", "programs: a vector, two matrices, a vector",
         lambda pt, x, A, B, y: pt.dot(x, pt.dot(pt.dot(A, B), y)),
         lambda x, A, B, y: (x @ A) @ (B @ y),
         "vector square square vector", is_static=True),
    Form("outer_product", "programs: an outer product times a vector",
         lambda pt, u, v, w: pt.outer(u, v) @ w,
         lambda u, v, w: u * (v @ w),
         "vector vector vector"),
    Form("trace_of_product", "MC, the trace of a product of three matrices",
         lambda pt, A, B, C: pt.linalg.trace(A @ B @ C),
         lambda A, B, C: np.vdot((A @ B).T, C),
         "square square square", is_static=True),
    Form("frobenius", "MC, the Frobenius norm by a trace",
         lambda pt, A, B: pt.sqrt(pt.linalg.trace((A - B).T @ (A - B))),
         lambda A, B: np.linalg.norm(A - B),
         "square square"),
    Form("quadratic_einsum", "programs: a quadratic form by einsum",
         lambda pt, x, A, y: pt.einsum("i,ij,j->", x, A, y),
         lambda x, A, y: x @ (A @ y),
         "vector square vector"),
    Form("inverse_of_product", "MC, the inverse of a product of matrices times a vector",
         lambda pt, A, B, b: pt.linalg.inv(A @ B) @ b,
         lambda A, B, b: np.linalg.solve(B, np.linalg.solve(A, b)),
         "general general vector"),
    Form("transposed_inverse", "MC, the transposed inverse times a vector",
         lambda pt, A, b: pt.linalg.inv(A).T @ b,
         lambda A, b: np.linalg.solve(A.T, b),
         "general vector"),
]  # fmt: skip

FACTORS = [
    Form("log_det_of_factor", "programs: the log determinant by the product of a diagonal",
         lambda pt, S: 2 * pt.log(pt.prod(pt.diag(pt.linalg.cholesky(S)))),
         lambda S: 2 * half_log_det(S),
         "spd"),
    Form("log_det_of_square", "PML, the log determinant of L times its transpose",
         lambda pt, L: pt.log(pt.linalg.det(pt.tril(L) @ pt.tril(L).T)),
         lambda L: 2 * np.log(np.abs(np.diag(L))).sum(),
         "lower"),
    Form("solve_by_factor", "programs: two general solves with a Cholesky factor",
         lambda pt, S, b: pt.linalg.solve(
             pt.linalg.cholesky(S).T, pt.linalg.solve(pt.linalg.cholesky(S), b)),
         lambda S, b: solve_pd(S, b),
         "spd vector"),
    Form("log_abs_det", "PML, the log determinant of the Jacobian of a flow",
         lambda pt, A: pt.log(pt.abs(pt.linalg.det(A))),
         lambda A: np.linalg.slogdet(A)[1],
         "general"),
    Form("log_det_of_inverse", "PML, the log determinant of an inverse",
         lambda pt, A: pt.log(pt.linalg.det(pt.linalg.inv(A @ A.T))),
         lambda A: -2 * np.linalg.slogdet(A)[1],
         "general"),
    Form("shared_solves", "programs: two solves and a determinant of one matrix",
         lambda pt, A, b, c: (pt.linalg.solve(A, b), pt.linalg.solve(A, c),
                              pt.log(pt.abs(pt.linalg.det(A)))),
         lambda A, b, c: (lambda lu: (sl.lu_solve(lu, b, check_finite=False),
                                      sl.lu_solve(lu, c, check_finite=False),
                                      np.log(np.abs(np.diag(lu[0]))).sum()))(
             sl.lu_factor(A, check_finite=False)),
         "general vector vector"),
]  # fmt: skip

FORMS = [*GAUSSIAN_PROCESSES, *NORMALS, *REGRESSION, *FILTERS, *STRUCTURE, *PRODUCTS, *FACTORS]
