"""Addresses of nodes in a graph that is being rewritten, which also hold in a replay.

(0, i) is the i-th node of the original graph, in the order of `graph/traverse.py` from its outputs;
(k, j) is the j-th node of the term that firing k made, operands first, counting only new nodes. So
an address depends on the graph and on the firings, and neither on object identity nor on when
changes were settled.

Addresses are computed when lines are written: until then a trace stores the nodes, and in `Past`
the journal of the graph. The trace therefore knows the graph before its oldest firing, with which
replays begin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.journal import Journal, Restore, State
from rewrite_engine.graph.node import Apply, Variable, copied
from rewrite_engine.graph.traverse import toposort

Address = tuple[int, int]


class Past(Journal):
    """Journal of one graph that a trace sees, back to the trace's oldest entry about it.

    count: the number of the last firing before. turned: whether entries have left the trace. away:
    the last state, while this does not listen.
    """

    def __init__(self, fgraph: FunctionGraph, count: int) -> None:
        super().__init__()
        self.fgraph, self.count, self.known = fgraph, count, fgraph.users
        self.turned = False
        self.away: Callable[[], State] | None = None

    def turn(self, oldest: int) -> None:
        """Handle entries that left the trace. oldest: the position of the remaining ones."""
        self.turned = True
        if 2 * (oldest - self.forgotten) > len(self.entries) + 1000:
            self.forget(oldest)

    def at(self, position: int) -> State:
        """Return the state of the graph at a position."""
        now = self.away or State.noted(self.fgraph, whole=False)
        return self.undone(self.fgraph, now(), position)

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if self.away is not None:  # somebody may have changed the graph between two runs
            self.note(Restore(self.away()))
        self.away = None

    def on_detach(self, fgraph: FunctionGraph) -> None:
        self.away = State.noted(fgraph, whole=False)

    def clone(self) -> Feature:
        return Feature()  # a copy of the graph has its own past

    # --- addresses -------------------------------------------------------------------------------

    def numbers(self, position: int) -> dict[Apply, Address]:
        """Return the address of each node in the graph that `copy` returns."""
        graph, own = self.copy(position)
        index = {node: i for i, node in enumerate(numbered(graph))}
        return {node: (0, index[copy]) for node, copy in own.items()}

    def copy(self, position: int) -> tuple[FunctionGraph, dict[Apply, Apply]]:
        """Return the graph at a position, and the counterparts of its nodes. Nodes that merging
        would have found equal are one.
        """
        fgraph, state = self.fgraph, self.at(position)
        memo: dict[Variable, Variable] = {v: v.clone() for v in fgraph.inputs}
        made: dict[Apply, Apply] = {}
        for node in toposort(state.outputs, (), state.inputs):
            made[node] = copy = copied(node, tuple([memo.get(v, v) for v in state.inputs[node]]))
            copy.set_op(state.ops.get(node, node.op))
            for old, new in zip(node.outputs, copy.outputs, strict=True):
                new.type = state.types.get(old, old.type)
                memo[old] = new
        twins: dict[Variable, Variable] = {}
        inputs, outputs = [memo[v] for v in fgraph.inputs], [memo.get(v, v) for v in state.outputs]
        graph = FunctionGraph(inputs, outputs, clone=False, memo=twins, merging=self.turned)
        graph.reorders = fgraph.reorders
        first = {node: copy.outputs[0] for node, copy in made.items()}
        return graph, {node: twins.get(out, out).owner for node, out in first.items()}


def numbered(fgraph: FunctionGraph) -> list[Apply]:
    """Return the nodes of a graph in an order that copies of it share."""
    fgraph.flush()
    return toposort(fgraph.outputs)


def made(known: Mapping[Variable, Any], new: Variable) -> Sequence[Apply]:
    """Return the nodes of a term that a graph does not have (it has `known`), operands first."""
    return () if new in known else toposort([new], known)
