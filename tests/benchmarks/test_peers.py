"""The table of peers: ratios, what is missing, what counts as met; and how growth is measured."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from rich.console import Console

from benchmarks import growth, peers
from benchmarks.__main__ import programs, table
from benchmarks.measure import ROOT, Row
from benchmarks.peers.work import FUNCTIONS, WORK, TooLong, at_most_seconds, exponent

BY_KEY = {work.key: work for work in WORK}
GRAPH = next(iter(FUNCTIONS))


def row(key: str, value: Any, **others: Any) -> Row:
    found = {name: {key: given} if given != "none" else {} for name, given in others.items()}
    found.setdefault("pytensor", {"missing": "No module named 'pytensor'"})
    return peers._row(BY_KEY[key], value, found)


def test_a_time_is_compared_with_the_best_peer() -> None:
    got = row("hit", 0.5, tinygrad=2.0, kanren=30.0, xdsl="none")
    assert got.figure == "0.5 µs  (4 × the best)"
    assert got.met is True
    assert dict(got.peers) == {
        "tinygrad": "2 µs", "kanren": "30 µs", "xdsl": "—", "pytensor": "not installed",
    }  # fmt: skip


def test_a_rate_is_better_when_larger() -> None:
    assert row("firings", 100_000.0, tinygrad=50_000.0).figure == "100,000 /s  (2 × the best)"
    assert row("firings", 100_000.0, tinygrad=50_000.0).met is False
    assert row("firings", 130_000.0).met is True


@pytest.mark.parametrize(
    ("ours", "met"),
    [([10.0, 30, 30], True), ([11.0, 30, 30], False), ([1.0, 31, 31], False)],
)
def test_function_wants_time_and_nodes(ours: list[float], met: bool) -> None:
    got = row(GRAPH, ours, pytensor=[100.0, 5, 30])
    assert got.met is met
    assert dict(got.peers)["pytensor"] == "100 ms, 5 nodes (30 unfused)"


def test_what_failed_is_told_and_no_error() -> None:
    got = row("repeated", 20.0, kanren="> 25 s")
    assert dict(got.peers)["kanren"] == "> 25 s"
    assert row(GRAPH, "TypeError: …", pytensor=[100.0, 5, 30]).met is None


def test_the_geometric_mean_is_over_what_both_did() -> None:
    first, second, third = list(FUNCTIONS)[:3]
    ours = {first: [1.0, 1, 1], second: [1.0, 1, 1], third: "ValueError"}
    peer = {first: [10.0, 1, 1], second: [1000.0, 1, 1], third: [1.0, 1, 1]}
    (got,) = peers.summary(ours, peer)
    assert got.figure == "100 × over 2 graphs"
    assert got.met is True
    assert list(peers.summary(ours, {})) == []


def test_a_peer_that_is_not_there_says_so(tmp_path: Any) -> None:
    """Even where its own package is hidden, the run goes on."""
    code = (
        "import sys; sys.modules['kanren'] = None\n"
        "from benchmarks.peers.__main__ import main\n"
        "sys.exit(main('kanren'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "missing" in json.loads(done.stdout)


def test_a_figure_that_takes_too_long_is_given_up() -> None:
    def swallows() -> None:
        while True:
            with suppress(Exception):
                sum(range(1000))

    with pytest.raises(TooLong), at_most_seconds(0.05):
        swallows()


def test_exponents() -> None:
    assert exponent(lambda n: 3.0 * n**2, 40) == pytest.approx(2.0)
    sizes = (10, 100, 1000)
    assert growth.exponent(sizes, [2.0 * n**1.5 for n in sizes]) == pytest.approx(1.5)


@pytest.mark.parametrize("shape", growth.SHAPES)
def test_every_stage_of_growth_is_measured(shape: str) -> None:
    found = growth.stages(shape, 3_000)
    assert list(found) == list(growth.STAGES)
    assert all(seconds > 0 for seconds in found.values())


def test_the_table_has_a_column_for_each_peer() -> None:
    rows = [Row("a", "1 µs", "≤ 2 µs", True, (("other", "3 µs"),)), Row("b", "2 µs")]
    console = Console(width=120)
    with console.capture() as capture:
        console.print(table("title", rows))
    text = capture.get()
    assert "other" in text
    assert "3 µs" in text
    assert "met" in text


def test_programs_are_modules_and_folders() -> None:
    assert {"rec", "peers", "growth", "rewriting"} <= set(programs())
    assert not {"measure", "graphs", "__main__"} & set(programs())
