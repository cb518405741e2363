"""Copying a user's graph into a `FunctionGraph`: the first thing that happens to every graph.

Each node is looked up before it is copied, so that of equal nodes one copy is made. What comes
later (nodes that rules build) enters through `NodeStore._import`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rewrite_engine.errors import DuplicateInputError, ForeignObjectError, describe
from rewrite_engine.graph.memory import makers_of_destroyed
from rewrite_engine.graph.node import Apply, Variable, build_node, build_variable
from rewrite_engine.graph.order import GAP
from rewrite_engine.graph.traverse import toposort

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph


def take_in(fgraph: FunctionGraph, outputs: Sequence[Variable], merging: bool) -> list[Apply]:
    """Let in what computes these outputs, before any feature watches: copies where the graph is to
    have nodes of its own; `fgraph.memo` gets its variables. Return the nodes that overwrite an
    input.
    """
    names = fgraph.memo
    nodes = toposort(outputs, names)
    destroyers = [node for node in nodes if node.op.destroy_map]
    apart = makers_of_destroyed(destroyers)
    if fgraph.owns_nodes:
        copy_in(fgraph, nodes, names, apart)
        return destroyers
    for node in nodes:
        fgraph.merging = merging and node not in apart
        fgraph._enter(node, names, GAP, None, None)
    return destroyers


def copy_in(
    fgraph: FunctionGraph,
    nodes: Sequence[Apply],
    names: dict[Variable, Variable],
    apart: Collection[Apply],
) -> None:
    """Let copies of nodes in, each after those it needs; `names` gets the graph's own variables.
    Equal nodes become one where the graph merges, but for those `apart`.
    """
    clients, table, key_of = fgraph.clients, fgraph.table, fgraph.key_of
    insert, merging = fgraph.order.insert, fgraph.merging
    for node in nodes:
        own = []
        for v in node.inputs:
            v = names.get(v, v)
            own.append(v if v in clients else fgraph._root_of(v, node))
        inputs = tuple(own)
        key = None if node.op.destroy_map else key_of(node, inputs)
        twin = table.get(key) if merging and key is not None and node not in apart else None
        if twin is not None:
            fgraph._stand_in(twin, node, names)
            continue
        copy = copied(node, inputs)
        if key is not None:
            table.setdefault(key, copy)
        insert(copy, GAP)
        for v in inputs:
            clients[v][copy] = None
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            clients[new] = {}
            names[old] = new


def copied(node: Apply, inputs: tuple[Variable, ...]) -> Apply:
    """A node like this one on other inputs of the same types."""
    outputs = node.outputs
    if len(outputs) == 1 and outputs[0]._tag is None is node._tag:  # nearly every node
        out = build_variable(node.op, inputs, outputs[0].type, node.origin)
        out.name = outputs[0].name
        return out.owner  # type: ignore[no-any-return]
    copy = build_node(node.op, inputs, tuple([v.type for v in outputs]), node.origin)
    for old, new in zip(outputs, copy.outputs, strict=True):
        new.name = old.name
        if old._tag is not None:
            new._tag = old.copied_tag()
    if node._tag is not None:
        copy._tag = node.copied_tag()
    return copy


def check_io(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
    """Raise unless these can be the inputs and outputs of a graph."""
    for what, variables in (("input", inputs), ("output", outputs)):
        for i, v in enumerate(variables):
            if not isinstance(v, Variable):
                raise ForeignObjectError(
                    f"{what} {i} of the graph is not a variable: {describe(v)}"
                )
    seen: set[Variable] = set()
    for v in inputs:
        if v in seen:
            raise DuplicateInputError(f"{v!r} is given twice as an input of the graph")
        seen.add(v)
