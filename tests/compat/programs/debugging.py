"""Wrong ops and rewrites, looked for with DebugMode, in the way of PyTensor's own tests."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.debug import debugmode
from pytensor.compile.debug.debugmode import BadOptimization, DebugMode, InvalidValueError
from pytensor.compile.mode import get_mode
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import EquilibriumGraphRewriter, node_rewriter


class BadAdd(Op):
    def make_node(self, a, b):
        c = a.type()
        return Apply(self, [a, b], [c])

    def perform(self, node, inp, out):
        (a, b), (c,) = inp, out
        c[0] = a
        c[0] += b


class CustomOp(Op):
    view_map = {}

    def make_node(self, a, b):
        return Apply(self, [a, b], [a.type()])

    def perform(self, node, inp, out):
        out[0][0] = inp[0][1:]


@node_rewriter([pt.sin])
def insert_bad_dtype(fgraph, node):
    (x,) = node.inputs
    return [pt.cos(x)]


x, y = pt.dvectors("x", "y")
given = np.array([1.0, 2.0])


def named(f, *values):
    try:
        f(*values)
    except debugmode.DebugModeError as e:
        return type(e).__name__
    return "nothing"


print(named(pytensor.function([x, y], BadAdd()(x, y), mode="DEBUG_MODE"), given, given))
print(named(pytensor.function([x, y], CustomOp()(x, y), mode="DebugMode"), given, given))

opt = EquilibriumGraphRewriter([insert_bad_dtype], max_use_ratio=10)
f = pytensor.function([x], pt.sin(x), mode=DebugMode(optimizer=opt))
try:
    f(given)
except BadOptimization as e:
    print("insert_bad_dtype" in str(e), e.old_r, e.new_r)

f = pytensor.function([x], pt.log(x), mode=DebugMode(check_isfinite=True))
try:
    f([0.0])
except InvalidValueError as e:
    print(np.isinf(e.v))
print(pytensor.function([x], pt.log(x), mode=DebugMode(check_isfinite=False))([1.0]))

with pytensor.config.change_flags(mode="DebugMode", DebugMode__check_preallocated_output=""):
    print(pytensor.function([x], pt.exp(x).sum())([0.0, 0.0]))
mode = get_mode("DEBUG_MODE").including("fast_run").excluding("inplace")
print(pytensor.function([x], x * 2, mode=mode)(given))
print(pytensor.config.DebugMode__check_py, pytensor.config.DebugMode__check_strides)
