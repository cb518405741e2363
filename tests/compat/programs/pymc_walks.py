"""Models of PyMC whose densities ask for the shape of a draw."""

import json

import numpy as np
import pymc as pm

at = np.array([0.3, -0.2, 0.5, 1.1])


def density(model: pm.Model, **values: object) -> float:
    """The log density, at the start where nothing else is said."""
    return float(model.compile_logp()({**model.initial_point(), **values}))


with pm.Model() as walk:
    first = pm.Normal.dist(0.0, 2.0)
    pm.GaussianRandomWalk("x", mu=0.1, sigma=0.5, init_dist=first, shape=4)

with pm.Model() as walk_of_vectors:
    first = pm.MvNormal.dist(np.zeros(2), np.eye(2))
    pm.MvGaussianRandomWalk("x", np.ones(2), chol=np.eye(2), init_dist=first, shape=(2, 2))

with pm.Model() as regression:
    rho = pm.Normal("rho", shape=2)
    pm.AR("y", rho, sigma=0.5, init_dist=pm.Normal.dist(0.0, 2.0, shape=2), observed=at)

with pm.Model() as mixture:
    means = pm.Normal("means", shape=2)
    pm.Mixture("y", w=[0.3, 0.7], comp_dists=pm.Normal.dist(means, 1.0), observed=at)

found = {
    "walk": density(walk, x=at),
    "walk of vectors": density(walk_of_vectors, x=at.reshape(2, 2)),
    "regression": density(regression, rho=np.array([0.4, -0.3])),
    "mixture": density(mixture, means=np.array([0.5, -1.0])),
}
print(json.dumps(found))
