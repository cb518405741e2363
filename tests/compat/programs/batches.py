"""Functions of one thing applied to many: `vectorize`, `vectorize_graph`, `Blockwise`, after the
examples in PyTensor's own texts.
"""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor.blockwise import Blockwise

softmax = pt.vectorize(lambda x: pt.exp(x) / pt.sum(pt.exp(x)), signature="(a)->(a)")
x = pt.matrix("x")
rows = pytensor.function([x], softmax(x))([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
print(np.round(rows, 4).tolist(), np.allclose(rows.sum(-1), 1))

A, b = pt.matrix("A"), pt.vector("b")
quadratic = pt.dot(b, pt.linalg.solve(A, b))
many_A, many_b = pt.tensor3("many_A"), pt.matrix("many_b")
many = vectorize_graph(quadratic, {A: many_A, b: many_b})
rng = np.random.default_rng(0)
values = rng.normal(size=(4, 3, 3)) + 4 * np.eye(3)
vectors = rng.normal(size=(4, 3))
want = [v @ np.linalg.solve(m, v) for m, v in zip(values, vectors)]
print(np.allclose(pytensor.function([many_A, many_b], many)(values, vectors), want))

node = pt.linalg.cholesky(many_A).owner
print(isinstance(node.op, Blockwise))
slope = pytensor.grad(pt.linalg.det(many_A).sum(), many_A).eval({many_A: values})
print(np.allclose(slope, [np.linalg.det(m) * np.linalg.inv(m).T for m in values]))
