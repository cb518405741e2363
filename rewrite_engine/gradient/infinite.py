"""Terms that an infinite constant keeps infinite: functions of them have slope 0.

(inf - mu) / sigma is infinite for all finite mu and sigma, so no function of it changes with them.
The chain rule multiplies 0, the slope of the function, by inf, which is NaN. So such a term is
differentiated as a constant, in the elements where it is infinite: for example an infinite bound of
a truncated or censored density.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.gradient.stops import zero_grad
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.replace import graph_replace

#: functions that are infinite where one of their operands is (or NaN)
STAY_INFINITE = frozenset({pt.add, pt.sub, pt.mul, pt.neg, pt.abs, pt.sqr})


def at_infinity_constant(
    outputs: Sequence[Variable], nodes: Iterable[Apply], held: Collection[Variable]
) -> list[Variable]:
    """Return the outputs, equal in value, with gradients stopped at terms that an infinite constant
    keeps infinite.

    nodes: those of the outputs, in order. held: variables that stay unchanged in them.
    """
    where: dict[Variable, Variable] = {}
    stopped: dict[Variable, None] = {}
    varies = set(held)
    for node in nodes:
        found = infinite_elements(node, where)
        changes = not varies.isdisjoint(node.inputs)
        if found is not None:
            where[node.outputs[0]] = found
        elif changes:  # what is infinite below is not above
            stopped.update((v, None) for v in node.inputs if v in where and v in varies)
        if changes:
            varies.update(node.outputs)
    pairs = {v: stop(v, where[v]) for v in stopped if v not in held}
    return list(graph_replace(outputs, pairs, strict=False)) if pairs else list(outputs)


def infinite_elements(node: Apply, where: dict[Variable, Variable]) -> Variable | None:
    """Return a condition for the elements of a node's output that are infinite because of
    constants; None for none.

    where: such conditions for other variables.
    """
    op, inputs = node.op, node.inputs
    moves = op not in STAY_INFINITE and op.moves_only and len(inputs) == 1
    if not (moves or op in STAY_INFINITE or op is pt.true_div):
        return None
    asked = inputs[:1] if op is pt.true_div else inputs
    known = [where[v] if v in where else infinite_constant(v) for v in asked]
    found = [mask for mask in known if mask is not None]
    if not found:
        return None
    if moves:
        moved: Any = op.make_node(*found)
        return moved.outputs[0]  # type: ignore[no-any-return]
    return reduce(pt.or_, found)


def infinite_constant(v: Variable) -> Variable | None:
    """Return a condition for the infinite elements of a constant; None if there are none."""
    if not isinstance(v, Constant) or getattr(v.type, "kind", "") != "f":
        return None
    infinite = np.isinf(v.data)
    return pt.constant(infinite) if infinite.any() else None


def stop(v: Variable, where: Variable) -> Any:
    """Return the variable, with gradients stopped in the elements of `where`."""
    if isinstance(where, Constant) and where.data.all():
        return zero_grad(v)
    return pt.switch(where, zero_grad(v), v)
