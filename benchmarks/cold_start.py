"""Import, compile and first call in a new process; beside it what Python and NumPy need alone."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Row, at_most, processes

FIRST_CALL = """
import rewrite_engine as rw
import rewrite_engine.tensor as pt
x = pt.vector("x")
assert rw.function([x], pt.exp(x).sum())([0.0, 0.0]) == 2.0
"""


PROGRAMS = {
    "python": "pass",
    "import numpy": "import numpy",
    "import rewrite_engine": "import rewrite_engine",
    "import rewrite_engine.tensor": "import rewrite_engine.tensor",
    "first call": FIRST_CALL,
}


def main() -> Iterator[Row]:
    times = processes(PROGRAMS)
    first = times.pop("first call")
    for name, seconds in times.items():
        yield Row(name, f"{seconds:.3f} s")
    yield at_most("import, compile exp(x).sum(), first call", first, 0.3, "s")
