"""Storages: which variables share memory. They decide what may be overwritten, and what must be
copied before it leaves a function.

They follow from the ops (`view_map`, `destroy_map`: docs/memory_of_ops.md). If the planner writes
more results into existing memory, it joins the variables that then share it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rewrite_engine.graph.node import Apply, Variable


@dataclass(slots=True)
class Storage:
    """Memory that some variables share. ours: allocated by this call. borrowed: its owner agreed
    that results may share it. last: the position of the last node that reads it.
    """

    ours: bool
    borrowed: bool = False
    last: int = -1
    parent: Storage | None = None

    def root(self) -> Storage:
        found = self
        while found.parent is not None:
            if found.parent.parent is not None:
                found.parent = found.parent.parent
            found = found.parent
        return found


class Storages:
    """Storages of the variables of a graph: a union-find of those that may share memory.

    nodes: in running order. borrowed: the inputs whose memory results may share. copies: nodes that
    copy values they could share.
    """

    def __init__(
        self,
        nodes: Sequence[Apply],
        borrowed: Collection[Variable] = (),
        copies: Collection[Apply] = (),
    ) -> None:
        self.nodes, self.borrowed = nodes, borrowed
        self.known: dict[Variable, Storage] = {}
        self._follow(copies)

    def of(self, v: Variable) -> Storage:
        """Return the storage of a variable; the storage of an input or a constant is not ours."""
        found = self.known.get(v)
        if found is None:
            found = self.known[v] = Storage(ours=False, borrowed=v in self.borrowed)
        return found if found.parent is None else found.root()

    def _follow(self, copies: Collection[Apply]) -> None:
        """Follow memory through the nodes."""
        known = self.known
        showing: dict[object, list[tuple[int, ...]]] = {}  # by op, for each output
        for node in self.nodes:
            op = node.op
            if not (op.view_map or op.destroy_map) or node in copies:
                for out in node.outputs:
                    known[out] = Storage(True)
                continue
            found = showing.get(op)
            if found is None:
                found = showing[op] = [tuple(shown(node, i)) for i in range(len(node.outputs))]
            for out, places in zip(node.outputs, found, strict=True):
                known[out] = self.of(node.inputs[places[0]]) if places else Storage(True)
                for k in places[1:]:
                    self.join(out, node.inputs[k])

    def join(self, a: Variable, b: Variable) -> None:
        """Record that two variables share memory."""
        x, y = self.of(a), self.of(b)
        if x is not y:
            x.parent = y
            y.borrowed = (y.ours or y.borrowed) and (x.ours or x.borrowed)
            y.ours = y.ours and x.ours
            y.last = max(x.last, y.last)

    def end(self, last: Mapping[Variable, int]) -> None:
        """Set the last reader of each storage. last: the last reader of each variable."""
        for v, i in last.items():
            storage = self.of(v)
            if i > storage.last:
                storage.last = i

    def destroyed(self) -> set[int]:
        """Return the storages (by `id`) that a node overwrites because its op declares it."""
        return {
            id(self.of(node.inputs[i]))
            for node in self.nodes
            if node.op.destroy_map
            for i in node.op.destroys
        }


def shown(node: Apply, i: int) -> Iterable[int]:
    """Return the inputs whose memory output `i` may share."""
    op = node.op
    return {*op.view_map.get(i, ()), *op.destroy_map.get(i, ())}
