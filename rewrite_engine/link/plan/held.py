"""Peak memory of a run, and where it occurs, from the sizes of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rewrite_engine.graph.node import Apply, Variable


class Peak(NamedTuple):
    """Most bytes that a run holds at once. node: the node after which nearly that many (within one
    percent) are held; None: before the first. held: the variables with values at that moment, the
    largest first.
    """

    bytes: int
    node: Apply | None
    held: tuple[tuple[Variable, int], ...] = ()


def peak_of(
    order: Sequence[Apply],
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    size: Callable[[Variable], int],
    inside: Callable[[Apply], int] = lambda node: 0,
) -> Peak:
    """Return the peak of nodes that run in an order, inputs and constants included, if each value
    is freed after its last use, and views and in-place ops take no memory. inside: the bytes that a
    node needs while it runs.
    """
    end = len(order)
    last = {v: k for k, node in enumerate(order) for v in node.inputs}
    last.update(dict.fromkeys([*outputs, *inputs], end))
    for node in reversed(order):
        for i, v in enumerate(node.outputs):
            for j in (*node.op.view_map.get(i, ()), *node.op.destroy_map.get(i, ())):
                shown = node.inputs[j]
                last[shown] = max(last[shown], last.get(v, -1))
    roots = dict.fromkeys([*inputs, *[v for n in order for v in n.inputs if v.owner is None]])
    born = {v: (-1, size(v)) for v in roots}
    last.update(dict.fromkeys(roots, end))
    ending: dict[int, list[Variable]] = {}
    for k, node in enumerate(order):
        for v in node.outputs:
            ending.setdefault(max(last.get(v, k), k), []).append(v)
    held = most = nearly = sum([n for _, n in born.values()])
    at = -1
    for k, node in enumerate(order):
        for i, v in enumerate(node.outputs):
            shared = i in node.op.view_map or i in node.op.destroy_map
            born[v] = k, 0 if shared else size(v)
            held += born[v][1]
        now = held + inside(node)
        most = max(most, now)
        if now > nearly * 1.01:
            nearly, at = now, k
        held -= sum([born[v][1] for v in ending.get(k, ())])
    there = [(v, n) for v, (k, n) in born.items() if n and k <= at <= max(last.get(v, k), k)]
    ranked = tuple(sorted(there, key=lambda one: -one[1]))
    return Peak(most, order[at] if at >= 0 else None, ranked)
