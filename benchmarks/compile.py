"""Compiling thirteen graphs, and PyMC's log densities with gradients: the times, and how much the
rules do. Counts do not depend on the machine: `tests/benchmarks/test_compile.py` fails if those of
the thirteen graphs grow.

`python -m benchmarks.compile NAME` takes the times of one library in a process of its own.
"""

from __future__ import annotations

import gc
import json
import math
import sys
from collections.abc import Callable, Iterator
from statistics import geometric_mean
from time import process_time
from typing import Any, NamedTuple

from benchmarks.measure import Row, at_most, digits
from benchmarks.pymc_models import Facts, figures
from benchmarks.pymc_models.__main__ import LIBRARIES, every_case
from benchmarks.pymc_models.cases import THIRTEEN, Case

TURNS = 5  # compilations of a graph; the fastest counts
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


def main() -> Iterator[Row]:
    ours, theirs = [figures(name, "benchmarks.compile") for name in LIBRARIES]
    ratios = {}
    for title, mine in ours.items():
        text = f"build {digits(mine['build'])} ms, compile {digits(mine['compile'])} ms"
        peers: tuple[tuple[str, str], ...] = ()
        target, met = "", None
        if title in theirs:
            ratio = ratios[title] = theirs[title]["compile"] / mine["compile"]
            peers = (("PyTensor", f"{digits(theirs[title]['compile'])} ms"),)
            text += f"  ({digits(ratio)} ×)"
            if title in THIRTEEN and not title.startswith("total"):
                target, met = f"≥ {NO_CASE_UNDER:g} ×", ratio >= NO_CASE_UNDER
        yield Row(title, text, target, met, peers)
        yield from of_work(title, Work(*mine["work"]))
    held = [ratio for title, ratio in ratios.items() if title in THIRTEEN]
    rest = [ratio for title, ratio in ratios.items() if title not in THIRTEEN]
    if held:
        mean = geometric_mean(held)
        text = f"{digits(mean)} ×"
        yield Row("geometric mean: thirteen graphs", text, f"≥ {FASTER:g} ×", mean >= FASTER)
    if rest:
        yield Row("geometric mean: PyMC's models, and losses", f"{digits(geometric_mean(rest))} ×")


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
        built, compiled = times(library, build, modes["default"])
        facts: Facts = {"key": title, "build": built, "compile": compiled}
        if library.as_built is not None:
            facts["work"] = work(build())
        print(json.dumps(facts), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(one_library(sys.argv[1]))
