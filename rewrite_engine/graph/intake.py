"""Copying a user's graph into a `FunctionGraph`: the first thing that happens to every graph.

Each node is looked up before it is copied, so that of equal nodes one copy is made. What comes
later (nodes that rules build) enters through `NodeStore._import`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.graph.memory import makers_of_destroyed
from rewrite_engine.graph.node import Apply, Variable, build_node, build_variable, copy_tag
from rewrite_engine.graph.order import GAP


def copy_in(fgraph: Any, nodes: Sequence[Apply], names: dict[Variable, Variable]) -> None:
    """Let copies of nodes in, each after those it needs, before any feature watches; `names` gets
    the graph's own variables. Equal nodes become one where the graph merges.
    """
    apart = makers_of_destroyed(nodes)
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
            new._tag = copy_tag(old)
    if node._tag is not None:
        copy._tag = copy_tag(node)
    return copy
