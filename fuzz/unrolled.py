"""Loops that are written out (`recurrences.py`): how long they take to compile, with the gradient,
and whether the values are those of the graph as it was built.

    python -m fuzz unrolled --recurrences 100
    python -m fuzz unrolled --replay unrolled:0:12

Times are those of the processor. They are bounded by what the same graph takes without the rules
that stabilise, and by what half the steps take.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from time import monotonic, process_time
from typing import Any

import numpy as np

import rewrite_engine as rw
from fuzz.deviation import Deviation
from fuzz.graphs import DEFAULT
from fuzz.limit import TooLong, limit
from fuzz.recurrences import Recurrence, random_recurrence
from fuzz.report import Report
from rewrite_engine.compile.mode import Mode

PATIENCE = 30.0  # seconds after which compiling is stopped
RATIO = 20.0  # how many times as long as without the rules that stabilise
FLOOR = 0.05  # seconds that are never too long
DOUBLE = 2.6  # how many times as long twice the steps may take,
NOISE = 0.1  # where that is more than so many seconds
LINEAR_FROM = 8  # steps
TICKS = 0.04  # seconds that are measured at least
RTOL = 1e-6
NUDGE = 1e-12  # of inputs, to see what rounding does to results
ENDS = 1e4  # how many times what that does is allowed

AS_WRITTEN = Mode(linker="py", optimizer=None)


@dataclass(frozen=True)
class Limits:
    """What is allowed."""

    ratio: float = RATIO
    floor: float = FLOOR
    double: float = DOUBLE
    noise: float = NOISE
    patience: float = PATIENCE


@cache
def unstable(mode: Mode = DEFAULT) -> Mode:
    """A mode without the rules that stabilise: those of the phase, and those that packs of such
    rules have in the phase "specialize".
    """
    packs = {rule.pack for rule in mode.rules if rule.phase == "stabilize"}
    late = [r.name for r in mode.rules if r.phase == "specialize" and r.pack in packs]
    return mode.excluding("stabilize", *late)


# --- times ----------------------------------------------------------------------------------------


def compiled(one: Recurrence, mode: Any) -> tuple[float, Any]:
    """The seconds that building, differentiating and compiling take, and the function."""
    began = process_time()
    inputs, outputs = one.graph()
    f = rw.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    return process_time() - began, f


def seconds(one: Recurrence, mode: Any, patience: float, times: int = 1) -> float:
    """The seconds that it takes, the least of some times; infinite where patience ends. What is
    short is done again and again: clocks of processors tick slowly.
    """
    least = np.inf
    for _ in range(times):
        total, count = 0.0, 0
        while total < TICKS and count < 10:
            try:
                with limit(patience):
                    total += compiled(one, mode)[0]
            except TooLong:
                return float(least)
            count += 1
        least = min(least, total / count)
    return float(least)


def warm_up(mode: Any = DEFAULT) -> None:
    """Let rules be imported, and matchers made, by short recurrences."""
    for number in range(10):
        one = random_recurrence(-1, number).of(2)
        for which in (unstable(mode), mode):
            seconds(one, which, 2.0)


@dataclass(frozen=True)
class Times:
    """How long a recurrence takes, with and without the rules that stabilise; with patience."""

    full: float
    plain: float
    allowed: float
    patience: float

    @property
    def slow(self) -> bool:
        """Whether it takes too long."""
        return self.full > self.allowed

    def __str__(self) -> str:
        return f"{_told(self.full, self.patience)}, without the rules {self.plain:.4f} s"


def _told(time: float, patience: float) -> str:
    return f"{time:.3f} s" if np.isfinite(time) else f"more than {patience:.1f} s"


def times_of(one: Recurrence, mode: Any, limits: Limits) -> Times:
    """How long it takes. Once is enough where that is not long; patience ends soon after what is
    allowed.
    """
    plain = seconds(one, unstable(mode), limits.patience, 2)
    allowed = max(limits.ratio * plain, limits.floor)
    patience = min(limits.patience, max(3 * allowed, 3.0))
    full = seconds(one, mode, patience)
    if allowed < full < np.inf:
        full = min(full, seconds(one, mode, patience, 2))
    return Times(full, plain, allowed, patience)


def too_slow(one: Recurrence, mode: Any, limits: Limits) -> Deviation | None:
    """Whether it takes longer than without the rules that stabilise, or than half the steps do."""
    times = times_of(one, mode, limits)
    if times.slow:
        return Deviation("slow", f"{one.steps} steps: {times}")
    if one.steps < LINEAR_FROM:
        return None
    full, more = times.full, one.of(2 * one.steps)
    twice = seconds(more, mode, times.patience)
    for _ in range(2):  # times are not the same twice
        if twice <= max(limits.noise, limits.double * full):
            return None
        full = min(full, seconds(one, mode, times.patience, 2))
        twice = min(twice, seconds(more, mode, times.patience))
    if twice <= max(limits.noise, limits.double * full):
        return None
    told = _told(twice, times.patience)
    text = f"{one.steps} steps: {full:.3f} s; {more.steps} steps: {told}"
    return Deviation("not linear", text)


def fewest(one: Recurrence, mode: Any, limits: Limits) -> tuple[Recurrence, str]:
    """With the fewest steps for which it is slow, and the times on the way there."""
    lines = []
    for steps in range(2, one.steps):
        times = times_of(one.of(steps), mode, limits)
        lines.append(f"{steps} steps: {times}")
        if times.slow:
            return one.of(steps), "\n".join(lines)
    return one, "\n".join(lines)


# --- values ---------------------------------------------------------------------------------------


def wrong(one: Recurrence, mode: Any, patience: float = PATIENCE) -> Deviation | None:
    """Whether values are other than those of the graph as it was built."""
    given = one.arguments()
    try:
        with limit(patience), np.errstate(all="ignore"):
            found = [np.asarray(v) for v in compiled(one, mode)[1](*given)]
            exact = compiled(one, AS_WRITTEN)[1]
            wanted = exact(*given)
            nudged = exact(*[a * (1 + NUDGE) for a in given])
    except TooLong:
        return None  # told elsewhere
    except Exception as error:
        return Deviation(f"raises {type(error).__name__}", str(error))
    names = ["cost", *one.inputs]
    size = max([float(np.abs(w).max()) for w in wanted])
    for name, f, w, n in zip(names, found, map(np.asarray, wanted), nudged, strict=True):
        if not np.isfinite(w).all() or not np.isfinite(n).all() or not np.isfinite(size):
            return None
        if f.shape != w.shape:
            return Deviation("another shape", f"{name}: {f.shape}, as it was built {w.shape}")
        off = RTOL * np.abs(w) + ENDS * np.abs(n - w) + 1e-12 * size
        if not (np.abs(f - w) <= off).all():
            return Deviation("another value", f"{name}: {f.tolist()}, as it was built {w.tolist()}")
    return None


def check(one: Recurrence, mode: Any = DEFAULT, limits: Limits | None = None) -> Deviation | None:
    """What is wrong with a recurrence."""
    limits = limits or Limits()
    try:
        slow = too_slow(one, mode, limits)
    except Exception as error:
        return Deviation(f"raises {type(error).__name__}", str(error))
    return slow or wrong(one, mode, limits.patience)


def report(one: Recurrence, finding: Deviation, mode: Any, limits: Limits) -> Report:
    """What to tell of a finding."""
    text, name = finding.text, one.name
    if finding.kind == "slow":
        one, lines = fewest(one, mode, limits)
        text = f"{text}\n{lines}"
    elif finding.kind == "another value":
        for steps in range(2, one.steps):
            less = wrong(one.of(steps), mode, limits.patience)
            if less is not None and less.kind == finding.kind:
                one, text = one.of(steps), less.text
                break
    key = (finding.kind, one.model.kind)
    return Report(name, key, one.snippet(f"{finding.kind} ({name})\n{text}"))


# --- many of them ---------------------------------------------------------------------------------


def run(numbers: Sequence[int], seed: int, limits: Limits, mode: Any = DEFAULT) -> Counter[Any]:
    """Try some recurrences, and tell what is found, each kind once with a program."""
    seen: Counter[Any] = Counter()
    warm_up(mode)
    for number in numbers:
        one = random_recurrence(seed, number)
        finding = check(one, mode, limits)
        if finding is None:
            continue
        key = (finding.kind, one.model.kind)
        if seen[key]:
            print(f"{finding.kind} · {one.model.kind} ({one.name}): {finding.text}", flush=True)
        else:
            print("=" * 100, report(one, finding, mode, limits).text, sep="\n", flush=True)
        seen[key] += 1
    return seen


def arguments(given: list[str] | None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="fuzz unrolled", description=__doc__)
    parser.add_argument("--recurrences", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=PATIENCE, help="the end of patience")
    parser.add_argument("--replay", metavar="unrolled:SEED:NUMBER", help="one recurrence again")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """The command. Returns its exit status."""
    options = arguments(given)
    limits = Limits(patience=options.seconds)
    seed, numbers = options.seed, range(options.recurrences)
    if options.replay:
        _, text, number = options.replay.split(":")
        seed, numbers = int(text), range(int(number), int(number) + 1)
        print(random_recurrence(seed, int(number)).snippet(options.replay))
    started = monotonic()
    seen = run(numbers, seed, limits)
    for key, n in seen.most_common():
        print(f"{n} times: {' · '.join(key)}")
    many = f"{seen.total()} findings" if seen else "no finding"
    print(f"{len(numbers):,} recurrences in {monotonic() - started:.0f} s: {many}")
    return 1 if seen else 0
