"""How large a graph is: its nodes, and the operations on elements that running it takes.

Both are counted by one rule for both libraries, whose ops have the same names. Fusion is off: there
by excluding it, here there is none in the graph; a node of composed scalar ops counts as what it
holds all the same. Nodes inside loops count once, what they compute as often as they run. An op
that stands for a formula (there `XLogY`, `Softmax`, …, made of other ops) is one node, as it is
here.

Operations are those of elementwise ops (one per element and operand after the first; whatever the
function, and conversions, too), of reductions and running sums (one per element that is read), and
of products of arrays (two per product of elements). All else (views, indexing, factors of matrices)
is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

Shapes = Sequence[tuple[int, ...]]

PRODUCTS = {"Dot", "Dot22", "Dot22Scalar", "BatchedDot", "MatMul"}
READ_ONCE = {"CAReduce", "Reduction", "Argmax", "CumOp"}
#: a maximum, a difference, an exponential, a sum, a quotient or a difference
SOFTMAX = {"Softmax", "LogSoftmax", "LogSumExp", "ScaledExp", "SoftmaxAndLog"}
FORMULA = "FusibleSymbolicOp"


def nodes(fgraph: Any) -> int:
    """The nodes of a graph and of all graphs inside."""
    total = 0
    for node in fgraph.apply_nodes:
        op, own = node.op, kinds(node.op)
        total += scalars(op.scalar_op) if "Elemwise" in own else 1
        if own.isdisjoint({"Elemwise", FORMULA}) and hasattr(op, "fgraph"):
            total += nodes(op.fgraph)
    return total


def kinds(op: Any) -> set[str]:
    """The names of an op's classes."""
    return {kind.__name__ for kind in type(op).__mro__}


def scalars(op: Any) -> int:
    """How many scalar ops one is made of."""
    if type(op).__name__ != "Composite":
        return 1
    if hasattr(op, "steps"):
        return len(op.steps)
    return sum(scalars(node.op) for node in op.fgraph.apply_nodes)


def scalar_operations(op: Any, operands: int) -> int:
    """The operations of a scalar op: of several operands one less, where any number will do."""
    if type(op).__name__ != "Composite":
        return max(1, operands - 1) if op.nin in (None, -1) else 1
    if hasattr(op, "steps"):
        return sum(scalar_operations(step, len(args)) for step, args in op.steps)
    return sum(scalar_operations(n.op, len(n.inputs)) for n in op.fgraph.apply_nodes)


def operations(op: Any, inputs: Shapes, outputs: Shapes) -> int:
    """The operations of a node whose inputs and outputs have these shapes."""
    own = kinds(op)
    if "Elemwise" in own:
        return prod(outputs[0]) * scalar_operations(op.scalar_op, len(inputs))
    if "Blockwise" in own:
        own |= kinds(getattr(op, "core_op", None) or op.core)
    if own & PRODUCTS:
        return 2 * (inputs[0] or (1,))[-1] * prod(outputs[0])
    if own & SOFTMAX:
        return (5 + getattr(op, "whole", 0)) * prod(inputs[0])
    if own & READ_ONCE:
        return prod(inputs[0])
    if "Gemm" in own:  # z, a, x, y, b: b * z + a * x @ y
        return 2 * (inputs[2][-1] + 1) * prod(outputs[0])
    if "Gemv" in own:  # y, a, x, v, b: b * y + a * x @ v
        return 2 * prod(inputs[2]) + 2 * prod(outputs[0])
    if own & {"Ger", "Recurrence"}:
        return 2 * prod(outputs[0])
    return prod(outputs[0]) if FORMULA in own else 0
