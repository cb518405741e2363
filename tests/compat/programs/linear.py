"""Least squares and a Gaussian density, in the way of Aesara's documentation."""

import sys

import aesara
import aesara.tensor as at
import numpy as np
from aesara.tensor import nlinalg, slinalg

A, b = at.dmatrix("A"), at.dvector("b")
solution = slinalg.solve(at.dot(A.T, A), at.dot(A.T, b))
fit = aesara.function([A, b], solution)
x = np.linspace(0, 1, 20)
print(np.round(fit(np.stack([np.ones(20), x], axis=1), 1 + 2 * x), 6))

S, v = at.dmatrix("S"), at.dvector("v")
L = slinalg.cholesky(S)
quad = at.sum(slinalg.solve_triangular(L, v, lower=True) ** 2)
logp = -0.5 * (quad + at.log(2 * np.pi) * v.shape[0]) - at.sum(at.log(nlinalg.diag(L)))
cov = np.array([[2.0, 0.5], [0.5, 1.0]])
print(np.round(aesara.function([S, v], logp)(cov, [0.3, -0.2]), 6))
print(np.round(aesara.function([S, v], aesara.grad(logp, S))(cov, [0.3, -0.2]), 6).shape)
print(sys.argv[1:])
