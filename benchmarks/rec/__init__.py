"""Programs of the Rewrite Engines Competition, as rules: names and questions are the published
ones, the rules are written anew from what they compute.

Each runs on the ordinary driver over an ordinary graph, to its normal form, which is compared with
what plain Python says. Equal terms are one node here, so a term that occurs often is rewritten
once: firings are fewer than the rewrites other engines count, and are what is counted.

The terms and how rules on them are written: `language.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Row, once
from benchmarks.rec import binary, lists, numbers, sorting
from benchmarks.rec.language import Program

PROGRAMS: tuple[Program, ...] = (
    *sorting.PROGRAMS,
    *numbers.PROGRAMS,
    *lists.PROGRAMS,
    *binary.PROGRAMS,
)

#: what the slowest of them has to reach; each firing makes a node or two, and drops as many
TARGET = 20_000


def main() -> Iterator[Row]:
    for program in PROGRAMS:
        program.run(program.small)
        fgraph = program.question(program.size)
        seconds, result = once(lambda: program.rewrite(fgraph))  # noqa: B023
        program.check(fgraph, program.size)
        rate = result.firings / seconds
        figure = f"{rate:,.0f} /s  ({result.firings:,} firings, {seconds:.2f} s)"
        name = f"{program.name}({program.size})"
        yield Row(name, figure, f"≥ {TARGET:,} /s", rate >= TARGET)
