"""Four layers, trained with momentum: 16 states."""

from itertools import pairwise

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt

rng = np.random.default_rng(0)
SIZES = (8, 16, 16, 8, 3)
X, Y = pt.matrix("X"), pt.ivector("Y")
weights, offsets, h = [], [], X
for k, (n, m) in enumerate(pairwise(SIZES)):
    W = rw.shared(rng.normal(0, 0.3, (n, m)), name=f"W{k}")
    b = rw.shared(np.zeros(m), name=f"b{k}")
    weights.append(W)
    offsets.append(b)
    z = h @ W + b
    h = pt.tanh(z) if k < 3 else z
p = pt.special.softmax(h, axis=1)
loss = -pt.log(p)[pt.arange(Y.shape[0]), Y].mean()
loss = loss + 1e-3 * sum((W**2).sum() for W in weights)
parameters = [*weights, *offsets]
updates = []
for w, g in zip(parameters, rw.grad(loss, parameters), strict=True):
    v = rw.shared(np.zeros_like(w.get_value()), name=f"v_{w.name}")
    new = 0.9 * v - 0.1 * g
    updates += [(v, new), (w, w + new)]
train = rw.function([X, Y], loss, updates=updates, name="train")
train(rng.normal(size=(32, 8)), rng.integers(0, 3, 32).astype("int32"))
