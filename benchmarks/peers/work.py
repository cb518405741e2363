"""What is compared: one entry per figure, and how one is taken within a time limit."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks import graphs
from benchmarks.measure import medians, once, quiet

#: what is measured; for functions also the nodes that are left, with and without fusion
Value = float | tuple[float, int, int]


@dataclass(frozen=True, slots=True)
class Work:
    """One figure. more: larger is better. target: what ours has to reach."""

    key: str
    title: str
    unit: str
    target: float | None = None
    more: bool = False


#: the graphs that `function` is timed on
FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "large_fuseable(25)": (graphs.large_fuseable, 25),
    "large_fuseable(100)": (graphs.large_fuseable, 100),
    "deep(80)": (graphs.deep, 80),
    "chain(400)": (graphs.chain, 400),
    "mlp(32)": (graphs.mlp, 32),
}
#: the gradients whose growth is measured, from half a size to the size
GRADIENTS: dict[str, tuple[Callable[..., Any], int]] = {
    "a product of 40 terms": (graphs.product, 40),
    "a sum of 40 terms": (graphs.total, 40),
    "400 scalar inputs": (graphs.scalars, 400),
    "40 gathers": (graphs.gathers, 40),
}
LEVELS = 1_000
INPLACE_LEVELS = 667  # of `chain`: 2,000 nodes

WORK = (
    Work("unary", "build exp(x)", "µs", 2.0),
    Work("binary", "build x + y", "µs", 2.0),
    Work("hit", "log(exp(x)): a match", "µs", 1.0),
    Work("miss", "log(sin(x)): no match", "µs", 0.5),
    Work("firings", "sin(log(exp(·))) × 1,000, one pattern: firings", "/s", 120_000, more=True),
    Work("canonicalize", "the same, all rules of the phase", "/s", 120_000, more=True),
    Work("repeated", "a*x + b*x + rest among 8 operands: no match", "µs", 20.0),
    Work("rest", "log(x) + exp(y) + rest among 16 operands: a match", "µs", 5.0),
    *[Work(name, f"function: {name}", "ms") for name in FUNCTIONS],
    Work("inplace", "in-place insertion, 2,000 nodes, fusion off", "ms", 100.0),
    *[Work(name, f"gradient of {name}: exponent", "", 1.2) for name in GRADIENTS],
)


class TooLong(BaseException):
    """A figure took longer than it may. No `Exception`: libraries catch those and go on."""


@contextmanager
def at_most_seconds(limit: float) -> Iterator[None]:
    """Raise `TooLong` inside the block after so many seconds by the clock on the wall. (A timer of
    the processor would make the clock that measures coarse.)
    """

    def stop(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def microseconds(f: Callable[[], Any]) -> float:
    """The median time of a call."""
    return medians({"": f}, turns=15)[""] * 1e6


def per_node(build: Callable[[Any], Any], leaf: Callable[[], Any], count: int = 500) -> float:
    """Microseconds to build one node of a chain on a leaf; each node is a new one, where equal ones
    are kept too if `leaf` makes a new leaf each time.
    """

    def chain() -> Any:
        out = leaf()
        for _ in range(count):
            out = build(out)
        return out

    return microseconds(chain) / count


def best(f: Callable[[], Any], prepare: Callable[[], Any], turns: int) -> tuple[float, Any]:
    """The least seconds over some turns of `f` on what `prepare` returns, and the last result."""
    times, result = [], None
    for _ in range(turns):
        given = prepare()
        seconds, result = once(lambda: f(given))  # noqa: B023
        times.append(seconds)
    return min(times), result


def exponent(seconds: Callable[[int], float], size: int) -> float:
    """How the time grows from half a size to the size: 1 is linear."""
    with quiet():
        half, full = seconds(size // 2), seconds(size)
    return math.log2(full / half)
