"""Log densities with gradients as PyMC makes them, thirteen graphs and four losses: how large they
are when they are compiled, how long that takes, and what the rules of stabilisation cost.

PyMC runs on PyTensor in one process (Python linker, no machine code), and on this library in
another (`rewrite_engine.compat`); where it is not installed, its models are left out, and where
PyTensor is not, there is nothing to compare with. `counts.py` says how nodes and operations are
counted. "plain" is the mode without the phase "stabilize". Values are moderate: a call needs none
of it.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import ROOT, Row, at_most, digits
from benchmarks.pymc_models.cases import CHAINS, LOSSES, THIRTEEN

LIMIT = 1800  # seconds for one library, by the clock on the wall
FASTER, NO_CASE_UNDER = 25.0, 12.0  # to compile, against PyTensor: geometric mean, each case
PER_NODE = 60.0  # microseconds, of a chain
SLOWER = 1.1  # a call, against one without stabilisation

Facts = dict[str, Any]


def figures(name: str, program: str = "benchmarks.pymc_models") -> dict[str, Facts]:
    """What one library reports in a process of its own: figures by title. BLAS has one thread."""
    command = [sys.executable, "-W", "ignore", "-m", program, name]
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        output = done.stdout
    except subprocess.TimeoutExpired as error:
        found = error.stdout or b""
        output = found.decode() if isinstance(found, bytes) else found
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {facts["key"]: facts for facts in lines}


def main() -> Iterator[Row]:
    ours, theirs = figures("rewrite_engine"), figures("pytensor")
    for title, mine in ours.items():
        yield from rows(title, mine, theirs.get(title, {}))
    yield from summary(ours, theirs)


def rows(title: str, mine: Facts, other: Facts) -> Iterator[Row]:
    """All rows of a graph."""
    yield from failures(title, mine, other)
    yield from counted(title, mine, other)
    if "compile default" in mine:
        yield compiling(title, mine, other)
        if title in CHAINS:
            per_node = mine["compile default"] / mine["nodes as built"] * 1e3
            yield at_most(f"{title}: compile a node as built", per_node, PER_NODE, "µs")
        share = max(0, 1 - mine["compile plain"] / mine["compile default"])
        plain = (("plain", f"{digits(mine['compile plain'])} ms"),)
        yield Row(f"{title}: stabilisation", f"{share:.0%} of compiling", peers=plain)
    if "call default" in mine:
        ratio = mine["call default"] / mine["call plain"]
        figure = f"{digits(mine['call default'])} µs  ({ratio:.2f} ×)"
        plain = (("plain", f"{digits(mine['call plain'])} µs"),)
        yield Row(f"{title}: call", figure, f"≤ {SLOWER} × plain", ratio <= SLOWER, plain)


def failures(title: str, mine: Facts, other: Facts) -> Iterator[Row]:
    """What was not measured, and values that are not PyTensor's. (Its constants may have single
    precision.)
    """
    for key, text in mine.items():
        if key.startswith("failed"):
            yield Row(f"{title}: {key}", text.partition("\n")[0], "", False)
    if "value" in mine and "value" in other:
        if not math.isclose(mine["value"], other["value"], rel_tol=1e-6):
            peer = (("PyTensor", f"{other['value']}"),)
            yield Row(f"{title}: value", f"{mine['value']}", "the same", False, peer)


def counted(title: str, mine: Facts, other: Facts) -> Iterator[Row]:
    """Nodes, at most as many as PyTensor's; operations, at most as many as there and as built."""
    for what, bounded in (("nodes", False), ("operations", True)):
        if what not in mine:
            continue
        built = mine[f"{what} as built"]
        limits = [other[what]] if what in other else []
        limits += [built] if bounded else []
        peers = [("PyTensor", f"{other[what]:,}")] if what in other else []
        target = f"≤ {min(limits):,}" if limits else ""
        met = mine[what] <= min(limits) if limits else None
        peers += [("as built", f"{built:,}"), ("plain", f"{mine[f'{what} plain']:,}")]
        yield Row(f"{title}: {what}", f"{mine[what]:,}", target, met, tuple(peers))


def compiling(title: str, mine: Facts, other: Facts) -> Row:
    """Milliseconds to compile; of the thirteen graphs none is under a ratio."""
    time = mine["compile default"]
    if "compile default" not in other:
        return Row(f"{title}: compile", f"{digits(time)} ms")
    ratio = other["compile default"] / time
    peers = (("PyTensor", f"{digits(other['compile default'])} ms"),)
    held = title in THIRTEEN
    target, met = (f"≥ {NO_CASE_UNDER:g} ×", ratio >= NO_CASE_UNDER) if held else ("", None)
    return Row(f"{title}: compile", f"{digits(time)} ms  ({digits(ratio)} ×)", target, met, peers)


def summary(ours: dict[str, Facts], theirs: dict[str, Facts]) -> Iterator[Row]:
    """Geometric means of the ratios of compile times."""
    key = "compile default"
    both = {
        title: theirs[title][key] / facts[key]
        for title, facts in ours.items()
        if key in facts and key in theirs.get(title, {})
    }
    models = [title for title in both if title not in THIRTEEN and title not in LOSSES]
    groups = {"thirteen graphs": THIRTEEN, "models of PyMC": models, "losses": tuple(LOSSES)}
    for name, titles in groups.items():
        ratios = [both[title] for title in titles if title in both]
        if not ratios:
            continue
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        held = titles is THIRTEEN
        target, met = (f"≥ {FASTER:g} ×", mean >= FASTER) if held else ("", None)
        figure = f"{digits(mean)} × over {len(ratios)}, least {digits(min(ratios))} ×"
        yield Row(f"compile, geometric mean: {name}", figure, target, met)
