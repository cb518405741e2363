"""Memory and floating-point operations of a profiled function.

Both refer to the shapes of the values when each node first ran. Bytes come from the types
(`get_size` of `get_shape_info`), operation counts from the ops (`Op.flops`); an exponential counts
as 10, a division as 4.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from rewrite_engine.graph.frozen import FrozenGraph
from rewrite_engine.graph.inner import HasInnerGraph, inner_ops
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.link.plan.held import Peak, peak_of
from rewrite_engine.link.ticks import Ticks, size_of

Graphs = Mapping[FrozenGraph, Ticks]


def peak(graphs: Graphs) -> Peak | None:
    """Return the peak memory of the functions that have run; None if none has. A node that runs a
    graph counts with the peak of that graph. Native code keeps temporaries between calls.
    """
    held = [node.op for ticks in graphs.values() for node in ticks.nodes]
    inner = list(inner_ops([op for op in dict.fromkeys(held) if isinstance(op, HasInnerGraph)]))
    inside: dict[Any, Peak] = {}
    for op in inner:  # those that are inside of others come first
        if op.fgraph in graphs:
            inside[op] = _peak(op.fgraph, graphs[op.fgraph], inside, frozenset(op.fgraph.inputs))
    native = kernels_among(graphs)
    within = {*[op.fgraph for op in inside], *native}
    found = [
        _peak(g, t, inside, frozenset())
        for g, t in graphs.items()
        if g not in within and any(t.runs)
    ]
    most = max(found, key=lambda one: one.bytes, default=None)
    kept = sum([g.kept_bytes for g in native])
    return most and most._replace(bytes=most.bytes + kept)


def kernels_among(graphs: Iterable[Any]) -> list[Any]:
    """Return the graphs that are the kernels of a region of native code."""
    return [g for g in graphs if hasattr(g, "holder")]


def _peak(
    fgraph: FrozenGraph, ticks: Ticks, inside: Mapping[Any, Peak], lent: Collection[Variable]
) -> Peak:
    """Return the peak memory of one graph. lent: variables counted in the graph that owns them."""

    def held_by(node: Apply) -> int:
        native: Any = getattr(node.op, "kernels", None)
        own = 0 if native is None else native.stack_bytes
        return inside[node.op].bytes if node.op in inside else own

    size = partial(_size, ticks, lent)
    return peak_of(ticks.nodes, fgraph.inputs, fgraph.outputs, size, held_by)


def _size(ticks: Ticks, lent: Collection[Variable], v: Variable) -> int:
    if v in lent:
        return 0
    return size_of(v.type, v.data) if isinstance(v, Constant) else ticks.bytes.get(v, 0)


def operations(graphs: Graphs) -> dict[tuple[FrozenGraph, Apply], int]:
    """Count the floating-point operations of each node over all its runs. A node that runs a graph
    or kernels has no entry; what it runs has. Nodes of unknown shapes are left out.
    """
    found = {}
    for fgraph, ticks in graphs.items():
        for node, runs in zip(ticks.nodes, ticks.runs, strict=True):
            op: Any = node.op
            has_graph = isinstance(op, HasInnerGraph) and op.fgraph in graphs
            if has_graph or getattr(op, "kernels", None) is not None:
                continue
            each = [_flops(ticks, one) for one in getattr(op, "counted", [node])]
            known = [n for n in each if n is not None]
            if runs and (known or not each):
                found[fgraph, node] = runs * sum(known)
    return found


def _flops(ticks: Ticks, node: Apply) -> int | None:
    """Return the operations of one run of a node; None if a shape is unknown."""
    ins = [_shape(ticks, v) for v in node.inputs]
    outs = [_shape(ticks, v) for v in node.outputs]
    if None in ins or None in outs:
        return None
    return node.op.flops(ins, outs)  # type: ignore[arg-type]


def _shape(ticks: Ticks, v: Variable) -> tuple[int, ...] | None:
    if v in ticks.shapes:
        return ticks.shapes[v]
    if isinstance(v, Constant):
        return getattr(v.data, "shape", ())
    shape = getattr(v.type, "shape", ())
    return None if None in shape else tuple(shape)


def amount(n: float, unit: str = "") -> str:
    """Format a number with three digits: `amount(45210, "B")` is "45.2 kB"."""
    prefixes = ["", "k", "M", "G", "T", "P"]
    while n >= 999.5 and len(prefixes) > 1:
        n, prefixes = n / 1000, prefixes[1:]
    return f"{f'{n:.3g}' if n < 999.5 else f'{n:.0f}'} {prefixes[0]}{unit}".rstrip()
