"""Progress of compilation: `Progress`, a bar on a terminal if compilation takes long, and
`Verbose`, a line for each firing (`config.optimizer_verbose`).
"""

from __future__ import annotations

import os
import sys
from threading import Event, Thread
from time import perf_counter
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.origin import REFUSED
from rewrite_engine.rewrite.watched import Stopwatch
from rewrite_engine.terms.print import brief

PATIENCE, OFTEN = 2.0, 0.2  # seconds before a bar is shown, and until it is shown anew
LINKING = "linking"
#: how long phases take beside each other, roughly; others as long as one of 1
SHARES = {
    "merge": 0.1, "inner": 0.5, "canonicalize": 3.0, "loops": 0.5, "stabilize": 4.0,
    "specialize": 2.0, "inplace": 2.0, LINKING: 8.0,
}  # fmt: skip


class Progress(Feature):
    """Record of how far compilation has come: the phase, and the number of firings. Recording costs
    one addition per firing; a separate thread reads and displays it (`Bar`).

    ahead, done: the shares of future and of finished phases. furthest: the largest share that was
    done, and since when.
    """

    def __init__(self, fgraph: FunctionGraph, name: str) -> None:
        self.fgraph, self.name = fgraph, name
        self.phase, self.count, self.depth = "", 0, 0
        self.ahead, self.done, self.most = {LINKING: SHARES[LINKING]}, 0.0, 1
        self.furthest, self.since = 0.0, 0.0
        self.started = perf_counter()

    def on_begin(self, fgraph: FunctionGraph, driver: Any) -> None:
        if self.depth == 0:
            parts = [part.name for part in getattr(driver, "parts", ())] or [driver.name]
            self.ahead = {name: SHARES.get(name, 1.0) for name in parts} | self.ahead
        if self.depth < 2:
            self.enter(driver.name)
        self.depth += 1

    def on_end(self, fgraph: FunctionGraph, result: Any) -> None:
        self.depth -= 1
        if self.depth < 2:
            self.done += self.ahead.pop(result.name, 0.0)

    def on_redirect(
        self, fgraph: FunctionGraph, old: Any, new: Any, clients: Any, reason: Any
    ) -> None:
        self.count += 1

    def enter(self, phase: str) -> None:
        """Record the start of a phase."""
        self.phase, self.most = phase, 1

    def part(self) -> float:
        """Return the finished share, from 0 to 1, estimating the current phase by the nodes left to
        visit.
        """
        worklist = self.fgraph.worklist
        waiting = len(worklist.queued) if worklist is not None else self.most
        self.most = max(self.most, waiting)
        here = self.ahead.get(self.phase, 0.0) * (1 - waiting / self.most)
        return (self.done + here) / (self.done + sum(self.ahead.values()))

    def text(self) -> str:
        """Describe the phase and its counts."""
        seconds, part = perf_counter() - self.started, self.part()
        if part > self.furthest:
            self.furthest, self.since = part, seconds
        told = f"{self.phase or 'start'}, {len(self.fgraph)} nodes, {self.count} changes"
        return f"{told}, {seconds:.0f} s{self.left(seconds)}"

    def left(self, seconds: float) -> str:
        """Estimate the remaining time from the speed so far."""
        if self.furthest < 0.02:
            return ""
        left = self.since / self.furthest - seconds
        return f", about {left:.0f} s left" if left >= 1 else ""


class Bar:
    """Thread that shows a `Progress` on a terminal once compilation has taken long."""

    shown = False  # whether there is one: a function that is compiled meanwhile gets none

    def __init__(self, progress: Progress, file: Any) -> None:
        self.progress, self.file, self.over = progress, file, Event()
        self.thread = Thread(target=self.run, daemon=True, name="progress")
        self.thread.start()

    def run(self) -> None:
        """Wait, then display the progress until compilation ends."""
        if self.over.wait(PATIENCE) or Bar.shown:
            return
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Display

        Bar.shown = True
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(20),
            TextColumn("{task.fields[now]}", markup=False),
        )
        console = Console(file=self.file, force_jupyter=False)
        try:
            with Display(*columns, console=console, transient=True, auto_refresh=False) as display:
                now = self.progress.text()
                bar = display.add_task(self.progress.name, total=1.0, now=now)
                while True:
                    now = self.progress.text()
                    display.update(bar, completed=self.progress.furthest, now=now, refresh=True)
                    if self.over.wait(OFTEN):
                        return
        finally:
            Bar.shown = False

    def stop(self) -> None:
        """Remove the bar from the terminal."""
        self.over.set()
        self.thread.join()


class Verbose(Feature):
    """Listener that prints each replacement and its rule."""

    def on_replace(self, fgraph: FunctionGraph, old: Any, new: Any, reason: Any) -> None:
        if reason is not REFUSED:
            name = getattr(reason, "name", reason)
            print(f"rewriting: {name} replaces {brief(old)} with {brief(new)}")  # noqa: T201


def on_a_terminal() -> bool:
    """Return whether output and errors both go to a terminal on which lines can be redrawn."""
    streams = [sys.stdout, sys.stderr]
    return os.environ.get("TERM") != "dumb" and all(
        [stream is not None and stream.isatty() for stream in streams]
    )


class WatchedCompiling:
    """Context manager that shows compilation inside the `with` block: a bar on a terminal if it
    takes long, and each firing if `config.optimizer_verbose` is set. In a pipe nothing is attached.
    timed: whether to count and time each try of a rule.
    """

    def __init__(self, fgraph: FunctionGraph, name: str, timed: bool = False) -> None:
        self.fgraph = fgraph
        self.features: list[Feature] = [Stopwatch()] if timed else []
        if config.optimizer_verbose:
            self.features.append(Verbose())
        self.progress = Progress(fgraph, name) if on_a_terminal() else None
        if self.progress is not None:
            self.features.append(self.progress)
        self.bar: Bar | None = None

    def __enter__(self) -> WatchedCompiling:
        for feature in self.features:
            self.fgraph.attach_feature(feature)
        if self.progress is not None:
            self.bar = Bar(self.progress, sys.stderr)
        return self

    def rewritten(self) -> None:
        """Record that rewriting is over and linking begins."""
        for feature in self.features:
            self.fgraph.remove_feature(feature)
        self.features = []
        if self.progress is not None:
            self.progress.enter(LINKING)

    def __exit__(self, *error: Any) -> None:
        self.rewritten()
        if self.bar is not None:
            self.bar.stop()
