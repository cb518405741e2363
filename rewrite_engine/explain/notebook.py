"""Blocks as HTML (`as_html`), and the display of a `Report` in a notebook: one output of one
screen. A table of the functions; each function, folded; and the page that replays it step by step
(`page.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

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
from rewrite_engine.explain.layout import TextLayout
from rewrite_engine.explain.show import ReportOptions, report_blocks
from rewrite_engine.explain.term import cut
from rewrite_engine.graph.html import bold, code, faint, folded, scrolled, table, whole
from rewrite_engine.printing.latex import latex
from rewrite_engine.printing.mathml import mathml

if TYPE_CHECKING:
    from rewrite_engine.explain.report import Report

MAX_OPEN_FUNCTIONS = 1  # reports on more functions are folded
FOLDED_LINES = 28  # that count for a folded part, so that four functions are shown
MAX_TERM_CHARACTERS = 120  # of a term before and after
MAX_FORMULA_CHARACTERS, MAX_FORMULA_NODES = 800, 60
MAX_PAGE_BYTES = 1 << 21
COLOURS = {"red": "#d0342c", "yellow": "#b7791f"}  # of what deserves attention


class HtmlLayout:
    """Layout of a page: it is wide, and long parts scroll or are folded."""

    width = 160

    def height(self, blocks: Iterable[Block]) -> int:
        """Return how many lines blocks take: only parts with a title count."""
        return FOLDED_LINES * sum(isinstance(one, Section) and bool(one.title) for one in blocks)


def report_as_html(report: Report) -> str:
    """Return what a notebook shows of a report."""
    blocks = report_blocks(report, ReportOptions(), HtmlLayout())
    parts = list(as_html(blocks, is_open=len(report.functions) <= MAX_OPEN_FUNCTIONS))
    if report.functions:
        parts += [folded("The report as text", code(report.text())), _page(report)]
    return whole(*parts)


def as_html(blocks: Iterable[Block], is_open: bool = True) -> Iterator[str]:
    """Yield blocks as HTML; consecutive firings as one table. is_open: unfold parts."""
    for kind, some in groupby(blocks, key=type):
        if kind is FiringBlock:
            yield table(("", "before", "", "after", "rule"), map(_terms, some), numbers=1)
            continue
        for block in some:
            yield _html(block, is_open)


@singledispatch
def _html(block: Any, is_open: bool) -> str:
    raise TypeError(f"{block!r} is no block")


@_html.register
def _(block: Paragraph, is_open: bool) -> str:
    if "bold" in block.style and not block.indent:
        return _styled(bold(block.text), block.style)
    return _styled(faint(" ".join(block.text.split())), block.style) if block.text else ""


@_html.register
def _(block: Heading, is_open: bool) -> str:
    return ""  # (the section around it has the title)


@_html.register
def _(block: CodeLine, is_open: bool) -> str:
    return code(block.text)


@_html.register
def _(block: TableBlock, is_open: bool) -> str:
    rows = ([_styled(escape(cell.text), cell.style, "span") for cell in row] for row in block.rows)
    return table([title for title, _ in block.columns], rows)


@_html.register
def _(block: Counts, is_open: bool) -> str:
    return code(TextLayout.plain(HtmlLayout.width).text([block]))


@_html.register
def _(block: Formulas, is_open: bool) -> str:
    text = code("\n".join(block.lines))
    if block.graph is None:
        return text
    formula = latex(block.graph, MAX_FORMULA_CHARACTERS, MAX_FORMULA_NODES)
    notation = scrolled(mathml(formula, annotated=False), short=True)
    if block.has_loops:  # a step of many lines is no formula
        return text + folded("in mathematical notation", notation)
    return notation + folded("as code", text)


@_html.register
def _(block: Section, is_open: bool) -> str:
    inside = "".join(as_html(block.blocks))
    return folded(block.title, inside, is_open) if block.title else inside


def _styled(html: str, style: str, tag: str = "div") -> str:
    """Return HTML in the colour of a style."""
    colour = next((COLOURS[word] for word in style.split() if word in COLOURS), None)
    return html if colour is None else f'<{tag} style="color:{colour}">{html}</{tag}>'


def _terms(block: Any) -> list[str]:
    """Return the cells of a firing, or of the firings of a rule."""
    change = block.change
    sides = [
        f"<code>{escape(cut(side, MAX_TERM_CHARACTERS))}</code>"
        for side in (change.before, change.after)
    ]
    letters = change.where()
    sides[0] += f"<br>{escape(change.of_graph)}" if change.of_graph else ""
    sides[0] += f"<br><small>where {escape(letters)}</small>" if letters else ""
    note = block.notes[0] if block.is_family else " · ".join(block.notes)
    return [escape(block.number), sides[0], "→", sides[1], escape(note)]


def _page(report: Report) -> str:
    """Return the page on which firings are replayed, in a frame of its own; nothing is loaded until
    it is unfolded.
    """
    text = report.html()
    if len(text) > MAX_PAGE_BYTES:
        size = len(text) >> 20
        return faint(f"Step by step: a page of {size} MB, which `report.html(file)` writes")
    frame = (
        f'<iframe srcdoc="{escape(text)}" loading="lazy" sandbox="allow-scripts" title="firings" '
        'style="width:100%;height:640px;border:1px solid #8884;border-radius:6px"></iframe>'
    )
    firings = plural(sum(len(f.firings) for f in report.functions), "firing")
    return folded(f"Step by step: {firings}, with the graph", frame)
