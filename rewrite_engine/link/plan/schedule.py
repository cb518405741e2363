"""Order in which the nodes of a graph run, and the last reader of each variable."""

from __future__ import annotations

from collections.abc import Sequence

from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.plan.conditions import known_first

END = 1 << 62  # the position after the last node: results and updates are read there


def schedule(fgraph: FrozenGraph) -> list[Apply]:
    """Return the nodes in the order to run them: depth first, so that few values are alive at a
    time, with the nodes of a branch after its condition.

    Extra constraints (in-place operations run after the other readers) are respected. Takes linear
    time. Raises `InconsistencyError` if something would be overwritten that must not be.
    """
    if fgraph.destroy_handler is not None:
        fgraph.destroy_handler.on_validate(fgraph)
    before = fgraph.orderings()
    opened: set[Apply] = set()
    done: set[Apply] = set()
    order: list[Apply] = []
    for output in fgraph.outputs:
        stack = [] if output.owner is None else [output.owner]
        while stack:
            node = stack[-1]
            if node in opened:
                stack.pop()
                if node not in done:
                    done.add(node)
                    order.append(node)
                continue
            opened.add(node)
            if before:
                stack += [n for n in before.get(node, ()) if n not in done]
            for v in reversed(node.inputs):
                below = v.owner
                if below is not None and below not in done:
                    stack.append(below)
    return known_first(order, before, fgraph.outputs)


def last_reads(nodes: Sequence[Apply], outputs: Sequence[Variable]) -> dict[Variable, int]:
    """Return the position of the last node that reads each variable: for an unread one, the
    position of the node that computes it; for an output, `END`. nodes: in running order.
    """
    last: dict[Variable, int] = {}
    for i, node in enumerate(nodes):
        for v in node.inputs:
            last[v] = i
        for v in node.outputs:
            last[v] = i
    for v in outputs:
        last[v] = END
    return last


def dying(nodes: Sequence[Apply], last: dict[Variable, int]) -> list[list[Variable]]:
    """Return for each node the variables that are not read after it, by `last_reads`."""
    dies: list[list[Variable]] = [[] for _ in nodes]
    for v, i in last.items():
        if i != END:
            dies[i].append(v)
    return dies
