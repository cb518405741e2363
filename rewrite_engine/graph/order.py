"""Dynamic topological order with gapped levels; and `Worklist`, the nodes to visit by level.

`level(u) < level(v)` along every edge u → v; ties are allowed. The order usually answers "can v
come before u?" by one comparison. It gives the order of the worklist, the topological sort (sort by
level) and the cycle checks of replacements and of in-place edges. Levels are multiples of `GAP` at
import, so that nodes made by rules fit between.

The scheme combines Pearce & Kelly's affected-region search with a sparse numbering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush
from typing import Any

from rewrite_engine.errors import CycleError
from rewrite_engine.graph.node import Apply

GAP = 1 << 20
SLACK = 1 << 10


class Order:
    """Levels of the nodes of a graph.

    `above(node)` yields the nodes that must come after `node`, along ordinary edges.
    """

    __slots__ = ("level", "above", "extra", "first", "raised")

    def __init__(self, above: Callable[[Apply], Iterable[Apply]]) -> None:
        #: (To delete a node never invalidates the order. Edges that were added are for those to
        #: remove who added them.)
        self.level: dict[Apply, int] = {}
        self.above = above
        #: edges that are not uses: reader of a value → node that overwrites it
        self.extra: dict[Apply, dict[Apply, None]] = {}
        #: the same, the other way round
        self.first: dict[Apply, dict[Apply, None]] = {}
        #: for a driver: the nodes whose levels were raised (None: nobody wants to know)
        self.raised: list[Apply] | None = None

    def insert(self, node: Apply, gap: int = 1) -> int:
        """Place a node whose inputs are already placed, `gap` above the highest of them."""
        get = self.level.get
        top = 0
        for v in node.inputs:
            if v.owner is not None:
                below = get(v.owner, 0)
                if below > top:
                    top = below
        self.level[node] = top + gap
        return top + gap

    def arranged(self) -> tuple[list[Apply], list[int]]:
        """Return all nodes by level, earlier ones first among equals, and their levels."""
        level = self.level
        levels, in_order = [*level.values()], sorted(level.values())
        if levels == in_order:  # as after building
            return [*level], in_order
        return sorted(level, key=level.__getitem__), in_order

    def clear(self) -> None:
        """Remove all nodes and edges."""
        self.level.clear()
        self.extra.clear()
        self.first.clear()

    def conflict(self, edges: Iterable[tuple[Apply, Apply]]) -> Apply | None:
        """Make the order respect edges (before, after), raising levels where needed. If that is
        impossible, change nothing and return the node that would depend on itself. The edges of one
        call have their `before` or their `after` in common.

        Each affected node is visited once, in the old order, so the cost is that of the affected
        region. A node moves as high as its successors allow, which leaves space for the next node
        below it. If there is none, they all move, by more than necessary. (With the smallest steps,
        a term that grows at its bottom would move everything above it each time.)
        """
        level = self.level
        heap: list[tuple[int, int, Apply]] = []
        need: dict[Apply, int] = {}
        sources: set[Apply] = set()
        count = 0
        for before, after in edges:
            if before is after:
                return after
            sources.add(before)
            if level[after] <= level[before] and need.get(after, 0) <= level[before]:
                need[after] = level[before] + 1
                count += 1
                heappush(heap, (level[after], count, after))
        raised: dict[Apply, int] = {}
        while heap:
            _, _, node = heappop(heap)
            if node in raised:
                continue
            if node in sources:
                return node
            successors = list(self.successors(node))
            lowest = need[node]
            ceiling = min([level[s] for s in successors], default=lowest + GAP)
            if ceiling > lowest:
                raised[node] = ceiling - 1
                continue
            lowest = raised[node] = lowest + SLACK
            for client in successors:
                if max(level[client], need.get(client, 0)) <= lowest:
                    need[client] = lowest + 1
                    count += 1
                    heappush(heap, (level[client], count, client))
        level.update(raised)
        if self.raised is not None:
            self.raised.extend(raised)
        return None

    def successors(self, node: Apply) -> Iterable[Apply]:
        """Yield the nodes that come after a node, along all edges."""
        yield from self.above(node)
        yield from self.extra.get(node, ())

    def add_edges(self, edges: list[tuple[Apply, Apply]]) -> None:
        """Add extra edges permanently. Raises `CycleError`, and adds none, if they close
        a cycle.
        """
        level = self.level
        for before, after in edges:
            if level[before] >= level[after]:
                late = self.conflict(edges)
                if late is not None:
                    raise CycleError(f"{late.op} would depend on itself")
                break
        for before, after in edges:
            self.extra.setdefault(before, {})[after] = None
            self.first.setdefault(after, {})[before] = None

    def remove_edges(self, edges: Iterable[tuple[Apply, Apply]]) -> None:
        """Remove extra edges from the order."""
        for before, after in edges:
            for links, one, other in ((self.extra, before, after), (self.first, after, before)):
                if one in links:
                    links[one].pop(other, None)
                    if not links[one]:
                        del links[one]


class Worklist:
    """Nodes to visit, by level, and nodes that entered the graph. The graph announces both while
    the worklist is attached (`FunctionGraph.worklist`); replacements meanwhile wait to be settled.

    heap: (level, tie, node); only the nodes in `queued` still wait. fresh: the nodes that entered
    since the list was last emptied. frees: whether nodes that leave belong to this graph alone and
    may be taken apart. tally: the statistics of each rule. asked: called to try a rule within a
    strategy if every try is counted; tries: the trace that records each try.
    """

    defers = True
    frees = False
    tally: Any = None
    asked: Any = None
    tries: Any = None

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, Apply]] = []
        self.queued: set[Apply] = set()
        self.fresh: list[Apply] = []
        self.tie = 0

    def entered(self, node: Apply, level: int) -> None:
        """Record a node that entered."""
        self.fresh.append(node)
        self.queued.add(node)
        self.tie += 1
        heappush(self.heap, (level, self.tie, node))

    def schedule(self, node: Apply, level: int) -> None:
        """Schedule a node to be visited (again)."""
        if node not in self.queued:
            self.queued.add(node)
            self.tie += 1
            heappush(self.heap, (level, self.tie, node))

    def restored(self, level: Mapping[Apply, int], new: Iterable[Apply]) -> None:
        """Update the worklist after the graph was put back: visit nodes that still wait, and
        restored ones.
        """
        waiting = [node for *_, node in sorted(self.heap) if node in self.queued]
        first = self.queued.difference(waiting)  # what was to be visited before all of the heap
        waiting += [node for node in level if node in first] if first else []
        waiting = [node for node in waiting if node in level]
        self.queued.clear()
        self.heap.clear()
        for node in sorted(dict.fromkeys([*waiting, *new]), key=level.__getitem__):
            self.schedule(node, level[node])
