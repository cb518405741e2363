"""Cutting a graph into regions that run natively, and nodes between them that run on the VM.

Each node has a depth: that of what it reads, and one more where it is of another sort. Nodes of one
sort at one depth are a region, or stand alone; they depend on nothing at their own depth but each
other, so regions can be taken one after the other, and are as large as this order allows. What runs
only where a branch is taken is of a sort of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node, copied
from rewrite_engine.link.native.lower import why_not
from rewrite_engine.link.native.op import Region
from rewrite_engine.link.native.region import NotNative
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.plan import conditions, schedule
from rewrite_engine.link.plan.expand import expand
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.index.subtensor import Subtensor
from rewrite_engine.tensor.shape import CheckedLength, Shape_i

#: what costs nothing, so that a region of these alone is not worth a call
FREE = (DimShuffle, Subtensor, Shape_i, CheckedLength)
Sort = Any  # None of what runs on the VM; of others, where they run


def regions(fgraph: FunctionGraph, machine: Machine) -> FunctionGraph:
    """Return a graph that computes the same, with `Region`s in the place of what is native."""
    nodes = expand(schedule(fgraph))
    where = conditions(nodes, fgraph.outputs)
    sorts = {node: (where.get(node, ()),) if why_not(node) is None else None for node in nodes}
    order = _by_depth(nodes, sorts, fgraph.orderings())
    return _rebuilt(fgraph, order, machine)


def _by_depth(
    nodes: Sequence[Apply], sorts: Mapping[Apply, Sort], before: Mapping[Apply, Sequence[Apply]]
) -> list[tuple[Sort, list[Apply]]]:
    """Groups of nodes of one sort, in an order in which they can run."""
    maker = {v: node for node in nodes for v in node.outputs}  # (a step of a sum owns none)
    depth: dict[Apply, int] = {}
    groups: dict[tuple[int, Sort], list[Apply]] = {}
    for node in nodes:
        own, found = sorts[node], 0
        earlier = before.get(node.outputs[0].owner, ()) if before and node.outputs else ()
        read = [*node.inputs, *[v for other in earlier for v in other.outputs]]
        for other in [maker[v] for v in read if v in maker]:
            if other in depth:
                found = max(found, depth[other] + (sorts[other] != own))
        depth[node] = found
        groups.setdefault((found, own), []).append(node)
    return [(sort, groups[d, sort]) for d, sort in sorted(groups, key=lambda key: key[0])]


def _rebuilt(
    fgraph: FunctionGraph, order: Sequence[tuple[Sort, list[Apply]]], machine: Machine
) -> FunctionGraph:
    """The graph of these groups."""
    known: dict[Variable, Variable] = {}
    for v in fgraph.inputs:
        known[v] = v.type.make_variable(v.name)
    place = {v: k for k, (_, nodes) in enumerate(order) for node in nodes for v in node.outputs}
    read = {v for k, (_, nodes) in enumerate(order) for n in nodes for v in n.inputs
            if place.get(v) != k}  # fmt: skip
    read.update(fgraph.outputs)
    for sort, nodes in order:
        region = None if sort is None else _region(nodes, read, fgraph, machine)
        if region is None:
            for node in nodes:
                copy = copied(node, tuple([known.get(v, v) for v in node.inputs]))
                known.update(zip(node.outputs, copy.outputs, strict=True))
            continue
        given = tuple([known[v] for v in region.takes])
        types = tuple([v.type for v in region.gives])
        made = build_node(region, given, types, nodes[-1].origin)
        for v, out in zip(region.gives, made.outputs, strict=True):
            out.name = v.name or str(v)
            known[v] = out
    inputs = [known[v] for v in fgraph.inputs]
    outputs = [known.get(v, v) for v in fgraph.outputs]
    destroyed = any([node.op.destroy_map for _, nodes in order for node in nodes])
    features = [DestroyHandler(inputs)] if destroyed and fgraph.destroy_handler else []
    return FunctionGraph(inputs, outputs, features, clone=False, merging=False)


def _region(
    nodes: Sequence[Apply], read: set[Variable], fgraph: FunctionGraph, machine: Machine
) -> Region | None:
    """The region of a group; None if it is not worth it, or cannot be made after all."""
    if all([isinstance(node.op, FREE) for node in nodes]):
        return None
    own = {v for node in nodes for v in node.outputs}
    takes = dict.fromkeys(
        [v for n in nodes for v in n.inputs if v not in own and not isinstance(v, Constant)]
    )
    gives = dict.fromkeys([v for node in nodes for v in node.outputs if v in read])
    try:
        return Region(
            nodes, _ordered(takes, fgraph.inputs), _ordered(gives, fgraph.outputs), machine
        )
    except NotNative:
        return None


def _ordered(found: Mapping[Variable, Any], like: Sequence[Variable]) -> list[Variable]:
    """Variables, first those that another list has, as it has them."""
    return list(dict.fromkeys([*[v for v in like if v in found], *found]))
