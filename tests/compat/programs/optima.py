"""A minimum and a root inside a graph, and how they change with a parameter."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor.optimize import minimize, minimize_scalar, root

x, a, c = pt.dscalar("x"), pt.dscalar("a"), pt.dscalar("c")
least, success = minimize_scalar((x - a * c) ** 2, x)
f = pytensor.function([x, a, c], [least, success, *pytensor.grad(least, [a, c])])
print([round(float(v), 4) for v in f(0.0, 2.0, 3.0)])

v, k = pt.dvector("v"), pt.dvector("k")
rosen = ((v[1:] - v[:-1] ** 2) ** 2 * 10 + (k[0] - v[:-1]) ** 2).sum()
least, success = minimize(rosen, v, method="BFGS", jac=True)
g = pytensor.function([v, k], [least, success, pytensor.grad(least.sum(), k)])
found, done, slope = g(np.zeros(2), np.ones(1))
print(np.allclose(found, 1, atol=1e-4), bool(done), np.allclose(slope, 3, atol=1e-3))

solution, success = root(x**2 - a, x)
h = pytensor.function([x, a], [solution, pytensor.grad(solution, a)])
print([round(float(v), 6) for v in h(1.0, 4.0)])
