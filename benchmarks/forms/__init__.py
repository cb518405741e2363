"""Forms as textbooks and programs write them: are the values right, and how far is by hand?

    python -m benchmarks forms [TABLE...] [--rows 10,300,1000] [--mode MODE] [--only NAME...]
                               [--pytensor] [--pytensor-mode MODE] [--json FILE]

`linear_algebra.py`, `special.py` and `arrays.py` are the tables, rows of data. `form.py` defines a
row, `exact.py` computes with many digits, `hand.py` has what experts write, `run.py` measures a
table with one library in a process of its own, with one thread for BLAS, and `slopes.py` measures
special functions. MODE is a mode of the library, such as vm or native; PyTensor's default is Numba.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Row, digits, machine

TABLES = ("linear", "special", "arrays")
ROWS = {"linear": "10,300,1000", "special": "", "arrays": "1000,30000,1000000"}
MIN_ROWS = 300  # from here on ratios count
NEAR, FAR = 1.3, 3.0  # ratios to the time by hand: the target, and the most
CALL_SECONDS = 1e-6  # a call that takes less is near: most of it is the call itself
LIMIT = 3600  # seconds for one table and one library
Line = dict[str, Any]


def lines(
    table: str, library: str, mode: str = "", rows: str = "", only: Iterable[str] = ()
) -> list[Line]:
    """Return what a process of its own measured of a table with one library."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.forms.run"]
    command += [table, library, mode, rows or ROWS[table] or "0", *only]
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | threads, stdout=subprocess.PIPE, text=True,
        timeout=LIMIT, check=True,
    )  # fmt: skip
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [line | {"table": table, "library": library} for line in found]


def ratio(line: Line | None) -> float | None:
    """Return how many times the time by hand a call takes; None without a figure."""
    if line is None or "seconds" not in line:
        return None
    return float(line["seconds"] / line["by_hand"])


def key(line: Line) -> tuple[str, Any]:
    """Return what a line of one library has in common with that of another."""
    return line["name"], line["rows"]


def row(line: Line, other: Line | None) -> Row:
    """Return the row of a form at one number of rows, with the peer's figure."""
    times = ratio(line)
    figure = "right" if line["right"] else " ".join(["wrong", *line.get("wrong", ())])
    figure += f": {line['failure']}" if "failure" in line else f", error {line['error']:.1e}"
    if times is not None:
        seconds, by_hand = [digits(line[k] * 1e6) for k in ("seconds", "by_hand")]
        figure += f", {seconds} µs, by hand {by_hand} µs: {times:.2f} ×"
    theirs = ratio(other)
    text = "" if other is None else "right" if other["right"] else "wrong"
    text += "" if theirs is None else f", {theirs:.2f} ×"
    return Row(f"{line['name']}, {line['rows']}", figure, peers=(("PyTensor", text),))


def counts(line: Line) -> bool:
    """Whether ratios count at this number of rows."""
    return isinstance(line["rows"], int) and line["rows"] >= MIN_ROWS


def is_within(line: Line, most: float) -> bool:
    """Whether a call is quick enough compared with the program by hand."""
    times = ratio(line)
    return times is not None and (times <= most or line["seconds"] <= CALL_SECONDS)


def summary(table: str, ours: list[Line], theirs: list[Line]) -> Iterator[Row]:
    """Yield what the tables are to reach, and what they reach."""
    right = {name: all(x["right"] for x in ours if x["name"] == name) for name in names(ours)}
    count = sum(right.values())
    yield Row(f"{table}: right", f"{count} of {len(right)}", "all", count == len(right))
    timed = [x for x in ours if counts(x) and "seconds" in x]
    near = sum(x["right"] and is_within(x, NEAR) for x in timed)
    far = sum(not is_within(x, FAR) for x in timed)
    if timed:
        text = f"{near} of {len(timed)}"
        yield Row(f"{table}: right, within {NEAR} × by hand", text, "85 %",
                  near >= 0.85 * len(timed))  # fmt: skip
        yield Row(f"{table}: above {FAR:g} × by hand", f"{far} of {len(timed)}", "none", far == 0)
    peers = {key(x): x for x in theirs}
    pairs = [(x, peers[key(x)]) for x in ours if key(x) in peers and (counts(x) or not timed)]
    if pairs:
        ahead = sum(is_ahead(x, y) for x, y in pairs)
        yield Row(f"{table}: not behind PyTensor", f"{ahead} of {len(pairs)}", "90 %",
                  ahead >= 0.9 * len(pairs))  # fmt: skip
        yield Row(f"{table}: right with PyTensor", f"{sum(x['right'] for x in theirs)} of "
                  f"{len(theirs)} lines")  # fmt: skip


def names(found: list[Line]) -> list[str]:
    """Return the names of forms in order."""
    return list(dict.fromkeys(line["name"] for line in found))


def is_ahead(line: Line, other: Line) -> bool:
    """Whether a right value is as fast as the peer's, within the noise of a twentieth, or the
    peer's value is wrong.
    """
    if not line["right"] or not other["right"]:
        return bool(line["right"])
    ours, theirs = ratio(line), ratio(other)
    return theirs is None or (ours is not None and ours <= 1.05 * theirs)


def command(arguments: list[str]) -> Iterator[Row]:
    """Yield a row for each form, and the summary of each table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks forms")
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], metavar="TABLE")
    parser.add_argument("--rows", default="")
    parser.add_argument("--mode", default="")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--pytensor", action="store_true")
    parser.add_argument("--pytensor-mode", default="")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    everything: list[Line] = []
    totals: list[Row] = []
    for table in options.tables or TABLES:
        asked = (options.rows, options.only)
        ours = lines(table, "rewrite_engine", options.mode, *asked)
        theirs: list[Line] = []
        if options.pytensor:
            theirs = lines(table, "pytensor", options.pytensor_mode, *asked)
        everything += [*ours, *theirs]
        peers = {key(x): x for x in theirs}
        yield from [row(x, peers.get(key(x))) for x in ours]
        totals += summary(table, ours, theirs)
    yield from totals
    if options.json:
        found = {"machine": machine(), "lines": everything}
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


def main() -> Iterator[Row]:
    """Yield the summary of each table, with PyTensor where it is installed."""
    for table in TABLES:
        ours = lines(table, "rewrite_engine")
        theirs = lines(table, "pytensor") if find_spec("pytensor") else []
        yield from summary(table, ours, theirs)
