"""`TextLayout`: prints blocks (`blocks.py`) to a console of any width, with or without colours."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from functools import singledispatchmethod
from io import StringIO
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.rule import Rule as Line
from rich.table import Table as RichTable
from rich.text import Text

from rewrite_engine.errors import plural
from rewrite_engine.explain.blocks import (
    Block,
    CodeLine,
    Counts,
    FiringBlock,
    Formulas,
    Heading,
    Paragraph,
    Section,
    TableBlock,
)
from rewrite_engine.explain.term import Change, cut
from rewrite_engine.rewrite.result import COUNTS, Result, RuleStats, StopReason, Tally
from rewrite_engine.rewrite.trace.records import PhaseLine

ARROW = " → "
MARGIN = 5  # columns before what belongs to a firing
SIDE_LINES = 3  # of one side of a firing
MAX_LETTERS = 6  # that are defined below a firing
FORMULA_LINES = 2  # of one formula
OPTIONAL_COLUMNS = ("dropped", "created", "matches", "calls")  # a narrow table leaves them out
_WORD = re.compile(r"[A-Za-z_]\w*")
_WIDEST = Console(width=10_000, force_jupyter=False)


def console_for(file: Any = None, width: int | None = None, plain: bool = False) -> Console:
    """Return a console that prints text unchanged: no markup, no highlighting, no emoji; in
    notebooks text, not an output for each line. plain: without colours, whatever the environment
    says.
    """
    colours: Any = None if plain else "auto"
    return Console(
        file=file, width=width, color_system=colours, markup=False, highlight=False, emoji=False,
        force_jupyter=False,
    )  # fmt: skip


class TextLayout:
    """Layout of blocks as lines of text. full: cut nothing."""

    def __init__(self, console: Console | None = None, full: bool = False) -> None:
        self.console = console_for() if console is None else console
        self.width = self.console.width
        self.full = full
        self._known: dict[int, tuple[Block, list[Text]]] = {}

    @classmethod
    def plain(cls, width: int, full: bool = False) -> TextLayout:
        """Make a layout without colours; `text` returns what it prints."""
        return cls(console_for(StringIO(), width, plain=True), full)

    def text(self, blocks: Iterable[Block]) -> str:
        """Print blocks of a layout that writes to a `StringIO`; return all that was printed."""
        self.print(blocks)
        assert isinstance(self.console.file, StringIO)
        return self.console.file.getvalue()

    def print(self, blocks: Iterable[Block]) -> None:
        """Print blocks as text."""
        for block in blocks:
            for line in self._lines_of(block):
                self.console.print(line, soft_wrap=True)

    def height(self, blocks: Iterable[Block]) -> int:
        """Return how many lines blocks take."""
        return sum(len(self._lines_of(block)) for block in blocks)

    def _lines_of(self, block: Block) -> list[Text]:
        """Return the lines of a block, which is laid out once."""
        if id(block) not in self._known:
            self._known[id(block)] = block, self.lines(block)
        return self._known[id(block)][1]

    # --- blocks ----------------------------------------------------------------------------------

    @singledispatchmethod
    def lines(self, block: Any) -> list[Text]:
        """Return the lines of a block."""
        raise TypeError(f"{block!r} is no block")

    @lines.register
    def _(self, block: Paragraph) -> list[Text]:
        wrapped = self.wrapped(block.text, block.indent, block.hang)
        return [Text(line, style=block.style) for line in wrapped]

    @lines.register
    def _(self, block: Heading) -> list[Text]:
        line = Line(Text(block.text, style="bold"), align="left", characters="─")
        return [Text(), *self._captured(line)]

    @lines.register
    def _(self, block: CodeLine) -> list[Text]:
        return [Text(" " * block.indent + block.text)]

    @lines.register
    def _(self, block: TableBlock) -> list[Text]:
        table = RichTable(
            box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
        )
        for title, is_right in block.columns:
            table.add_column(title, justify="right" if is_right else "left", overflow="fold")
        for row in block.rows:
            table.add_row(*[Text(cell.text, style=cell.style) for cell in row])
        return self._captured(table)

    @lines.register
    def _(self, block: Counts) -> list[Text]:
        return self._captured(rule_times(block.phases, self.width))

    @lines.register
    def _(self, block: Formulas) -> list[Text]:
        room = FORMULA_LINES * (self.width - 12)
        lines = [line if self.full else cut(line, room) for line in block.lines]
        return [Text(line) for text in lines for line in self.wrapped(text, 2, 6)]

    @lines.register
    def _(self, block: Section) -> list[Text]:
        lines = [line for one in block.blocks for line in self._lines_of(one)]
        if self.full or block.max_lines is None or len(lines) <= block.max_lines:
            return lines
        shown = lines[: block.max_lines - 1]
        return [*shown, Text(f"  … {len(lines) - len(shown)} more lines; --full shows them")]

    @lines.register
    def _(self, block: FiringBlock) -> list[Text]:
        return list(self._family(block) if block.is_family else self._firing(block))

    def _captured(self, thing: Any) -> list[Text]:
        with self.console.capture() as found:
            self.console.print(thing)
        return [Text.from_ansi(line) for line in found.get().splitlines()]

    def wrapped(self, text: str, indent: int, hang: int) -> list[str]:
        """Return the lines of a paragraph."""
        space = " " * indent
        width = max(self.width, indent + hang + 20)
        if len(text) + indent <= width:
            return [space + text]
        more = space + " " * hang
        return textwrap.wrap(
            text, width, initial_indent=space, subsequent_indent=more, break_on_hyphens=False,
            drop_whitespace=True,
        )  # fmt: skip

    # --- firings ---------------------------------------------------------------------------------

    def _family(self, one: FiringBlock) -> Iterator[Text]:
        """Yield the firings of a rule in one line if they fit, with the rule behind."""
        number, width = f"{one.number} ".rjust(MARGIN + 1), self.width
        text, defined = _short(one.change, width - len(number)), _hidden(one.change)
        if one.change.of_graph:  # its operands do not show what was done
            text, defined = cut(one.change.of_graph, width - len(number)), ""
        note = ""
        for note in one.notes:  # the longest that fits into a line
            if len(text) + len(number) + len(note) + 2 <= width and not defined:
                yield from self._spread(number, Text(text), note)
                return
            if len(note) <= width - MARGIN:
                break
        yield Text(number + text)
        note, start = cut(note, width - MARGIN), " " * (MARGIN + 1)
        if defined and len(start) + len(defined) + len(note) + 2 > width:
            yield Text(start + cut(defined, width - len(start)), style="dim")
            defined = ""
        line = start + defined + note.rjust(width - len(start) - len(defined))
        yield Text(line if defined else note.rjust(width), style="dim")

    def _firing(self, one: FiringBlock) -> Iterator[Text]:
        """Yield a firing: on one line if it fits, else what the letters stand for below, and the
        note where there is room for it.
        """
        number, change, note = f"{one.number} ".ljust(MARGIN), one.change, " · ".join(one.notes)
        term, letters = change.term, ", ".join(change.definitions)
        room = self.width - len(number) - len(term) - len(note) - 2
        if len(letters) + 3 <= room or (not letters and room >= 0):
            gap = "   " if letters else ""
            yield from self._spread(number, Text.assemble(term, (gap + letters, "dim")), note)
            return
        space = " " * (MARGIN + 2)
        if room >= 0:
            yield from self._spread(number, Text(term), note)
        else:
            yield from self._long_term(number, change)
        lines = self._defined(change, self.width - len(space))
        last = lines.pop() if lines and room < 0 else ""
        for line in lines:
            yield from self.lines(Paragraph(line, "dim", indent=len(space), hang=4))
        if room < 0:
            yield from self._spread(space, Text(last, "dim"), note)

    def _long_term(self, number: str, one: Change) -> Iterator[Text]:
        """Yield a change that fills a line or more: broken at the arrow, if that helps."""
        parts = [number + one.term]
        if len(parts[0]) > self.width and one.term != one.after:
            parts = [number + one.before, " " * MARGIN + f"→ {one.after}"]
        for part in parts:
            indent = len(part) - len(part.lstrip())
            if not self.full:
                part = cut(part, SIDE_LINES * (self.width - MARGIN - 2))
            yield from map(Text, self.wrapped(part.lstrip(), indent, MARGIN + 2))

    def _defined(self, one: Change, width: int) -> list[str]:
        """Return what the letters stand for: in one line if it fits, else each in its own, cut."""
        whole = ", ".join(one.definitions)
        if len(whole) <= width:
            return [whole] if whole else []
        if self.full:
            return one.definitions
        found = [cut(text, width) for text in one.definitions[:MAX_LETTERS]]
        left = len(one.definitions) - MAX_LETTERS
        more = [f"… {plural(left, 'more letter')}; --full shows them"] if left > 0 else []
        return [*found, *more]

    def _spread(self, start: str, text: Text, note: str) -> Iterator[Text]:
        """Yield a line with a note at its right end; if both do not fit, the note goes on lines of
        its own.
        """
        gap = self.width - len(start) - len(text) - len(note)
        if gap >= 2:
            yield Text.assemble((start, "dim"), text, (" " * gap + note, "dim"))
            return
        if len(text):
            yield from self.lines(Paragraph(start + text.plain, hang=len(start) + 2))
        for line in self.wrapped(note, MARGIN + 2, 2):
            yield Text(line.strip().rjust(self.width), style="dim")


def _short(one: Change, width: int) -> str:
    """Return both sides in one line, each cut if necessary."""
    if len(one.term) <= width or one.term == one.after:
        return cut(one.term, width)
    half = (width - len(ARROW)) // 2
    right = max(half, width - len(ARROW) - len(one.before))
    left = max(half, width - len(ARROW) - len(one.after))
    return cut(one.before, left) + ARROW + cut(one.after, right)


def _hidden(one: Change) -> str:
    """Return what the first letter stands for that the right side does not have: it is what the
    rule went by.
    """
    words = set(_WORD.findall(one.after))
    gone = [f"{name} = {text}" for name, text in one.letters if name not in words]
    return gone[0] if gone else ""


def rule_times(phases: Iterable[PhaseLine], width: int) -> RichTable:
    """Tabulate what each rule did in each phase, and how long it took. The least important columns
    are left out if names would not fit.
    """
    parts = [*map(result_of, phases)]
    whole = Result(
        "rules, by time",
        parts=parts,
        nodes_before=parts[0].nodes_before,
        nodes_after=parts[-1].nodes_after,
        seconds=sum(phase.seconds for phase in parts),
    )
    columns = list(COUNTS)
    table: RichTable = whole.table(columns=columns)
    for column in OPTIONAL_COLUMNS:
        if Measurement.get(_WIDEST, _WIDEST.options, table).maximum <= width:
            break
        columns.remove(column)
        table = whole.table(columns=columns)
    return table


def result_of(phase: PhaseLine) -> Result:
    """Return the result of a driver, as its record has it."""
    stats = {
        name: RuleStats(**{key: getattr(counts, key) for key in RuleStats.__slots__})
        for name, counts in phase.rules.items()
    }
    return Result(
        phase.phase, StopReason[phase.stopped], Tally(stats), phase.refusals, phase.visits,
        phase.merged, phase.nodes_before, phase.nodes_after, phase.seconds, note=phase.note,
    )  # fmt: skip
