"""`docs/glossary.md`: its terms and names are those of the code, and each has one entry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| \*\*(.+?)\*\* \| (.+) \|$", TEXT, re.MULTILINE)
TERMS = [term for head, _ in ROWS for term in head.split(", ")]


FILES = sorted((ROOT / "rewrite_engine").rglob("*.py"))
CODE = "\n".join(path.read_text(encoding="utf-8") for path in FILES).lower()


def is_used(term: str) -> bool:
    """Return whether code uses a term, in its text or as part of a name."""
    words = r"(?:\s+(?:# )?|_|)".join(map(re.escape, term.lower().split()))
    return re.search(rf"(?<![a-z]){words}(?:s|es|d|ed|ing)?(?![a-z])", CODE) is not None


def test_every_row_is_an_entry() -> None:
    assert len(ROWS) == TEXT.count("\n|") - 2  # (its head has two lines)
    assert len(ROWS) > 80


def test_each_term_has_one_entry_in_alphabetical_order() -> None:
    heads = [head.lower() for head, _ in ROWS]
    assert heads == sorted(set(heads), key=lambda head: head.replace("-", ""))
    assert len(set(TERMS)) == len(TERMS)


@pytest.mark.parametrize("term", TERMS)
def test_the_code_uses_each_term(term: str) -> None:
    assert is_used(term)


def test_an_unknown_term_is_found() -> None:
    assert not is_used("mutant nest")
    assert not is_used("forsooth")


def test_the_names_in_definitions_exist() -> None:
    quoted = [name for _, text in ROWS for name in re.findall(r"`([^`]+)`", text)]
    names = {name for text in quoted for name in re.findall(r"[A-Za-z_][\w.]*\w", text)}
    parts = {part.lower() for name in names for part in name.removesuffix(".py").split(".")}
    known = set(re.findall(r"\w+", CODE)) | {path.stem for path in FILES}
    assert sorted(parts - known) == []
    assert {"fgraph", "users", "hooks", "destroy_map"} <= parts
