"""Estimate of the cost of running a graph: floating-point operations, bytes read and written.

Flops come from `Op.flops` (an exponential counts as 10, a division as 4, …); those of loops, and of
other ops that run a graph, are of all nodes that ran in it. Bytes are those of
each op's inputs and outputs, as if it ran alone: a view moves none, an op that asks only for a
shape reads none. Caches, fusion and the price of calling NumPy are not in it, so it compares two
graphs and predicts no time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from rewrite_engine.explain.evaluate import SeenShapes
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.link.plan import held
from rewrite_engine.link.plan.held import Peak
from rewrite_engine.tensor.elemwise import Elemwise
from rewrite_engine.tensor.shape import Shape, Shape_i

#: shapes of variables
Sized = Mapping[Variable, tuple[int, ...]]
PREFIXES = ("", "k", "M", "G", "T", "P")


@dataclass(frozen=True, slots=True)
class Cost:
    """nodes, flops, bytes moved. unsized: nodes that are not counted, since their shapes are not
    known. uncounted: names of ops that compute and have no estimate of their flops.
    """

    nodes: int
    flops: int = 0
    bytes: int = 0
    unsized: int = 0
    uncounted: tuple[str, ...] = ()


def cost_of(fgraph: FunctionGraph, shapes: SeenShapes) -> Cost:
    """Estimate a graph's cost from shapes that were seen, or that its types know.

    >>> import rewrite_engine.tensor as pt
    >>> x = pt.matrix("x", shape=(3, 4))
    >>> cost_of(FunctionGraph([x], [pt.exp(x)]), SeenShapes())
    Cost(nodes=1, flops=120, bytes=192, unsized=0, uncounted=())
    """
    flops = moved = unsized = 0
    uncounted: dict[str, None] = {}
    for node in fgraph.apply_nodes:
        ins = [shape_of(v, shapes) for v in node.inputs]
        outs = [shape_of(v, shapes) for v in node.outputs]
        if None in ins or None in outs:
            unsized += 1
            continue
        flops += shapes.inside.get(node.op) or node.op.flops(ins, outs)
        moved += bytes_moved(node, shapes)
        known = type(node.op).flops is not Op.flops or node.op in shapes.inside
        if not known and not only_moves(node):
            uncounted[str(node.op).partition("{")[0]] = None
    return Cost(len(fgraph), flops, moved, unsized, tuple(sorted(uncounted)))


def peak_of(fgraph: FunctionGraph, shapes: SeenShapes) -> Peak:
    """Estimate the most memory that is held at once, inputs and constants included."""
    size = partial(_size, shapes=shapes)
    return held.peak_of(fgraph.toposort(), fgraph.inputs, fgraph.outputs, size)


def shape_of(v: Variable, shapes: Sized) -> tuple[int, ...] | None:
    """Return the shape that was seen, or that the type knows; () for other values than arrays."""
    if v in shapes:
        return shapes[v]
    static = v.type.shape
    return None if None in static else static


def bytes_moved(node: Apply, shapes: Sized) -> int:
    """Return the bytes that a node reads and writes."""
    if node.op.view_map:
        return 0
    read = [v for i, v in enumerate(node.inputs) if not _reads_shape_only(node, i)]
    return sum(_size(v, shapes) for v in (*read, *node.outputs))


def _size(v: Variable, shapes: Sized) -> int:
    shape = shape_of(v, shapes)
    return 0 if shape is None or v.type.kind == "?" else v.type.get_size(shape)


def _reads_shape_only(node: Apply, i: int) -> bool:
    if isinstance(node.op, Shape | Shape_i):
        return True
    return isinstance(node.op, Elemwise) and not any(node.op.connection_pattern(node)[i])


def only_moves(node: Apply) -> bool:
    """Return whether an op computes no numbers: views, shapes, and rearrangements of elements."""
    family = type(node.op).__module__.rpartition(".")[2]
    return bool(node.op.view_map) or family in {
        "shape",
        "subtensor",
        "joins",
        "creation",
        "dimshuffle",
        "reshape",
        "gather",
    }


def amount(n: float, unit: str = "") -> str:
    """Write a number in three digits: `amount(45210, "flop")` is "45.2 kflop"."""
    power = 0
    while n >= 999.5 and power < len(PREFIXES) - 1:
        n, power = n / 1000, power + 1
    digits = f"{n:.0f}" if power == 0 or n >= 99.95 else f"{n:.3g}"
    return f"{digits} {PREFIXES[power]}{unit}".rstrip()
