"""The names of other libraries: each is here, has another name, or is missing for a reason."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "names"))
LISTS = SCRIPT["lists"]()


@pytest.mark.parametrize("names", LISTS, ids=lambda names: names.list)
def test_nothing_is_missing_without_a_reason(names: object) -> None:
    assert names.missing.get(SCRIPT["WITHOUT"], []) == []  # type: ignore[attr-defined]
    assert names.all  # type: ignore[attr-defined]


def test_every_reason_is_needed() -> None:
    given = {why for names in LISTS for why in names.missing}
    reasons = tomllib.loads((SCRIPT["FOLDER"] / "reasons.toml").read_text(encoding="utf-8"))
    assert [r["why"] for r in reasons["reason"] if r["why"] not in given] == []
    used = {key for n in LISTS for name in n.other for key in (name, f"{n.list}.{name}")}
    assert [name for name in reasons["alias"] if name not in used] == []


def test_the_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "reference" / "names.md").read_text(encoding="utf-8")
    assert page == SCRIPT["page"](), "run scripts/names"
