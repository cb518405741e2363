"""In-place insertion: time for 2,000 nodes, and how it grows with the graph on shapes that others
have trouble with.

Only the insertion is timed, on graphs that are built, merged and (where they come from gradients)
rewritten. Every shape is as large as its name says in nodes, but `mlp` and `mlp with penalties`,
which count layers. The exponent is fitted by least squares on a log-log scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks.measure import Row, at_most, once
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.pipeline.phases import optimizer
from rewrite_engine.rewrite.inplace import InplaceOptimizer

Graph = tuple[list[Any], list[Any]]
NODES, LAYERS = (1_000, 10_000, 100_000), (100, 1_000, 10_000)


def chain(n: int) -> Graph:
    """One value after the other."""
    x = v = pt.dvector("x")
    for _ in range(n):
        v = pt.tanh(v)
    return [x], [v]


def hub(n: int) -> Graph:
    """One value with n / 2 readers, each of which could overwrite it."""
    x = pt.dvector("x")
    value = pt.sin(x)
    return [x], [pt.exp(value + float(i)) for i in range(n // 2)]


def hub_read_again(n: int) -> Graph:
    """One value that every node of a chain reads, and at the end one that cannot overwrite it."""
    x = pt.dvector("x")
    value = v = pt.sin(x)
    for _ in range(n):
        v = v + value
    return [x], [pt.dot(v, value)]


def read_backwards(n: int) -> Graph:
    """Every value of a chain is read again, the last first, by what cannot overwrite it."""
    x = v = pt.dvector("x")
    values = []
    for _ in range(n // 3):
        values.append(v)
        v = pt.tanh(v)
    outputs = []
    for value in reversed(values):
        v = pt.cos(v)
        outputs.append(pt.dot(value, v))
    return [x], outputs


def ladder(n: int) -> Graph:
    """Two chains that read each other, and are read again backwards."""
    x = pt.dvector("x")
    a, b = pt.sin(x), pt.cos(x)
    rungs = []
    for _ in range(n // 5):
        rungs.append((a, b))
        a, b = a + b, b * a
    v, outputs = a * b, []
    for a, b in reversed(rungs):
        v = pt.exp(v)
        outputs += [pt.dot(a, v), pt.dot(b, v)]
    return [x], outputs


def butterfly(n: int) -> Graph:
    """The graph of a fast Fourier transform."""
    x = pt.dvector("x")
    steps = max(1, int(math.log2(n)) - 3)
    width = 1 << steps
    row = [pt.sin(x + float(i)) for i in range(width)]
    for s in range(steps):
        row = [
            row[i] * row[i ^ 1 << s] if i >> s & 1 else row[i] + row[i ^ 1 << s]
            for i in range(width)
        ]
    return [x], row


def butterfly_read_backwards(n: int) -> Graph:
    """The same, with every value read again, the last first, by what cannot overwrite it."""
    x = pt.dvector("x")
    steps = max(1, int(math.log2(n)) - 4)
    width = 1 << steps
    row = [pt.sin(x + float(i)) for i in range(width)]
    rows, outputs = [], []
    for s in range(steps):
        rows.append(row)
        row = [
            row[i] * row[i ^ 1 << s] if i >> s & 1 else row[i] + row[i ^ 1 << s]
            for i in range(width)
        ]
    for s in reversed(range(steps)):
        row = [pt.exp(row[i]) + pt.exp(row[i ^ 1 << s]) for i in range(width)]
        outputs += [pt.dot(a, b) for a, b in zip(rows[s], row, strict=True)]
    return [x], outputs


def views(n: int) -> Graph:
    """Views of views of one value, each with a reader."""
    x = pt.dvector("x")
    v, outputs = pt.sin(x), []
    for _ in range(n // 2):
        v = v[::-1]
        outputs.append(pt.exp(v))
    return [x], outputs


def many_outputs(n: int) -> Graph:
    """Short chains side by side."""
    x = pt.dvector("x")
    return [x], [pt.exp(pt.sin(x + float(i))) for i in range(n // 3)]


def one_sum(n: int) -> Graph:
    """The same, added up by one node."""
    inputs, outputs = many_outputs(n)
    return inputs, [pt.add(*outputs)]


def mlp(layers: int, penalty: bool = False) -> Graph:
    """The gradient of a network, with a penalty on what each layer gives."""
    x = h = pt.dvector("x")
    weights = [pt.dmatrix() for _ in range(layers)]
    cost: Any = 0.0
    for w in weights:
        h = pt.tanh(pt.dot(h, w))
        if penalty:
            cost = cost + (h**2).sum()
    return [x, *weights], rw.grad((h**2).sum() + cost, weights)


def mlp_with_penalties(layers: int) -> Graph:
    """See `mlp`."""
    return mlp(layers, penalty=True)


def seconds(graph: Graph, prepare: bool) -> tuple[float, int]:
    """Of the insertion, and the nodes of the graph."""
    fgraph = FunctionGraph(*graph)
    if prepare:
        for phase in optimizer():
            if phase.name != "inplace":
                phase.rewrite(fgraph)
    nodes = len(fgraph)
    return once(lambda: InplaceOptimizer().rewrite(fgraph))[0], nodes


def best_of(shape: Callable[[int], Graph], size: int, prepare: bool = False) -> tuple[float, int]:
    """The least of several runs; fewer where they are long."""
    graph = shape(size)
    runs = [seconds(graph, prepare)]
    while len(runs) < 7 and sum(t for t, _ in runs) < 1.0:
        runs.append(seconds(graph, prepare))
    return min(runs)


def exponent(points: list[tuple[float, int]]) -> float:
    """The slope of log(seconds) over log(nodes)."""
    xs = [math.log(n) for _, n in points]
    ys = [math.log(t) for t, _ in points]
    x0, y0 = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - x0) * (y - y0) for x, y in zip(xs, ys, strict=True)) / sum(
        (x - x0) ** 2 for x in xs
    )


SHAPES = (
    chain,
    hub,
    hub_read_again,
    read_backwards,
    ladder,
    butterfly,
    butterfly_read_backwards,
    views,
    many_outputs,
    one_sum,
)


def main() -> Iterator[Row]:
    t, nodes = best_of(chain, 2_000)
    yield at_most(f"{nodes:,} nodes that can all work in place", t * 1e3, 100, "ms")
    todo = [(shape, NODES) for shape in SHAPES]
    todo += [(mlp, LAYERS), (mlp_with_penalties, LAYERS)]
    for shape, sizes in todo:
        points = [best_of(shape, n, prepare=sizes is LAYERS) for n in sizes]
        each = " ".join([f"{t / n * 1e6:.1f}" for t, n in points])
        name = shape.__name__.replace("_", " ")
        note = f"{each} µs a node; {points[-1][1]:,} nodes"
        yield at_most(f"{name}: exponent", exponent(points), 1.1, "", note)
