"""What is seen of rewriting while it goes on: `Progress`, a line on a terminal where it takes long,
and `Verbose`, a line for each firing (`config.optimizer_verbose`).
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.origin import REFUSED
from rewrite_engine.rewrite.watched import Stopwatch
from rewrite_engine.terms.print import brief

PATIENCE = 2.0  # seconds before a line is shown
OFTEN = 64  # firings between two looks at the clock


class Progress(Feature):
    """Shows the phase, the nodes and the firings on a terminal, once it has taken long. file: where
    to.
    """

    def __init__(self, name: str, file: Any = None) -> None:
        self.name, self.file = name, file or sys.stderr
        self.count = 0
        self.phase = ""
        self.started = perf_counter()
        self.line: Any = None

    def on_begin(self, fgraph: FunctionGraph, driver: Any) -> None:
        self.phase = driver.name
        self.look(fgraph)

    def on_redirect(
        self, fgraph: FunctionGraph, old: Any, new: Any, clients: Any, reason: Any
    ) -> None:
        self.count += 1
        if self.count % OFTEN == 0:
            self.look(fgraph)

    def look(self, fgraph: FunctionGraph) -> None:
        """Show what there is to show, if it is time for it."""
        seconds = perf_counter() - self.started
        if seconds < PATIENCE:
            return
        if self.line is None:
            from rich.console import Console

            self.line = Console(file=self.file).status("")
            self.line.start()
        self.line.update(
            f"{self.name}: {self.phase}, {len(fgraph)} nodes, {self.count} changes, {seconds:.0f} s"
        )

    def stop(self) -> None:
        """Take the line away."""
        if self.line is not None:
            self.line.stop()


class Verbose(Feature):
    """Prints what replaces what, and by which rule."""

    def on_replace(self, fgraph: FunctionGraph, old: Any, new: Any, reason: Any) -> None:
        if reason is not REFUSED:
            name = getattr(reason, "name", reason)
            print(f"rewriting: {name} replaces {brief(old)} with {brief(new)}")  # noqa: T201


class WatchedRewriting:
    """Shows what rewriting does to a graph inside of the `with` block: on a terminal where it takes
    long, and line by line where `config.optimizer_verbose` says so. In a pipe nothing is attached.
    timed: whether each try of a rule is counted and timed.
    """

    def __init__(self, fgraph: FunctionGraph, name: str, timed: bool = False) -> None:
        self.fgraph = fgraph
        self.features: list[Feature] = [Stopwatch()] if timed else []
        if config.optimizer_verbose:
            self.features.append(Verbose())
        if sys.stderr is not None and sys.stderr.isatty():
            self.features.append(Progress(name))

    def __enter__(self) -> None:
        for feature in self.features:
            self.fgraph.attach_feature(feature)

    def __exit__(self, *error: Any) -> None:
        for feature in self.features:
            self.fgraph.remove_feature(feature)
            if isinstance(feature, Progress):
                feature.stop()
