"""Partition of a graph into regions that run natively, and VM fallback nodes between them.

Each node has a depth: the depth of its operands, plus one for operands of another sort. Nodes of
one sort and depth form a region, or stand alone. They depend on nothing at their own depth but each
other, so regions can run one after the other, and are as large as this order allows. Nodes of a
branch that is run conditionally are of a sort of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node, copied
from rewrite_engine.link.native.inline import inlined
from rewrite_engine.link.native.lower import expanded, why_not
from rewrite_engine.link.native.op import NativeRegion
from rewrite_engine.link.native.region import NotNative
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.plan import conditions, schedule
from rewrite_engine.link.plan.expand import expand
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.index.subtensor import Subtensor
from rewrite_engine.tensor.reshape import Reshape
from rewrite_engine.tensor.shape import CheckedLength, Shape_i, SpecifyShape
from rewrite_engine.tensor.shaping.joins import Split
from rewrite_engine.terms.print import name_of

#: what costs nothing, so that a region of these alone is not worth a call
FREE = (DimShuffle, Subtensor, Split, Reshape, Shape_i, CheckedLength, SpecifyShape)
Sort = Any  # None of what runs on the VM; of others, where they run


Groups = list[tuple[Sort, list[Apply]]]
TRIES = 10
MOST = 5000  # nodes of a region, whose frame lies on the stack


def regions(fgraph: FunctionGraph, machine: Machine, timed: bool = False) -> FunctionGraph:
    """Return an equivalent graph in which `NativeRegion`s replace the native nodes.

    An op that needs a run-time length starts a new region. If it is refused there as well, it runs
    on the VM. timed: as of `NativeRegion`.
    """
    nodes, none = [], set[Apply]()
    for node in inlined(expand(schedule(fgraph))):
        if why_not(node) is None:
            nodes += expanded(node.op, node)
        else:
            nodes.append(node)
            none.add(node)
    where = conditions(nodes, fgraph.outputs)
    sorts = {node: None if node in none else (where.get(node, ()),) for node in nodes}
    late: set[Apply] = set()
    for _ in range(TRIES):
        order = _by_depth(nodes, sorts, late, fgraph.orderings())
        made, refused = _made(order, fgraph, machine, timed)
        if not refused:
            break
        sorts.update(dict.fromkeys([node for node in refused if node in late]))
        late.update(refused)
    return _rebuilt(fgraph, order, made)


def _by_depth(
    nodes: Sequence[Apply], sorts: Mapping[Apply, Sort], late: Collection[Apply],
    before: Mapping[Apply, Sequence[Apply]],
) -> Groups:  # fmt: skip
    """Groups of nodes of one sort, in an order in which they can run. late: nodes that begin a
    group.
    """
    maker = {v: node for node in nodes for v in node.outputs}  # (a step of a sum owns none)
    depth: dict[Apply, int] = {}
    groups: dict[tuple[int, Sort], list[Apply]] = {}
    for node in nodes:
        own, found = sorts[node], 0
        earlier = before.get(node.outputs[0].owner, ()) if before and node.outputs else ()
        read = [*node.inputs, *[v for other in earlier for v in other.outputs]]
        for other in [maker[v] for v in read if v in maker]:
            if other in depth:
                apart = sorts[other] != own or node in late
                found = max(found, depth[other] + apart)
        depth[node] = found
        groups.setdefault((found, own), []).append(node)
    order = [(sort, groups[d, sort]) for d, sort in sorted(groups, key=lambda key: key[0])]
    return [
        (sort, group[i : i + MOST]) for sort, group in order for i in range(0, len(group), MOST)
    ]


def _made(
    order: Groups, fgraph: FunctionGraph, machine: Machine, timed: bool
) -> tuple[list[NativeRegion | None], list[Apply]]:
    """The region of each group, None where the VM runs it; and the nodes that refused to be in
    theirs.
    """
    place = {v: k for k, (_, nodes) in enumerate(order) for node in nodes for v in node.outputs}
    read = {v for k, (_, nodes) in enumerate(order) for n in nodes for v in n.inputs
            if place.get(v) != k}  # fmt: skip
    read.update(fgraph.outputs)
    spare = _spare(order, fgraph)
    made, refused = list[NativeRegion | None](), list[Apply]()
    for sort, nodes in order:
        try:
            own = None if sort is None else _region(nodes, read, fgraph, machine, spare, timed)
            made.append(own)
        except NotNative as error:
            made.append(None)
            if error.node is not None:
                refused.append(error.node)
    return made, refused


def _spare(order: Groups, fgraph: FunctionGraph) -> set[Variable]:
    """Inputs that may be overwritten, and that one group alone reads."""
    if fgraph.destroy_handler is None:
        return set()
    readers: dict[Variable, set[int]] = {}
    for k, (_, nodes) in enumerate(order):
        for v in {v for node in nodes for v in node.inputs}:
            readers.setdefault(v, set()).add(k)
    mutable = fgraph.destroy_handler.mutable.difference(fgraph.outputs)
    return {v for v in mutable if v.type.ndim and len(readers.get(v, ())) == 1}


def _rebuilt(
    fgraph: FunctionGraph, order: Groups, made: Sequence[NativeRegion | None]
) -> FunctionGraph:
    """The graph of these groups."""
    known = {v: v.type.make_variable(name_of(v)) for v in fgraph.inputs}
    for (_, nodes), region in zip(order, made, strict=True):
        if region is None:
            for node in nodes:
                copy = copied(node, tuple([known.get(v, v) for v in node.inputs]))
                known.update(zip(node.outputs, copy.outputs, strict=True))
            continue
        given = tuple([known[v] for v in region.takes])
        types = tuple([v.type for v in region.gives])
        one = build_node(region, given, types, nodes[-1].origin)
        for v, out in zip(region.gives, one.outputs, strict=True):
            out.name = v.name or str(v)
            known[v] = out
    inputs = [known[v] for v in fgraph.inputs]
    outputs = [known.get(v, v) for v in fgraph.outputs]
    ops = [node.op for _, nodes in order for node in nodes]
    ops += [region for region in made if region is not None]
    destroyed = any([op.destroy_map for op in ops])
    features = [DestroyHandler(inputs)] if destroyed and fgraph.destroy_handler else []
    return FunctionGraph(inputs, outputs, features, clone=False, merging=False)


def _region(
    nodes: Sequence[Apply], read: set[Variable], fgraph: FunctionGraph, machine: Machine,
    spare: Collection[Variable], timed: bool,
) -> NativeRegion | None:  # fmt: skip
    """The region of a group; None if it is not worth it. Raises `NotNative`."""
    if all([isinstance(node.op, FREE) for node in nodes]):
        return None
    own = {v for node in nodes for v in node.outputs}
    takes = dict.fromkeys(
        [v for n in nodes for v in n.inputs if v not in own and not isinstance(v, Constant)]
    )
    gives = dict.fromkeys([v for node in nodes for v in node.outputs if v in read])
    ends = _ordered(takes, fgraph.inputs), _ordered(gives, fgraph.outputs)
    return NativeRegion(nodes, *ends, machine, spare=spare, timed=timed)


def _ordered(found: Mapping[Variable, Any], like: Sequence[Variable]) -> list[Variable]:
    """Variables, first those that another list has, as it has them."""
    return list(dict.fromkeys([*[v for v in like if v in found], *found]))
