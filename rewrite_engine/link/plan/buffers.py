"""Buffers for large temporaries that a function may keep between calls: which nodes write into one,
and which of them can share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.plan.dims import Dims
from rewrite_engine.link.plan.plan import Buffer, ExecutionPlan, Source
from rewrite_engine.link.plan.schedule import END
from rewrite_engine.link.plan.storage import Storages
from rewrite_engine.link.plan.traits import Traits


def shape_source(node: Apply, dims: Dims) -> Source | None:
    """Return where the shape of output 0 can be read before it exists; None if an axis has no
    source.
    """
    out = node.outputs[0]
    for k, v in enumerate(node.inputs):
        if dims.same(v, out):
            return ((k, None),)
    places = {
        id_: (k, axis) for k, v in enumerate(node.inputs) for axis, id_ in enumerate(dims.roots(v))
    }
    found = [places.get(id_) for id_ in dims.roots(out)]
    return tuple(found) if None not in found else None  # type: ignore[arg-type]


def find_buffers(
    traits: Sequence[Traits], like: Sequence[Source | None], storages: Storages, dims: Dims
) -> tuple[list[Buffer | None], list[Variable]]:
    """Assign buffers to storages that no result shares; storages with disjoint lifetimes share one.
    Returns the buffers of the nodes, and for each buffer the variable it is made for.

    like: for each node that can write into a buffer, where the shape of its output 0 is read.
    """
    nodes = storages.nodes
    found: list[Buffer | None] = [None] * len(nodes)
    slots: list[Variable] = []
    if like.count(None) == len(like):
        return found, slots
    taken = {
        id(storages.of(v))
        for node, known in zip(nodes, traits, strict=True)
        if not known.inline
        for v in (*node.inputs, *node.outputs)
    }
    free: dict[Any, list[int]] = {}
    ends: dict[int, list[tuple[Any, int]]] = {}
    for i, (node, source) in enumerate(zip(nodes, like, strict=True)):
        if source is not None:
            out = node.outputs[0]
            storage = storages.of(out)
            if storage.ours and storage.last != END and id(storage) not in taken:
                taken.add(id(storage))
                key = (out.type.dtype, dims.roots(out))
                places = free.get(key)
                slot = places.pop() if places else len(slots)
                if slot == len(slots):
                    slots.append(out)
                found[i] = Buffer(slot, source)
                ends.setdefault(storage.last, []).append((key, slot))
        for key, slot in ends.pop(i, ()):
            free.setdefault(key, []).append(slot)
    return found, slots


def deciders(plan: ExecutionPlan) -> list[Variable]:
    """Return the inputs whose sizes show whether the kept buffers are large, one per shape."""
    dims = plan.dims
    wanted = {
        id_
        for step in plan.steps
        if step.buffer is not None
        for id_ in dims.roots(step.node.outputs[0])
        if dims.length_of(id_) != 1
    }
    found: dict[Any, Variable] = {}
    for v in plan.inputs:
        ids = dims.roots(v)
        if wanted.intersection(ids):
            found.setdefault(ids, v)
    return list(found.values())
