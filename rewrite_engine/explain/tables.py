"""The tables of a report: a line for each function (`summary`), a line for each rule
(`rule_times`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.phrase import STYLES, amounts, arrow, place, verdict_text
from rewrite_engine.rewrite.result import COUNTS, Result

if TYPE_CHECKING:
    from rewrite_engine.explain.report import Report

WIDE = 96  # columns at which there is room for everything
LEAST = ("dropped", "created", "matches", "calls")  # columns that a narrow table can do without
WIDEST = Console(width=10_000, force_jupyter=False)


def summary(report: Report, width: int, most: int | None = None) -> Table:
    """Tabulate functions, one a line, at most `most`; with the place of each if there is room."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    names = ["", "function", "compiled at", "nodes", "firings", "flops", "bytes", "values"]
    left = {"function", "compiled at", "values"}
    wide = width >= WIDE
    for name in names if wide else [n for n in names if n != "compiled at"]:
        table.add_column(name, justify="left" if name in left else "right", overflow="fold")
    for some in alike(report.functions, _row)[:most]:
        f = some[0]
        a, b = f.cost_before, f.cost_after
        style = STYLES.get(f.check.verdict, "green") if f.check.ok else "bold red"
        verdict = Text(verdict_text(f), style=style)
        where = [Text(place(f.record.place, short=True))] if wide else []
        nodes = arrow(str(a.nodes), str(b.nodes))
        costs = [amounts(f, "flops"), amounts(f, "bytes")]
        table.add_row(
            numbers_of(some),
            Text(f.name + times_of(some)),
            *where,
            nodes,
            str(len(f.steps)),
            *costs,
            verdict,
        )
    return table


def alike(
    functions: Sequence[FunctionReport], key: Callable[[FunctionReport], Any]
) -> list[list[FunctionReport]]:
    """Group consecutive functions whose lines are equal."""
    return [list(some) for _, some in groupby(functions, key)]


def _row(f: FunctionReport) -> Any:
    """Return the cells of a function's line in the summary, to find equal lines."""
    costs = amounts(f, "flops"), amounts(f, "bytes")
    nodes = f.cost_before.nodes, f.cost_after.nodes
    return f.name, f.record.place, nodes, len(f.steps), costs, verdict_text(f)


def numbers_of(some: Sequence[FunctionReport]) -> str:
    first, last = some[0].record.index, some[-1].record.index
    return str(first) if first == last else f"{first}–{last}"


def times_of(some: Sequence[FunctionReport]) -> str:
    return "" if len(some) == 1 else f" ({len(some)}×)"


def rule_times(phases: Sequence[Result], width: int) -> Table:
    """Tabulate what each rule did in each phase, and how long it took. The least important columns
    are left out if names would not fit.
    """
    whole = Result(
        "rules, by time",
        parts=list(phases),
        nodes_before=phases[0].nodes_before,
        nodes_after=phases[-1].nodes_after,
        seconds=sum(phase.seconds for phase in phases),
    )
    columns = list(COUNTS)
    table: Table = whole.table(columns=columns)
    for column in LEAST:
        if Measurement.get(WIDEST, WIDEST.options, table).maximum <= width:
            break
        columns.remove(column)
        table = whole.table(columns=columns)
    return table
