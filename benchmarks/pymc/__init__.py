"""PyMC's models, whole: how long until a density with its gradient can be called, how long a call
takes, and how long sampling does, from the model to the draws.

PyMC runs on this library in one process (`rewrite_engine.compat`), on its native linker in another
where llvmlite is installed, and on PyTensor as it is installed, with Numba, in a third; nothing is
cached. Where PyMC is not installed, there are no rows. Density and sampling have a process each.
Seconds are those of the processor, with one thread for BLAS.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from benchmarks.measure import ROOT, Row, digits

LIMIT = 3600  # seconds for one library, by the clock on the wall
FIGURES = {"ready": "s", "call": "µs", "sampled": "s"}
Facts = dict[str, Any]


def figures(name: str, **env: str) -> dict[str, Facts]:
    """What one library reports, with settings in the environment: {model: figures}."""
    found: dict[str, Facts] = {}
    for part in ("density", "sample"):
        for facts in reported(name, part, env):
            found.setdefault(facts["model"], {}).update(facts)
    return found


def reported(name: str, part: str, env: dict[str, str]) -> list[Facts]:
    """What a process of its own prints, which finds nothing that was compiled before."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.pymc", name, part]
    with tempfile.TemporaryDirectory() as folder:
        flags = f"base_compiledir={folder}"
        own = {"PYTENSOR_FLAGS": flags, "NUMBA_CACHE_DIR": folder, "XDG_CACHE_HOME": folder}
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | own | {"OPENBLAS_NUM_THREADS": "1"} | env,
            stdout=subprocess.PIPE,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main() -> Iterator[Row]:
    theirs = figures("pytensor")
    vm = figures("rewrite_engine", REWRITE_ENGINE_FLAGS="linker=vm")
    yield from rows(vm, theirs, ", VM")
    if find_spec("llvmlite") is not None:
        native = figures("rewrite_engine", REWRITE_ENGINE_FLAGS="linker=native")
        yield from rows(native, theirs, ", native")


def rows(ours: dict[str, Facts], theirs: dict[str, Facts], linker: str = "") -> Iterator[Row]:
    """All figures of this library, with one linker, which titles name, and the means."""
    for name, mine in ours.items():
        model, other = f"{name}{linker}", theirs.get(name, {})
        if "failed" in mine:
            yield Row(f"{model}: failed", mine["failed"], "", False)
        for what, unit in FIGURES.items():
            yield from row(model, what, unit, mine, other)
    for what in FIGURES:
        yield from mean(what, ours, theirs, linker)


def row(model: str, what: str, unit: str, mine: Facts, other: Facts) -> Iterator[Row]:
    """One figure of a model."""
    if what not in mine:
        return
    if what not in other:
        yield Row(f"{model}: {what}", f"{digits(mine[what])} {unit}")
        return
    ratio = other[what] / mine[what]
    peers = (("PyTensor", f"{digits(other[what])} {unit}"),)
    yield Row(f"{model}: {what}", f"{digits(mine[what])} {unit}  ({digits(ratio)} ×)", peers=peers)


def mean(what: str, ours: dict[str, Facts], theirs: dict[str, Facts], linker: str) -> Iterator[Row]:
    """The geometric mean of a figure's ratios."""
    both = [
        math.log(theirs[model][what] / mine[what])
        for model, mine in ours.items()
        if what in mine and what in theirs.get(model, {})
    ]
    if both:
        average = math.exp(sum(both) / len(both))
        yield Row(f"geometric mean{linker}: {what}", f"{digits(average)} × over {len(both)}")
