"""How time is taken: interleaved medians with the collector off, and the rows that report them.

What is compared is measured in turns (a b c, a b c, …), so that a slow moment of the machine hits
all of them alike; the median of the turns is reported. The clock counts the time for which this
process has the processor, so that others on the machine disturb little (new processes are timed by
the clock on the wall).
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TURN_NS = 2_000_000  # a turn repeats its work until it lasts this long


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `met` is None where there is no target, or no peer to compare with. peers: the
    same figure of others, (name, text) for each.
    """

    name: str
    figure: str
    target: str = ""
    met: bool | None = None
    peers: tuple[tuple[str, str], ...] = ()


def digits(value: float) -> str:
    """Three digits that count, and no powers of ten."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def at_most(name: str, value: float, target: float, unit: str, note: str = "") -> Row:
    """A figure that should not exceed its target."""
    figure = f"{digits(value)} {unit}" + (f"  ({note})" if note else "")
    return Row(name, figure, f"≤ {digits(target)} {unit}", value <= target)


def at_least(name: str, value: float, target: float, unit: str, note: str = "") -> Row:
    """A figure that should reach its target."""
    figure = f"{value:,.0f} {unit}" + (f"  ({note})" if note else "")
    return Row(name, figure, f"≥ {target:,.0f} {unit}", value >= target)


@contextmanager
def quiet() -> Iterator[None]:
    """Collect garbage now, and not while measuring."""
    was = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def medians(work: Mapping[str, Callable[[], Any]], turns: int = 31) -> dict[str, float]:
    """Seconds per call of each function: the median over interleaved turns, of optimised code."""
    optimised = sys.modules.get("rewrite_engine.link.native.optimised")
    if optimised is not None:
        optimised.optimiser.settle()
    counts = {name: repetitions(f) for name, f in work.items()}
    times: dict[str, list[float]] = {name: [] for name in work}
    with quiet():
        for _ in range(turns):
            for name, f in work.items():
                times[name].append(time_calls(f, counts[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def median(f: Callable[[], Any], turns: int = 31) -> float:
    """Seconds per call: the median over turns."""
    return medians({"": f}, turns)[""]


def repetitions(f: Callable[[], Any]) -> int:
    """How many calls fill a turn; the calls made to find out warm the caches."""
    count = 1
    while True:
        spent = time_calls(f, count) * count * 1e9
        if spent >= TURN_NS / 2 or count >= 1_000_000:
            return count
        count *= 2 if spent > TURN_NS / 20 else 10


def time_calls(f: Callable[[], Any], count: int) -> float:
    """Seconds per call over `count` calls, less the cost of the loop itself."""
    turns = range(count)
    start = process_time_ns()
    for _ in turns:
        f()
    middle = process_time_ns()
    for _ in turns:
        pass
    stop = process_time_ns()
    return max(0, (middle - start) - (stop - middle)) / count / 1e9


def once(f: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a single call, and its result; for work too long to repeat."""
    with quiet():
        start = process_time_ns()
        result = f()
        return (process_time_ns() - start) / 1e9, result


def processes(programs: Mapping[str, str], runs: int = 7) -> dict[str, float]:
    """Seconds from start to end of a new Python for each program: medians, measured in turns."""
    found = in_processes(programs, runs)
    return {name: statistics.median([t for t, _ in turns]) for name, turns in found.items()}


def in_processes(programs: Mapping[str, str], runs: int = 7) -> dict[str, list[tuple[float, str]]]:
    """Seconds from start to end of a new Python, and what it prints, for each turn of each program.

    Byte code is there, as it is from the second start on, whatever the environment says of it.
    """
    found: dict[str, list[tuple[float, str]]] = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        for turn in range(runs + 1):
            for name, code in programs.items():
                start = perf_counter_ns()
                command = [sys.executable, "-c", code]
                ended = subprocess.run(
                    command, cwd=ROOT, check=True, env=env, stdout=subprocess.PIPE, text=True
                )
                if turn:  # the first turn writes the byte code
                    seconds = (perf_counter_ns() - start) / 1e9
                    found[name].append((seconds, ended.stdout))
    return found


def machine() -> str:
    """One line about where the figures come from."""
    import numpy as np

    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [x for x in cpuinfo.read_text().splitlines() if x.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}; CPython {platform.python_version()}, NumPy {np.__version__}"
