"""What can be decided before any code is written: who shares memory with whom, what may be
overwritten, what is kept.

A *storage* is a set of variables that may show the same memory. It is *ours* if this call
allocated it. The result of a node may be written into an input whose storage is ours, is whole
(not a view), is read by nobody later, and has exactly the result's dtype and shape. Correctness
first: whatever is not certain is allocated anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.code import Code, Storage
from rewrite_engine.link.lazy import conditions
from rewrite_engine.link.vm.dims import Dims, LengthCheck, axes
from rewrite_engine.link.vm.layout import find_copies
from rewrite_engine.link.vm.lower import FRESH, ByClass, Traits, traits

Source = tuple[tuple[int, int | None], ...]  # (input, axis), axis None for the whole shape
END = 1 << 62  # the position after the last node: results and updates are read there


@dataclass(slots=True)
class NodePlan:
    """What was decided for one node. into: the input whose memory output 0 takes. dies: variables
    not read again.
    """

    node: Apply
    traits: Traits
    checks: Sequence[LengthCheck] = ()
    into: int | None = None
    slot: int | None = None
    like: Source | None = None  # where the shape of the kept buffer is read
    copies: bool = False  # a transposed view that is copied
    dies: list[Variable] = field(default_factory=list)


class ExecutionPlan(Code):
    """The decisions for a whole graph, made in one pass over its nodes in running order.

    runner: what runs a node for which nobody writes code (`Linker.runner`).
    """

    runner: Callable[[Apply], Callable[..., Any]]

    def __init__(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        nodes: Sequence[Apply],
        lent: Collection[Variable] = (),
    ) -> None:
        super().__init__(inputs, outputs, nodes, lent)
        self.dims = Dims()
        self.last: dict[Variable, int] = {}
        self.whole: set[Variable] = set()
        self.slots: list[Any] = []  # the dtype of each kept buffer
        known = ByClass(traits)
        self.steps = [NodePlan(node, known[node.op.__class__](node.op, node)) for node in nodes]
        copies = set()
        if any([step.traits.permutes is not None for step in self.steps]):
            for step in find_copies(self.steps):
                step.copies, step.traits = True, FRESH
                copies.add(step.node)
        self._find_last_reads()
        self.find_storages(copies)
        self._find_ends()
        self.conditions = conditions(nodes, outputs)
        rules = ByClass(axes)
        for i, step in enumerate(self.steps):
            node = step.node
            if self.conditions:
                self.dims.lazy = node in self.conditions
            step.checks = rules[node.op.__class__](node.op, node, self.dims)
            self._choose(i, step)
        self._keep_buffers()

    # --- facts --------------------------------------------------------------------------------

    def _find_last_reads(self) -> None:
        last = self.last
        for i, step in enumerate(self.steps):
            node = step.node
            for v in node.inputs:
                last[v] = i
            for v in node.outputs:
                last[v] = i
        for v in self.outputs:
            last[v] = END
        for v, i in last.items():
            if i != END:
                self.steps[i].dies.append(v)

    def _find_ends(self) -> None:
        """Tell each storage of its last reader."""
        for v, i in self.last.items():
            storage = self.storage(v)
            if i > storage.last:
                storage.last = i

    # --- decisions ----------------------------------------------------------------------------

    def _choose(self, i: int, step: NodePlan) -> None:
        """Decide where the result of a node goes."""
        node, known = step.node, step.traits
        if node.op.destroy_map:
            self._overwrite(step, node.op.destroy_map)
        if not known.fresh or step.into is not None:
            return
        for out in node.outputs[1:]:
            if out.type.ndim:
                self.whole.add(out)
        out = node.outputs[0]
        if not out.type.ndim:
            return
        self.whole.add(out)
        for k in known.into:
            if node.inputs[k] in self.whole and self._reusable(i, node, k):
                step.into = k
                self.join(out, node.inputs[k])
                return
        if known.keep:
            step.like = self._shape_source(node, out)

    def _overwrite(self, step: NodePlan, destroyed: dict[int | None, list[int]]) -> None:
        """Note which outputs live in whole arrays, because the op says that it overwrites them."""
        node = step.node
        for o, places in destroyed.items():
            if o is not None and places:
                first = places[0]
                if o == 0:
                    step.into = first
                if node.inputs[first] in self.whole:
                    self.whole.add(node.outputs[o])

    def _shape_source(self, node: Apply, out: Variable) -> Source | None:
        """Where the shape of the result can be read before it exists: one entry for all of it, or
        one per axis; None where an axis is not to be found.
        """
        for k, v in enumerate(node.inputs):
            if self.dims.same(v, out):
                return ((k, None),)
        places = {
            self.dims.find(d): (k, axis)
            for k, v in enumerate(node.inputs)
            for axis, d in enumerate(self.dims.of(v))
        }
        found = [places.get(self.dims.find(d)) for d in self.dims.of(out)]
        return tuple(found) if None not in found else None  # type: ignore[arg-type]

    def _reusable(self, i: int, node: Apply, k: int) -> bool:
        """Whether the memory of input `k`, which is whole, may take the result of node `i`."""
        v, out = node.inputs[k], node.outputs[0]
        storage = self.storage(v)
        if storage.last != i or not storage.ours:
            return False
        if v.type.dtype != out.type.dtype or not self.dims.same(v, out):
            return False
        return all([w is v or self.storage(w) is not storage for w in node.inputs])

    def _keep_buffers(self) -> None:
        """Give storages that no result shows a place in the workspace, one place to many whose
        lives are apart.
        """
        foreign = {
            id(self.storage(v))
            for step in self.steps
            if not step.traits.inline
            for v in (*step.node.inputs, *step.node.outputs)
        }
        free: dict[Any, list[int]] = {}
        ends: dict[int, list[tuple[Any, int]]] = {}
        for i, step in enumerate(self.steps):
            if step.like is not None:
                storage = self.storage(step.node.outputs[0])
                if storage.ours and storage.last != END and id(storage) not in foreign:
                    self._keep(step, storage, free, ends)
            if i in ends:
                for key, slot in ends.pop(i):
                    free.setdefault(key, []).append(slot)

    def _keep(
        self, step: NodePlan, storage: Storage, free: dict[Any, list[int]], ends: Any
    ) -> None:
        out = step.node.outputs[0]
        if storage.slot is not None:
            return
        key = (out.type.dtype, tuple([self.dims.find(d) for d in self.dims.of(out)]))
        places = free.get(key)
        if places:
            slot = places.pop()
        else:
            slot = len(self.slots)
            self.slots.append(out.type.numpy_dtype)
        storage.slot = step.slot = slot
        ends.setdefault(storage.last, []).append((key, slot))

    def deciders(self) -> list[Variable]:
        """The inputs whose sizes tell whether the kept buffers are large, one per shape."""
        wanted = {
            self.dims.find(d)
            for s in self.steps
            if s.slot is not None
            for d in self.dims.of(s.node.outputs[0])
            if self.dims.length_of(d) != 1
        }
        found: dict[Any, Variable] = {}
        for v in self.inputs:
            ids = tuple([self.dims.find(d) for d in self.dims.of(v)])
            if wanted.intersection(ids):
                found.setdefault(ids, v)
        return list(found.values())
