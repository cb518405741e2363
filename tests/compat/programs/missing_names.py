"""Uses what is not here, one of them behind a question."""

import sys

import theano
from theano.tensor.nnet import conv3d2d, relu

T = theano.tensor
x = T.vector("x")
print(theano.function([x], relu(x))([-1.0, 2.0]))

if len(sys.argv) > 1:
    print(conv3d2d(x))
T.no_such_function(x)
