"""Plan of an exact evaluation: elements of large arrays, and nodes in 80-bit floats, as
an estimate of the time allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.graph.inner import HasInnerGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.exact import MOVING
from rewrite_engine.judge.function import COMMON_COST, COST
from rewrite_engine.judge.truth import _MatrixOp
from rewrite_engine.loops.op import Scan
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.tensor.blockwise import Blockwise

MAX_SECONDS = 3.0  # estimate for one evaluation with 50 digits
MICROSECONDS = 1e-6
NODE_COST = 150.0  # microseconds for any node in a loop
PRODUCT_COST = 0.4  # microseconds for a multiplication and an addition
NUMBER_COST = 3.0  # microseconds for a number that is made, and compared with the computed one
MAX_SAMPLE = 240  # elements of an output
#: ops that move elements of their first input, which shows when they move its positions
MOVERS = tuple([cls for cls in MOVING if cls not in (pt.IncSubtensor, pt.AdvancedIncSubtensor)])


@dataclass
class Sampling:
    """Choice of what to evaluate. masks: elements that are evaluated with many digits, of variables
    of which not all are. wide: nodes, and leaves, that are evaluated in 80-bit floats.
    """

    masks: dict[Variable, Any] = field(default_factory=dict)
    wide: set[Any] = field(default_factory=set)


def size(a: Any) -> int:
    """Return the number of elements of a value."""
    return int(getattr(a, "size", 1))


def planned(
    outputs: Sequence[Variable],
    values: Mapping[Variable, Any],
    suspects: Mapping[Variable, Any],
    seconds: float = MAX_SECONDS,
) -> Sampling:
    """Return a plan that takes about some seconds at most. values: the computed values.
    suspects: elements of outputs to look at first, as flat positions.
    """
    nodes = [n for n in toposort(list(outputs)) if all(v in values for v in n.outputs)]
    plan = Sampling()
    costs = {node: cost(node, values, plan) for node in nodes}
    if sum(costs.values()) + _leaves_cost(nodes, values, plan) <= seconds:
        return plan
    for v in outputs:
        if v not in plan.masks:
            plan.masks[v] = sampled(values[v], suspects.get(v, ()))
    for node in reversed(nodes):
        spread(node, values, plan)
    plan.masks = {v: m for v, m in plan.masks.items() if m is not None and not m.all()}
    costs = {node: cost(node, values, plan) for node in nodes}
    left = sum(costs.values()) + _leaves_cost(nodes, values, plan)
    for node, its in sorted(costs.items(), key=lambda pair: -pair[1]):
        if left <= seconds:
            break
        plan.wide.add(node)
        left -= its
    _settle_wide(nodes, plan)
    return plan


def parts(
    outputs: Sequence[Variable], values: Mapping[Variable, Any], suspects: Mapping[Variable, Any]
) -> list[tuple[list[Variable], Sampling]]:
    """Return plans for groups of outputs: all together, or large ones, of which a sample is
    evaluated, apart from others, that may need all elements of large arrays.
    """
    whole = planned(outputs, values, suspects)
    large = [v for v in outputs if size(values[v]) > MAX_SAMPLE]
    small = [v for v in outputs if v not in large]
    if not whole.wide or not large or not small:
        return [(list(outputs), whole)]
    half = MAX_SECONDS / 2
    return [(some, planned(some, values, suspects, half)) for some in (large, small)]


def _settle_wide(nodes: Sequence[Apply], plan: Sampling) -> None:
    """Give nodes in 80-bit floats, and the leaves that they read, no mask."""
    for node in nodes:
        if node not in plan.wide:
            continue
        for v in node.outputs:
            plan.masks.pop(v, None)
        for v in node.inputs:
            if v.owner is None and v.type.kind == "f":
                plan.wide.add(v)
                plan.masks.pop(v, None)


def everything_wide(outputs: Sequence[Variable]) -> Sampling:
    """Return a plan for a first look: all in 80-bit floats."""
    nodes = toposort(list(outputs))
    leaves = {v for n in nodes for v in n.inputs if v.owner is None and v.type.kind == "f"}
    return Sampling(wide={*nodes, *leaves})


def sampled(a: Any, suspects: Sequence[int]) -> Any:
    """Return a mask of elements: those of `suspects`, and others at equal distances."""
    n = size(a)
    if n <= MAX_SAMPLE or not isinstance(a, np.ndarray):
        return None
    mask = np.zeros(n, bool)
    mask[list(suspects)] = True
    mask[np.linspace(0, n - 1, MAX_SAMPLE - len(suspects)).astype(int)] = True
    return mask.reshape(a.shape)


def cost(node: Apply, values: Mapping[Variable, Any], plan: Sampling) -> float:
    """Return an estimate of the seconds that the numbers of a node take with 50 digits. (What a
    node takes without numbers, 80-bit floats do not save.)
    """
    return MICROSECONDS * _work(node, values, plan)


def _leaves_cost(nodes: Sequence[Apply], values: Mapping[Variable, Any], plan: Sampling) -> float:
    """Return the seconds that it takes to convert inputs and constants of floats."""
    leaves = {v for n in nodes for v in n.inputs if v.owner is None and v.type.kind in "fc"}
    return MICROSECONDS * sum(_count(v, values, plan) for v in leaves)


def _count(v: Variable, values: Mapping[Variable, Any], plan: Sampling) -> int:
    mask = plan.masks.get(v)
    return int(np.count_nonzero(mask)) if mask is not None else size(_data(v, values))


def _data(v: Variable, values: Mapping[Variable, Any]) -> Any:
    return v.data if isinstance(v, Constant) else values.get(v)


def _work(node: Apply, values: Mapping[Variable, Any], plan: Sampling) -> float:
    """Return the microseconds of work on elements."""
    op: Any = node.op
    if isinstance(op, Scan):
        inside = sum(NODE_COST + _inner_cost(n) for n in op.fgraph.apply_nodes)
        return float(int(_data(node.inputs[0], values)) * inside)
    if isinstance(op, HasInnerGraph) and getattr(op, "runs_once", False):
        return sum(NODE_COST + _inner_cost(n) for n in op.fgraph.apply_nodes)
    if node.outputs[0].type.kind not in "fc":
        return 0.0
    if isinstance(op, pt.Elemwise):
        each = NUMBER_COST + scalar_cost(op.scalar_op)
        return _count(node.outputs[0], values, plan) * each
    if isinstance(op, MOVING):
        return 0.2 * _count(node.outputs[0], values, plan)
    if isinstance(op, pt.Dot | pt.MatMul | _MatrixOp | Blockwise):
        sizes = [size(_data(v, values)) for v in (*node.inputs, *node.outputs)]
        a = _data(node.inputs[0], values)
        n = a.shape[-1] if getattr(a, "ndim", 0) else 1
        products = sizes[-1] if isinstance(op, pt.Dot | pt.MatMul) else max(sizes)
        return PRODUCT_COST * n * products + NUMBER_COST * sum(sizes)
    unit = COST["exp"] if "oftmax" in type(op).__name__ or "Exp" in type(op).__name__ else 1.0
    return (NUMBER_COST + unit) * sum(_count(v, values, plan) for v in node.inputs)


def _inner_cost(node: Apply) -> float:
    """Return the microseconds of a node in the graph of an op, for arrays of known lengths."""
    length = float(np.prod([n or 4 for n in getattr(node.outputs[0].type, "shape", ())]))
    return length * scalar_cost(getattr(node.op, "scalar_op", None))


def scalar_cost(op: Any) -> float:
    """Return the microseconds for one element."""
    if isinstance(op, Composite):
        return sum(scalar_cost(node.op) for node in op.fgraph.apply_nodes)
    return COST.get(str(op), COMMON_COST)


# --- which elements are needed -----------------------------------------------------------------


def spread(node: Apply, values: Mapping[Variable, Any], plan: Sampling) -> None:
    """Note which elements of the inputs the chosen elements of a node's outputs need. In
    `plan.masks`, None means all of them; what is missing, none so far.
    """
    if all(v not in plan.masks for v in node.outputs):
        return
    for v, need in zip(node.inputs, _needs(node, values, plan), strict=True):
        old = plan.masks.get(v, False)
        if need is None or old is None:
            plan.masks[v] = None
        else:
            plan.masks[v] = need if old is False else old | need


def _needs(node: Apply, values: Mapping[Variable, Any], plan: Sampling) -> list[Any]:
    op, nothing = node.op, [None] * len(node.inputs)
    mask = plan.masks.get(node.outputs[0])
    arrays = [_data(v, values) for v in node.inputs]
    if mask is None or len(node.outputs) > 1:
        return nothing
    if isinstance(op, pt.Elemwise):
        return [collapsed(mask, np.shape(a)) for a in arrays]
    if isinstance(op, MOVERS):
        return [_moved(node, arrays, mask), *nothing[1:]]
    if isinstance(op, pt.Join):
        ends = np.cumsum([a.shape[op.axis] for a in arrays])[:-1]
        return list(np.split(mask, ends, axis=op.axis))
    if isinstance(op, pt.Sum | pt.Prod | pt.Max | pt.Min | pt.LogSumExp):
        axes = tuple(range(arrays[0].ndim)) if op.axis is None else tuple(op.axis)
        kept = mask if op.keepdims else np.expand_dims(mask, axes)
        return [np.broadcast_to(kept, arrays[0].shape)]
    return nothing


def collapsed(mask: Any, shape: tuple[int, ...]) -> Any:
    """Return the elements of an operand that broadcasts to chosen elements."""
    extra = mask.ndim - len(shape)
    found = mask.any(axis=tuple(range(extra)))
    axes = tuple([i for i, n in enumerate(shape) if n == 1])
    return found.any(axis=axes, keepdims=True) if axes else found


def _moved(node: Apply, arrays: Sequence[Any], mask: Any) -> Any:
    positions = np.arange(size(arrays[0])).reshape(np.shape(arrays[0]))
    cells: list[list[Any]] = [[None]]
    try:
        node.op.perform(node, [positions, *arrays[1:]], cells)
    except Exception:
        return None
    found = np.zeros(positions.size, bool)
    moved = np.broadcast_to(np.asarray(cells[0][0]), mask.shape)
    found[moved[mask]] = True
    return found.reshape(positions.shape)
