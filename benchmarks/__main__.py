"""Run the programs of this folder and print their rows: `python -m benchmarks [NAME...]`.

A program with a function `command` takes all arguments after its name, if there are any.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Row, machine

HERE = Path(__file__).parent
NOT_PROGRAMS = {"__init__", "__main__", "graphs", "measure"}


def programs() -> list[str]:
    """The names of all programs: modules, and folders whose `__init__` is one."""
    folders = [p.parent.name for p in HERE.glob("*/__init__.py")]
    files = [p.stem for p in HERE.glob("*.py") if p.stem not in NOT_PROGRAMS]
    return sorted(files + folders)


def table(title: str, rows: Iterable[Row]) -> Table:
    """Rows as a table; a figure that missed its target stands out."""
    rows = list(rows)
    peers = list(dict.fromkeys(name for row in rows for name, _ in row.peers))
    columns = ("figure", "measured", "target", "", *peers)
    result = Table(*columns, title=title, title_justify="left")
    for row in rows:
        verdict = {True: "[green]met", False: "[red]missed", None: ""}[row.met]
        others = dict(row.peers)
        result.add_row(
            row.name, row.figure, row.target, verdict, *[others.get(name, "") for name in peers]
        )
    return result


def command(names: list[str]) -> Callable[[list[str]], Iterable[Row]] | None:
    """Return what runs the first program with arguments of its own, if it has such a function."""
    if len(names) < 2 or names[0] not in programs():
        return None
    return getattr(import_module(f"benchmarks.{names[0]}"), "command", None)


def rows_of(names: list[str]) -> Iterator[tuple[str, Iterable[Row]]]:
    """Yield the name and the rows of each program."""
    if own := command(names):
        yield names[0], own(names[1:])
        return
    for name in names or programs():
        yield name, import_module(f"benchmarks.{name}").main()


def main(names: list[str]) -> int:
    unknown = set(names) - set(programs())
    if unknown and not command(names):
        print(f"no program {', '.join(sorted(unknown))}; there are {', '.join(programs())}")
        return 2
    console = Console()
    if not console.is_terminal:  # into a file: nothing is cut off
        console.width = 220
    console.print(machine())
    missed = 0
    for name, found in rows_of(names):
        rows = list(found)
        console.print(table(name, rows))
        missed += sum(row.met is False for row in rows)
    console.print(f"{missed} figures missed" if missed else "all figures met")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
