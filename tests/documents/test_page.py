"""`docs/interface.md`: names and tests of its tables are there, and what is not here is not."""

from __future__ import annotations

import re
from functools import cache, reduce
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "interface.md"
NAME = re.compile(r"`([A-Za-z_]\w*(?:\.\w+)*)`")
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")
OTHERS = ("aesara.", "pytensor.", "theano.")


class Row(NamedTuple):
    """What the document has, where it is here, and what shows it."""

    theirs: str
    ours: str
    shown: str

    @property
    def missing(self) -> bool:
        return self.ours.startswith("not here: ")

    def names_of_others(self) -> list[str]:
        return [name for name in NAME.findall(self.theirs) if name.startswith(OTHERS)]


def rows() -> list[Row]:
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and "| shown by |" not in line:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert len(cells) == 3, line
            found.append(Row(*cells))
    return found


def resolved(name: str) -> Any:
    """What a dotted name stands for: an attribute, or one of that, of the longest module in it."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:k]))
        except ImportError:
            continue
        return reduce(getattr, parts[k:], found)
    raise ImportError(name)


@cache
def defined_in(file: str) -> set[str]:
    text = (ROOT / "tests" / file).read_text(encoding="utf-8")
    return set(re.findall(r"^def (test_\w+)", text, re.MULTILINE))


ROWS = rows()


def test_there_are_rows_for_all_documents() -> None:
    text = PAGE.read_text(encoding="utf-8")
    parts = [part.count("\n| ") for part in text.split("\n## ")[1:]]
    assert len(parts) == 5
    assert min(parts) > 15


def test_what_is_here_is_found_by_its_name() -> None:
    """Also the names that are recommended for what is not here (`In`, `Print`, …)."""
    wrong = []
    for row in ROWS:
        for name in NAME.findall(row.ours):
            try:
                resolved(f"rewrite_engine.{name}")
            except AttributeError:
                wrong.append((row.theirs, name))
    assert wrong == []


@pytest.mark.usefixtures("peers")
def test_names_of_others_lead_here_or_are_missing() -> None:
    wrong = []
    for row in ROWS:
        for name in row.names_of_others():
            try:
                resolved(name)
                there = True
            except (AttributeError, ImportError):
                there = False
            if there is row.missing:
                wrong.append(name)
    assert wrong == []
    assert sum(len(row.names_of_others()) for row in ROWS) > 35


def test_every_row_names_a_test_that_there_is_a_page_or_a_reason() -> None:
    wrong = []
    for row in ROWS:
        tests = TEST.findall(row.shown)
        wrong += [t for t in tests if t[1] not in defined_in(t[0])]
        if not tests and "](" not in row.shown and not row.missing:
            wrong.append(row)
    assert wrong == []
    assert sum(len(TEST.findall(row.shown)) for row in ROWS) > 100
