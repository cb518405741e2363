"""What can be decided before any code is written: who shares memory with whom, what may be
overwritten, what is kept.

A *storage* is a set of variables that may show the same memory. It is *ours* if this call
allocated it. The result of a node may be written into an input whose storage is ours, is whole
(not a view), is read by nobody later, and has exactly the result's dtype and shape. Correctness
first: whatever is not certain is allocated anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.vm.dims import Check, Dims, axes
from rewrite_engine.link.vm.layout import find_copies
from rewrite_engine.link.vm.lower import FRESH, Traits, traits

Source = tuple[tuple[int, int | None], ...]  # (input, axis), axis None for the whole shape
END = 1 << 62  # the position after the last node: results and updates are read there


@dataclass(slots=True)
class Storage:
    """Memory that some variables show. last: the position of the last node that reads it."""

    ours: bool
    last: int = -1
    parent: Storage | None = None
    slot: int | None = None  # a kept buffer, by its place in the workspace

    def root(self) -> Storage:
        found = self
        while found.parent is not None:
            if found.parent.parent is not None:
                found.parent = found.parent.parent
            found = found.parent
        return found


@dataclass(slots=True)
class Step:
    """What was decided for one node. into: the input whose memory output 0 takes. dies: variables
    not read again.
    """

    node: Apply
    traits: Traits
    checks: list[Check]
    into: int | None = None
    slot: int | None = None
    like: Source | None = None  # where the shape of the kept buffer is read
    copies: bool = False  # a transposed view that is copied
    dies: list[Variable] = field(default_factory=list)


class Plan:
    """The decisions for a whole graph, made in one pass over its nodes in running order."""

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], nodes: Sequence[Apply]
    ) -> None:
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.dims = Dims()
        self.last: dict[Variable, int] = {}
        self.storages: dict[Variable, Storage] = {}
        self.whole: set[Variable] = set()
        self.slots: list[Any] = []  # the dtype of each kept buffer
        self.steps = [Step(node, traits(node.op, node), []) for node in nodes]
        for step in find_copies(self.steps):
            step.copies, step.traits = True, FRESH
        self._find_last_reads()
        self._find_storages()
        for i, step in enumerate(self.steps):
            step.checks = axes(step.node.op, step.node, self.dims)
            self._choose(i, step)
        self._keep_buffers()

    # --- facts --------------------------------------------------------------------------------

    def _find_last_reads(self) -> None:
        last = self.last
        for i, step in enumerate(self.steps):
            for v in step.node.inputs:
                last[v] = i
            for v in step.node.outputs:
                last[v] = i
        for v in self.outputs:
            last[v] = END
        for v, i in last.items():
            if i != END:
                self.steps[i].dies.append(v)

    def storage(self, v: Variable) -> Storage:
        """The storage of a variable; a root's is not ours."""
        found = self.storages.get(v)
        if found is None:
            found = self.storages[v] = Storage(ours=False)
        return found.root()

    def _find_storages(self) -> None:
        for step in self.steps:
            for i, out in enumerate(step.node.outputs):
                self.storages[out] = Storage(ours=True)
                for k in () if step.copies else shown(step.node, i):
                    self._join(out, step.node.inputs[k])
        for v, i in self.last.items():
            storage = self.storage(v)
            storage.last = max(storage.last, i)

    def _join(self, a: Variable, b: Variable) -> None:
        x, y = self.storage(a), self.storage(b)
        if x is not y:
            x.parent = y
            y.ours = y.ours and x.ours
            y.last = max(x.last, y.last)

    # --- decisions ----------------------------------------------------------------------------

    def _choose(self, i: int, step: Step) -> None:
        """Decide where the result of a node goes."""
        node = step.node
        destroyed = node.op.destroy_map.get(0)
        out = node.outputs[0]
        if destroyed:
            step.into = destroyed[0]
            if node.inputs[destroyed[0]] in self.whole:
                self.whole.add(out)
            return
        if step.traits.fresh and getattr(out.type, "ndim", 0) > 0:
            self.whole.add(out)
            step.into = next((k for k in step.traits.into if self._reusable(i, node, k)), None)
            if step.into is not None:
                self._join(out, node.inputs[step.into])
            elif step.traits.keep:
                step.like = self._shape_source(node, out)

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
        """Whether the memory of input `k` may take the result of node `i`."""
        v, out = node.inputs[k], node.outputs[0]
        if v not in self.whole or v.type.dtype != out.type.dtype:
            return False
        storage = self.storage(v)
        if not storage.ours or storage.last != i or not self.dims.same(v, out):
            return False
        return all(w is v or self.storage(w) is not storage for w in node.inputs)

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
            for key, slot in ends.pop(i, ()):
                free.setdefault(key, []).append(slot)

    def _keep(self, step: Step, storage: Storage, free: dict[Any, list[int]], ends: Any) -> None:
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


def shown(node: Apply, i: int) -> Iterable[int]:
    """The inputs whose memory output `i` may show."""
    op = node.op
    return {*op.view_map.get(i, ()), *op.destroy_map.get(i, ())}
