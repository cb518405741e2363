"""A chain of 100,000 nodes built, compiled, run and printed: time per node against 1,000 nodes.

The chain is `tanh(x * 0.999 + 0.001)` repeated: no rule shortens it, so each stage sees it whole.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from typing import Any

import numpy as np

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks.measure import Row, at_most, median, once

SHORT, LONG = 1_000, 100_000


def chain(x: Any, nodes: int) -> Any:
    """A chain of about this many nodes above `x`."""
    out = x
    for _ in range(nodes // 3):
        out = pt.tanh(out * 0.999 + 0.001)
    return out


def printed(out: Any) -> int:
    """The length of the printed graph."""
    text = io.StringIO()
    with redirect_stdout(text):
        rw.dprint(out)
    return len(text.getvalue())


def main() -> Iterator[Row]:
    x = pt.vector("x")
    short, long = chain(x, SHORT), chain(x, LONG)
    f_short, f_long = rw.function([x], short), rw.function([x], long)
    value = np.linspace(-1.0, 1.0, 10)
    stages: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "build": (lambda: chain(x, SHORT), lambda: chain(x, LONG)),
        "rewrite and compile": (
            lambda: rw.function([x], short),
            lambda: rw.function([x], long),
        ),
        "run": (lambda: f_short(value), lambda: f_long(value)),
        "print": (lambda: printed(short), lambda: printed(long)),
    }
    for name, (on_short, on_long) in stages.items():
        per_short = median(on_short, turns=9) / SHORT
        per_long = min(once(on_long)[0] for _ in range(3)) / LONG
        note = f"{per_short * 1e6:.2f} and {per_long * 1e6:.2f} µs a node"
        title = f"{name}: 100,000 nodes over 1,000, per node"
        yield at_most(title, per_long / per_short, 1.5, "×", note)
