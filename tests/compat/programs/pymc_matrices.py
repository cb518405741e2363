"""Models of PyMC with covariances: LKJ's, and those of neighbours."""

import json

import numpy as np
import pymc as pm

found = {}
with pm.Model() as correlations:
    pm.LKJCorr("c", n=3, eta=2.0)
found["at the unit matrix"] = float(correlations.compile_logp()(correlations.initial_point()))

with pm.Model() as covariances:
    sizes = pm.Exponential.dist(1.0)
    factor, _, _ = pm.LKJCholeskyCov("c", n=2, eta=2.0, sd_dist=sizes)
    seen = np.array([[0.3, -0.2], [0.5, 1.1], [-0.7, 0.2]])
    pm.MvNormal("y", 0.0, chol=factor, observed=seen)
(name,) = covariances.initial_point()
f, slope = covariances.compile_logp(), covariances.compile_dlogp()
at, step = np.array([0.2, -0.3, 0.4]), 1e-6
moved = [(at + step * e, at - step * e) for e in np.eye(3)]
found["slopes"] = slope({name: at}).tolist()
found["differences"] = [float(f({name: a}) - f({name: b})) / (2 * step) for a, b in moved]

near = np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.0, 1.0], [0, 0, 1, 0]])
with pm.Model() as neighbours:
    pm.CAR("x", mu=np.array([0.5, 0.0, 0.0, 1.0]), W=near, alpha=0.5, tau=2.0)
points = np.array([[0.1, 0.2, 0.3, 0.4], [-1.0, 0.5, 0.0, 2.0]])
found["neighbours"] = [float(neighbours.compile_logp()({"x": x})) for x in points]

for n in (2, 3):
    drawn = pm.draw(pm.LKJCorr.dist(n=n, eta=2.0), 500, random_seed=1)
    products = drawn @ drawn.swapaxes(-1, -2)
    found[f"of {n}"] = [products[:, i, i].tolist() for i in range(n)]
    found[f"variance of {n}"] = float(products[:, 0, n - 1].var())
print(json.dumps(found))
