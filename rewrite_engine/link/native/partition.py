"""Partition of a graph into regions that run natively, and VM fallback nodes between them.

Each node has a depth: the depth of its operands, plus one for operands with another placement.
Nodes of one placement and depth are a segment: a region, or nodes for the VM. They depend on
nothing at their own depth but each other, so segments can run one after the other, and are as large
as this order allows. Nodes of a branch that runs conditionally have a placement of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node, copied
from rewrite_engine.link.native.inline import inline_graphs
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

#: ops that cost nothing: a region of these alone is not worth a call, unless it reads numbers
ZERO_COST_OPS = (DimShuffle, Subtensor, Split, Reshape, Shape_i, CheckedLength, SpecifyShape)
#: None: on the VM; otherwise a tuple of the conditions of native nodes, None for those that always
#: run (no condition at all: they never do)
Placement = Any
Segments = list[tuple[Placement, list[Apply]]]
MAX_PARTITIONS = 10  # attempts, with other placements of refused nodes
MAX_REGION_NODES = 5000  # the frame of a region is on the stack


def regions(fgraph: FunctionGraph, machine: Machine, timed: bool = False) -> FunctionGraph:
    """Return an equivalent graph in which `NativeRegion`s replace the native nodes.

    An op that needs a run-time length starts a new region. If it is refused there as well, it runs
    on the VM. timed: as of `NativeRegion`.
    """
    nodes, none = [], set[Apply]()
    for node in inline_graphs(expand(schedule(fgraph))):
        if why_not(node) is None:
            nodes += expanded(node.op, node)
        else:
            nodes.append(node)
            none.add(node)
    where = conditions(nodes, fgraph.outputs)
    placements = {node: None if node in none else (where.get(node),) for node in nodes}
    deferred: set[Apply] = set()
    for _ in range(MAX_PARTITIONS):
        order = _with_views(_by_depth(nodes, placements, deferred, fgraph.orderings()), fgraph)
        found, refused = _build_regions(order, fgraph, machine, timed)
        if not refused:
            break
        placements.update(dict.fromkeys([node for node in refused if node in deferred]))
        deferred.update(refused)
    return _rebuild(fgraph, order, found)


def _by_depth(
    nodes: Sequence[Apply], placements: Mapping[Apply, Placement], deferred: Collection[Apply],
    before: Mapping[Apply, Sequence[Apply]],
) -> Segments:  # fmt: skip
    """Return the segments in an order in which they can run. deferred: nodes that begin one."""
    maker = {v: node for node in nodes for v in node.outputs}  # (a step of a sum owns none)
    depth: dict[Apply, int] = {}
    segments: dict[tuple[int, Placement], list[Apply]] = {}
    for node in nodes:
        own, found = placements[node], 0
        earlier = before.get(node.outputs[0].owner, ()) if before and node.outputs else ()
        read = [*node.inputs, *[v for other in earlier for v in other.outputs]]
        for other in [maker[v] for v in read if v in maker]:
            if other in depth:
                apart = placements[other] != own or node in deferred
                found = max(found, depth[other] + apart)
        depth[node] = found
        segments.setdefault((found, own), []).append(node)
    order = sorted(segments, key=lambda key: key[0])
    return [
        (placement, segments[d, placement][i : i + MAX_REGION_NODES])
        for d, placement in order
        for i in range(0, len(segments[d, placement]), MAX_REGION_NODES)
    ]


def _with_views(order: Segments, fgraph: FunctionGraph) -> Segments:
    """Return the segments, in which native ones make the views that they read: a region would copy
    one for another region.
    """
    maker = {v: node for _, nodes in order for node in nodes for v in node.outputs}
    views = {v: (k, node) for k, (v, node) in enumerate(maker.items()) if is_plain_view(node)}
    if not views:
        return order
    found: Segments = []
    for placement, nodes in order:
        own, more = {v for node in nodes for v in node.outputs}, dict[int, Apply]()
        left = [v for node in nodes for v in node.inputs]
        while left and placement is not None:
            v = left.pop()
            if v in views and v not in own and views[v][0] not in more:
                place, node = views[v]
                more[place] = node
                left.append(node.inputs[0])
        found.append((placement, [*[more[k] for k in sorted(more)], *nodes]))
    read = _read_elsewhere(found, fgraph)
    return [(placement, _used(nodes, read)) for placement, nodes in found]


def is_plain_view(node: Apply) -> bool:
    """Return whether a node gives a view of its first input, by constants alone."""
    is_view = isinstance(node.op, DimShuffle | Subtensor) and bool(node.outputs[0].type.ndim)
    return is_view and all([isinstance(v, Constant) for v in node.inputs[1:]])


def _used(nodes: list[Apply], read: Collection[Variable]) -> list[Apply]:
    """Return the nodes without views that nothing reads."""
    inside = {v for node in nodes for v in node.inputs}
    return [n for n in nodes
            if not is_plain_view(n) or n.outputs[0] in inside or n.outputs[0] in read]  # fmt: skip


def _read_elsewhere(order: Segments, fgraph: FunctionGraph) -> set[Variable]:
    """Return the variables that are results, or that a segment reads and does not make."""
    read = set(fgraph.outputs)
    for _, nodes in order:
        own = {v for node in nodes for v in node.outputs}
        read.update([v for node in nodes for v in node.inputs if v not in own])
    return read


def _build_regions(
    order: Segments, fgraph: FunctionGraph, machine: Machine, timed: bool
) -> tuple[list[NativeRegion | None], list[Apply]]:
    """Return the region of each segment, None if the VM runs it; and the nodes that have to be in
    another segment. The first segment that makes a variable gives it to others.
    """
    read = _read_elsewhere(order, fgraph)
    donated = _donated_inputs(order, fgraph)
    found, refused = list[NativeRegion | None](), list[Apply]()
    for placement, nodes in order:
        wanted = {v for node in nodes for v in node.outputs if v in read}
        read.difference_update(wanted)
        try:
            native = placement is not None
            region = _region(nodes, wanted, fgraph, machine, donated, timed) if native else None
            found.append(region)
        except NotNative as error:
            found.append(None)
            if error.node is not None:
                refused.append(error.node)
    return found, refused


def _donated_inputs(order: Segments, fgraph: FunctionGraph) -> set[Variable]:
    """Return the inputs that may be overwritten and that only one segment reads."""
    if fgraph.destroy_handler is None:
        return set()
    readers: dict[Variable, set[int]] = {}
    for k, (_, nodes) in enumerate(order):
        for v in {v for node in nodes for v in node.inputs}:
            readers.setdefault(v, set()).add(k)
    mutable = fgraph.destroy_handler.mutable.difference(fgraph.outputs)
    return {v for v in mutable if v.type.ndim and len(readers.get(v, ())) == 1}


def _rebuild(
    fgraph: FunctionGraph, order: Segments, found: Sequence[NativeRegion | None]
) -> FunctionGraph:
    """Return the graph of these segments."""
    known = {v: v.type.make_variable(name_of(v)) for v in fgraph.inputs}
    for (_, nodes), region in zip(order, found, strict=True):
        if region is None:
            for node in [n for n in nodes if not known.keys() >= {*n.outputs}]:
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
    ops += [region for region in found if region is not None]
    destroyed = any([op.destroy_map for op in ops])
    features = [DestroyHandler(inputs)] if destroyed and fgraph.destroy_handler else []
    return FunctionGraph(inputs, outputs, features, clone=False, merging=False)


def _region(
    nodes: Sequence[Apply], wanted: set[Variable], fgraph: FunctionGraph, machine: Machine,
    donated: Collection[Variable], timed: bool,
) -> NativeRegion | None:  # fmt: skip
    """Return the region of a segment, which gives the wanted variables; None if it is not worth it.
    Raises `NotNative`.
    """
    if is_free(nodes, wanted):
        return None
    own = {v for node in nodes for v in node.outputs}
    takes = dict.fromkeys(
        [v for n in nodes for v in n.inputs if v not in own and not isinstance(v, Constant)]
    )
    gives = dict.fromkeys([v for node in nodes for v in node.outputs if v in wanted])
    ends = _order_like(takes, fgraph.inputs), _order_like(gives, fgraph.outputs)
    return NativeRegion(nodes, *ends, machine, donated=donated, timed=timed)


def is_free(nodes: Sequence[Apply], read: Collection[Variable]) -> bool:
    """Return whether ops cost nothing, and read no element that becomes a result."""
    if not all([isinstance(node.op, ZERO_COST_OPS) for node in nodes]):
        return False
    gives = [v for node in nodes for v in node.outputs if v in read]
    items = [v for v in gives if isinstance(v.owner.op, Subtensor) and not v.type.ndim]
    return not gives or len(items) < len(gives)


def _order_like(found: Mapping[Variable, Any], like: Sequence[Variable]) -> list[Variable]:
    """Return variables: first those of another list, in its order."""
    return list(dict.fromkeys([*[v for v in like if v in found], *found]))
