"""Each planted fault is found under its own name, and what is right beside it is not accused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewrite_engine.check import CHECKS, check
from rewrite_engine.check.finding import CheckReport
from tests.check import planted, planted_kinds, planted_ops
from tests.check.planted import HEADER, Planted

QUICK = ["lint", "facts", "ops", "claims"]  # the others look at the packs of the library, too
EVERY = [*planted.ALL, *planted_kinds.ALL, *planted_ops.ALL]


RIGHT = dict([*planted_kinds.RIGHT, *planted_ops.RIGHT])


@pytest.mark.parametrize("fault", EVERY, ids=lambda fault: fault.id)
def test_it_is_found_by_its_name(fault: Planted, tmp_path: Path) -> None:
    path = tmp_path / "pack.py"
    path.write_text(HEADER + fault.source)
    report = check(path, only=QUICK)
    if fault in planted.ALL and (fault.kind, fault.name) not in told_of(report):
        report = check(path)
    told = told_of(report)
    assert (fault.kind, fault.name) in told, str(report)
    assert [f for f in report if f.subject == "pack/right" and f.kind != "UNPROVED"] == []
    found = next(f for f in report if (f.kind, f.name) == (fault.kind, fault.name))
    assert found.where is not None
    assert found.why
    assert [f for f in report if f.kind == "WRONG" and not f.fix] == []
    assert report.failed is (fault.kind in ("WRONG", "LOOPS", "DEAD") or report.failed)


def told_of(report: CheckReport) -> list[tuple[str, str]]:
    """Return the kinds and names of what is found, other than in what is right."""
    return [(f.kind, f.name) for f in report if "right" not in f.subject]


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_not_accused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "pack.py"
    path.write_text(HEADER + RIGHT[name])
    report = check(path, only=QUICK[1:])
    assert report.findings == [], str(report)


@pytest.mark.parametrize("fault", planted_kinds.GUARDS, ids=lambda fault: fault.id)
def test_an_error_in_a_guard_ends_no_check(fault: Planted, tmp_path: Path) -> None:
    path = tmp_path / "pack.py"
    path.write_text(HEADER + fault.source)
    report = check(path)
    assert ("raises", "pack/wrong") in [(f.name, f.subject) for f in report]
    assert set(report.seconds) == set(CHECKS)


def test_there_are_a_hundred_of_many_kinds() -> None:
    assert len({fault.id for fault in EVERY}) == len(EVERY) >= 100
    assert len({fault.name for fault in EVERY}) >= 20
