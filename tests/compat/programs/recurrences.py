"""A recurrence over two sequences, one with two taps, a trace and a Jacobian by loops, after
PyTensor's tutorial on loops; other numbers.
"""

import numpy as np
import pytensor
import pytensor.tensor as pt

floatX = pytensor.config.floatX
X, b = pt.vector("X"), pt.vector("b")
W, U, Y, V, P = [pt.matrix(name) for name in "WUYVP"]
states, _ = pytensor.scan(
    lambda y, p, x_tm1: pt.tanh(pt.dot(x_tm1, W) + pt.dot(y, U) + pt.dot(p, V)),
    sequences=[Y, P[::-1]],
    outputs_info=[X],
)
run = pytensor.function([X, W, Y, U, P, V], states)
rng = np.random.default_rng(4)
x, (w, u, v) = np.array([0.0, 1.0]), rng.normal(size=(3, 2, 2))
y, p = rng.normal(size=(2, 5, 2))
want, at = [], x
for i in range(5):
    at = np.tanh(at @ w + y[i] @ u + p[4 - i] @ v)
    want.append(at)
print(np.allclose(run(x, w, y, u, p, v), want))

n, start = pt.iscalar("n"), pt.matrix("start")
two, _ = pytensor.scan(
    lambda before, last: pt.dot(before, U) + pt.tanh(pt.dot(last, W) + b),
    n_steps=n,
    outputs_info=[dict(initial=start, taps=[-2, -1])],
)
rows = [x, 1 - x]
for _ in range(6):
    rows.append(rows[-2] @ u + np.tanh(rows[-1] @ w + 0.5))
found = pytensor.function([start, U, W, b, n], two)(np.array(rows[:2]), u, w, [0.5, 0.5], 6)
print(np.allclose(found, rows[2:]))

M = pt.matrix("M")
sums, _ = pytensor.scan(
    lambda i, j, total: pt.cast(M[i, j] + total, "float32"),
    sequences=[pt.arange(M.shape[0]), pt.arange(M.shape[1])],
    outputs_info=np.asarray(0.0, dtype="float32"),
)
print(pytensor.function([M], sums[-1], allow_input_downcast=True)(np.diag([1.0, 2.0, 4.0])))

a, A = pt.vector("a"), pt.matrix("A")
out = pt.tanh(pt.dot(a, A))
slopes, _ = pytensor.scan(lambda i: pytensor.grad(out[i], a), sequences=[pt.arange(out.shape[0])])
jacobian = pytensor.function([A, a], slopes)
print(np.allclose(jacobian(w, x), ((1 - np.tanh(x @ w) ** 2) * w).T))
