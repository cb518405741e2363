"""Accuracy of the log density of a PyMC model and of its gradient, as a line of JSON."""

import json
import sys

import numpy as np
import pymc as pm

import rewrite_engine as rw

DATA = np.array([1e6 + 0.25, 1e6 + 1.5, 1e6 - 0.75])

with pm.Model() as model:
    mu = pm.Normal("mu", 1e6, 10.0)
    pm.Normal("y", mu, 2.0, observed=DATA)

f = model.compile_fn([model.logp(), model.dlogp()])
point = {"mu": np.array(1e6 + 0.125)}
report = rw.accuracy(f, point)
line = report.as_dict() | {"results": [np.asarray(x).tolist() for x in f(point)]}
sys.stdout.write(json.dumps(line) + "\n")
