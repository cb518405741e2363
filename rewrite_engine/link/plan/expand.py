"""Expansion before planning: a `Composite` is split into its steps, and a sum of many operands into
additions, each as early as its operand.

The last step of each output writes the node's own output variable, so nothing else in the graph
changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rewrite_engine.graph.node import Apply, Variable, build_node
from rewrite_engine.scalar import ops as scalar
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.tensor.constant import constant
from rewrite_engine.tensor.elemwise import Elemwise

_identity = Elemwise(scalar.identity)


def expand(nodes: Iterable[Apply]) -> list[Apply]:
    """Return the nodes with composites, where possible, replaced by their steps, and sums of many
    computed operands by binary nodes.
    """
    result: list[Apply] = []
    for node in nodes:
        if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Composite):
            result += _steps(node, node.op.scalar_op)
        else:
            result.append(node)
    return spread(result)


def spread(nodes: list[Apply]) -> list[Apply]:
    """Return the nodes with every sum of many arrays (`a + b + c + d`) replaced by binary nodes,
    each placed after the node that computes its operand: no operand then waits for the others, and
    one temporary is enough. The results stay the same, bit by bit.
    """
    wide = [node for node in nodes if _waits(node)]
    if not wide:
        return nodes
    place = {v: i for i, node in enumerate(nodes) for v in node.outputs}
    behind: dict[int, list[Apply]] = {}
    for node in wide:
        last = -1
        for step in _binary(node):
            last = max([last, *[place.get(v, -1) for v in step.inputs]])
            behind.setdefault(last, []).append(step)
    gone = set(wide)
    result = behind.pop(-1, [])
    for i, node in enumerate(nodes):
        if node not in gone:
            result.append(node)
        result += behind.get(i, ())
    return result


def _waits(node: Apply) -> bool:
    """Return whether a node combines more than two arrays of one dtype from left to right, and some
    of them, after the first two, are computed.
    """
    op, out = node.op, node.outputs[0]
    if not isinstance(op, Elemwise) or op.nin is not None or len(node.inputs) < 3:
        return False
    ufunc = op.scalar_op.ufunc
    if ufunc is None or ufunc.nin != 2 or op.scalar_op.compute or out.type.ndim == 0:
        return False
    if any(node.inputs[i].owner is None for _, i in op.inplace_pattern):
        return False  # an argument is to be overwritten
    if any(v.type.dtype != out.type.dtype for v in node.inputs):
        return False
    return any(v.owner is not None for v in node.inputs[2:])


def _binary(node: Apply) -> Iterator[Apply]:
    """Yield the steps of a sum of many: `(a + b) + c`."""
    op, out = Elemwise(node.op.scalar_op), node.outputs[0]
    first, *others = node.inputs
    for v in others[:-1]:
        step = build_node(op, (first, v), op.output_types((first.type, v.type)), node.origin)
        first = step.outputs[0]
        yield step
    yield _like(op, (first, others[-1]), out, node)


def _steps(node: Apply, composite: Composite) -> list[Apply]:
    """Return the steps of one composite; the node itself if an output has another shape than its
    last step, or if an input would no longer be checked.
    """
    used = {r for _, refs in composite.steps for r in refs} | set(composite.out_refs)
    if node.op.destroy_map or not used.issuperset(range(composite.nin)):
        return [node]
    values = composite.replay(node.inputs, Elemwise)
    first = len(values) - len(composite.steps)
    if any(
        values[r].type != out.type
        for r, out in zip(composite.out_refs, node.outputs, strict=True)
        if r >= first
    ):
        return [node]
    own: dict[Variable, Variable] = {}
    copies: list[Apply] = []
    for r, out in zip(composite.out_refs, node.outputs, strict=True):
        value = _variable(values[r])
        if r < first or value in own:
            if value.type != out.type:
                return [node]
            copies.append(_like(_identity, (own.get(value, value),), out, node))
        else:
            own[value] = out
    steps = []
    for value in values[first:]:
        inputs = tuple([own.get(x, x) for x in value.owner.inputs])
        steps.append(_like(value.owner.op, inputs, own.get(value, value), node))
    return steps + copies


def _variable(value: Any) -> Any:
    """Return a value of the program as a variable: its constants are NumPy scalars."""
    return value if isinstance(value, Variable) else constant(value)


def _like(op: Any, inputs: tuple[Any, ...], out: Variable, node: Apply) -> Apply:
    """Return a node that writes an existing variable, with the origin of `node`."""
    step = build_node(op, inputs, (out.type,), node.origin)
    step.outputs = (out,)
    return step
