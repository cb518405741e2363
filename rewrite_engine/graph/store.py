"""Nodes of a changing graph: redirecting clients, settling them afterwards, removing nodes.

This is the mechanism; the public methods are in `graph/fgraph.py`. Invariants after `flush`: the
table holds the live nodes, clients are the edges, levels rise along every edge, and no two nodes
are equal terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import Any

from rewrite_engine.errors import CycleError, message
from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.memory import NoDestroyHandler
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import output_node
from rewrite_engine.graph.origin import Origin
from rewrite_engine.graph.replace import Pending, substitute
from rewrite_engine.graph.traverse import toposort


class NodeStore(FrozenGraph):
    """Graph whose nodes stay unique, typed and ordered while variables are redirected to others."""

    watch: Callable[[], None]

    def _start(self) -> None:
        super()._start()
        self.dirty: dict[Apply, Pending] = {}

    def _clear(self) -> None:
        """Remove all nodes. The containers stay the same objects: drivers may hold them."""
        for container in (self.users, self.out_uses, self.table, self.constants, self.dirty):
            container.clear()
        self.order.clear()
        self.users.update((v, {}) for v in self.inputs)

    def flush(self) -> list[Apply]:
        """Settle all redirected clients, lowest first; return those nodes."""
        dirty, level = self.dirty, self.order.level
        heap: list[tuple[int, int, Apply]] = []
        waiting: set[Apply] = set()
        settled: list[Apply] = []
        tie = 0
        while dirty:
            for node in reversed(dirty):  # what was marked since the last turn is at the end
                if node in waiting:
                    break
                waiting.add(node)
                tie += 1
                heappush(heap, (level[node], tie, node))
            node = heappop(heap)[2]
            waiting.discard(node)
            if self.settle(node):
                settled.append(node)
        if self.destroy_handler is not None:
            self.destroy_handler.refresh(self)
        return settled

    def present_inputs(self, node: Apply) -> tuple[Variable, ...]:
        """Return the inputs of a node, also before it is settled."""
        pending = self.dirty.get(node)
        return node.inputs if pending is None else substitute(node.inputs, pending)

    # --- importing -------------------------------------------------------------------------------

    def _import(self, var: Variable, reason: Any, origin: Origin | None, missing: bool) -> Variable:
        """Return the graph's own variable equal to `var`, importing missing nodes."""
        if var in self.users:
            return var
        if var.owner is None:
            if missing:
                self._let_in(var)
            return self._root(var)
        if not self.is_driven:  # the term stays its maker's
            self.owns_nodes = False
        names: dict[Variable, Variable] = {}
        nodes, known = [var.owner], self.users
        for v in var.owner.inputs:
            if v not in known and v.owner is not None:  # not only the root of the term is new
                nodes = toposort([var], known)
                break
        if self.destroy_handler is None and any([node.op.destroy_map for node in nodes]):
            if self.worklist is not None:
                raise NoDestroyHandler  # (a run of rules takes care itself)
            self.watch()
            return self._import(var, reason, origin, missing)
        try:
            for v in [v for node in nodes for v in node.inputs] if missing else ():
                if v.owner is None:
                    self._let_in(v)
            self._enter(nodes, names, 1, reason, origin)
        except BaseException:
            self._drop_unused(nodes)
            raise
        return names.get(var, var)

    def _let_in(self, root: Variable) -> None:
        """Make a missing root an input."""
        if root not in self.users and not isinstance(root, Constant):
            self._put_input(root)

    def _drop_unused(self, nodes: Sequence[Apply]) -> None:
        """Remove the remains of a failed import: nodes and constants without clients. (Ctrl-C may
        have interrupted the entry of a node.)
        """
        for node in nodes:
            self._unfile(node)
            if node in self.order.level:
                self.users.update([(v, {}) for v in node.outputs if v not in self.users])
        for node in reversed(nodes):
            for v in (*node.outputs, *node.inputs):
                if isinstance(v, Constant) and v not in self.users:
                    v = self.constants.get(v.signature(), v)
                self._prune(v, "failed import", free=False)  # the terms stay their makers'

    def _may_merge(self, node: Apply, twin: Apply, key: Any) -> bool:
        """Return whether a node equals the node under its key in the table and may be merged with
        it.
        """
        if twin in self.dirty and self.key_of(twin, self.present_inputs(twin)) != key:
            del self.table[key]  # its inputs are replaced already, and only its key is not
            return False
        handler = self.destroy_handler
        return handler is None or handler.may_merge(node, twin)

    # --- replacing -------------------------------------------------------------------------------

    def _redirect(self, old: Variable, new: Variable, uses: int, reason: Any) -> None:
        """Move the first `uses` clients of `old`, and its uses as an output, to `new`."""
        olds = self.users[old]
        movers = list(olds) if len(olds) == uses else list(islice(olds, uses))
        self._move(movers, old, new, reason, outputs=True)

    def _move(
        self, movers: list[Apply], old: Variable, new: Variable, reason: Any, outputs: bool
    ) -> None:
        """Move clients, and perhaps outputs, from a variable to another, to be settled later."""
        olds, maker = self.users[old], new.owner
        if maker is not None:
            if maker in olds:
                movers = [c for c in movers if c is not maker]
            level = self.order.level
            low = level[maker]
            for client in movers:
                if level[client] <= low:
                    self._raise_levels(maker, movers, new)
                    break
        for tell in self.on_redirect:
            tell(self, old, new, movers, reason)
        news, mark = self.users[new], self.mark
        for client in movers:
            del olds[client]
            news[client] = None
            mark(client, old, new)
        if outputs and old in self.out_uses:
            self._move_outputs(old, new, reason)
        if (
            outputs and new.name is None and maker is not None
        ):  # constants and inputs have names of their own
            new.name = old.name
        if not olds:
            self._prune(old, reason)

    def _raise_levels(self, maker: Apply, movers: list[Apply], new: Variable) -> None:
        level = self.order.level
        edges = [(maker, client) for client in movers if level[client] <= level[maker]]
        if self.order.conflict(edges) is not None:
            self._prune(new, "refused replacement")
            what = "the replacement is computed from nodes that would use it, which is a cycle"
            raise CycleError(message(what, op=maker.op, inputs=maker.inputs, where=maker.where()))

    def _move_outputs(self, old: Variable, new: Variable, reason: Any) -> None:
        places = self.out_uses.pop(old)
        self.out_uses.setdefault(new, []).extend(places)
        for i in places:
            self.outputs[i] = new
            for tell in self.on_change_input:
                tell(self, output_node(i, new), 0, old, new, reason)

    def mark(self, client: Apply, old: Variable | None, new: Variable | None) -> None:
        """Record that `client` must use `new` for `old`, and let the driver, if any, visit it."""
        if client in self.dirty:
            self.dirty[client].append((old, new))
            return
        self.dirty[client] = [(old, new)]
        if self.worklist is not None:
            self.worklist.schedule(client, self.order.level[client])

    def schedule(self, node: Apply) -> None:
        """Let the driver visit a node (again)."""
        if self.worklist is not None:
            self.worklist.schedule(node, self.order.level[node])

    def settle(self, node: Apply) -> bool:
        """Rebuild a node whose inputs were replaced.

        Returns False if it was merged into an equal node and is gone.
        """
        pending = self.dirty.pop(node, None)
        if pending is None:
            return True
        self._unfile(node)
        before = node.inputs
        after = node.inputs = substitute(before, pending)
        if (facts := self.facts) is not None and not facts.about.keys().isdisjoint(node.outputs):
            facts.forget(node.outputs)
        if self.on_change_input:
            self._tell_changes(node, before, after)
        key = self.key_of(node, after)
        twin = self.table.get(key) if self.merging else None
        if twin is not None and self._may_merge(node, twin, key):
            self._merge(node, twin)
            return False
        if not node.op.destroy_map:
            self.table.setdefault(key, node)
        for a, b in pending:
            if a is None or a.type is not b.type:  # type: ignore[union-attr]
                self._retype(node)
                break
        return True

    def _tell_changes(self, node: Apply, before: Any, after: Any) -> None:
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            for tell in self.on_change_input if a is not b else ():
                tell(self, node, i, a, b, "replace")

    def _merge(self, node: Apply, twin: Apply) -> None:
        self.merged += 1
        for a, b in zip(node.outputs, twin.outputs, strict=True):
            if a.type is not b.type and b.type.is_super(a.type):
                self._refine(b, a.type)
            self._redirect(a, b, len(self.users[a]), "merge")
            if node not in self.order.level:
                return

    def _retype(self, node: Apply) -> None:
        """Type a node anew after its inputs became more precise; keep types that do not improve."""
        try:
            fresh = node.op.make_node(*node.inputs)
        except (TypeError, ValueError):
            return  # the precise shapes do not fit: running the node will say so, with values
        if fresh.op is not node.op or len(fresh.outputs) != len(node.outputs):
            return
        for out, better in zip(node.outputs, fresh.outputs, strict=True):
            if out.type is not better.type and out.type.is_super(better.type):
                self._refine(out, better.type)

    def _refine(self, var: Variable, type_: Any) -> None:
        for tell in self.on_change_type:
            tell(self, var, var.type, type_)
        var.type = type_
        for client in self.users[var]:
            self.mark(client, None, None)  # (no input is replaced, but one has another type)

    # --- removing --------------------------------------------------------------------------------

    def _unfile(self, node: Apply) -> None:
        """Remove a node from the table under the key of its inputs before replacement."""
        key = self.key_of(node, node.inputs)
        if self.table.get(key) is node:
            del self.table[key]

    def _prune(self, var: Variable, reason: Any, free: bool = True) -> None:
        """Remove an unused variable, with everything that only it needed."""
        clients, used, level = self.users, self.out_uses, self.order.level
        worklist = self.worklist
        free = free and worklist is not None and worklist.frees
        stack = [var]
        while stack:
            v = stack.pop()
            if clients.get(v, True) or v in used:
                continue
            node = v.owner
            if node is None:
                self._drop_constant(v)
                continue
            outputs, inputs = node.outputs, node.inputs
            if len(outputs) > 1 and any(clients[out] or out in used for out in outputs):
                continue
            self._unfile(node)
            if node in self.dirty:
                inputs = node.inputs = substitute(inputs, self.dirty.pop(node))
            del level[node]
            if worklist is not None:
                worklist.queued.discard(node)
            for out in outputs:
                del clients[out]
            for v in inputs:
                others = clients[v]
                if others.pop(node, 0) is None and not others:
                    stack.append(v)
            for tell in self.on_prune:
                tell(self, node, reason)
            if free:  # cut the cycle, so that memory comes back at once
                for out in outputs:
                    out.owner = None

    def _drop_constant(self, v: Variable) -> None:
        if isinstance(v, Constant):
            del self.users[v]
            if self.constants.get(v.signature()) is v:
                del self.constants[v.signature()]
