"""The density of a multivariate normal, maximised, and draws from it."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor.random.utils import RandomStream

x, mu = pt.dmatrix("x"), pt.dvector("mu")
cov = pt.dmatrix("cov")
chol = pt.linalg.cholesky(cov)
z = pt.linalg.solve_triangular(chol, (x - mu).T, lower=True)
logp = -0.5 * (z**2).sum(axis=0) - pt.log(pt.diagonal(chol)).sum() - np.log(2 * np.pi)
total = logp.sum()
f = pytensor.function([x, mu, cov], [total, *pytensor.grad(total, [mu, cov])])

srng = RandomStream(seed=234)
true = np.array([[2.0, 0.5], [0.5, 1.0]])
draw = pytensor.function([], srng.multivariate_normal(np.zeros(2), true, size=(4000,)))
data = draw()
print(data.shape, np.allclose(np.cov(data.T), true, atol=0.15))
best, spread = data.mean(axis=0), np.cov(data.T, bias=True)
value, slope, of_cov = f(data, best, spread)
print(np.allclose(slope, 0, atol=1e-8), np.allclose(of_cov + of_cov.T, 0, atol=1e-6))
print(value > f(data, best + 0.1, spread)[0])
