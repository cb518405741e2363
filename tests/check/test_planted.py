"""Each planted fault is found under its own name, and what is right beside it is not accused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewrite_engine.check import check
from tests.check import planted, planted_kinds, planted_ops
from tests.check.planted import HEADER, Planted

EVERY = [*planted.ALL, *planted_kinds.ALL, *planted_ops.ALL]


@pytest.mark.parametrize("fault", EVERY, ids=lambda fault: fault.id)
def test_it_is_found_by_its_name(fault: Planted, tmp_path: Path) -> None:
    path = tmp_path / "pack.py"
    path.write_text(HEADER + fault.source)
    report = check(path)
    told = [(f.kind, f.name) for f in report if "right" not in f.subject]
    assert (fault.kind, fault.name) in told, str(report)
    assert [f for f in report if f.subject == "pack/right" and f.kind != "UNPROVED"] == []
    found = next(f for f in report if (f.kind, f.name) == (fault.kind, fault.name))
    assert found.where is not None
    assert found.why
    assert report.failed is (fault.kind in ("WRONG", "LOOPS", "DEAD") or report.failed)


@pytest.mark.parametrize("source", [*planted_kinds.RIGHT, *planted_ops.RIGHT], ids=lambda pair: pair[0])
def test_what_is_right_is_not_accused(source: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "pack.py"
    path.write_text(HEADER + source[1])
    report = check(path, only=["facts", "ops", "claims"])
    assert report.findings == [], str(report)


def test_there_are_a_hundred_of_many_kinds() -> None:
    assert len({fault.id for fault in EVERY}) == len(EVERY) >= 100
    assert len({fault.name for fault in EVERY}) >= 20
