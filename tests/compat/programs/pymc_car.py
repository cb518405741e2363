"""A conditional autoregression of PyMC on a sparse graph: log density, slope, draws."""

import json

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from scipy import sparse

n = 6
edges = [(i, i + 1) for i in range(n - 1)] + [(0, 3), (2, 5)]
W = np.zeros((n, n))
for i, j in edges:
    W[i, j] = W[j, i] = 1.0
told = {"W": W.tolist(), "mu": list(np.linspace(-1, 1, n)), "at": list(np.cos(np.arange(n)))}
x = pt.vector("x")
for name, given in (("sparse", sparse.csr_matrix(W)), ("array", sparse.csr_array(W)), ("dense", W)):
    car = pm.CAR.dist(mu=np.array(told["mu"]), W=given, alpha=0.4, tau=2.0)
    logp = pm.logp(car, x)
    f = pytensor.function([x], [logp, pytensor.grad(logp.sum(), x)])
    value, slope = f(told["at"])
    told[name] = {"logp": np.asarray(value).tolist(), "slope": slope.tolist()}
rng = np.random.default_rng(3)
car = pm.CAR.dist(mu=np.zeros(n), W=sparse.csr_matrix(W), alpha=0.4, tau=2.0, size=(4000,))
told["cov"] = np.cov(pm.draw(car, random_seed=5).T).tolist()
with pm.Model() as model:
    tau = pm.HalfNormal("tau")
    phi = pm.CAR("phi", mu=np.zeros(n), W=sparse.csr_matrix(W), alpha=0.4, tau=tau)
    point = model.initial_point()
    told["model"] = float(model.compile_logp()(point))
    told["dlogp"] = np.asarray(model.compile_dlogp()(point)).tolist()
print(json.dumps(told))
