"""What it takes to compile thirteen graphs and PyMC's log densities, with gradients: times, and the
work of the rules. Counts do not depend on the machine; `tests/benchmarks/test_compile.py` holds
those of the thirteen graphs to what they were.

`python -m benchmarks.compile NAME` takes the times of one library in a process of its own.
"""

from __future__ import annotations

import gc
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any, NamedTuple

from benchmarks.measure import ROOT, Row, at_most, digits
from benchmarks.pymc_models.__main__ import LIBRARIES, every_case
from benchmarks.pymc_models.cases import GRAPHS, THIRTEEN, WITH_VALUES, Case

TURNS, LIMIT = 5, 900  # compilations of a graph, the fastest counts; seconds for one library
FASTER, NO_CASE_UNDER = 35.0, 15.0  # than PyTensor, on the thirteen graphs: mean, and each
VISITS, TRIES = 1.2, 3.0  # per node or firing; per firing


class Work(NamedTuple):
    """Work of the rules on one graph. nodes: of the graph as built, equal ones merged. visits: of
    nodes, by all phases. tries: of rules at nodes. phases: that visited nodes.
    """

    nodes: int
    visits: int
    tries: int
    firings: int
    phases: int


def work(case: Case) -> Work:
    """Return the work of the default rules on a graph."""
    from rewrite_engine.graph.fgraph import FunctionGraph
    from rewrite_engine.pipeline.phases import optimizer
    from rewrite_engine.rewrite.watched import Stopwatch

    inputs, outputs, *_ = case
    fgraph = FunctionGraph(inputs, outputs)
    result = optimizer().rewrite(fgraph, Stopwatch())
    leaves = [part for part in result.leaves() if part.visits]
    tries = sum(stats.calls for stats in result.rules.values())
    visits = sum(part.visits for part in leaves)
    nodes = max(part.nodes_before for part in leaves)
    return Work(nodes, visits, tries, result.firings, len(leaves))


def thirteen(lib: Any, pt: Any) -> Iterator[tuple[str, Case]]:
    """Yield the thirteen graphs, each with its title."""
    for title, (graph, n) in GRAPHS.items():
        yield title, (*graph(pt, lib.grad, n), [])
    for title, (model, n) in WITH_VALUES.items():
        yield title, model(lib, pt, n)


def times(library: Any, build: Callable[[], Case], mode: Any) -> tuple[float, float]:
    """Return milliseconds to build a graph with its gradient, and to compile it."""
    best = [math.inf, math.inf]
    for _ in range(TURNS):
        gc.collect()
        gc.disable()
        start = process_time()
        inputs, outputs, _ = build()
        middle = process_time()
        library.function(inputs, outputs, mode)
        end = process_time()
        gc.enable()
        best = [min(best[0], middle - start), min(best[1], end - middle)]
    return best[0] * 1e3, best[1] * 1e3


def figures(name: str) -> dict[str, list[float]]:
    """Return what a library reports in a process of its own; nothing if it is not installed."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.compile", name]
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))


def main() -> Iterator[Row]:
    ours, theirs = figures("rewrite_engine"), figures("pytensor")
    ratios = {}
    for title, (build, compiled, *counts) in ours.items():
        figure = f"build {digits(build)} ms, compile {digits(compiled)} ms"
        peers: tuple[tuple[str, str], ...] = ()
        target, met = "", None
        if title in theirs:
            ratio = ratios[title] = theirs[title][1] / compiled
            peers = (("PyTensor", f"{digits(theirs[title][1])} ms"),)
            figure += f"  ({digits(ratio)} ×)"
            if title in THIRTEEN and not title.startswith("total"):
                target, met = f"≥ {NO_CASE_UNDER:g} ×", ratio >= NO_CASE_UNDER
        yield Row(title, figure, target, met, peers)
        yield from of_work(title, Work(*map(int, counts)))
    held = [ratios[title] for title in THIRTEEN if title in ratios]
    if held:
        mean = math.exp(sum(map(math.log, held)) / len(held))
        yield Row("geometric mean: thirteen graphs", f"{digits(mean)} ×", f"≥ {FASTER:g} ×",
                  mean >= FASTER)  # fmt: skip
    rest = [ratio for title, ratio in ratios.items() if title not in THIRTEEN]
    if rest:
        mean = math.exp(sum(map(math.log, rest)) / len(rest))
        yield Row("geometric mean: models of PyMC, and losses", f"{digits(mean)} ×")


def of_work(title: str, found: Work) -> Iterator[Row]:
    """Yield the rows of the work of rules."""
    text = (
        f"{found.nodes} nodes, {found.visits} visits, {found.tries} tries, {found.firings} firings"
    )
    per_visit = found.visits / (found.nodes + found.firings)
    yield at_most(f"{title}: visits per node or firing", per_visit, VISITS, "", text)
    yield at_most(f"{title}: tries per firing", found.tries / max(found.firings, 1), TRIES, "")


def one_library(name: str) -> int:
    """Print a line of JSON per graph: title, times, and of this library the work of the rules."""
    try:
        library: Any = LIBRARIES[name]()
    except ImportError:
        return 0
    if library.as_built is not None:  # (PyTensor's mode has its Python linker)
        library.modes = {"default": library.lib.Mode("vm")}
    for title, build, modes in every_case(library):
        found = [*times(library, build, modes["default"])]
        if library.as_built is not None:
            found += work(build())
        print(json.dumps([title, found]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(one_library(sys.argv[1]))
