"""Two layers and a softmax, in the way of the deep learning tutorials; float32."""

import numpy as np
import theano
import theano.tensor as T
from theano.tensor.nnet import categorical_crossentropy, relu, softmax

theano.config.floatX = "float32"
rng = np.random.default_rng(0)


def layer(n_in, n_out):
    values = rng.normal(size=(n_in, n_out)) / np.sqrt(n_in)
    return theano.shared(values.astype(theano.config.floatX), borrow=True)


X, y = T.matrix("X"), T.ivector("y")
w1, w2 = layer(2, 32), layer(32, 3)
b1 = theano.shared(np.zeros(32, theano.config.floatX))
p = softmax(T.dot(relu(T.dot(X, w1) + b1), w2))
cost = categorical_crossentropy(p, y).mean()
params = [w1, b1, w2]
updates = [(q, q - np.float32(0.5) * g) for q, g in zip(params, T.grad(cost, params))]
step = theano.function([X, y], cost, updates=updates, allow_input_downcast=True)
accuracy = theano.function([X, y], T.mean(T.eq(T.argmax(p, axis=1), y)), allow_input_downcast=True)

points = rng.normal(size=(90, 2)) + 4 * np.repeat(np.eye(3, 2), 30, axis=0)
classes = np.repeat(np.arange(3), 30)
costs = [float(step(points, classes)) for _ in range(200)]
print(
    step.maker.fgraph.outputs[0].dtype, costs[-1] < 0.5 * costs[0], accuracy(points, classes) > 0.9
)
