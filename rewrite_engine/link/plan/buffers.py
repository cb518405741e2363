"""Buffers of temporaries: which values can share one (`share_buffers`), when a result can overwrite
an argument (`can_overwrite`), and for which large temporaries a function may keep buffers between
calls (`find_buffers`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.plan.dims import Dims
from rewrite_engine.link.plan.plan import Buffer, ExecutionPlan, Source
from rewrite_engine.link.plan.schedule import END
from rewrite_engine.link.plan.storage import Storages
from rewrite_engine.link.plan.traits import Traits


class Lifetime(NamedTuple):
    """Life of a value in a buffer. size: buffers of equal sizes are interchangeable. first, last:
    positions of the statements that write it first and read it last.
    """

    size: Hashable
    first: int
    last: int


class Reader(NamedTuple):
    """Statement that needs a value unchanged. at: its position. in_place: for each element that it
    computes, it reads only the element at the same place.
    """

    at: int
    in_place: bool = False


def share_buffers(lifetimes: Sequence[Lifetime]) -> list[int]:
    """Return the number of the buffer of each value: a new number, or that of an earlier value of
    the same size that is not read any more. lifetimes: in order of `first`.
    """
    found: list[int] = []
    free: dict[Hashable, list[int]] = {}
    alive: list[tuple[int, int]] = []  # (last reader, value), the first to end first
    n_buffers = 0
    for i, (size, first, last) in enumerate(lifetimes):
        while alive and alive[0][0] < first:
            dead = heappop(alive)[1]
            free.setdefault(lifetimes[dead].size, []).append(found[dead])
        if known := free.get(size):
            found.append(known.pop())
        else:
            found.append(n_buffers)
            n_buffers += 1
        heappush(alive, (last, i))
    return found


def can_overwrite(readers: Iterable[Reader], at: int) -> bool:
    """Return whether the statement at a position may write its result, element by element, over a
    value of the same size.
    """
    return all([r.at < at or (r.at == at and r.in_place) for r in readers])


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
    in_use = {
        id(storages.of(v))
        for node, known in zip(nodes, traits, strict=True)
        if not known.inline
        for v in (*node.inputs, *node.outputs)
    }
    users: list[tuple[int, Source]] = []  # nodes, by position
    lifetimes: list[Lifetime] = []
    for i, (node, source) in enumerate(zip(nodes, like, strict=True)):
        if source is None:
            continue
        out = node.outputs[0]
        storage = storages.of(out)
        if storage.ours and storage.last != END and id(storage) not in in_use:
            in_use.add(id(storage))
            users.append((i, source))
            lifetimes.append(Lifetime((out.type.dtype, dims.roots(out)), i, storage.last))
    for (i, source), slot in zip(users, share_buffers(lifetimes), strict=True):
        if slot == len(slots):
            slots.append(nodes[i].outputs[0])
        found[i] = Buffer(slot, source)
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
    found: dict[Hashable, Variable] = {}
    for v in plan.inputs:
        ids = dims.roots(v)
        if wanted.intersection(ids):
            found.setdefault(ids, v)
    return list(found.values())
