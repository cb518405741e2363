"""A small network of convolutions, and an optimizer that removes what cancels."""

import json

import numpy
import theano
import theano.tensor as T
from theano import gof
from theano.gof import toolbox
from theano.tensor.nnet import conv
from theano.tensor.signal import downsample

rng = numpy.random.RandomState(3)
x, y = T.matrix("x"), T.ivector("y")
images = x.reshape((4, 1, 10, 10))
w = theano.shared(rng.uniform(-0.3, 0.3, size=(3, 1, 3, 3)), name="w")
b = theano.shared(numpy.zeros(3), name="b")
out = conv.conv2d(images, w, filter_shape=(3, 1, 3, 3), image_shape=(4, 1, 10, 10))
hidden = T.tanh(
    downsample.max_pool_2d(out, (2, 2), ignore_border=True) + b.dimshuffle("x", 0, "x", "x")
)
v = theano.shared(numpy.zeros((48, 2)), name="v")
p = T.nnet.softmax(T.dot(hidden.flatten(2), v))
cost = -T.mean(T.log(p)[T.arange(y.shape[0]), y])
params = [w, b, v]
updates = [(q, q - 0.5 * g) for q, g in zip(params, T.grad(cost, params))]
train = theano.function([x, y], cost, updates=updates)
data, labels = rng.normal(size=(4, 100)), numpy.array([0, 1, 1, 0], dtype="int32")
costs = [float(train(data, labels)) for _ in range(30)]


class Simplify(gof.Optimizer):
    def add_requirements(self, fgraph):
        fgraph.attach_feature(toolbox.ReplaceValidate())

    def apply(self, fgraph):
        for node in fgraph.toposort():
            if node.op == T.true_div and node.inputs[0].owner:
                a, c = node.inputs[0].owner.inputs
                if node.inputs[1] in (a, c):
                    fgraph.replace_validate(node.outputs[0], c if node.inputs[1] is a else a)


a, c = T.dscalars("a", "b")
graph = gof.FunctionGraph([a, c], [(a * c) / a])
Simplify().optimize(graph)
shape = list(theano.function([x], hidden)(data).shape)
print(
    json.dumps(
        {"shape": shape, "better": costs[-1] < 0.1 < costs[0], "removed": graph.outputs[0].name}
    )
)
