"""The table "Rewriting" side by side with other libraries, in one run on one machine.

Each library runs in a process of its own and does the work in its natural way (`ours.py` and its
neighbours); one that is not installed shows as that. `scripts/bench --peers peers` installs them;
PyTensor 3.3 needs Python 3.12.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import ROOT, Row, digits
from benchmarks.peers.work import FUNCTIONS, WORK, Work

PEERS = ("pytensor", "tinygrad", "xdsl", "matchpy", "kanren")
LIMIT = 480  # seconds for one library, by the clock on the wall
FASTER, NO_CASE_UNDER = 25.0, 10.0  # `function` against PyTensor: geometric mean, each case

Facts = dict[str, Any]  # figure → value, or a text where there is none; "version"


def figures(name: str) -> Facts:
    """What one library reports."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.peers", name]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        output = done.stdout
    except subprocess.TimeoutExpired as error:
        found = error.stdout or b""
        output = found.decode() if isinstance(found, bytes) else found
    facts: Facts = {}
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        said = json.loads(line)
        if "key" in said:
            facts[said["key"]] = said.get("value", said.get("failed"))
        else:
            facts.update(said)
    return facts


def main() -> Iterator[Row]:
    ours = figures("ours")
    found = {name: figures(name) for name in PEERS}
    yield Row("version", ours.get("version", "?"), peers=_cells(found, "version", ""))
    for work in WORK:
        yield _row(work, ours.get(work.key), found)
    yield from summary(ours, found["pytensor"])


def _row(work: Work, value: Any, found: dict[str, Facts]) -> Row:
    if work.key in FUNCTIONS:
        return _function_row(work, value, found)
    peers = _cells(found, work.key, work.unit)
    if not isinstance(value, float):
        return Row(work.title, str(value), "", None, peers)
    target, met = "", None
    if work.target is not None:
        met = value >= work.target if work.more else value <= work.target
        target = f"{'≥' if work.more else '≤'} {work.target:,g} {work.unit}"
    others = [f[work.key] for f in found.values() if isinstance(f.get(work.key), float)]
    ratio = ""
    if others and work.unit:
        best = max(others) if work.more else min(others)
        ratio = f"  ({digits(value / best if work.more else best / value)} × the best)"
    return Row(work.title, f"{digits(value)} {work.unit}{ratio}", target, met, peers)


def _function_row(work: Work, value: Any, found: dict[str, Facts]) -> Row:
    """Time and nodes left. A fused node counts as what it holds: a peer's count is the one without
    fusion.
    """
    peer = found["pytensor"].get(work.key)
    peers = _cells(found, work.key, work.unit)
    if not isinstance(value, list) or not isinstance(peer, list):
        return Row(work.title, _text(value, work.unit), "", None, peers)
    ratio = peer[0] / value[0]
    met = ratio >= NO_CASE_UNDER and value[1] <= peer[2]
    target = f"≥ {NO_CASE_UNDER:g} ×, ≤ {peer[2]:,} nodes"
    return Row(work.title, f"{_text(value, work.unit)}  ({digits(ratio)} ×)", target, met, peers)


def summary(ours: Facts, peer: Facts) -> Iterator[Row]:
    """The geometric mean over the graphs that both compiled."""
    ratios = [
        peer[key][0] / ours[key][0]
        for key in FUNCTIONS
        if isinstance(peer.get(key), list) and isinstance(ours.get(key), list)
    ]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        figure = f"{digits(mean)} × over {len(ratios)} graphs"
        yield Row("function, geometric mean", figure, f"≥ {FASTER:g} ×", mean >= FASTER)


def _cells(found: dict[str, Facts], key: str, unit: str) -> tuple[tuple[str, str], ...]:
    """What stands in each peer's column."""
    return tuple(
        [
            (name, "not installed" if "missing" in facts else _text(facts.get(key), unit))
            for name, facts in found.items()
        ]
    )


def _text(value: Any, unit: str) -> str:
    if value is None:
        return "—"
    if isinstance(value, list):
        milliseconds, nodes, plain = value
        also = f" ({plain:,} unfused)" if plain != nodes else ""
        return f"{digits(milliseconds)} {unit}, {nodes:,} nodes{also}"
    return f"{digits(value)} {unit}" if isinstance(value, float) else str(value)
