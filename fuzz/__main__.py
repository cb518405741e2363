"""`python -m fuzz`: see `--help`, and the docstring of the package."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from random import Random
from time import monotonic
from types import FrameType
from typing import Any

from fuzz import facts, gradients, graphs, idioms
from fuzz.case import snippet
from fuzz.generate import random_case
from fuzz.pool import Crash
from fuzz.processes import outcomes
from fuzz.report import Report, report
from rewrite_engine.config import config

KINDS = ("graphs", "gradients", "facts")
COMMANDS = ("ordinary", "unrolled", "loops")  # modules with a command of their own
CHUNK = {"graphs": 100, "gradients": 25, "facts": 100}
TURNS = ("graphs",) * 5 + ("gradients",) * 4 + ("facts",)  # five graphs for a gradient
SECONDS = 600  # of the processor: a case that takes longer is a finding (many digits take minutes)
MOST = 30  # findings of a kind that one process shrinks

#: what is told, and no failure: gradients of values that only rules have saved
WEAK = frozenset({gradients.LOST})

Cases = Iterator[tuple[Any, str, Any, Any]]  # case, name of the mode, mode, checker


@dataclass
class Outcome:
    """What came of some cases."""

    kind: str
    count: int
    reports: list[Report] = field(default_factory=list)
    skipped: int = 0


class TooLong(Exception):
    """A case takes too long."""


def cases(kind: str, rng: Random, rules: str | None = None) -> Cases:
    """What is tried for one number. rules: a file of rules of others. Raises `Crash`."""
    if kind == "graphs":
        case = random_case(rng)
        for name, mode in graphs.modes(rng, rules):
            yield case, name, mode, graphs.Checker()
        if rng.random() < 0.05:
            yield case, "a careless rule", graphs.CARELESS, graphs.Careless()
    elif kind == "gradients":
        which = rng.choices(("gradient", "second", "rop", "idiom"), (0.5, 0.15, 0.15, 0.2))[0]
        case = (idioms if which == "idiom" else gradients).random_case(rng)
        yield case, which, graphs.DEFAULT, gradients.Checker(which)
    else:
        yield facts.random_case(rng), "facts", graphs.DEFAULT, facts.Checker()


def seeded(kind: str, seed: int, number: int) -> Random:
    """The source of a case."""
    return Random(f"{kind}:{seed}:{number}")


def try_one(
    kind: str, seed: int, number: int, shrunk: Counter[str], rules: str | None = None
) -> tuple[list[Report], int]:
    """The findings of one case, and how many more there are than were shrunk."""
    told: list[Report] = []
    name = f"{kind}:{seed}:{number}"
    try:
        for case, mode_name, mode, checker in cases(kind, seeded(kind, seed, number), rules):
            finding = checker(case, mode)
            if finding is None:
                continue
            if shrunk[finding.kind] >= (3 if finding.kind in WEAK else MOST):
                return told, int(finding.kind not in WEAK)
            found = report(name, case, mode_name, mode, checker, finding)
            if found is not None:  # no claim allows it
                shrunk[finding.kind] += 1
                told.append(found)
    except Crash as error:
        first = str(error).splitlines()[-1]
        told.append(
            Report(name, ("building raises", first), f"# building raises ({name})\n{error}")
        )
    except TooLong:
        told.append(Report(name, ("too long",), f"# takes more than {SECONDS} s ({name})"))
    except Exception as error:
        text = "".join(traceback.format_exception(error)[-4:])
        key = ("the fuzzer fails", type(error).__name__)
        told.append(Report(name, key, f"# the fuzzer itself fails ({name})\n{text}"))
    return told, 0


_shrunk: Counter[str] = Counter()


def chunk(kind: str, seed: int, start: int, count: int, rules: str | None = None) -> Outcome:
    """Some cases, one after the other."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _too_long)
    config.check_phases = config.check_regions = True
    outcome = Outcome(kind, count)
    for number in range(start, start + count):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        told, more = try_one(kind, seed, number, _shrunk, rules)
        signal.setitimer(signal.ITIMER_PROF, 0)
        outcome.reports += told
        outcome.skipped += more
    return outcome


def _too_long(signum: int, frame: FrameType | None) -> None:
    raise TooLong


# --- many processes -------------------------------------------------------------------------------


class Run:
    """Hands out chunks and tells findings, each kind once."""

    def __init__(self, seed: int, rules: str | None = None) -> None:
        self.seed, self.rules = seed, rules
        self.done: Counter[str] = Counter()
        self.seen: Counter[tuple[str, ...]] = Counter()
        self.skipped = 0

    @property
    def findings(self) -> list[tuple[str, ...]]:
        """The kinds that were found, without those that are only told."""
        return [key for key in self.seen if key[0] not in WEAK]

    def work(self, wanted: Iterator[tuple[str, int, int]], processes: int) -> None:
        """Do all chunks (kind, start, count)."""
        given = ((kind, self.seed, start, count, self.rules) for kind, start, count in wanted)
        for outcome in outcomes(chunk, given, processes):
            self.done[outcome.kind] += outcome.count
            self.skipped += outcome.skipped
            for one in outcome.reports:
                if not self.seen[one.key]:
                    print("=" * 100, one.text, sep="\n", flush=True)
                self.seen[one.key] += 1

    def summary(self, seconds: float) -> str:
        """What was done, and what was found."""
        lines = [f"{n} times: {' · '.join(key)}" for key, n in self.seen.most_common()]
        if self.skipped:
            lines.append(f"{self.skipped} more were not looked into")
        told = ", ".join([f"{n:,} {kind}" for kind, n in sorted(self.done.items())])
        many = f"{len(self.findings)} kinds of findings" if self.findings else "no finding"
        return "\n".join([*lines, f"{told} in {seconds:.0f} s: {many}"])


def wanted_chunks(counts: dict[str, int], minutes: float | None) -> Iterator[tuple[str, int, int]]:
    """The chunks to do, of all kinds in turns, until the counts are reached or time is up."""
    until = None if minutes is None else monotonic() + 60 * minutes
    start = dict.fromkeys(counts, 0)
    while any(start[kind] < counts[kind] for kind in counts):
        for kind in TURNS:
            if start.get(kind, 0) >= counts.get(kind, 0):
                continue
            if until is not None and monotonic() > until:
                return
            count = min(CHUNK[kind], counts[kind] - start[kind])
            yield kind, start[kind], count
            start[kind] += count


def arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="stop after that time")
    for kind in KINDS:
        parser.add_argument(f"--{kind}", type=int, help=f"how many {kind}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--rules", metavar="FILE", help="use the rules of a file in all graphs, too"
    )
    parser.add_argument("--replay", metavar="KIND:SEED:NUMBER", help="one case again")
    return parser.parse_args(given)


def replay(name: str, rules: str | None = None) -> int:
    """Show a case, and what is wrong with it."""
    kind, seed, number = name.split(":")
    for case, mode, *_ in cases(kind, seeded(kind, int(seed), int(number)), rules):
        print(snippet(case, f"{name}, mode {mode}"))
    told, _ = try_one(kind, int(seed), int(number), Counter(), rules)
    for one in told:
        print("=" * 100, one.text, sep="\n")
    print("no finding" if not told else "")
    return 1 if told else 0


def main(given: list[str] | None = None) -> int:
    given = sys.argv[1:] if given is None else given
    if given and given[0] in COMMANDS:
        return int(import_module(f"fuzz.{given[0]}").main(given[1:]))
    options = arguments(given)
    warnings.simplefilter("ignore")
    if options.replay:
        return replay(options.replay, options.rules)
    counts = {kind: getattr(options, kind) for kind in KINDS if getattr(options, kind) is not None}
    if not counts:
        endless = sys.maxsize if options.minutes is not None else None
        counts = {"graphs": endless or 5000, "gradients": endless or 1000, "facts": endless or 1000}
    started = monotonic()
    run = Run(options.seed, options.rules)
    run.work(wanted_chunks(counts, options.minutes), options.processes)
    print(run.summary(monotonic() - started))
    return 1 if run.findings or run.skipped else 0


if __name__ == "__main__":
    sys.exit(main())
