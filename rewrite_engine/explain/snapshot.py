"""The graphs of a function as data, at any time while they were rewritten (`graph_record`): all
nodes and variables that there ever were, the graph as it was at first, and what each firing
changed. A page is drawn of this and the firings alone (`page.py`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.story import Sizes
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import held, inner_ops
from rewrite_engine.graph.journal import Leave, Redirect, Restore, State
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.origin import forward_line
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.rewrite.trace.lines import Record, start
from rewrite_engine.rewrite.trace.places import Past
from rewrite_engine.terms.print import leaf_text, which_output


def graph_records(f: FunctionReport) -> Iterator[Record]:
    """The lines of kind "graph": of the function, then of the ops in it that hold graphs."""
    record = f.record
    own = [n for n, past in record.trace.pasts.items() if past.fgraph is record.after]
    sizes = Sizes(f)
    if own:
        yield _History(f, own[0], sizes).record()
    else:
        yield _Table(f, sizes).of(record.after, None)
    for op in inner_ops(held(record.after)):
        yield _Table(f, sizes).of(op.fgraph, str(op))


class _Table:
    """Nodes and variables by numbers."""

    def __init__(self, f: FunctionReport, sizes: Sizes) -> None:
        self.f, self.sizes = f, sizes
        self.numbers: dict[Variable, int] = {}
        self.variables: list[Record] = []
        self.nodes: dict[Apply, int] = {}
        self.rows: list[Record] = []

    def of(self, fgraph: Any, inside: str | None) -> Record:
        """A graph that does not change."""
        for node in toposort(fgraph.outputs):
            self.node(node)
        outputs = [self.variable(v) for v in fgraph.outputs]
        return self.whole(fgraph, None, inside, outputs, [])

    def whole(
        self, fgraph: Any, graph: int | None, inside: str | None, outputs: list[int], changes: Any
    ) -> Record:
        """The line."""
        inputs = [self.variable(v) for v in fgraph.inputs]
        numbered = [f"output {i}" for i in range(len(outputs))]
        names = list(self.f.outputs) if inside is None else numbered
        return start("graph") | {
            "graph": graph, "inside": inside, "inputs": inputs, "outputs": outputs,
            "output_names": names, "variables": self.variables, "nodes": self.rows,
            "changes": changes,
        }  # fmt: skip

    def variable(self, v: Variable) -> int:
        """The number of a variable."""
        if v in self.numbers:
            return self.numbers[v]
        if v.owner is not None and v.owner not in self.nodes:
            self.node(v.owner)
            if v in self.numbers:
                return self.numbers[v]
        number = self.numbers[v] = len(self.variables)
        kind = "computed" if v.owner is not None else "input"
        shape = self.sizes.of(v)
        self.variables.append({
            "text": leaf_text(v) if v.owner is None else which_output(v),
            "name": v.name,
            "kind": "constant" if isinstance(v, Constant) else kind,
            "type": str(v.type),
            "shape": None if shape is None else list(shape),
            "node": None if v.owner is None else self.nodes[v.owner],
        })  # fmt: skip
        return number

    def first(self, node: Apply) -> tuple[Sequence[Variable], Any]:
        """The inputs and the op of a node when it came into the graph."""
        return node.inputs, node.op

    def node(self, node: Apply) -> int:
        """The number of a node."""
        if node in self.nodes:
            return self.nodes[node]
        inputs, op = self.first(node)
        number = self.nodes[node] = len(self.rows)
        row: Record = {}
        self.rows.append(row)
        flops, moved = self.sizes.cost(node, inputs)
        line, forward = node.where(), forward_line(node.origin)
        row.update({
            "op": str(op),
            "class": type(op).__name__,
            "inputs": [self.variable(v) for v in inputs],
            "outputs": [self.variable(v) for v in node.outputs],
            "flops": flops,
            "bytes": moved,
            "line": None if line is None else list(line),
            "forward": None if forward is None else list(forward),
        })  # fmt: skip
        return number


class _History(_Table):
    """The graph of a function, from the first firing to the last: what is known of the end is taken
    back entry by entry, and of each firing it is noted what it set.
    """

    def __init__(self, f: FunctionReport, graph: int, sizes: Sizes) -> None:
        super().__init__(f, sizes)
        self.graph = graph
        self.past: Past = f.record.trace.pasts[graph]
        self.steps = [step for step in f.record.steps if step.graph == graph]
        self.state = State(())  # at the beginning, once all is taken back
        self.early: dict[Apply, tuple[Any, Any]] = {}  # what was set before the first firing

    def first(self, node: Apply) -> tuple[Sequence[Variable], Any]:
        state = self.state
        known = state.inputs.get(node, node.inputs), state.ops.get(node, node.op)
        return self.early.get(node, known)

    def record(self) -> Record:
        """The line."""
        past, fgraph = self.past, self.past.fgraph
        state = (past.away or State.noted(fgraph, whole=False))()
        places = [step.at for step in self.steps]
        last = [bisect_right(places, k) for k in range(len(past.entries))]
        set_by: list[dict[Apply, tuple[Any, Any]]] = [{} for _ in range(len(self.steps) + 1)]
        outputs: list[list[Variable]] = [[] for _ in set_by]
        outputs[-1] = list(state.outputs)
        for k in range(len(past.entries) - 1, -1, -1):
            entry, firing = past.entries[k], last[k]
            if not outputs[firing]:
                outputs[firing] = list(state.outputs)
            for node in self.touched(entry, state):
                now = state.inputs.get(node, node.inputs), state.ops.get(node, node.op)
                set_by[firing].setdefault(node, now)
            entry.undo(state, fgraph)
        if not outputs[0]:
            outputs[0] = list(state.outputs)
        self.state, self.early = state, set_by[0]
        return self.told(fgraph, set_by, outputs)

    def touched(self, entry: Any, state: State) -> Sequence[Apply]:
        """The nodes that an entry is about."""
        if isinstance(entry, Redirect):
            return entry.clients
        if isinstance(entry, Leave):
            return (entry.node,)
        return list(state.inputs) if isinstance(entry, Restore) else ()

    def told(self, fgraph: FunctionGraph, set_by: Any, outputs: list[list[Variable]]) -> Record:
        """The first state, and the changes."""
        for node in toposort(self.state.outputs, (), self.state.inputs):
            self.node(node)
        begin = [self.variable(v) for v in outputs[0]]
        changes, now = [], begin
        for step, changed, out in zip(self.steps, set_by[1:], outputs[1:], strict=True):
            rows = {}
            for node in step.makes or ():
                self.node(node)
            for node, (inputs, op) in changed.items():
                number = self.node(node)
                rows[str(number)] = {"inputs": [self.variable(v) for v in inputs], "op": str(op)}
            then = [self.variable(v) for v in out] if out else now
            changes.append({"firing": step.number, "nodes": rows,
                            "outputs": None if then == now else then})  # fmt: skip
            now = then
        return self.whole(fgraph, self.graph, None, begin, changes)
