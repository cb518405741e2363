"""Blocks: what a report says, before it is laid out. `show.py` and `answer.py` write blocks,
`layout.py` prints them as text, `notebook.py` as HTML.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from rewrite_engine.explain.term import Change


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text that is wrapped; its first line is indented, the others by `hang` more. style: as `rich`
    names styles, such as "bold red".
    """

    text: str = ""
    style: str = ""
    indent: int = 0
    hang: int = 0


@dataclass(frozen=True, slots=True)
class Heading:
    """Title of a part."""

    text: str


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line that is not wrapped, as of a tree."""

    text: str
    indent: int = 0


@dataclass(frozen=True, slots=True)
class TableCell:
    """TableCell of a table."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Table. columns: titles, and whether their cells are aligned on the right."""

    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[TableCell, ...], ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """Table of what each rule did in some phases, and how long it took. phases: `PhaseLine`s."""

    phases: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class FiringBlock:
    """A firing, or (is_family) several of a rule: a term before and after. notes: what stands
    behind it; of a family, one note in several lengths.
    """

    number: str
    change: Change
    notes: tuple[str, ...]
    is_family: bool = False


@dataclass(frozen=True, slots=True)
class Formulas:
    """A graph as formulas. lines: the formulas as text, after loops as functions. graph: the graph,
    if it is known.
    """

    lines: tuple[str, ...]
    graph: Any = None
    has_loops: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part that text cuts after some lines, unless everything is requested. foldable: HTML shows
    its title, and the rest after a click.
    """

    blocks: tuple[Block, ...]
    max_lines: int | None = None
    title: str = ""


Block = Paragraph | Heading | CodeLine | TableBlock | Counts | FiringBlock | Formulas | Section


class Layout(Protocol):
    """Protocol of layouts: their width in columns, and how many lines blocks take in them."""

    width: int

    def height(self, blocks: Iterable[Block]) -> int:
        """Return how many lines blocks take; 0 if there is room for everything."""
        ...


def label(name: str, text: str, style: str = "") -> Paragraph:
    """Return `name   text`, the text hanging."""
    return Paragraph(f"{name:<9} {text}", style, hang=10)
