"""Products of tensors in all the ways that there are."""

import numpy as np
import pytensor
import pytensor.tensor as pt

a, b = pt.dtensor3("a"), pt.dmatrix("b")
outputs = [
    pt.tensordot(a, b, axes=[[2], [0]]),
    pt.einsum("ijk,kl->il", a, b),
    a @ b,
    pt.linalg.kron(b, b),
    pt.outer(b[0], b[1]),
    pt.batched_dot(a, a.transpose((0, 2, 1))),
]
f = pytensor.function([a, b], outputs)
rng = np.random.default_rng(0)
x, y = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 4))
wanted = [
    np.tensordot(x, y, axes=[[2], [0]]),
    np.einsum("ijk,kl->il", x, y),
    x @ y,
    np.kron(y, y),
    np.outer(y[0], y[1]),
    x @ x.transpose((0, 2, 1)),
]
print([bool(np.allclose(u, v)) for u, v in zip(f(x, y), wanted)])
cost = pt.einsum("ijk,kl->", a, b)
print(np.allclose(pytensor.function([a, b], pytensor.grad(cost, b))(x, y)[:, 0], x.sum((0, 1))))
