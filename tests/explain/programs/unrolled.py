"""A recurrent network, its 60 steps written out, with its gradient."""

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt

rng = np.random.default_rng(0)
xs = pt.matrix("xs")
W, U, b = pt.matrix("W"), pt.matrix("U"), pt.vector("b")
h = pt.zeros(4)
total = 0.0
for t in range(60):
    h = pt.tanh(xs[t] @ W + h @ U + b)
    total = total + 1.0 * (h**2).sum()
f = rw.function([xs, W, U, b], [total, *rw.grad(total, [W, U, b])], name="unrolled")
f(rng.normal(size=(60, 3)), rng.normal(size=(3, 4)), rng.normal(size=(4, 4)), np.zeros(4))
