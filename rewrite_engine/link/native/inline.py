"""Graphs that native code runs in the place of an op: the graph that an op holds and runs once, and
the formula that an op declares (`Op.formula`). Both are inlined only if all of it is native.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rewrite_engine.errors import ForeignObjectError, message
from rewrite_engine.graph.node import Apply, Variable, copied
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.link.formula import formula_of
from rewrite_engine.link.native.lower import why_not
from rewrite_engine.link.plan import schedule
from rewrite_engine.link.plan.expand import expand


class InlineGraph(NamedTuple):
    """Nodes that compute the outputs of an op, in an order in which they can run."""

    inputs: Sequence[Variable]
    nodes: Sequence[Apply]
    outputs: Sequence[Variable]


def inline_graphs(nodes: Sequence[Apply]) -> list[Apply]:
    """Return the nodes, with copies of graphs in the place of ops that have a native one."""
    found = list[Apply]()
    for node in nodes:
        found += _inline(node) or [node]
    return found


def reason(node: Apply) -> str | None:
    """Return why a node runs on the VM, or None. Names the op of a formula that is the cause."""
    body = _formula_body(node)
    causes = [(n, why) for n in (body.nodes if body else ()) if (why := why_not(n)) is not None]
    return f"its formula has {causes[0][0].op}: {causes[0][1]}" if causes else why_not(node)


def _inline(node: Apply) -> list[Apply] | None:
    """Return copies of the nodes of a node's graph; None without a graph that is all native."""
    op: Any = node.op
    body = _formula_body(node)
    if body is None and getattr(op, "runs_once", False) and op.mode is None:
        body = InlineGraph(op.inner_inputs, expand(schedule(op.fgraph)), op.inner_outputs)
    if body is None:
        return None
    return _copy_nodes(node, body)


def _copy_nodes(node: Apply, body: InlineGraph) -> list[Apply] | None:
    """Return copies of the nodes of a body that compute a node's own outputs, or None."""
    known = dict(zip(body.inputs, node.inputs, strict=True))
    found, own = list[Apply](), dict(zip(body.outputs, node.outputs, strict=False))
    if len(own) != len(node.outputs) or not {v.owner for v in own} <= {*body.nodes}:
        return None
    for inner in body.nodes:
        if why_not(inner) is not None or inner.op.destroy_map:
            return None
        copy = copied(inner, tuple([known.get(v, v) for v in inner.inputs]))
        copy.outputs = tuple([own.get(v, new) for v, new in zip(inner.outputs, copy.outputs)])
        known.update(zip(inner.outputs, copy.outputs, strict=True))
        found.append(copy)
    same = all([v.type == out.type for v, out in own.items()])
    return found if same else None


def _formula_body(node: Apply, within: tuple[Op, ...] = ()) -> InlineGraph | None:
    """Return the nodes of the formula of a node, with formulas inside inlined; None if it has none.

    within: the ops whose formulas contain the node.
    """
    graph = formula_of(node)
    if graph is None:
        return None
    if node.op in within:
        what = "its formula contains the op itself"
        raise ForeignObjectError(message(what, op=node.op, where=node.where()))
    inputs, outputs = graph
    nodes = list[Apply]()
    for inner in expand(toposort(outputs, inputs)):
        inner.origin = node.origin  # errors and profiles show where the user applied the op
        body = _formula_body(inner, (*within, node.op))
        nodes += (None if body is None else _copy_nodes(inner, body)) or [inner]
    return InlineGraph(inputs, nodes, outputs)
