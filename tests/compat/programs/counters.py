"""Updates from inside loops, and noise in them, after PyTensor's tutorial on loops."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor.random.utils import RandomStream

k, n = pytensor.shared(0), pt.iscalar("n")
_, updates = pytensor.scan(lambda: {k: k + 2}, n_steps=n)
count = pytensor.function([n], [], updates=updates, allow_input_downcast=True)
count(5)
count(1)
print(k.get_value())

X, W = pt.matrix("X"), pt.matrix("W")
mask = RandomStream(7).binomial(1, 0.5, size=W[1].shape)
rows, updates = pytensor.scan(lambda v: pt.tanh(pt.dot(v, W)) * mask, sequences=X)
noisy = pytensor.function([X, W], rows, updates=updates)
found = noisy(np.eye(20, 2), np.ones((2, 2)))
print(found.shape, set(np.unique(np.round(found, 4))) <= {0.0, 0.7616})
