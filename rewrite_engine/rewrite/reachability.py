"""Reachability between readers of a value: one can run after all the others unless one of them is
reachable from it.

Searching the graph for every reader would cost the distance between the readers: in the gradient of
a deep graph, most of the graph for each value. Three properties keep the search short. No path
leads to a lower level. One traversal of the graph proves most existing paths at once. And the
readers of one value share the results of a search (`Search`). The answers are exact.

Nodes are numbers here (`Paths.number_of`), and their data are in lists: a search that looked each
of them up by object would spend its time waiting for memory.

Used by `rewrite/inplace.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply


class Paths:
    """Paths of a graph, as numbers: nodes in topological order have the numbers 0, 1, …

    after: the numbers of the direct successors, to which `link` adds. level: the graph's levels, as
    they were or lower. found, last: results of a depth-first traversal: when each node was found,
    and the last node found from it, so that all nodes in between can be reached from it; that stays
    true while edges are added. The nearest client is followed first, which finds long paths.
    """

    def __init__(self, fgraph: FunctionGraph) -> None:
        nodes = fgraph.toposort()
        level = fgraph.order.level
        self.number_of: dict[Apply, int] = {node: k for k, node in enumerate(nodes)}
        self.level: list[int] = [level[node] for node in nodes]
        self.after: list[list[int]] = [[] for _ in nodes]
        after, number_of = self.after, self.number_of
        for k, node in enumerate(nodes):
            for v in node.inputs:
                if v.owner is not None:
                    after[number_of[v.owner]].append(k)
        for before, later in fgraph.order.extra.items():
            after[number_of[before]] += [number_of[node] for node in later]
        self.found = [-1] * len(nodes)
        self.last = [-1] * len(nodes)
        count = 0
        for k in range(len(nodes)):
            if self.found[k] < 0:
                count = self._walk(k, count)

    def _walk(self, start: int, count: int) -> int:
        """Traverse unvisited nodes from a node; return how many have been found then."""
        after, found, last = self.after, self.found, self.last
        found[start] = count
        count += 1
        path: list[tuple[int, Iterator[int]]] = [(start, iter(after[start]))]
        while path:
            k, rest = path[-1]
            for client in rest:
                if found[client] < 0:
                    found[client] = count
                    count += 1
                    path.append((client, iter(after[client])))
                    break
            else:
                last[k] = count - 1
                path.pop()
        return count

    def link(self, befores: Iterable[Apply], node: Apply, raised: Mapping[Apply, int]) -> None:
        """Add edges to a node. raised: the new levels of nodes."""
        number_of = self.number_of
        for before in befores:
            self.after[number_of[before]].append(number_of[node])
        for higher, level in raised.items():
            self.level[number_of[higher]] = level


class Search:
    """Search from the readers of one value for its other readers."""

    def __init__(self, paths: Paths, readers: Collection[Apply]) -> None:
        self.paths = paths
        numbers = [paths.number_of[reader] for reader in readers]
        self.top = max([paths.level[k] for k in numbers])
        self.found = sorted([paths.found[k] for k in numbers])
        self.known = dict.fromkeys(numbers, True)  # whether this is a reader, or reaches one

    def is_followed(self, reader: Apply) -> bool:
        """Return whether another reader can be reached from this one."""
        start = self.paths.number_of[reader]
        if self.paths.level[start] >= self.top:
            return False
        return self._sees(start) or self._search(start)

    def _sees(self, k: int) -> bool:
        """Return whether the traversal found a reader from a node (another one, if it is a
        reader).
        """
        place = bisect_right(self.found, self.paths.found[k])
        return place < len(self.found) and self.found[place] <= self.paths.last[k]

    def _search(self, start: int) -> bool:
        """Search depth first. Nodes on the path to a reader reach it; nodes that were left do
        not.
        """
        known, top, sees = self.known, self.top, self._sees
        after, level = self.paths.after, self.paths.level
        path, rests = [start], [iter(after[start])]
        while path:
            for k in rests[-1]:
                reaches = known.get(k)
                if reaches is None and level[k] < top:
                    reaches = known[k] = sees(k)  # False until found otherwise
                    if not reaches:
                        path.append(k)
                        rests.append(iter(after[k]))
                        break
                if reaches:
                    known.update(dict.fromkeys(path, True))
                    return True
            else:
                path.pop()
                rests.pop()
        return False
