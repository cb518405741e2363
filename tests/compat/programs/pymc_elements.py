"""Densities of elements of variables of PyMC, and data with missing values."""

import json

import numpy as np
import pymc as pm
import pytensor.tensor as pt


def at(x: pt.TensorVariable, value: object) -> list[float]:
    """The log density of a variable at a value."""
    return np.ravel(pm.logp(x, np.asarray(value, "float64")).eval()).tolist()


def numbers() -> pt.TensorVariable:
    return pm.Normal.dist(np.arange(3.0), 2.0)


vectors = pm.MvNormal.dist(np.zeros((4, 2)), np.array([[2.0, 0.5], [0.5, 1.0]]))
found = {
    "item": at(numbers()[1], 0.3),
    "sized": at(pm.Normal.dist(0.0, 2.0, shape=4)[-1], 0.3),
    "slice": at(numbers()[1:], [0.3, 0.4]),
    "mask": at(numbers()[np.array([True, False, True])], [0.3, 0.4]),
    "row": at(vectors[1], [0.3, 0.4]),
    "turned": at(pm.Normal.dist(np.arange(3.0), 2.0, shape=(2, 3)).T, [[0, 1], [1, 2], [2, 3]]),
}

data = np.array([[0.3, np.nan], [-0.2, 1.1]])
with pm.Model() as model:
    mu = pm.Normal("mu", shape=2)
    pm.Normal("y", mu, 2.0, observed=data)
    pm.MvNormal("z", mu, np.eye(2), observed=np.where(data == -0.2, np.nan, data))
point = {"mu": np.array([0.1, 0.2]), "y_unobserved": [0.5], "z_unobserved": [0.6, -0.7]}
found["missing"] = float(model.compile_logp()(point))
found["slopes"] = model.compile_dlogp()(point).tolist()
with model:
    drawn = pm.sample_prior_predictive(3, random_seed=1).prior
found["drawn"] = {name: drawn[name].shape[2:] for name in sorted(drawn)}
print(json.dumps(found))
