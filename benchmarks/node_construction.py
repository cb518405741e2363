"""What building one node costs: an op of one argument, of two, and with a Python number."""

from __future__ import annotations

from collections.abc import Iterator

import rewrite_engine.tensor as pt
from benchmarks.measure import Row, at_most, medians


def main() -> Iterator[Row]:
    x, y = pt.vector("x"), pt.vector("y")
    work = {
        "exp(x)": lambda: pt.exp(x),
        "x + y": lambda: x + y,
        "x + 1": lambda: x + 1,
        "x * 2.5": lambda: x * 2.5,
    }
    for name, seconds in medians(work).items():
        yield at_most(f"build {name}", seconds * 1e6, 2.0, "µs")
