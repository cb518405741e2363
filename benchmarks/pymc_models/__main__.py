"""One library in a process of its own: `python -m benchmarks.pymc_models NAME [TITLE...]` prints a
line of JSON per graph. Titles: only these.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.measure import medians, once
from benchmarks.peers.work import TooLong, at_most_seconds
from benchmarks.pymc_models.cases import Case, cases
from benchmarks.pymc_models.libraries import CHECKED, Ours, Theirs

LIBRARIES = {"rewrite_engine": Ours, "pytensor": Theirs}
LIMIT = 60.0  # seconds for one part of a graph's figures
ENOUGH = 8.0  # seconds: what took longer is not timed again
Figures = dict[str, Any]


def compile_times(library: Any, build: Callable[[], Case], modes: dict[str, Any]) -> Figures:
    """Milliseconds to compile in each mode, the least of some turns (all but the first are of a
    process that is warm), and the functions.
    """
    times: dict[str, list[float]] = {name: [] for name in modes}
    for turn in range(4):
        for name, mode in modes.items():
            inputs, outputs, _ = build()
            seconds, _ = once(lambda: library.function(inputs, outputs, mode))  # noqa: B023
            times[name].append(seconds)
        if sum(map(sum, times.values())) > ENOUGH / (4 if turn == 0 else 1):
            break
    return {f"compile {name}": min(found) * 1e3 for name, found in times.items()}


def sizes(library: Any, build: Callable[[], Case], modes: dict[str, Any]) -> Figures:
    """Nodes and operations (here also plain and as built), and the sum of all results."""
    nodes, operations, results = library.sizes(*build(), modes["default"])
    total = sum(float(np.sum(np.abs(x))) for x in results)
    found = {"nodes": nodes, "operations": operations, "value": total}
    others = {"plain": modes["plain"], "as built": library.as_built} if "plain" in modes else {}
    for name, mode in others.items():
        nodes, operations, _ = library.sizes(*build(), mode)
        found |= {f"nodes {name}": nodes, f"operations {name}": operations}
    return found


def calls(library: Any, build: Callable[[], Case], modes: dict[str, Any]) -> Figures:
    """Microseconds of a call in each mode (of PyTensor, none)."""
    if len(modes) == 1:
        return {}
    inputs, outputs, values = build()
    functions = {name: library.function(inputs, outputs, mode) for name, mode in modes.items()}
    work = {name: lambda f=f: f(*values) for name, f in functions.items()}
    return {f"call {name}": t * 1e6 for name, t in medians(work, turns=21).items()}


def every_case(library: Any) -> Iterator[tuple[str, Callable[[], Case], dict[str, Any]]]:
    """Title, what builds the graph, and the modes to compile it in."""
    try:
        from benchmarks.pymc_models import models
    except ImportError:
        pass
    else:
        modes = {name: mode.including(CHECKED) for name, mode in library.modes.items()}
        for name, model in models.MODELS.items():
            yield name, lambda model=model: models.density(model), modes
    for name, build in cases(library.lib, library.pt, library.as_built is None):
        yield name, build, library.modes


def main(name: str, titles: list[str]) -> int:
    """Take all figures of one library; one that is missing prints nothing."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    try:
        library: Any = LIBRARIES[name]()
    except ImportError:
        return 0
    for title, build, modes in every_case(library):
        if titles and title not in titles:
            continue
        facts: Figures = {"key": title}
        for part in (compile_times, sizes, calls):
            try:
                with at_most_seconds(LIMIT):
                    facts |= part(library, build, modes)
            except TooLong:
                facts[f"failed {part.__name__}"] = f"> {LIMIT:.0f} s"
            except Exception as error:
                facts[f"failed {part.__name__}"] = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps(facts), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
