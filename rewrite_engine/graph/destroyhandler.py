"""`DestroyHandler`: no value is overwritten while somebody may still read it.

A node with a `destroy_map` overwrites the memory of an input. Everybody else who reads that memory,
directly or through views, has to run before it. Those constraints are extra edges of the graph's
one dynamic order, so asking whether a node may overwrite an input costs the size of the affected
region, not of the graph.

While a graph changes, the handler only notes which nodes to look at again; it does so when the
graph is settled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import CycleError, InconsistencyError, message
from rewrite_engine.graph.feature import AlreadyThere, Feature
from rewrite_engine.graph.node import Apply, Constant, Variable

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph


def view_root(var: Variable) -> Variable:
    """The variable whose memory `var` shows: follows `view_map` down to where memory is made."""
    while var.owner is not None and var.owner.op.view_map:
        source = var.owner.op.view_map.get(var.index)
        if not source:
            break
        var = var.owner.inputs[source[0]]
    return var


def makers_of_destroyed(nodes: Iterable[Apply]) -> set[Apply]:
    """The nodes that make a value which one of the nodes overwrites, or a view of it on the way.

    Equal ones must not be merged: two nodes cannot overwrite one value.
    """
    makers: set[Apply] = set()
    for node in nodes:
        for i in [i for destroyed in node.op.destroy_map.values() for i in destroyed]:
            var, root = node.inputs[i], view_root(node.inputs[i])
            while var.owner is not None:
                makers.add(var.owner)
                if var is root:
                    break
                var = var.owner.inputs[var.owner.op.view_map[var.index][0]]
    return makers


class DestroyHandler(Feature):
    """Guards in-place operations; attached, it makes `validate` raise `InconsistencyError` on a
    conflict.

    mutable: inputs of the graph that may be overwritten (by default none), or those they are copies
    of.
    """

    def __init__(self, mutable: Collection[Variable] = ()) -> None:
        self.mutable = set(mutable)
        self.destroyer: dict[Variable, Apply] = {}  # root → the node that overwrites it
        self.roots: dict[Apply, list[Variable]] = {}  # the inverse
        self.edges: dict[Apply, list[tuple[Apply, Apply]]] = {}
        self.broken: dict[Apply, str] = {}
        self.stale: dict[Apply, None] = {}  # to be looked at again

    def clone(self) -> DestroyHandler:
        return DestroyHandler(self.mutable)

    # --- callbacks -------------------------------------------------------------------------------

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if fgraph.guard is not None:
            raise AlreadyThere
        fgraph.guard = self
        self.mutable = {fgraph.memo.get(v, v) for v in self.mutable}
        self.on_restore(fgraph)

    def on_detach(self, fgraph: FunctionGraph) -> None:
        for node in list(self.edges):
            self._forget(fgraph, node)
        fgraph.guard = None

    def on_restore(self, fgraph: FunctionGraph) -> None:
        """Take stock of the whole graph."""
        self.destroyer.clear()
        self.roots.clear()
        self.edges.clear()
        self.broken.clear()
        self.stale = {node: None for node in fgraph.apply_nodes if node.op.destroy_map}
        self.refresh(fgraph)

    def on_new_output(self, fgraph: FunctionGraph, var: Variable) -> None:
        """Look again at who overwrites what an added output shows."""
        self._recheck([var])

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        if node.op.destroy_map:
            self.stale[node] = None
        self._recheck(node.inputs)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.stale.pop(node, None)
        if node in self.edges:
            self._forget(fgraph, node)

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply | str,
        i: int,
        old: Variable,
        new: Variable,
        reason: Any,
    ) -> None:
        if isinstance(node, Apply) and node.op.destroy_map:
            self.stale[node] = None
        self._recheck((old, new))

    def on_validate(self, fgraph: FunctionGraph) -> None:
        self.stale.update(dict.fromkeys(self.broken))
        self.refresh(fgraph)
        for node, why in self.broken.items():
            raise InconsistencyError(
                message(why, op=node.op, inputs=node.inputs, where=node.where())
            )

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        live = fgraph.order.level
        found = {node: [r for r, _ in edges if r in live] for node, edges in self.edges.items()}
        return {node: readers for node, readers in found.items() if readers}

    # --- questions -------------------------------------------------------------------------------

    def refusal(self, fgraph: FunctionGraph, node: Apply, i: int) -> str | None:
        """Why `node` may not overwrite its input `i`; None if it may."""
        fgraph.flush()
        return self._refusal(fgraph, node, i)

    def _refusal(self, fgraph: FunctionGraph, node: Apply, i: int) -> str | None:
        root = view_root(node.inputs[i])
        why = self._owner_refusal(fgraph, root, node)
        if why is not None:
            return why
        for j, v in enumerate(node.inputs):
            if j != i and view_root(v) is root:
                return f"it reads the memory of input {i} through input {j} too"
        try:
            fgraph.order.require([(reader, node) for reader in self._readers(fgraph, root, node)])
        except CycleError:
            return f"another reader of {root!r} has to run after it"
        return None

    def may_merge(self, node: Apply, twin: Apply) -> bool:
        """Whether two equal nodes may become one: not if either one's value will be overwritten."""
        if not self.destroyer:
            return True
        return not any(view_root(v) in self.destroyer for v in (*node.outputs, *twin.outputs))

    def _owner_refusal(self, fgraph: FunctionGraph, root: Variable, node: Apply) -> str | None:
        if isinstance(root, Constant):
            return f"{root!r} is a constant"
        if root.owner is None and root not in self.mutable:
            return f"{root!r} is an input that is not mutable"
        if self.destroyer.get(root, node) is not node:
            return f"{root!r} is overwritten by {self.destroyer[root]} already"
        if any(v in fgraph.out_uses for v in self._aliases(fgraph, root)):
            return f"{root!r} is an output of the graph, or an output shows its memory"
        return None

    def _aliases(self, fgraph: FunctionGraph, root: Variable) -> list[Variable]:
        """The variable and all views of it."""
        found = [root]
        for v in found:
            for client in fgraph.clients[v]:
                found += [
                    client.outputs[o]
                    for o, shown in client.op.view_map.items()
                    if client.inputs[shown[0]] is v
                ]
        return found

    def _readers(self, fgraph: FunctionGraph, root: Variable, node: Apply) -> Iterable[Apply]:
        readers: dict[Apply, None] = {}
        for v in self._aliases(fgraph, root):
            readers.update(fgraph.clients[v])
        readers.pop(node, None)
        return readers

    # --- bookkeeping -----------------------------------------------------------------------------

    def refresh(self, fgraph: FunctionGraph) -> None:
        """Look again at what changed. Called whenever the graph has been settled."""
        if not self.stale:
            return
        again = list(self.stale)
        self.stale.clear()
        for node in again:
            if node in self.edges:
                self._forget(fgraph, node)
        for node in again:
            self._register(fgraph, node)

    def _register(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Claim what a node overwrites, or note why it must not."""
        edges: list[tuple[Apply, Apply]] = []
        self.edges[node] = edges
        for destroyed in node.op.destroy_map.values():
            for i in destroyed:
                why = self._refusal(fgraph, node, i)
                if why is not None:
                    self.broken[node] = f"cannot overwrite input {i}: {why}"
                    continue
                root = view_root(node.inputs[i])
                self.destroyer[root] = node
                self.roots.setdefault(node, []).append(root)
                new = [(reader, node) for reader in self._readers(fgraph, root, node)]
                fgraph.order.add_edges(new)
                edges.extend(new)

    def _forget(self, fgraph: FunctionGraph, node: Apply) -> None:
        fgraph.order.remove_edges(self.edges.pop(node, ()))
        self.broken.pop(node, None)
        for root in self.roots.pop(node, ()):
            del self.destroyer[root]

    def _recheck(self, variables: Iterable[Variable]) -> None:
        """Note who overwrites what these variables show: it has other readers now."""
        if not self.destroyer:
            return
        for v in variables:
            node = self.destroyer.get(view_root(v))
            if node is not None:
                self.stale[node] = None
