"""Import, compile and first call in a new process; beside it what Python and NumPy need alone. And
what the first function of a process takes longer to compile than the same one compiled again.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Row, at_most, in_processes, processes
from benchmarks.pymc_models.cases import THIRTEEN

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

#: a graph is built, with its gradient, and compiled, twice; the names that a program uses are there
FIRST_USE = """
from time import process_time
import numpy.random
import rewrite_engine as rw
import rewrite_engine.tensor as pt
from benchmarks.pymc_models.cases import GRAPHS, WITH_VALUES

def seconds():
    start = process_time()
    if name in GRAPHS:
        make, n = GRAPHS[name]
        inputs, outputs = make(pt, rw.grad, n)[:2]
    else:
        make, n = WITH_VALUES[name]
        inputs, outputs = make(rw, pt, n)[:2]
    rw.function(inputs, outputs)
    return process_time() - start

name = {name!r}
rw.function, rw.grad
print(seconds(), min([seconds() for _ in range(3)]))
"""


def first_uses(runs: int = 7) -> Iterator[Row]:
    """What the first function of a process takes longer than the second, on thirteen graphs: of the
    turns the least, as others on the machine only add to it.
    """
    programs = {name: FIRST_USE.replace("{name!r}", repr(name)) for name in THIRTEEN}
    for name, turns in in_processes(programs, runs).items():
        pairs = [[1000 * float(text) for text in printed.split()] for _, printed in turns]
        first, second = map(min, zip(*pairs, strict=True))
        note = f"{first:.0f}, then {second:.0f}"
        yield at_most(f"first use, {name}", first - second, 10, "ms", note)


def main() -> Iterator[Row]:
    times = processes(PROGRAMS)
    first = times.pop("first call")
    for name, seconds in times.items():
        yield Row(name, f"{seconds:.3f} s")
    yield at_most("import, compile exp(x).sum(), first call", first, 0.3, "s")
    yield from first_uses()
