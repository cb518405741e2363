"""From 1,000 to 1,000,000 nodes: how time grows (its exponent, least squares on a log-log scale),
and memory per node. Each size is measured in a new process.

Stages: build the graph with the user's operators, import it into a `FunctionGraph`, rewrite it
where a rule fires at every level, a pass that finds nothing to do, pickle it and read it back.
Shapes: a chain, deep; and many outputs side by side, wide.
`python -m benchmarks.growth SHAPE NODES` is one such process.

The collector is off, as it is while a graph is rewritten: it would look at millions of live objects
again and again.
"""

from __future__ import annotations

import gc
import json
import math
import pickle
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import rewrite_engine.tensor as pt
from benchmarks.measure import ROOT, Row, at_most
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.pipeline.phases import optimizer

SIZES = (1_000, 10_000, 100_000, 1_000_000)
STAGES = ("build", "import", "rewrite", "nothing to rewrite", "pickle", "unpickle")
TRACED = 100_000  # nodes of the graph whose memory is counted

Graph = tuple[Any, list[Any]]


def deep(nodes: int) -> Graph:
    """A chain of sin(log(exp(·)))."""
    x = out = pt.dvector("x")
    for _ in range(nodes // 3):
        out = pt.sin(pt.log(pt.exp(out)))
    return x, [out]


def deep_quiet(nodes: int) -> Graph:
    """A chain that no rule changes."""
    x = out = pt.dvector("x")
    for _ in range(nodes // 2):
        out = pt.tanh(pt.sin(out))
    return x, [out]


def wide(nodes: int) -> Graph:
    """Many outputs, all different: a rule fires at each."""
    x = pt.dvector("x")
    return x, [pt.log(pt.exp(x * (i + 1.5))) for i in range(nodes // 3)]


def wide_quiet(nodes: int) -> Graph:
    """Many outputs that no rule changes."""
    x = pt.dvector("x")
    return x, [pt.tanh(x * (i + 1.5)) for i in range(nodes // 2)]


SHAPES: dict[str, tuple[Callable[[int], Graph], Callable[[int], Graph]]] = {
    "deep": (deep, deep_quiet),
    "wide": (wide, wide_quiet),
}


def timed(f: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of one call on the processor, and its result. (`measure.once` would collect garbage
    first, which takes longer than the work where there are millions of objects.)
    """
    start = process_time()
    result = f()
    return process_time() - start, result


def stages(shape: str, nodes: int) -> dict[str, float]:
    """Seconds of each stage for one graph of this size."""
    loud, quiet = SHAPES[shape]
    driver = {part.name: part for part in optimizer().parts}["canonicalize"]
    for warm in (loud, quiet):
        x, outs = warm(300)
        driver.rewrite(FunctionGraph([x], outs))
    build, (x, outs) = timed(lambda: loud(nodes))
    taken, fgraph = timed(lambda: FunctionGraph([x], outs))
    dump, data = timed(lambda: pickle.dumps(fgraph))
    load, copy = timed(lambda: pickle.loads(data))  # noqa: F821  (deleted below)
    assert len(copy) == len(fgraph) == nodes // 3 * 3
    rewrite, result = timed(lambda: driver.rewrite(fgraph))
    assert result.firings == nodes // 3, result.firings
    del fgraph, outs, copy, data
    x, outs = quiet(nodes)
    fgraph = FunctionGraph([x], outs)
    driver.rewrite(fgraph)
    nothing, result = timed(lambda: driver.rewrite(fgraph))
    assert result.firings == 0
    return dict(zip(STAGES, (build, taken, rewrite, nothing, dump, load), strict=True))


def memory(nodes: int) -> dict[str, float]:
    """Bytes of a node as the user builds it, and of one in a graph; and of the whole process."""
    driver = {part.name: part for part in optimizer().parts}["canonicalize"]
    x, outs = deep(300)
    driver.rewrite(FunctionGraph([x], outs))
    resident = resident_bytes()
    tracemalloc.start()
    x, outs = deep_quiet(nodes)
    built = tracemalloc.get_traced_memory()[0]
    fgraph = FunctionGraph([x], outs)
    taken = tracemalloc.get_traced_memory()[0] - built
    tracemalloc.stop()
    assert len(fgraph) == nodes
    del fgraph, x, outs
    x, outs = deep_quiet(10 * nodes)
    fgraph = FunctionGraph([x], outs)
    both = (resident_bytes() - resident) / len(fgraph)
    return {"built": built / nodes, "graph": taken / nodes, "resident": both}


def resident_bytes() -> float:
    """The most memory this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """The slope of log seconds over log size."""
    xs, ys = [math.log(n) for n in sizes], [math.log(t) for t in seconds]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    products = [(x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)]
    return sum(products) / sum([(x - mx) ** 2 for x in xs])


def child(*arguments: str) -> Any:
    """What a new process measured."""
    command = [sys.executable, "-m", "benchmarks.growth", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def least(shape: str, nodes: int) -> dict[str, float]:
    """The stages of a size; the least of several processes where they are short."""
    runs = [child(shape, str(nodes)) for _ in range(5 if nodes <= 10_000 else 1)]
    return {stage: min(run[stage] for run in runs) for stage in STAGES}


def main() -> Iterator[Row]:
    for shape in SHAPES:
        measured = [least(shape, nodes) for nodes in SIZES]
        for stage in STAGES:
            seconds = [m[stage] for m in measured]
            each = [t / n * 1e6 for t, n in zip(seconds, SIZES, strict=True)]
            note = " · ".join([f"{t:.2f}" for t in each]) + " µs a node"
            yield at_most(f"{shape}, {stage}: exponent", exponent(SIZES, seconds), 1.1, "", note)
    found = child("memory", str(TRACED))
    yield Row("memory of a node as it is built", f"{found['built']:.0f} B")
    yield at_most("memory of a node of a graph", found["graph"], 1_000, "B")
    note = "of the process, most at once"
    yield Row("built and in a graph, 1,000,000 nodes", f"{found['resident']:.0f} B  ({note})")


if __name__ == "__main__":
    gc.disable()
    kind, size = sys.argv[1], int(sys.argv[2])
    print(json.dumps(memory(size) if kind == "memory" else stages(kind, size)))
