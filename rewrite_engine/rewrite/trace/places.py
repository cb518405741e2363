"""Where a node is in a graph that is being rewritten: an address that holds in a replay too.

(0, i) is the i-th node of the graph as it was, in the order of `graph/traverse.py` from its
outputs; (k, j) is the j-th node of the term that firing k made, operands first, counting those that
the graph did not have yet. So an address depends on the graph and on what fired, and neither on
object identity nor on when changes were settled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.traverse import toposort

Place = tuple[int, int]


class Places:
    """The addresses of the nodes of one graph after the other. wanted: whether anybody asks.

    graph: the number of the present graph, from 1 on.
    """

    def __init__(self, wanted: bool = True) -> None:
        self.wanted = wanted
        self.graph = 0
        self.fgraph: Any = None
        self.place: dict[Apply, Place] = {}
        self.made: Sequence[Apply] = ()

    def begin(self, fgraph: Any) -> None:
        """A run on a graph begins; if it is another one than before, its nodes get addresses."""
        if fgraph is None or fgraph is self.fgraph:
            return
        self.fgraph = fgraph
        self.graph += 1
        if self.wanted:
            self.place = {node: (0, i) for i, node in enumerate(numbered(fgraph))}

    def about(self, node: Apply, new: Any) -> Place | None:
        """The address of a node that something is about to be done to; `new` is what is made."""
        if not self.wanted:
            return None
        self.made = made(self.fgraph, new)
        return self.place.get(node)

    def fired(self, number: int) -> None:
        """It was done, and has a number: what is new has an address now."""
        for j, node in enumerate(self.made):
            self.place[node] = (number, j)
        self.made = ()


def numbered(fgraph: Any) -> list[Apply]:
    """The nodes of a graph in an order that copies of it share."""
    fgraph.flush()
    return toposort(fgraph.outputs)


def made(fgraph: Any, new: Any) -> Sequence[Apply]:
    """The nodes of a term that a graph does not have, operands first."""
    if fgraph is None or not isinstance(new, Variable) or new in fgraph.clients:
        return ()
    return toposort([new], fgraph.clients)
