"""Each planted fault is found under its own name, and what is right beside it is not accused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewrite_engine.check import check
from tests.check.planted import ALL, HEADER, Planted


@pytest.mark.parametrize("fault", ALL, ids=lambda fault: fault.id)
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


def test_there_are_forty_of_many_kinds() -> None:
    assert len({fault.id for fault in ALL}) == len(ALL) >= 40
    assert len({fault.name for fault in ALL}) >= 20
