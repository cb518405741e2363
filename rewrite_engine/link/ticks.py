"""Times of nodes: lines in a body that record the time since the last one, and the sums; also the
shapes of values in the first run of each node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from sys import _getframe
from threading import RLock, local
from time import perf_counter as clock
from types import FrameType
from typing import Any

import numpy as np

from rewrite_engine.fork import free_after_fork
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.code import Body


class Overhead(local):
    """Time that a thread spent on recording times, in a list of one (lost)."""

    def __init__(self) -> None:
        self.lost = [0.0]


overhead = Overhead()
#: held while counts change; reentrant, because a signal handler may call a profiled function
counting = free_after_fork(RLock())


def now() -> float:
    """Return the time of a clock that stands still while times are recorded."""
    return clock() - overhead.lost[0]


def size_of(type_: Any, value: Any) -> int:
    """Return the bytes of a value; 0 if its type does not know."""
    if isinstance(value, (bool, int, float, complex)):
        value = np.asarray(value)
    return int(type_.get_size(type_.get_shape_info(value)))


class Ticks:
    """Counts and seconds of each node of a graph, in all threads.

    shapes, bytes: of the values of variables, when they were first computed. given, made: the names
    of inputs and of the outputs of nodes in the text.
    """

    def __init__(self, nodes: Sequence[Apply]) -> None:
        self.nodes = list(nodes)
        self.shapes: dict[Variable, tuple[int, ...]] = {}
        self.bytes: dict[Variable, int] = {}
        self.given: dict[Variable, str] = {}
        self.made: dict[int, str] = {}
        self.seconds = [0.0] * len(self.nodes)
        self.runs = [0] * len(self.nodes)

    def reset(self) -> None:
        """Clear the counts and times of all nodes."""
        with counting:
            self.seconds[:] = [0.0] * len(self.nodes)
            self.runs[:] = [0] * len(self.nodes)

    def begin(self) -> Callable[..., None]:
        """Return `tick` for one call: `tick()` starts the clock, `tick(i)` gives a node the time
        since the last tick.
        """
        lock, seconds, runs, lost = counting, self.seconds, self.runs, overhead.lost
        then = now()

        def tick(i: int | None = None) -> None:
            nonlocal then
            start = clock()
            at = start - lost[0]
            if i is not None:
                with lock:
                    seconds[i] += at - then
                    runs[i] += 1
                if runs[i] == 1:
                    self.look(i, _getframe(1))
            elif not runs[0]:
                self.look(None, _getframe(1))
            then = at
            lost[0] += clock() - start

        return tick

    def look(self, i: int | None, frame: FrameType) -> None:
        """Measure the new values of a node, or the inputs, in a frame."""
        found = frame.f_locals
        if i is None:
            here = {v: name for v, name in self.given.items() if name in found}
            self.measured(list(here), [found[name] for name in here.values()])
        elif i in self.made:
            names = self.made[i].split(", ")
            self.measured(self.nodes[i].outputs, [found.get(name) for name in names])

    def measured(self, variables: Sequence[Variable], values: Sequence[Any]) -> None:
        """Record the shapes and sizes of values."""
        for v, value in zip(variables, values, strict=True):
            if value is not None:
                self.shapes[v] = getattr(value, "shape", ())
                self.bytes[v] = size_of(v.type, value)

    def around(self, i: int, run: Callable[..., Any]) -> Callable[..., Any]:
        """Return a node's function with a tick after it."""

        def timed(*values: Any) -> Any:
            tick = self.begin()
            found = run(*values)
            tick(i)
            if self.runs[i] == 1:
                node = self.nodes[i]
                self.measured(node.inputs, values)
                self.measured(node.outputs, (found,) if len(node.outputs) == 1 else found)
            return found

        return timed

    def stamp(self, body: Body) -> None:
        """Write a tick after the lines of each node."""
        self.given, self.made = body.given, body.made
        body.opening = [*body.opening, f"_tick = {body.names.add(self.begin, 'begin')}()"]
        body.carried = (*body.carried, "_tick")
        for chunk in body.chunks:
            if not chunk.lines:
                continue
            lines: list[str] = ["_tick()"]
            about: list[Any] = [None]
            pairs = zip(chunk.lines, chunk.about, strict=True)
            for i, group in groupby(pairs, key=lambda pair: pair[1] and pair[1][0]):
                own, what = zip(*group, strict=True)
                lines += own
                about += what
                if i is not None:
                    space = " " * (len(own[0]) - len(own[0].lstrip()))
                    lines.append(f"{space}_tick({i})")
                    about.append(None)
            chunk.lines, chunk.about = lines, about
