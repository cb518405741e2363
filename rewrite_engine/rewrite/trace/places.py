"""Where a node is in a graph that is being rewritten: an address that holds in a replay too.

(0, i) is the i-th node of the graph as it was, in the order of `graph/traverse.py` from its
outputs; (k, j) is the j-th node of the term that firing k made, operands first, counting those that
the graph did not have yet. So an address depends on the graph and on what fired, and neither on
object identity nor on when changes were settled.

Addresses are worked out when lines are written: until then a trace keeps the nodes, and `Past` the
graph as it was. That of a trace with a `size` listens to what changes; replays begin with the graph
as it was before the oldest entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, is_
from typing import Any, NamedTuple

from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.intake import copied
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.replace import substitute
from rewrite_engine.graph.traverse import toposort

Place = tuple[int, int]
Inputs = dict[Apply, tuple[Variable, ...]]

REDIRECT, ENTER, TYPE, RESTORED = range(4)


class PastState(NamedTuple):
    """A graph after so many changes. inputs: of its nodes; outputs: where each of them stands."""

    end: int
    inputs: Inputs
    outputs: dict[Variable, list[int]]

    @classmethod
    def of(cls, fgraph: FunctionGraph, end: int) -> PastState:
        """The state that a graph is in."""
        nodes = fgraph.apply_nodes
        inputs = dict(zip(nodes, map(attrgetter("inputs"), nodes), strict=True))
        inputs.update((node, fgraph.present_inputs(node)) for node in fgraph.dirty)
        return cls(end, inputs, {v: list(uses) for v, uses in fgraph.out_uses.items()})


class Past(Feature):
    """One graph as it was when the oldest entry that a trace has of it was made.

    number: of the graph in the trace, from 1 on. states: the first is not younger than that entry.
    types: of variables whose types changed, as they were in the first. log: the changes since then.
    turned: whether entries have left. From then on the present state is kept each time that the log
    has got longer by the number of nodes or of what is needed, and what is older than the last one
    that may be needed goes: a tenth of a microsecond a change, and 300 bytes a node.
    """

    def __init__(self, fgraph: FunctionGraph, number: int) -> None:
        fgraph.flush()
        self.fgraph = fgraph
        self.known = fgraph.clients
        self.number = number
        self.states = [PastState.of(fgraph, 0)]
        self.types: dict[Variable, Any] = {}
        self.log: list[tuple[Any, ...]] = []
        self.start = 0
        self.due = 0  # when to keep the present state
        self.turned = False
        self.away = False  # whether it has not listened for a while

    @property
    def end(self) -> int:
        """The number of changes until now."""
        return self.start + len(self.log)

    def turn(self, oldest: int) -> None:
        """Entries have left. oldest: the changes before those that are there. Keep the present
        state; forget what is older than the last that is needed.
        """
        self.turned = True
        states, end = self.states, self.end
        states.append(PastState.of(self.fgraph, end))
        self.due = end + max(len(states[-1].inputs), end - oldest, 1000)
        last = max(i for i, state in enumerate(states) if state.end <= oldest)
        gone = states[last].end - self.start
        for kind, what, *values in self.log[:gone]:
            if kind == TYPE:
                self.types[what] = values[0]
            elif kind == RESTORED:
                self.types.update(values[1])
        del self.log[:gone], states[:last]
        self.start += gone

    # --- reading ---------------------------------------------------------------------------------

    def at(self, end: int) -> Then:
        """The graph after so many changes."""
        state = [one for one in self.states if one.end <= end][-1]
        then = Then(self, state)
        for i, change in enumerate(self.log[: end - self.start], self.start):
            then.change(i >= state.end, *change)
        return then

    # --- listening -------------------------------------------------------------------------------

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if self.away:
            self.on_restore(fgraph)  # somebody may have changed the graph between two runs
        self.away = False

    def on_detach(self, fgraph: FunctionGraph) -> None:
        self.away = True

    def on_redirect(
        self,
        fgraph: FunctionGraph,
        old: Variable,
        new: Variable,
        clients: Sequence[Apply],
        reason: Any,
    ) -> None:
        self.log.append((REDIRECT, clients, old, new))

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.log.append((ENTER, node, node.inputs))

    def on_change_type(self, fgraph: FunctionGraph, var: Variable, old: Any, new: Any) -> None:
        self.types.setdefault(var, old)
        self.log.append((TYPE, var, new))

    def on_restore(self, fgraph: FunctionGraph) -> None:
        """Note what is not as it was just now."""
        was, now = self.at(self.end).inputs, PastState.of(fgraph, self.end)
        other = {
            node: inputs
            for node, inputs in now.inputs.items()
            if node not in was or not all(map(is_, was[node], inputs))
        }
        self.log.append((RESTORED, other, now.outputs, {v: v.type for v in self.types}))

    def clone(self) -> Feature:
        return Feature()  # a copy of the graph has its own past


class Then:
    """A graph as it was at some time."""

    def __init__(self, past: Past, state: PastState) -> None:
        self.past = past
        self.inputs, self.outputs = dict(state.inputs), dict(state.outputs)
        self.types = dict(past.types)

    def change(self, later: bool, kind: int, what: Any, *values: Any) -> None:
        """Go on by one change. later: whether the state that this began with has it not yet."""
        if kind == TYPE:
            self.types[what] = values[0]
        elif kind == RESTORED:
            self.types.update(values[1])
        if not later:
            return
        inputs, outputs = self.inputs, self.outputs
        if kind == REDIRECT:
            old, new = values
            for client in what:
                inputs[client] = substitute(inputs[client], [(old, new)])
            if old in outputs:
                outputs[new] = [*outputs.get(new, ()), *outputs.pop(old)]
        elif kind == ENTER:
            inputs[what] = values[0]
        elif kind == RESTORED:
            inputs.update(what)
            self.outputs = dict(values[0])

    def numbers(self) -> dict[Apply, Place]:
        """The address of each node in the graph that `copy` returns."""
        graph, own = self.copy()
        index = {node: i for i, node in enumerate(numbered(graph))}
        return {node: (0, index[copy]) for node, copy in own.items()}

    def copy(self) -> tuple[FunctionGraph, dict[Apply, Apply]]:
        """The graph in this state, and the nodes that stand for those that were there. Nodes that
        were to be found equal are one.
        """
        fgraph = self.past.fgraph
        order = toposort(self.outputs, (), self.inputs)
        memo: dict[Variable, Variable] = {v: v.clone() for v in fgraph.inputs}
        made: dict[Apply, Apply] = {}
        for node in order:
            made[node] = copy = copied(node, tuple([memo.get(v, v) for v in self.inputs[node]]))
            for old, new in zip(node.outputs, copy.outputs, strict=True):
                new.type = self.types.get(old, old.type)
                memo[old] = new
        outputs: list[Any] = [None] * sum(map(len, self.outputs.values()))
        for v, uses in self.outputs.items():
            for i in uses:
                outputs[i] = memo.get(v, v)
        twins: dict[Variable, Variable] = {}
        inputs = [memo[v] for v in fgraph.inputs]
        merging = self.past.turned
        graph = FunctionGraph(inputs, outputs, clone=False, memo=twins, merging=merging)
        graph.reorders = fgraph.reorders
        return graph, {node: twin(copy, twins) for node, copy in made.items()}


def twin(node: Apply, twins: Mapping[Variable, Variable]) -> Apply:
    """The node that stands for a copy."""
    out = node.outputs[0]
    found: Apply = twins.get(out, out).owner
    return found


def numbered(fgraph: FunctionGraph) -> list[Apply]:
    """The nodes of a graph in an order that copies of it share."""
    fgraph.flush()
    return toposort(fgraph.outputs)


def made(known: Mapping[Variable, Any], new: Variable) -> Sequence[Apply]:
    """The nodes of a term that a graph does not have (it has `known`), operands first."""
    return () if new in known else toposort([new], known)


def addresses(firings: Iterable[Any], pasts: Mapping[int, Past]) -> dict[int, Place]:
    """Where firings took place, by their numbers; the rest of one go has no address."""
    place: dict[Apply, Place] = {}
    found: dict[int, Place] = {}
    graph = 0
    for firing in firings:
        if firing.graph != graph:
            if firing.graph not in pasts or (firing.part and pasts[firing.graph].turned):
                continue  # the rest of what was done in one go
            graph = firing.graph
            place = pasts[graph].at(firing.at if pasts[graph].turned else 0).numbers()
        if firing.node in place:
            found[firing.number] = place[firing.node]
        for j, node in enumerate(firing.makes):
            place[node] = (firing.number, j)
    return found
