"""In-place insertion: an op overwrites an input that nobody needs any more, instead of allocating.

It comes last, on the finished graph. For every value (memory, with all views of it) it asks which
of its readers can be the last one: one from which no other reader can be reached. The latest in the
graph's order can always be; the others are searched (`rewrite/lastness.py`). What was decided is
an edge of the order (the other readers first), so that later decisions know of it, and all ops are
put in together at the end. Nothing is tried and taken back.

Each decision is exact; together they are greedy, and may leave out a node that another choice would
have let work in place (1 in 200 on small random graphs, where all choices can be tried).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rewrite_engine.graph.destroyhandler import (
    DestroyHandler,
    late_reason,
    named,
    output_reason,
    reads,
)
from rewrite_engine.graph.memory import Roots, memory_of
from rewrite_engine.graph.node import Apply, Variable, build_node
from rewrite_engine.graph.op import Op
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.lastness import Paths, Search
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.step import Refusal
from rewrite_engine.rewrite.trace import Trace

_cannot: Any = Op.inplace_on_inputs


class InplaceOptimizer(GraphRewriter):
    """Give every op that can work in place (`Op.inplace_on_inputs`) an input to overwrite, where it
    is safe.
    """

    #: what a trace and a report call this step
    rule_name = "inplace/overwrite_dead_input"

    def __init__(self, name: str = "inplace") -> None:
        super().__init__(name)

    def run(self, fgraph: Any, trace: Trace | None, result: Result) -> None:
        if fgraph.guard is None:
            fgraph.attach_feature(DestroyHandler())
        choice = Choice(fgraph)
        result.visits += len(choice.nodes)
        alone = fgraph.owns_nodes and all(f is fgraph.guard for f in fgraph.features)
        quick = alone and trace is None
        try:
            choice.choose()
            if trace is not None and trace.attempts:
                self.tell(choice, trace)
        except BaseException:
            fgraph.order.remove_edges(choice.edges)
            raise
        if fgraph.facts is not None:  # all that was known of what is exchanged
            fgraph.facts.clear()
        if quick:
            self.exchange(fgraph, choice)
        else:
            fgraph.order.remove_edges(choice.edges)
            self.insert(fgraph, choice.chosen, trace)
        if choice.chosen:
            result.count(self.rule_name, len(choice.chosen))
        result.stopped = StopReason.PASSED

    def exchange(self, fgraph: Any, choice: Choice) -> None:
        """Give the nodes themselves their new ops: a third of the time that new nodes would take,
        where nobody watches the graph, and the nodes are nobody else's.
        """
        for node, op in choice.chosen.items():
            fgraph.exchange(node, op, self.rule_name)
            roots = choice.roots_of[node]
            fgraph.guard.claim(node, roots, choice.who_reads(roots))

    def insert(self, fgraph: Any, chosen: dict[Apply, Op], trace: Trace | None) -> None:
        """Put the versions that overwrite in the places of the others; settle the graph once."""
        agenda, fgraph.agenda = fgraph.agenda, []  # so that no replacement settles the graph
        order, name = fgraph.order, self.rule_name
        try:
            for node in sorted(chosen, key=order.level.__getitem__):
                level = order.level[node]
                types = tuple([v.type for v in node.outputs])
                new = build_node(chosen[node], fgraph.present_inputs(node), types, node.origin)
                if trace is not None:
                    trace.about(node, new.outputs[0])
                for old, out in zip(node.outputs, new.outputs, strict=True):
                    fgraph.replace(old, out, name)
                order.place(new, level)
                if trace is not None:
                    trace.fired(name)
                    if trace.attempts:
                        trace.tried(name, node, "fired", None, 0.0)
        finally:
            fgraph.agenda = agenda
            fgraph.queued.clear()
            fgraph.flush()

    def tell(self, choice: Choice, trace: Trace) -> None:
        """Report to a trace of attempts which ops could work in place and may not, and why."""
        for node in choice.nodes:
            if not able(node) or node in choice.chosen:
                continue
            trace.visit(choice.fgraph, node, (self.rule_name,))
            for i in range(len(node.inputs)):
                why = Refusal(choice.reason(node, i), "DestroyHandler")
                trace.tried(self.rule_name, node, "refused", why, 0.0)


class Choice:
    """Which nodes are to overwrite what: `chosen` maps them to the op that does. edges: what has to
    run before them; they are in the graph's order, and are the caller's to remove.
    """

    def __init__(self, fgraph: Any) -> None:
        self.fgraph = fgraph
        self.roots = fgraph.guard.roots
        self.nodes: list[Apply] = fgraph.toposort()
        self.chosen: dict[Apply, Op] = {}
        self.roots_of: dict[Apply, Roots] = {}  # what those overwrite
        self.edges: list[tuple[Apply, Apply]] = []
        #: roots that must not be overwritten (again) → a variable that shows it as an output, the
        #: node that overwrites it, or None where the handler says why
        self.closed: dict[Variable, Variable | Apply | None] = {}
        self.readers: dict[Variable, list[Apply]] = {}  # of a root, through all views
        self.twice: set[tuple[Apply, Variable]] = set()  # who reads a root through several inputs
        self.values: dict[Roots, list[tuple[Apply, int]]] = {}  # → who could overwrite it
        self.paths = Paths(self.nodes)
        for v in fgraph.outputs:
            for root in self.roots(v):
                self.closed.setdefault(root, v)
        for node in self.nodes:
            self._survey(node)

    def _survey(self, node: Apply) -> None:
        """Note what a node reads and might overwrite."""
        could, closed, readers = able(node), self.closed, self.readers
        for i, v in enumerate(node.inputs):
            roots = self.roots(v)
            free = True
            for root in roots:
                if root in closed or (root not in readers and self._is_closed(root)):
                    free = False
                    continue
                known = readers.setdefault(root, [])
                if known and known[-1] is node:
                    self.twice.add((node, root))
                elif reads(node, v):
                    known.append(node)
            if could and free:
                self.values.setdefault(roots, []).append((node, i))

    def _is_closed(self, root: Variable) -> bool:
        if self.fgraph.guard.owner_refusal(root) is None:
            return False
        self.closed[root] = None
        return True

    def choose(self) -> None:
        """Decide for every value: first where few nodes could take it, so that one who could take
        several leaves it the one that only it can have. Among those, what is read latest comes
        first: what is moved behind its readers need not be moved again for the others.
        """
        level = self.fgraph.order.level
        turn = {
            roots: (len(takers), -max([level[r] for r in self.who_reads(roots)]))
            for roots, takers in self.values.items()
        }
        for roots in sorted(turn, key=turn.__getitem__):
            self._decide(roots)

    def who_reads(self, roots: Roots) -> list[Apply]:
        """The readers of a value."""
        if len(roots) == 1:
            return self.readers[roots[0]]
        return list(dict.fromkeys([r for root in roots for r in self.readers.get(root, ())]))

    def _decide(self, roots: Roots) -> None:
        """Find the latest reader of a value that can overwrite it and can be the last."""
        if any(root in self.closed for root in roots):
            return
        order, readers = self.fgraph.order, self.who_reads(roots)
        level = order.level
        search = None
        for node, i in _latest_first(self.values[roots], level):
            op = None if node in self.chosen else overwriting(node, i)
            if op is None or any((node, root) in self.twice for root in roots):
                continue
            if node.op.view_map and self.fgraph.guard.read_twice(node, i, roots) is not None:
                continue
            if len(readers) > 1:
                search = search or Search(order, self.paths, readers)
                if search.is_followed(node):
                    continue
                edges = [(reader, node) for reader in readers if reader is not node]
                order.add_edges(edges)
                self.edges += edges
            self.chosen[node] = op
            self.roots_of[node] = roots
            self.closed.update(dict.fromkeys(roots, node))
            return

    def reason(self, node: Apply, i: int) -> str:
        """Why a node that was not chosen does not overwrite an input."""
        if overwriting(node, i) is None:
            return f"input {i}: no version of {node.op} overwrites it"
        fgraph, roots = self.fgraph, self.roots(node.inputs[i])
        for root in roots:
            closed = self.closed.get(root, node)
            if closed is node:
                continue
            if isinstance(closed, Variable):
                return f"input {i}: {output_reason(fgraph, roots, closed)}"
            if closed is not None:
                return f"input {i}: {root!r} is overwritten by {named(closed)} already"
            return f"input {i}: {fgraph.guard.owner_refusal(root)}"
        j = fgraph.guard.read_twice(node, i, roots)
        if j is not None:
            return f"input {i}: it reads the same memory through input {j} too"
        late = fgraph.order.conflict([(r, node) for r in self.who_reads(roots) if r is not node])
        return f"input {i}: {late_reason(roots, late)}"


def able(node: Apply) -> bool:
    """Whether a node's op may have a version that overwrites."""
    return not node.op.destroy_map and type(node.op).inplace_on_inputs is not _cannot


def overwriting(node: Apply, i: int) -> Op | None:
    """The version of a node's op that overwrites input `i` and has no other effect on memory."""
    op: Op | None = node.op.inplace_on_inputs([i], node)
    if op is None or memory_of(op).destroyed != {i}:
        return None
    return op if memory_of(op).views == memory_of(node.op).views else None


def _latest_first(
    candidates: Iterable[tuple[Apply, int]], level: dict[Apply, int]
) -> Iterator[tuple[Apply, int]]:
    return iter(sorted(candidates, key=lambda c: level[c[0]], reverse=True))
