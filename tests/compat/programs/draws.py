"""Streams, states and an own distribution, in the way of the other library's tutorial."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor.random.basic import normal
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.random.utils import RandomStream

srng = RandomStream(seed=234)
u = srng.uniform(0, 1, size=(2, 2))
n = srng.normal(0, 1, size=(2, 2))
f = pytensor.function([], u)
g = pytensor.function([], n, no_default_updates=True)
nearly_zeros = pytensor.function([], u + u - 2 * u)
print((f() != f()).all(), (g() == g()).all(), nearly_zeros().tolist())

state = u.owner.inputs[0].get_value()
first = f()
u.owner.inputs[0].set_value(state)
print((f() == first).all(), (f() == first).any())

other = RandomStream(seed=987)
v = other.uniform(0, 1, size=(2, 2))
h = pytensor.function([], v)
for (to, _), (since, _) in zip(other.state_updates, srng.state_updates):
    to.set_value(since.get_value())
print((f() == h()).all())


class Clipped(RandomVariable):
    name = "clipped"
    ndim_supp = 0
    ndims_params = [0, 0]
    dtype = "floatX"

    @classmethod
    def rng_fn(cls, rng, low, high, size):
        return np.clip(rng.normal(size=size), low, high)


clipped = Clipped()
rng = pytensor.shared(np.random.default_rng(123), name="rng")
next_rng, x = clipped(-0.5, 0.5, size=(1000,), rng=rng).owner.outputs
y = normal(pt.mean(x), 0.0, rng=next_rng)
draw = pytensor.function([], [x, y], updates={rng: next_rng})
values, mean = draw()
print(values.min(), values.max(), abs(mean - values.mean()) < 1e-12, draw()[1] == mean)
