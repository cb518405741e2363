"""A Kalman filter's likelihood as a loop over matrices, and its gradient; what users of PyTensor
write for time series.
"""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor.slinalg import cholesky, solve_triangular

ys, level, noise = pt.dvector("ys"), pt.dscalar("level"), pt.dscalar("noise")
T = pt.as_tensor_variable(np.array([[1.0, 1.0], [0.0, 1.0]]))
Z = pt.as_tensor_variable(np.array([[1.0, 0.0]]))


def step(y, mean, cov):
    mean, cov = T @ mean, T @ cov @ T.T + level * pt.eye(2)
    F = Z @ cov @ Z.T + noise * pt.eye(1)
    L = cholesky(F)
    error = pt.atleast_1d(y) - Z @ mean
    z = solve_triangular(L, error, lower=True)
    gain = pt.linalg.solve(F, Z @ cov).T
    ll = -0.5 * (z @ z + pt.log(2 * np.pi)) - pt.log(pt.diag(L)).sum()
    return mean + gain @ error, cov - gain @ Z @ cov, ll


(_, _, lls), _ = pytensor.scan(step, sequences=[ys], outputs_info=[pt.zeros(2), pt.eye(2), None])
total = lls.sum()
f = pytensor.function([ys, level, noise], [total, *pytensor.grad(total, [level, noise])])
data = np.array([0.2, 1.1, 1.9, 3.2, 3.9, 5.3])

H, at = np.eye(6), np.array([[1.0, k + 1.0] for k in range(6)])
covariance = at @ at.T + 0.5 * H
for s in range(6):  # what each step's noise does to all later observations
    later = np.array([[1.0, k - s] if k >= s else [0.0, 0.0] for k in range(6)])
    covariance = covariance + 0.1 * later @ later.T
want = -0.5 * data @ np.linalg.solve(covariance, data)
want -= 0.5 * np.linalg.slogdet(covariance)[1] + 3 * np.log(2 * np.pi)
value, *slopes = f(data, 0.1, 0.5)
near = [
    (f(data, 0.1 + a, 0.5 + c)[0] - f(data, 0.1 - a, 0.5 - c)[0]) / 2e-6
    for a, c in ((1e-6, 0), (0, 1e-6))
]
print(np.allclose(value, want), np.allclose(slopes, near, rtol=1e-5))
