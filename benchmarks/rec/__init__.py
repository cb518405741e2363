"""Programs of the Rewrite Engines Competition of 2018: its rewrite systems and its questions, after
a translation of its files to K, in the names of this library.

Each runs on the ordinary driver over an ordinary graph, to its normal form, which is compared with
what plain Python says. Equal terms are one node here, so one that occurs often is rewritten once:
firings are fewer than the rewrites other engines count; both are shown ("firings of rewrites", see
`counting.py`). Questions that take longer than three seconds are asked of smaller numbers.

The terms and how rules on them are written: `language.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Row, once
from benchmarks.rec import (
    binary,
    lists,
    matrices,
    modulo,
    numbers,
    octets,
    primes,
    river,
    sorting,
    towers,
)
from benchmarks.rec.counting import unshared
from benchmarks.rec.language import Program

PROGRAMS: tuple[Program, ...] = (
    *sorting.PROGRAMS,
    *numbers.PROGRAMS,
    *lists.PROGRAMS,
    *primes.PROGRAMS,
    *towers.PROGRAMS,
    *binary.PROGRAMS,
    *octets.PROGRAMS,
    *modulo.PROGRAMS,
    *matrices.PROGRAMS,
    *river.PROGRAMS,
)

#: what the slowest of them has to reach; each firing makes a node or two, and drops as many
TARGET = 20_000


def row(program: Program, size: int) -> Row:
    """A program's firings a second at a size."""
    program.run(program.small)
    fgraph = program.question(size)
    seconds, result = once(lambda: program.rewrite(fgraph))
    program.check(fgraph, size)
    rate = result.firings / seconds
    steps = unshared(program, size)
    others = f"{steps:,}" if steps < 1e9 else f"{steps:.1e}"
    figure = f"{rate:,.0f} /s  ({result.firings:,} firings of {others}, {seconds:.2f} s)"
    return Row(f"{program.name}({size})", figure, f"≥ {TARGET:,} /s", rate >= TARGET)


def main() -> Iterator[Row]:
    for program in PROGRAMS:
        yield row(program, program.size)
