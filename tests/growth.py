"""How the work of something grows with its size: lines of Python that it runs. They are the same
on a busy machine; how long they take is what `benchmarks/` measures.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from math import log
from types import FrameType
from typing import Any

import pytest


class Lines:
    """Counts the lines of Python that run in a `with` block. Called, it is a clock: of a machine
    that runs a million lines in a second. The collector is off meanwhile.
    """

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> float:
        return self.count / 1e6

    def __enter__(self) -> Lines:
        self.before = sys.gettrace()
        gc.disable()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self.before)
        gc.enable()

    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        self.count += event == "line"
        return self._trace


def lines(run: Callable[[], Any]) -> int:
    """Return how many lines of Python something runs."""
    with Lines() as counted:
        run()
    return counted.count


def by_lines(monkeypatch: pytest.MonkeyPatch, *modules: Any) -> Lines:
    """Let the clock of modules go by the lines that run in the block that this begins."""
    clock = Lines()
    for module in modules:
        monkeypatch.setattr(module, "perf_counter", clock)
    return clock


def exponent(prepare: Callable[[int], Callable[[], Any]], few: int, many: int) -> float:
    """Return e where work grows as n to the power of e: about 1 where it is linear. prepare: makes
    what is run, for a size.
    """
    prepare(few)()  # what is loaded or compiled once
    least, most = lines(prepare(few)), lines(prepare(many))
    return log(most / least) / log(many / few)
