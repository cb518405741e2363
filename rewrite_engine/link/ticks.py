"""Times of nodes: lines that stop the time between those of a body, and where it is added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from threading import Lock, local
from time import perf_counter as clock
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.code import Body


class Overhead(local):
    """lost: in a list of one, the time that it took a thread to note times."""

    def __init__(self) -> None:
        self.lost = [0.0]


overhead = Overhead()


def now() -> float:
    """The time, of a clock that stands still while times are noted."""
    return clock() - overhead.lost[0]


class Ticks:
    """How often each node of a graph ran, and for how many seconds, in all threads."""

    def __init__(self, nodes: Sequence[Apply]) -> None:
        self.nodes = list(nodes)
        self.seconds = [0.0] * len(self.nodes)
        self.runs = [0] * len(self.nodes)
        self.lock = Lock()

    def reset(self) -> None:
        """Forget what was counted."""
        with self.lock:
            self.seconds[:] = [0.0] * len(self.nodes)
            self.runs[:] = [0] * len(self.nodes)

    def begin(self) -> Callable[..., None]:
        """Return `tick` for one call: `tick()` starts to take time, `tick(i)` gives a node the time
        since the last one.
        """
        lock, seconds, runs, lost = self.lock, self.seconds, self.runs, overhead.lost
        then = now()

        def tick(i: int | None = None) -> None:
            nonlocal then
            start = clock()
            at = start - lost[0]
            if i is not None:
                with lock:
                    seconds[i] += at - then
                    runs[i] += 1
            then = at
            lost[0] += clock() - start

        return tick

    def around(self, i: int, run: Callable[..., Any]) -> Callable[..., Any]:
        """What runs for a node, and a tick behind it."""

        def timed(*values: Any) -> Any:
            tick = self.begin()
            found = run(*values)
            tick(i)
            return found

        return timed

    def stamp(self, body: Body) -> None:
        """Write a tick behind the lines of each node."""
        body.opening = [*body.opening, f"_tick = {body.names.add(self.begin, 'begin')}()"]
        body.carried = (*body.carried, "_tick")
        for block in body.blocks:
            if not block.lines:
                continue
            lines: list[str] = ["_tick()"]
            about: list[Any] = [None]
            pairs = zip(block.lines, block.about, strict=True)
            for i, group in groupby(pairs, key=lambda pair: pair[1] and pair[1][0]):
                own, what = zip(*group, strict=True)
                lines += own
                about += what
                if i is not None:
                    space = " " * (len(own[0]) - len(own[0].lstrip()))
                    lines.append(f"{space}_tick({i})")
                    about.append(None)
            block.lines, block.about = lines, about
