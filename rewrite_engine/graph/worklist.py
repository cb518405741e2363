"""`Worklist`: what a driver keeps while it rewrites a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heappush
from typing import Any

from rewrite_engine.graph.node import Apply


class Worklist:
    """Nodes to visit, by level, and nodes that came in. The graph tells it of both while it is
    there (`FunctionGraph.worklist`); what is replaced meanwhile waits to be settled.

    heap: (level, tie, node); only the nodes in `queued` still wait. fresh: the nodes that came in
    since somebody emptied it. frees: whether nodes that leave are nobody else's, and may be taken
    apart. tally: what each rule has done; inside: the seconds of those in strategies; tries: the
    trace that wants to hear of every try.
    """

    defers = True
    frees = False
    tally: Any = None
    tries: Any = None

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, Apply]] = []
        self.queued: set[Apply] = set()
        self.fresh: list[Apply] = []
        self.tie = 0
        self.inside = 0.0

    def entered(self, node: Apply, level: int) -> None:
        """A node came in."""
        self.fresh.append(node)
        self.queued.add(node)
        self.tie += 1
        heappush(self.heap, (level, self.tie, node))

    def schedule(self, node: Apply, level: int) -> None:
        """A node is to be visited (again)."""
        if node not in self.queued:
            self.queued.add(node)
            self.tie += 1
            heappush(self.heap, (level, self.tie, node))

    def restored(self, level: Mapping[Apply, int], new: Iterable[Apply]) -> None:
        """The graph was put back: visit what still waits, and what is there again."""
        waiting = [node for *_, node in sorted(self.heap) if node in self.queued]
        first = self.queued.difference(waiting)  # what was to be visited before all of the heap
        waiting += [node for node in level if node in first] if first else []
        waiting = [node for node in waiting if node in level]
        self.queued.clear()
        self.heap.clear()
        for node in sorted(dict.fromkeys([*waiting, *new]), key=level.__getitem__):
            self.schedule(node, level[node])
