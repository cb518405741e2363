"""In-place insertion: an op overwrites an input that is no longer needed, instead of allocating.

It comes last, on the finished graph. A value with one reader may be overwritten by that node: this
costs nothing else, and needs no look at the order. For every other value (memory, with all views of
it) the pass finds readers that can be the last: readers from which no other reader can be reached.
The latest in the graph's order always can; the others are searched (`rewrite/reachability.py`). A
decision becomes edges of the order (the other readers first), so that later decisions respect it,
and all ops are inserted together at the end. Nothing is tried and undone.

Each decision is exact; together they are greedy, and may miss a node that another choice would have
let work in place (1 in 200 on small random graphs, where all choices can be tried).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from operator import itemgetter
from typing import Any, cast

from rewrite_engine.graph.destroyhandler import named
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.memory import Roots, memory_of
from rewrite_engine.graph.node import Apply, Variable, build_node
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.order import Worklist
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.reachability import Paths, Search
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.step import Refusal
from rewrite_engine.rewrite.trace import Trace, asked_for_tries

#: level of the latest reader, roots, who could overwrite them (and which input), all readers
Value = tuple[int, Roots, list[tuple[Apply, int]], Collection[Apply]]


class InplaceOptimizer(GraphRewriter):
    """Driver that lets ops overwrite an input (`Op.inplace_on_inputs`) where it is safe."""

    name = "inplace"
    #: what a trace and a report call this step
    rule_name = "inplace/overwrite_dead_input"

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        if fgraph.destroy_handler is None:
            fgraph.watch()
        choice = Choice(fgraph)
        result.visits += len(fgraph)
        tries, done = asked_for_tries(fgraph), False
        try:
            choice.choose()
            if tries is not None:
                self.tell(choice, tries)
            if fgraph.facts is not None:  # all that was known of what is exchanged
                fgraph.facts.clear()
            if fgraph.owns_nodes:
                fgraph.exchange(choice.claims, choice.ops, self.rule_name)
                done = True
        finally:
            if not done:
                choice.leave_order()
        if done:
            handler = fgraph.destroy_handler  # that others come first is in the order already
            handler.claims.update(choice.claims)
            handler.destroyer.update(choice.taken)
        else:
            self.insert(fgraph, dict(zip(choice.claims, choice.ops, strict=True)))
        if tries is not None:
            for node in choice.claims:
                tries.tried(self.rule_name, node, "fired", None, 0.0)
        if choice.ops:
            result.count(self.rule_name, len(choice.ops))
        result.stopped = StopReason.PASSED

    def insert(self, fgraph: FunctionGraph, chosen: dict[Apply, Op]) -> None:
        """Replace nodes that belong to somebody else; settle the graph once."""
        fgraph.worklist = Worklist()  # so that no replacement settles the graph
        order = fgraph.order
        try:
            for node in sorted(chosen, key=order.level.__getitem__):
                level, types = order.level[node], tuple([v.type for v in node.outputs])
                new = build_node(chosen[node], fgraph.present_inputs(node), types, node.origin)
                for old, out in zip(node.outputs, new.outputs, strict=True):
                    fgraph.replace(old, out, self.rule_name)
                order.level[new] = level  # above the same inputs, below the same clients
        finally:
            fgraph.worklist = None
            fgraph.flush()

    def tell(self, choice: Choice, tries: Trace) -> None:
        """Report to a trace of attempts which ops could work in place and may not, and why."""
        for node in choice.fgraph.toposort():
            if node in choice.claims or node.op not in choice.able:
                continue
            tries.visit(choice.fgraph, node, (self.rule_name,))
            for i in range(len(node.inputs)):
                why = Refusal(choice.reason(node, i), "DestroyHandler")
                tries.tried(self.rule_name, node, "refused", why, 0.0)


class Choice:
    """Choice of the nodes that overwrite values: `claims` maps them to the roots, `ops` holds their
    in-place ops. before: the nodes that must run before them; they are in the graph's order, and
    the caller may leave them there or not.
    """

    def __init__(self, fgraph: FunctionGraph) -> None:
        fgraph.flush()
        self.fgraph, self.handler, self.order = fgraph, fgraph.destroy_handler, fgraph.order
        self.claims: dict[Apply, Roots] = {}
        self.ops: list[Op] = []  # in the order of `claims`
        self.taken: dict[Variable, Apply] = {}  # the inverse
        self.before: dict[Apply, dict[Apply, None]] = {}
        #: values that several nodes read, or that are views → who could overwrite them
        self.shared: dict[Roots, list[tuple[Apply, int]]] = {}
        self.readers: dict[Variable, Collection[Apply]] = {}  # of a root that has views
        self.repeated: dict[Apply, set[Variable]] = {}  # roots that a node reads several times
        ops, never = {node.op for node in self.order.level}, cast(Any, Op.inplace_on_inputs)
        able = {op for op in ops if type(op).inplace_on_inputs is not never}
        self.able = {op for op in able if not op.destroy_map}
        self.versions: dict[Any, dict[int, Op | None]] = {}  # by form and input
        self.paths: Paths | None = None  # made for the first search
        #: nodes that conditions are computed from: what is put before them runs in all branches
        self.early = _before_conditions(self.order.level) if fgraph.lazy else set()

    def _own(self) -> None:
        """Give each node the first value that only it reads; record others that it might
        overwrite.
        """
        clients, shown, mutable = self.fgraph.users, self.fgraph.out_uses, self.handler.mutable
        for node in self.order.level:
            op, inputs = node.op, node.inputs
            if op not in self.able:
                continue
            others = []
            for i, v in enumerate(inputs):
                owner = v.owner
                if (owner is None and v not in mutable) or v in shown:
                    continue
                if len(clients[v]) > 1 or op.view_map or (owner and owner.op.view_map):
                    others.append(i)
                    continue
                new, roots = self.version(node, i), (v,)
                if new is not None and not self._reads_again(node, roots):
                    self.ops.append(new)
                    self.claims[node] = roots
                    self.taken[v] = node
                    break
            else:
                for i in others:
                    v = inputs[i]
                    roots = self.handler.roots(v) if _is_view(v) else (v,)
                    self.shared.setdefault(roots, []).append((node, i))

    def version(self, node: Apply, i: int) -> Op | None:
        """Return the version of a node's op that overwrites input `i` (`overwriting`), or None;
        cached for all nodes with that op and such inputs and outputs.
        """
        inputs, outputs = node.inputs, node.outputs
        n = len(inputs)
        form: tuple[Any, ...]
        if 0 < n < 3 and len(outputs) == 1:  # by far the most
            form = node.op, n, inputs[0].type, inputs[-1].type, outputs[0].type
        else:
            form = node.op, n, *[v.type for v in inputs], *[v.type for v in outputs]
        row = self.versions.setdefault(form, {})
        return row[i] if i in row else row.setdefault(i, overwriting(node, i))

    def choose(self) -> None:
        """Decide for every value. Shared values with few candidate nodes come first, so that a node
        with several candidates leaves a value to the node that has only one. Among those, the value
        that is read latest comes first: nodes moved behind its readers need not be moved again for
        the others.
        """
        self._own()
        level, claims, by_number = self.order.level, self.claims, dict[int, list[Value]]()
        closed = {root for v in self.fgraph.outputs for root in self.handler.roots(v)}
        while self.shared:
            roots, takers = self.shared.popitem()
            left = [taker for taker in takers if taker[0] not in claims]
            if left and not any(
                [root in closed or self.handler.owner_refusal(root) for root in roots]
            ):
                readers = self._who_reads(roots)
                value = max([level[r] for r in readers]), roots, left, readers
                by_number.setdefault(len(left), []).append(value)
        for number in sorted(by_number):
            values = by_number[number]
            values.sort(key=itemgetter(0))
            while values:
                self._decide(*values.pop()[1:])

    def _decide(
        self, roots: Roots, takers: list[tuple[Apply, int]], readers: Collection[Apply]
    ) -> None:
        """Find the latest reader of a value that can overwrite it and can be the last."""
        if not self.taken.keys().isdisjoint(roots):
            return
        level = self.order.level
        search = None
        if len(takers) > 1:
            takers.sort(key=lambda taker: level[taker[0]], reverse=True)
        top = max([level[reader] for reader in readers])
        for node, i in takers:
            op = None if node in self.claims else self.version(node, i)
            if op is None or self._reads_again(node, roots):
                continue
            if node in self.early and not self.early.issuperset(readers):
                continue
            if level[node] < top:
                self.paths = self.paths or Paths(self.fgraph)
                search = search or Search(self.paths, readers)
                if search.is_followed(node):
                    continue
            if len(readers) > 1:
                self._put_first(readers, node)
            self.ops.append(op)
            self.claims[node] = roots
            self.taken.update(dict.fromkeys(roots, node))
            return

    def _put_first(self, readers: Iterable[Apply], node: Apply) -> None:
        """Order the other readers before the node that will overwrite the value."""
        others = dict.fromkeys(readers)
        others.pop(node, None)
        raised = self.order.raised = []
        try:
            self.order.add_edges([(reader, node) for reader in others])
        finally:
            self.order.raised = None
        self.before[node] = others
        if self.paths is not None:
            level = self.order.level
            self.paths.link(others, node, {higher: level[higher] for higher in raised})

    def leave_order(self) -> None:
        """Remove the added constraints from the graph's order."""
        for node, others in self.before.items():
            self.order.remove_edges([(reader, node) for reader in others])

    def _who_reads(self, roots: Roots) -> Collection[Apply]:
        """Return the readers of a value, through all views."""
        if len(roots) > 1:
            return dict.fromkeys([r for root in roots for r in self._who_reads((root,))])
        (root,) = roots
        clients: Collection[Apply] = self.fgraph.users[root]
        if not any([client.op.view_map for client in clients]):
            return clients
        found = self.readers.get(root)
        if found is None:
            found = self.readers[root] = self.handler.who_sees(self.fgraph, roots)[0]
        return found

    def _reads_again(self, node: Apply, roots: Roots) -> bool:
        """Return whether a node reads one of the roots through several inputs."""
        inputs = node.inputs
        if len(inputs) == 1:
            return False
        if len(inputs) == 2 and not (_is_view(inputs[0]) or _is_view(inputs[1])):
            return inputs[0] is inputs[1]
        found = self.repeated.get(node)
        if found is None:
            times = Counter([root for v in inputs for root in self.handler.roots(v)])
            found = self.repeated[node] = {root for root, n in times.items() if n > 1}
        return not found.isdisjoint(roots)

    def reason(self, node: Apply, i: int) -> str:
        """Explain why a node that was not chosen does not overwrite an input."""
        if self.version(node, i) is None:
            return f"input {i}: no version of {node.op} overwrites it"
        roots = self.handler.roots(node.inputs[i])
        for root in roots:
            if root in self.taken:
                return f"input {i}: {root!r} is already overwritten by {named(self.taken[root])}"
        return f"input {i}: {self.handler.refusal(self.fgraph, node, i)}"


def _before_conditions(nodes: Iterable[Apply]) -> set[Apply]:
    """Return the nodes that conditions of branches are computed from."""
    choices = [node for node in nodes if node.op.read_if is not None]
    sides = {(node, one[0]) for node in choices for one in node.op.read_if(node) if one is not None}
    conditions = [node.inputs[i] for node, i in sides]
    return {v.owner for v in ancestors(conditions) if v.owner is not None}


def _is_view(v: Variable) -> bool:
    return v.owner is not None and bool(v.owner.op.view_map)


def overwriting(node: Apply, i: int) -> Op | None:
    """Return the version of a node's op that overwrites input `i` and has no other effect on
    memory.
    """
    op: Op | None = node.op.inplace_on_inputs([i], node)
    if op is None or memory_of(op).destroyed != {i}:
        return None
    return op if memory_of(op).views == memory_of(node.op).views else None
