"""Logistic regression by hand, as Theano's tutorial builds it; other data and numbers."""

import numpy
import theano
import theano.tensor as T

rng = numpy.random.RandomState(3)
N, feats, steps = 40, 6, 300
data = rng.randn(N, feats)
labels = (data @ rng.randn(feats) > 0).astype("int64")

x = T.dmatrix("x")
y = T.lvector("y")
w = theano.shared(numpy.zeros(feats), name="w")
b = theano.shared(0.0, name="b")

p_1 = 1 / (1 + T.exp(-T.dot(x, w) - b))
prediction = p_1 > 0.5
xent = -y * T.log(p_1) - (1 - y) * T.log(1 - p_1)
cost = xent.mean() + 0.01 * (w**2).sum()
gw, gb = T.grad(cost, [w, b])

train = theano.function(
    inputs=[x, y], outputs=[prediction, xent], updates=((w, w - 0.5 * gw), (b, b - 0.5 * gb))
)
predict = theano.function(inputs=[x], outputs=prediction)
first = train(data, labels)[1].mean()
for _ in range(steps):
    pred, err = train(data, labels)
print(
    "better" if err.mean() < 0.5 * first else "no better", (predict(data) == labels).mean() > 0.95
)
