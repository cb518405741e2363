"""Factors of matrices, and what is solved by them, as the documentation of PyTensor shows them."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor.linalg import lu, lu_factor, lu_solve, qr, solve_triangular, svd

a = pt.dmatrix("a")
b = pt.dvector("b")
p, low, up = lu(a)
factors = lu_factor(a)
x = lu_solve(factors, b)
q, r = qr(a, mode="economic")
u, s, vh = svd(a, full_matrices=False)
f = pytensor.function([a, b], [p @ low @ up, x, q @ r, (u * s) @ vh, solve_triangular(r, q.T @ b)])

m = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
v = np.array([1.0, 2.0, 3.0])
found = f(m, v)
print([bool(np.allclose(found[i], m)) for i in (0, 2, 3)])
print(np.allclose(found[1], np.linalg.solve(m, v)), np.allclose(found[4], found[1]))

w, vectors = pt.linalg.eigh(a)
slope = pytensor.grad(pt.log(w).sum(), a)
g = pytensor.function([a], [slope, pt.linalg.inv(a)])
ours, inverse = g(m)
print(np.allclose(ours + ours.T, inverse + inverse.T))
