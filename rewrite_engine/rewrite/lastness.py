"""Can a reader of a value run after all the others? It can unless one of them is reachable from it.

Searching the graph for every reader would cost the distance between the readers: in the gradient of
a deep graph, most of the graph for each value. Three things keep it short. No path leads to a lower
level. One traversal of the graph (`Paths`) tells at once of most paths that they are there. And the
readers of one value share what a search has found (`Search`). The answers are exact.

Who asks: `rewrite/inplace.py`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence

from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.order import Order


class Paths:
    """A depth-first traversal of a graph: `first[n]` to `last[n]` are the numbers of the nodes that
    were found from `n`, and so can be reached from it. It is made when first asked for, and stays
    true while edges are added.

    toposort: gives the nodes in topological order. The nearest client is followed first, which
    finds long paths.
    """

    def __init__(self, toposort: Callable[[], Sequence[Apply]]) -> None:
        self.toposort = toposort
        self.first: dict[Apply, int] = {}
        self.last: dict[Apply, int] = {}

    def number(self) -> None:
        """Traverse, unless that is done."""
        if self.first:
            return
        nodes = self.toposort()
        clients: dict[Apply, list[Apply]] = {node: [] for node in nodes}
        for node in nodes:
            for v in node.inputs:
                if v.owner is not None:
                    clients[v.owner].append(node)
        for node in nodes:
            if node not in self.first:
                self._walk(node, clients)

    def _walk(self, start: Apply, clients: dict[Apply, list[Apply]]) -> None:
        first, last = self.first, self.last
        first[start] = len(first)
        path: list[tuple[Apply, Iterator[Apply]]] = [(start, iter(clients[start]))]
        while path:
            node, rest = path[-1]
            for client in rest:
                if client not in first:
                    first[client] = len(first)
                    path.append((client, iter(clients[client])))
                    break
            else:
                last[node] = len(first) - 1
                path.pop()


class Search:
    """Searches from the readers of one value for its other readers."""

    def __init__(self, order: Order, paths: Paths, readers: Collection[Apply]) -> None:
        self.order, self.paths, self.readers = order, paths, set(readers)
        self.top = max([order.level[r] for r in readers])
        self.numbers: list[int] = []
        self.known: dict[Apply, bool] = {}  # whether a reader is reached; from a reader: another

    def is_followed(self, reader: Apply) -> bool:
        """Whether another reader can be reached from this one."""
        if self.order.level[reader] >= self.top:
            return False
        if not self.numbers:
            self.paths.number()
            self.numbers = sorted([self.paths.first[r] for r in self.readers])
        return self._sees(reader) or self._search(reader)

    def _sees(self, node: Apply) -> bool:
        """Whether the traversal found a reader from a node (another one, if it is a reader)."""
        first, last = self.paths.first[node], self.paths.last[node]
        k = bisect_left(self.numbers, first + 1)
        return k < len(self.numbers) and self.numbers[k] <= last

    def _search(self, start: Apply) -> bool:
        """Depth first. What is on the path to a reader reaches it; what was left behind does
        not.
        """
        level, known, readers = self.order.level, self.known, self.readers
        path = [(start, self._next(start))]
        while path:
            rest = path[-1][1]
            for after in rest:
                if after in readers or known.get(after) or self._sees(after):
                    known.update([(n, True) for n, _ in path])
                    return True
                if after not in known and level[after] < self.top:
                    known[after] = False  # until found otherwise
                    path.append((after, self._next(after)))
                    break
            else:
                path.pop()
        return False

    def _next(self, node: Apply) -> Iterator[Apply]:
        return iter(self.order.successors(node))
