"""Transposed views that should be copied first.

An elementwise op whose operands have different memory orders reads some of them with strides (in
NumPy: 0.8 µs instead of 0.2 for small arrays, because it runs through a slow iterator). If a
transposed operand meets one that is not, the transposing node makes a copy in C order instead of a
view, and all later ops read memory in order.
"""

from __future__ import annotations

from collections.abc import Sequence

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.plan.traits import Traits

Order = tuple[int, ...]
#: of what is not in C order: the order of its axes, and the nodes (by position) it comes from
Orders = dict[Variable, tuple[Order, list[int]]]
_MAX_ORIGINS = 8


def find_copies(nodes: Sequence[Apply], traits: Sequence[Traits]) -> list[int]:
    """Return the positions of the transposing nodes that should copy. nodes: in running order."""
    if not any([known.permutes is not None for known in traits]):
        return []
    orders: Orders = {}
    copies: dict[int, None] = {}
    for i, (node, known) in enumerate(zip(nodes, traits)):
        axes = known.permutes
        if axes is not None:
            given = orders.get(node.inputs[0])
            order = tuple([given[0][a] for a in axes]) if given else axes
            if order != tuple(range(len(order))):
                orders[node.outputs[0]] = (order, [*(given[1] if given else []), i])
        elif (
            orders
            and known.elementwise
            and node.outputs[0].type.ndim > 1
            and not orders.keys().isdisjoint(node.inputs)
        ):
            copies.update(dict.fromkeys(_meet(node, orders)))
    return list(copies)


def _meet(node: Apply, orders: Orders) -> list[int]:
    """Process the operands of one elementwise node: record the order of the result, or return what
    must be copied.
    """
    out = node.outputs[0]
    if len(node.inputs) == 1:
        order, origins = orders[node.inputs[0]]
        if len(origins) <= _MAX_ORIGINS and 1 not in out.type.shape:
            orders[out] = order, origins
        return []
    full = [x for x in node.inputs if x.type.ndim == out.type.ndim and 1 not in x.type.shape]
    found = [orders.get(x) for x in full]
    known = [f for f in found if f is not None]
    if not known:
        return []
    origins = list(dict.fromkeys([i for _, many in known for i in many]))
    if len({f[0] if f else None for f in found}) > 1:
        return origins
    if len(origins) <= _MAX_ORIGINS:
        orders[out] = (known[0][0], origins)
    return []
