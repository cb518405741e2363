"""Logistic regression on a sparse design, in the way of PyTensor's documentation of sparse."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import scipy.sparse as sp
from pytensor import sparse
from pytensor.sparse.basic import CSMProperties, as_sparse_variable, csm_properties
from pytensor.sparse.math import structured_dot

rng = np.random.default_rng(0)
X = sp.random(200, 30, density=0.1, format="csr", random_state=rng)
true = rng.normal(size=30)
y = (rng.random(200) < 1 / (1 + np.exp(-X @ true * 3))).astype("float64")

x = sparse.csr_matrix(name="x", dtype="float64")
target = pt.vector("target")
w = pytensor.shared(np.zeros((30, 1)), name="w")
b = pytensor.shared(0.0, name="b")
p = pt.sigmoid(structured_dot(x, w)[:, 0] + b)
cost = (
    pt.nnet.binary_crossentropy(p, target).mean()
    if hasattr(pt, "nnet")
    else -(target * pt.log(p) + (1 - target) * pt.log(1 - p)).mean()
)
gw, gb = pytensor.grad(cost, [w, b])
train = pytensor.function([x, target], cost, updates=[(w, w - 5 * gw), (b, b - 5 * gb)])
costs = [float(train(X, y)) for _ in range(50)]
print(round(costs[0], 4), costs[-1] < 0.6)

s = as_sparse_variable(sp.csc_matrix(np.array([[0.0, 1.0], [2.0, 3.0]])))
data, indices, indptr, shape = csm_properties(s)
print(
    s.format,
    isinstance(data.owner.op, CSMProperties),
    indices.eval().tolist(),
    shape.eval().tolist(),
)
z = sparse.CSR(pt.exp(data), indices, indptr, shape)
print(sparse.dense_from_sparse(z).eval().round(3).tolist())
print(isinstance(s.type, sparse.SparseTensorType), sparse.sp_sum(s, axis=0).eval().tolist())
shared = pytensor.shared(sp.csr_matrix(np.eye(2)), name="S")
f = pytensor.function([], sparse.add(shared * 2, shared))
print(type(f()).__name__, f().toarray().tolist(), type(shared).__name__)
print(
    sparse.hstack([s, s]).format, sparse.transpose(s).format, (s * 2 + s).toarray().eval().tolist()
)
