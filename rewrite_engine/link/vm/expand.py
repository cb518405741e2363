"""A `Composite` is run step by step: its node is taken apart into elementwise nodes before
anything is planned.

The last step of each output writes the composite's own output variable, so nothing else in the
graph changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rewrite_engine.graph.node import Apply, Variable, build_node
from rewrite_engine.scalar import ops as scalar
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.tensor.constant import constant
from rewrite_engine.tensor.elemwise import Elemwise

_identity = Elemwise(scalar.identity)


def expand(nodes: Iterable[Apply]) -> list[Apply]:
    """Return the nodes with every composite that can be taken apart replaced by its steps."""
    result: list[Apply] = []
    for node in nodes:
        if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Composite):
            result += _steps(node, node.op.scalar_op)
        else:
            result.append(node)
    return result


def _steps(node: Apply, composite: Composite) -> list[Apply]:
    """The steps of one composite; the node itself where an output has not the shape of its last
    step, or where an input would no longer be looked at."""
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
    """A value of the program as a variable: its constants are NumPy scalars."""
    return value if isinstance(value, Variable) else constant(value)


def _like(op: Any, inputs: tuple[Any, ...], out: Variable, node: Apply) -> Apply:
    """A node that writes an existing variable, built where `node` was."""
    step = build_node(op, inputs, (out.type,), node.origin)
    step.outputs = (out,)
    return step
