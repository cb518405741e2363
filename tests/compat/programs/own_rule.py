"""A rewriter and an op of one's own, in the way of PyTensor's guide on extending it."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import WalkingGraphRewriter, node_rewriter


class Triple(Op):
    __props__ = ()

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0] * 3)

    def infer_shape(self, fgraph, node, shapes):
        return shapes

    def L_op(self, inputs, outputs, output_grads):
        return [output_grads[0] * 3]


triple = Triple()
x, y = pt.vectors("x", "y")
print(pytensor.function([x], triple(x))([1.0, 2.0]))
print(pytensor.function([x], pytensor.grad(triple(x).sum(), x))([1.0, 2.0]))


@node_rewriter([triple])
def triple_to_mul(fgraph, node):
    return [3 * node.inputs[0]]


fg = FunctionGraph([x], [triple(x)], clone=False)
WalkingGraphRewriter(triple_to_mul).rewrite(fg)
print(fg.outputs[0].owner.op)
