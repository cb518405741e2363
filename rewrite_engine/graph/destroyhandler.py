"""`DestroyHandler`: prevents a value from being overwritten while it may still be read.

A node with a `destroy_map` overwrites the memory of an input. Every other node that reads this
memory, directly or through views, must run before it. These constraints are extra edges of the
graph's dynamic order, so checking whether a node may overwrite an input costs the size of the
affected region, not of the graph.

While a graph changes, the handler only records the nodes to check again; it checks them when the
graph is settled. A reader that is added, removed or changed costs only its own inputs, however many
others read the value. The memory declarations of ops are in `graph/memory.py`; `rewrite/inplace.py`
puts in-place ops into a graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import InconsistencyError, message, source_line
from rewrite_engine.graph.feature import AlreadyThere, Feature
from rewrite_engine.graph.memory import Roots, check_places, memory_of, view_roots
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Output

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph


class DestroyHandler(Feature):
    """Feature that guards in-place operations: it makes `validate` raise `InconsistencyError` on a
    conflict.

    mutable: inputs of the graph that may be overwritten (by default none), or the variables they
    are copies of. strict: a rule that inserts an op which overwrites a protected value has failed;
    otherwise its result is refused without an error. A graph that overwrites something attaches a
    strict handler itself, until another is attached.
    """

    def __init__(self, mutable: Collection[Variable] = (), strict: bool = False) -> None:
        self.mutable = set(mutable)
        self.strict = strict
        self.destroyer: dict[Variable, Apply] = {}  # root → the node that overwrites it
        self.claims: dict[Apply, Roots] = {}  # the inverse
        self.broken: dict[Apply, str] = {}
        self.stale: dict[Apply, None] = {}  # to be looked at again
        self.exposed: list[Variable] = []  # what became an output, or an output that moved
        self.memo: dict[Variable, Roots] = {}  # what views show

    def clone(self) -> DestroyHandler:
        return DestroyHandler(self.mutable, self.strict)

    # --- callbacks -------------------------------------------------------------------------------

    def on_attach(self, fgraph: FunctionGraph) -> None:
        before = fgraph.destroy_handler
        if before is not None:
            if not before.is_own() or self.is_own():
                raise AlreadyThere
            fgraph.remove_feature(before)
        self.mutable = {fgraph.memo.get(v, v) for v in self.mutable}
        self.rebuild(fgraph)
        fgraph.destroy_handler = self

    def on_detach(self, fgraph: FunctionGraph) -> None:
        for node in [*self.claims]:
            self._forget(fgraph, node)
        fgraph.destroy_handler = None

    def on_restore(self, fgraph: FunctionGraph, before: Any, after: Any) -> None:
        self.rebuild(fgraph)

    def rebuild(self, fgraph: FunctionGraph) -> None:
        """Check the whole graph again."""
        for one in (self.destroyer, self.claims, self.broken, self.exposed, self.memo):
            one.clear()
        self.stale = {node: None for node in fgraph.apply_nodes if node.op.destroy_map}
        for node in self.stale:
            check_places(node)
        self.refresh(fgraph)

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        if node.op.destroy_map:
            check_places(node)
            self.stale[node] = None
            for i in sorted(memory_of(node.op).destroyed):
                roots = self.roots(node.inputs[i])  # at once, so that no equal value is merged
                self._claim(node, [root for root in roots if root not in self.destroyer])
        elif self.destroyer:
            self.stale[node] = None

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.stale.pop(node, None)
        order = fgraph.order
        order.remove_edges([(node, destroyer) for destroyer in order.extra.get(node, ())])
        if node.op.destroy_map:
            self._forget(fgraph, node)
        if node.op.view_map:
            for out in node.outputs:
                self.memo.pop(out, None)

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        old: Variable,
        new: Variable,
        reason: Any,
    ) -> None:
        if isinstance(node.op, Output):
            self.exposed.append(new)
            return
        if self.destroyer or node.op.destroy_map:
            self.stale[node] = None
        if node.op.view_map:
            self._moved(fgraph, node)

    def on_validate(self, fgraph: FunctionGraph) -> None:
        self.stale.update(dict.fromkeys(self.broken))
        self.refresh(fgraph)
        for node, why in self.broken.items():
            raise InconsistencyError(
                message(why, op=node.op, inputs=node.inputs, where=node.where())
            )

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        return {node: list(readers) for node, readers in fgraph.order.first.items()}

    # --- questions -------------------------------------------------------------------------------

    def is_own(self) -> bool:
        """True if the graph attached this handler itself."""
        return self.strict and not self.mutable

    def is_idle(self) -> bool:
        """True if nothing in the graph overwrites anything."""
        return not (self.claims or self.stale or self.broken)

    def roots(self, var: Variable) -> Roots:
        """Return the variables whose memory `var` may share; `var` itself if it is not a view."""
        return view_roots(var, self.memo)

    def refusal(self, fgraph: FunctionGraph, node: Apply, i: int) -> str | None:
        """Explain why `node` may not overwrite its input `i`; None if it may."""
        fgraph.flush()
        return self._look(fgraph, node, i)[0]

    def may_merge(self, node: Apply, twin: Apply) -> bool:
        """Return whether two equal nodes may be merged: not if the value of either will be
        overwritten.
        """
        if not self.destroyer:
            return True
        return not any(
            root in self.destroyer for v in (*node.outputs, *twin.outputs) for root in self.roots(v)
        )

    def owner_refusal(self, root: Variable, node: Apply | None = None) -> str | None:
        """Explain why no node (other than `node`) may overwrite the memory of a root."""
        if isinstance(root, Constant):
            return f"{root!r} is a constant"
        if root.owner is None and root not in self.mutable:
            return f"{root!r} is an input that is not mutable"
        other = self.destroyer.get(root)
        if other is not None and other is not node:
            return f"{root!r} is already overwritten by {named(other)}"
        return None

    def tolerates(self, node: Apply, i: int, j: int) -> bool:
        """Return whether a node may overwrite input `i` although input `j` shares its memory."""
        return False

    def who_sees(
        self, fgraph: FunctionGraph, roots: Iterable[Variable]
    ) -> tuple[dict[Apply, None], Variable | None]:
        """Find the readers of the memory of the roots, through any views. Returns the nodes that
        read it (a node that only makes a view reads nothing), and an output of the graph that
        shares it, or None.
        """
        found = dict.fromkeys(roots)
        queue = list(found)
        readers: dict[Apply, None] = {}
        output = None
        for v in queue:
            if output is None and v in fgraph.out_uses:
                output = v
            for client in fgraph.users[v]:
                if reads(client, v):
                    readers[client] = None
                for out in _views(client, v):
                    if out not in found:
                        found[out] = None
                        queue.append(out)
        return readers, output

    def _look(
        self, fgraph: FunctionGraph, node: Apply, i: int
    ) -> tuple[str | None, Roots, list[Apply]]:
        """Explain why a node may not overwrite an input; also return its roots and the other
        readers of their memory.
        """
        roots = self.roots(node.inputs[i])
        seen, shown = self.who_sees(fgraph, roots)
        readers = [reader for reader in seen if reader is not node]

        def reasons() -> Iterator[str | None]:
            yield from [self.owner_refusal(root, node) for root in roots]
            if shown is not None:
                place = f"output {fgraph.out_uses[shown][0]} of the graph"
                there = f"an output shares its memory: {shown!r}, {place}"
                yield f"{shown!r} is an output of the graph" if shown in roots else there
            for j, v in enumerate(node.inputs):
                shared = j != i and any(root in roots for root in self.roots(v))
                if shared and not self.tolerates(node, i, j):
                    yield f"it reads the memory of input {i} through input {j} too"
            late = fgraph.order.conflict([(reader, node) for reader in readers])
            if late is not None:
                names = " or ".join(map(repr, roots))
                yield f"another reader of {names} must run after it: {named(late)}"

        return next(filter(None, reasons()), None), roots, readers

    # --- bookkeeping -----------------------------------------------------------------------------

    def refresh(self, fgraph: FunctionGraph) -> None:
        """Check changed nodes again. Called whenever the graph has been settled."""
        if not self.stale and not self.exposed:
            return
        for v in self.exposed:
            owners = [self.destroyer.get(root) for root in self.roots(v)]
            self.stale.update([(node, None) for node in owners if node is not None])
        self.exposed.clear()
        again, self.stale = self.stale, {}
        changed = [node for node in again if node.op.destroy_map]
        for node in changed:
            self._forget(fgraph, node)
        for node in changed:
            self._register(fgraph, node)
        if self.destroyer:
            for node in again:
                self._settle(fgraph, node)

    def _claim(self, node: Apply, roots: Iterable[Variable]) -> None:
        self.destroyer.update(dict.fromkeys(roots, node))
        self.claims[node] = (*self.claims.get(node, ()), *roots)

    def _register(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Record what a node overwrites, or why it must not."""
        for i in sorted(memory_of(node.op).destroyed):
            why, roots, readers = self._look(fgraph, node, i)
            if why is not None:
                self.broken[node] = f"cannot overwrite input {i}: {why}"
                continue
            self._claim(node, roots)
            fgraph.order.add_edges([(reader, node) for reader in readers])

    def _settle(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Order a reader before the nodes that overwrite its inputs, and remove obsolete
        constraints.
        """
        have = fgraph.order.extra.get(node, {})
        wanted: dict[Apply, None] = {}
        for v in dict.fromkeys(node.inputs):
            for root in self.roots(v):
                destroyer = self.destroyer.get(root)
                if destroyer is not None and destroyer is not node and reads(node, v):
                    wanted[destroyer] = None
        fgraph.order.remove_edges([(node, d) for d in [*have] if d not in wanted])
        for destroyer in wanted:
            if destroyer in have:
                continue
            if fgraph.order.conflict([(node, destroyer)]) is not None:
                self._forget(fgraph, destroyer)
                self._register(fgraph, destroyer)  # which says why it must not
                continue
            fgraph.order.add_edges([(node, destroyer)])

    def _forget(self, fgraph: FunctionGraph, node: Apply) -> None:
        order = fgraph.order
        order.remove_edges([(reader, node) for reader in order.first.get(node, ())])
        self.broken.pop(node, None)
        for root in self.claims.pop(node, ()):
            del self.destroyer[root]

    def _moved(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Update the readers of a view that now shares other memory, and of the views of it."""
        queue, seen = [node], {node}
        for view in queue:
            for out in view.outputs:
                if self.memo.pop(out, None) is None and not self.destroyer:
                    continue
                if out in fgraph.out_uses:
                    self.exposed.append(out)
                for client in fgraph.users[out]:
                    self.stale[client] = None
                    if client not in seen and _views(client, out):
                        seen.add(client)
                        queue.append(client)


def reads(node: Apply, v: Variable) -> bool:
    """Return whether a node reads an input instead of only making views of it."""
    if not node.op.view_map:
        return True
    views = memory_of(node.op).views
    shown = [views.get(o, ()) for o in range(len(node.outputs))]
    return any(w is v and not all(i in s for s in shown) for i, w in enumerate(node.inputs))


def _views(node: Apply, v: Variable) -> Sequence[Variable]:
    """Return the outputs of a node that share one of its inputs."""
    if not node.op.view_map:
        return ()
    inputs = node.inputs
    views = memory_of(node.op).views
    return [node.outputs[o] for o, ins in views.items() if any(inputs[i] is v for i in ins)]


# --- reasons --------------------------------------------------------------------------------------


def named(node: Apply) -> str:
    """Describe a node for an explanation: its term and the user's line that built it."""
    where = node.where()
    return str(node) if where is None else f"{node} ({source_line(*where)})"
