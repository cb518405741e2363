"""History of the graphs of a function as records (`graph_lines`): all nodes and variables that ever
existed, the first state, and the changes of each firing. The page needs this and the firings alone
(`page.py`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rewrite_engine.explain.place import source_text
from rewrite_engine.explain.record import RecordedFiring
from rewrite_engine.explain.story import Sizes
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import held, inner_ops
from rewrite_engine.graph.journal import Leave, Redirect, Restore, State
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.origin import forward_line
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.printing.formula import Formula
from rewrite_engine.rewrite.trace.places import Past
from rewrite_engine.rewrite.trace.records import (
    ChangedNode,
    GraphChange,
    GraphLine,
    NodeRow,
    SourceLine,
    VariableRow,
)
from rewrite_engine.terms.print import leaf_text, name_of, which_output

if TYPE_CHECKING:
    from rewrite_engine.explain.model import FunctionReport


def graph_lines(f: FunctionReport) -> Iterator[GraphLine]:
    """Yield the lines of kind "graph": of the function; of the ops in it that hold graphs, as they
    are in the end; and of what rules did in graphs of ops.
    """
    record = f.record
    pasts, places = record.trace.pasts, dict[int, str]()
    for step in record.steps:
        places.setdefault(step.graph, step.phase.partition(" in ")[2])
    own = [n for n, past in pasts.items() if past.fgraph is record.after]
    sizes, names = Sizes(f), op_names(inner_ops(held(record.after)))
    if own:
        yield _History(f, own, sizes, names).line(record.after, None)
    else:
        yield _Table(f, sizes, names).of(record.after, None)
    formula = Formula(record.after.outputs)
    code = dict(zip(formula.ops, formula.functions(None), strict=True))
    for op, name in names.items():
        yield _Table(f, sizes, names).of(op.fgraph, name, code.get(op, ()))
    for n, past in pasts.items():
        if n not in own and places.get(n):
            yield _History(f, [n], sizes, names).line(past.fgraph, places[n])


def op_names(ops: Iterable[Any]) -> dict[Any, str]:
    """Return distinct names for ops that hold graphs: `Scan`, `Scan #2`, …"""
    times = Counter[str]()
    names: dict[Any, str] = {}
    for op in ops:
        times[str(op)] += 1
        names[op] = f"{op} #{times[str(op)]}" if times[str(op)] > 1 else str(op)
    return names


#: nodes, and what they are from then on: their inputs and their op
Changes = dict[Apply, tuple[Any, Any]]


class _Table:
    """Nodes and variables by numbers. names: of the ops that hold graphs in the end."""

    def __init__(self, f: FunctionReport, sizes: Sizes, names: dict[Any, str]) -> None:
        self.f, self.sizes, self.names = f, sizes, names
        self.numbers: dict[Variable, int] = {}
        self.variables: list[VariableRow] = []
        self.nodes: dict[Apply, int] = {}
        self.rows: list[NodeRow] = []

    def of(self, fgraph: Any, inside: str | None, code: Sequence[str] = ()) -> GraphLine:
        """Return the line of a graph that does not change. code: its lines as a function."""
        for node in toposort(fgraph.outputs):
            self.node(node)
        outputs = [self.variable(v) for v in fgraph.outputs]
        return self.whole(fgraph, None, inside, outputs, [], code)

    def whole(
        self,
        fgraph: Any,
        graph: int | None,
        inside: str | None,
        outputs: list[int],
        changes: Any,
        code: Sequence[str] = (),
    ) -> GraphLine:
        """Return the line."""
        inputs = [self.variable(v) for v in fgraph.inputs]
        numbered = tuple([f"output {i}" for i in range(len(outputs))])
        names = self.f.outputs if inside is None else numbered
        return GraphLine(
            function=self.f.name, function_index=self.f.index, graph=graph, inside=inside,
            inputs=inputs, outputs=outputs, output_names=names, variables=self.variables,
            nodes=self.rows, changes=changes, sources=self.sources(), code=tuple(code),
        )  # fmt: skip

    def sources(self) -> tuple[SourceLine, ...]:
        """Return the lines of code that nodes come from, in order."""
        lines = {line for row in self.rows for line in (row.line, row.forward) if line is not None}
        return tuple(
            [SourceLine(file=one[0], line=one[1], text=source_text(one)) for one in sorted(lines)]
        )

    def variable(self, v: Variable) -> int:
        """Return the number of a variable, with a row for it."""
        if v in self.numbers:
            return self.numbers[v]
        if v.owner is not None and v.owner not in self.nodes:
            self.node(v.owner)
            if v in self.numbers:
                return self.numbers[v]
        number = self.numbers[v] = len(self.variables)
        kind = "computed" if v.owner is not None else "input"
        shape = self.sizes.of(v)
        row = VariableRow(
            text=leaf_text(v) if v.owner is None else which_output(v),
            name=name_of(v),
            kind="constant" if isinstance(v, Constant) else kind,  # type: ignore[arg-type]
            type=str(v.type),
            shape=None if shape is None else list(shape),
            node=None if v.owner is None else self.nodes[v.owner],
        )
        self.variables.append(row)
        return number

    def op_text(self, op: Any) -> str:
        """Return the name of an op in this report."""
        return self.names.get(op, str(op))

    def first(self, node: Apply) -> tuple[Sequence[Variable], Any]:
        """Return the inputs and the op of a node when it came into the graph."""
        return node.inputs, node.op

    def node(self, node: Apply) -> int:
        """Return the number of a node, with a row for it."""
        if node in self.nodes:
            return self.nodes[node]
        inputs, op = self.first(node)
        number = self.nodes[node] = len(self.rows)
        flops, moved = self.sizes.cost(node, inputs)
        row = NodeRow(
            op=self.op_text(op),
            class_=type(op).__name__,
            inputs=[],
            outputs=[],
            flops=flops,
            bytes=moved,
            line=node.where(),
            forward=forward_line(node.origin),
            commutative=bool(op.commutative),
        )
        self.rows.append(row)  # (an input may need further rows)
        row.inputs = [self.variable(v) for v in inputs]
        row.outputs = [self.variable(v) for v in node.outputs]
        return number


class _Stretch:
    """Changes of a graph while a trace listened to it without a break: the state at its beginning,
    and what was set before the first firing (0) and by each (1, 2, …).
    """

    def __init__(self, past: Past, steps: Sequence[RecordedFiring]) -> None:
        self.steps = steps
        make = past.away or State.noted(past.fgraph, whole=False)
        self.end, state = make(), make()
        places = [step.at for step in steps]
        self.set_by: list[Changes] = [{} for _ in range(len(steps) + 1)]
        self.outputs: list[list[Variable]] = [[] for _ in self.set_by]
        self.outputs[-1] = list(state.outputs)
        for k in range(len(past.entries) - 1, -1, -1):
            entry, firing = past.entries[k], bisect_right(places, k)
            self.outputs[firing] = self.outputs[firing] or list(state.outputs)
            for node in touched(entry, state):
                self.set_by[firing].setdefault(node, what_is(node, state))
            entry.undo(state, past.fgraph)
        self.begin = state
        self.outputs[0] = self.outputs[0] or list(state.outputs)

    def begins_after(self, before: _Stretch) -> None:
        """Count what changed since the end of another stretch as set at first."""
        for node in toposort(self.begin.outputs, (), self.begin.inputs):
            now = what_is(node, self.begin)
            if node not in before.end.inputs or now != what_is(node, before.end):
                self.set_by[0].setdefault(node, now)


def what_is(node: Apply, state: State) -> tuple[Any, Any]:
    """Return the inputs and the op of a node in a state."""
    return state.inputs.get(node, node.inputs), state.ops.get(node, node.op)


def touched(entry: Any, state: State) -> Sequence[Apply]:
    """Return the nodes that an entry of a journal is about."""
    if isinstance(entry, Redirect):
        return entry.clients
    if isinstance(entry, Leave):
        return (entry.node,)
    return list(state.inputs) if isinstance(entry, Restore) else ()


class _History(_Table):
    """Graph of a function, from the first firing to the last. Changes between two stretches, and
    before a first firing, count with the firing before.
    """

    def __init__(
        self, f: FunctionReport, graphs: Sequence[int], sizes: Sizes, names: dict[Any, str]
    ) -> None:
        super().__init__(f, sizes, names)
        pasts = f.record.trace.pasts
        self.stretches = [
            _Stretch(pasts[n], [step for step in f.record.steps if step.graph == n]) for n in graphs
        ]
        for one, following in pairwise(self.stretches):
            following.begins_after(one)
        self.graph = graphs[0]

    def first(self, node: Apply) -> tuple[Sequence[Variable], Any]:
        """Return the inputs and the op of a node in the first stretch that knows it."""
        for one in self.stretches:
            if one is self.stretches[0] and node in one.set_by[0]:
                return one.set_by[0][node]
            if node in one.begin.inputs:
                return what_is(node, one.begin)
        return node.inputs, node.op

    def line(self, fgraph: FunctionGraph, inside: str | None) -> GraphLine:
        """Return the line: the first state, and the changes."""
        whole, begin = self.stretches[0], self.stretches[0].begin
        for node in toposort(begin.outputs, (), begin.inputs):
            self.node(node)
        outputs = [self.variable(v) for v in whole.outputs[0]]
        changes: list[GraphChange] = []
        for stretch in self.stretches:
            if changes and stretch is not whole:
                self.note(changes[-1], stretch.set_by[0], stretch.outputs[0])
            elif stretch is not whole:
                for node, (inputs, op) in stretch.set_by[0].items():
                    row = self.rows[self.node(node)]
                    row.inputs, row.op = [self.variable(v) for v in inputs], self.op_text(op)
                outputs = [self.variable(v) for v in stretch.outputs[0]]
            firings = zip(stretch.steps, stretch.set_by[1:], stretch.outputs[1:], strict=True)
            for step, changed, out in firings:
                for node in step.makes or ():
                    self.node(node)
                old, new = self.variable(step.old), self.variable(step.new)
                changes.append(GraphChange(
                    firing=step.number, nodes={}, outputs=None, old=old, new=new, letters={},
                ))  # fmt: skip
                self.note(changes[-1], changed, out)
        steps = [step for stretch in self.stretches for step in stretch.steps]
        for step, change in zip(steps, changes, strict=True):
            named = zip(step.change.letters, step.change.stand_ins, strict=True)
            known = [(name, self.numbers.get(v)) for (name, _), v in named]
            change.letters = {name: number for name, number in known if number is not None}
        return self.whole(fgraph, self.graph, inside, outputs, changes)

    def note(self, change: GraphChange, changed: Changes, outputs: Sequence[Variable]) -> None:
        """Record what was set in a change."""
        for node, (inputs, op) in changed.items():
            row = ChangedNode(inputs=[self.variable(v) for v in inputs], op=self.op_text(op))
            change.nodes[str(self.node(node))] = row
        if outputs:
            change.outputs = [self.variable(v) for v in outputs]
