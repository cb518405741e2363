"""Cost models of nodes, estimated from types: equations choose by them.

A model is a function from a node to a number, at least 0; `flops` and `bytes_moved` are two, and
users may write their own. A dimension that the type does not know counts as `UNKNOWN`. Copies,
joins and fills have no floating-point operations, but `flops` does not take them as free.
The report of costs with actual shapes is in `explain/cost.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real

from rewrite_engine.graph.node import Apply, Variable

CostModel = Callable[[Apply], float]

#: the length that is assumed for a dimension whose length is not known
UNKNOWN = 100

#: what every node costs besides: of two terms that compute the same amount, the smaller is better.
#: (A power of two: sums of it are exact.)
CALL = 2.0**-10

#: what an op without flops costs for each element that it writes (any other op writes its result,
#: too, and has at least one flop per element)
WRITE = 2.0**-3


def flops(node: Apply) -> float:
    """Return the floating-point operations of a node, as the op estimates them (`Op.flops`); for an
    op that only copies or fills, `WRITE` for each element. A view costs nothing.
    """
    shapes = [_shape(v) for v in node.inputs], [_shape(v) for v in node.outputs]
    amount: float = node.op.flops(*shapes)
    return amount or WRITE * _written(node)


def bytes_moved(node: Apply) -> float:
    """Return the bytes read and written if the node runs alone; 0 for a view."""
    if node.op.view_map:
        return 0
    sized = [v for v in (*node.inputs, *node.outputs) if v.type.kind != "?"]
    amount: float = sum([v.type.get_size(_shape(v)) for v in sized])
    return amount


def price(node: Apply, model: CostModel) -> float:
    """Return the cost of a node in a model, plus the price of the call. Raises `ValueError` for an
    invalid cost; an error of the model itself gets a note that names the node.
    """
    try:
        amount = model(node)
    except Exception as error:
        error.add_note(f"in the cost {getattr(model, '__name__', model)} of {node}")
        raise
    if not isinstance(amount, Real) or not amount >= 0:
        raise ValueError(f"the cost of {node.op} must be a number >= 0, not {amount!r}")
    return amount + CALL


def _written(node: Apply) -> int:
    """Return the number of elements of the outputs that are no views."""
    own = [v for i, v in enumerate(node.outputs) if i not in node.op.view_map]
    return sum([math.prod(_shape(v)) for v in own])


def _shape(v: Variable) -> tuple[int, ...]:
    return tuple([UNKNOWN if n is None else n for n in v.type.shape])
