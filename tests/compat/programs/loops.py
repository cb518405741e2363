"""Powers, polynomials and a loop that ends early, in the way of Theano's tutorial on scan."""

import numpy as np
import theano
import theano.tensor as T
from theano.scan_module import until

k, A = T.iscalar("k"), T.vector("A")
result, updates = theano.scan(
    fn=lambda prior, A: prior * A, outputs_info=T.ones_like(A), non_sequences=A, n_steps=k
)
power = theano.function(inputs=[A, k], outputs=result[-1], updates=updates)
print(power(range(5), 3))

coefficients, x = T.vector("coefficients"), T.scalar("x")
parts, _ = theano.map(
    lambda c, i, free: c * free**i, sequences=[coefficients, T.arange(1000)], non_sequences=x
)
print(theano.function([coefficients, x], parts.sum())(np.array([1.0, 0.0, 2.0]), 3.0))

top = T.scalar("top")
values, _ = theano.scan(
    lambda p, m: (p * 2, until(p * 2 > m)), outputs_info=T.constant(1.0), non_sequences=top,
    n_steps=1024,
)  # fmt: skip
print(theano.function([top], values)(45.0))

X, W, b = T.matrix("X"), T.matrix("W"), T.vector("b")
rows, _ = theano.scan(lambda v: T.tanh(T.dot(v, W) + b), sequences=X)
f = theano.function([X, W, b], [rows, T.grad(rows.sum(), W)])
out, slope = f(np.eye(2), np.zeros((2, 2)), np.zeros(2))
print(out.shape, slope.tolist())
