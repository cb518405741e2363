"""Models of PyMC that are named, copied, observed and made of powers."""

import json

import numpy as np
import pymc as pm
from pymc.sampling.mcmc import assign_step_methods

powers = [pm.logp(pm.Normal.dist() ** n, 0.4).eval() for n in (2, 3)]
powers.append(pm.logp(1 / pm.Normal.dist(), 0.4).eval())

with pm.Model(name="sub") as model:
    x = pm.Normal("a b")
    pm.Normal("y", x, observed=np.ones(5))
start = model.initial_point()

with pm.Model() as plain:
    pm.Normal("z", pm.Normal("x"))

with pm.Model():
    product = pm.HalfNormal("eta") ** 2 * pm.gp.cov.ExpQuad(1, 0.5)

with pm.Model() as mixed:
    pm.Categorical("c", [0.2, 0.3, 0.5], shape=4)
    pm.Bernoulli("b", 0.3, shape=3)
    pm.Normal("x", pm.Poisson("n", 3.0, shape=2))
    pm.GaussianRandomWalk("g", init_dist=pm.Normal.dist(), steps=3)
steps = assign_step_methods(mixed)[1]

found = {
    "steps": {step.__name__: [x.name for x in of] for step, of in steps.items()},
    "powers": [float(p) for p in powers],
    "named": float(model.compile_logp()(start)),
    "copied": float(model.copy().compile_logp()(start)),
    "observed": float(pm.observe(plain, {"z": 1.0}).compile_logp()({"x": 0.0})),
    "product": type(product).__name__,
}
print(json.dumps(found))
