"""Part of a graph to show when all of it would be too much: the nodes nearest to the outputs. Found
without reading the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.traverse import toposort


class GraphPart(NamedTuple):
    """Part of a graph. nodes: in the order in which they run. cut: the variables that are not
    followed.
    """

    nodes: list[Apply]
    cut: frozenset[Variable] = frozenset()


def part_of(outputs: Iterable[Any], most: int | None = None) -> GraphPart:
    """Return the nodes that compute `outputs`; if there are more than `most`, those nearest to the
    outputs.
    """
    outputs = list(outputs)
    if most is None:
        return GraphPart(toposort(outputs))
    found: dict[Apply, None] = {}
    waiting = deque(outputs)
    while waiting and len(found) < most:
        node = waiting.popleft().owner
        if node is not None and node not in found:
            found[node] = None
            waiting.extend(node.inputs)
    inputs = [v for node in found for v in node.inputs]
    cut = [v for v in (*outputs, *inputs) if v.owner is not None and v.owner not in found]
    cut_off = frozenset(cut)
    return GraphPart(toposort(outputs, cut_off), cut_off)
