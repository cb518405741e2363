"""Counts of the work of rules on thirteen graphs. They depend on no machine, and may only fall."""

from __future__ import annotations

import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
import rewrite_engine.tensor.linalg  # (its packs are tried, too)
from benchmarks.compile import Work, of_work, work
from benchmarks.pymc_models.cases import THIRTEEN, cases

#: nodes, visits, tries, firings, phases
MOST: dict[str, Work] = {
    "large_fuseable(25)": Work(243, 953, 495, 86, 5),
    "large_fuseable(100)": Work(918, 3578, 1845, 311, 5),
    "deep(80)": Work(320, 1600, 479, 159, 5),
    "chain(400)": Work(1200, 6000, 1999, 1199, 5),
    "mlp(32)": Work(334, 1673, 2150, 104, 5),
    "product(40)": Work(119, 630, 459, 81, 5),
    "total(40)": Work(160, 815, 494, 45, 5),
    "scalars(400)": Work(799, 3995, 0, 0, 5),
    "gathers(40)": Work(121, 605, 89, 80, 5),
    "radon(85)": Work(190, 880, 623, 144, 5),  # (5 choices that might be extrema)
    "normal density(50)": Work(26, 128, 73, 11, 5),  # (6 readers of what might be diagonal)
    "process(50)": Work(42, 196, 139, 22, 5),  # (the same 6)
    "Kalman step(4)": Work(18, 90, 91, 5, 5),
}


@pytest.mark.parametrize("title", MOST)
def test_no_graph_takes_more_work_than_it_did(title: str) -> None:
    found = work(dict(cases(rw, pt, peer=False))[title]())
    assert all(n <= most for n, most in zip(found, MOST[title], strict=True)), found


def test_all_graphs_are_counted() -> None:
    assert {*MOST} == {*THIRTEEN}


def test_rows() -> None:
    per_node, per_firing = of_work("g", Work(nodes=90, visits=150, tries=40, firings=10, phases=3))
    assert (per_node.figure.split()[0], per_node.met) == ("1.5", False)
    assert (per_firing.figure.split()[0], per_firing.met) == ("4", False)
    assert all(row.met for row in of_work("g", Work(90, 110, 20, 10, 3)))
