"""Branches, printing and checking, in the way of PyTensor's documentation."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.debug.monitormode import MonitorMode
from pytensor.compile.nanguardmode import NanGuardMode
from pytensor.ifelse import ifelse
from pytensor.printing import Print

assert pytensor.ifelse.ifelse is ifelse

a, b = pt.scalars("a", "b")
x, y = pt.matrices("x", "y")
z = ifelse(pt.lt(a, b), pt.mean(x), pt.mean(Print("y")(y)))
f = pytensor.function([a, b, x, y], z)
print(f(0.0, 1.0, np.ones((2, 2)), np.zeros((2, 2))))
print(f(1.0, 0.0, np.ones((2, 2)), np.zeros((1, 2))))


def count(fgraph, i, node, fn):
    print(i, node.op, [v[0].shape for v in fn.inputs], len(fn.outputs))


g = pytensor.function([x], pt.exp(x), mode=MonitorMode(pre_func=count))
g(np.zeros((1, 2)))
h = pytensor.function([x], pt.log(x), mode=NanGuardMode(nan_is_error=True, inf_is_error=True))
try:
    h(-np.ones((1, 1)))
except AssertionError as error:
    print(str(error).split(" of type")[0])
