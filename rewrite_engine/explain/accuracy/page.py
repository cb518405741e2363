"""The report of accuracy as HTML: in notebooks, and as a page for the browser, which needs neither
network nor scripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from rewrite_engine.explain.accuracy.show import (
    MAX_OUTPUTS,
    AccuracyTable,
    advice_text,
    basis,
    effect_text,
    heading,
    loss_table,
    output_table,
    possible_text,
    sections,
    shown_outputs,
    verdict,
)
from rewrite_engine.graph.html import bold, faint, first, folded, table, whole

if TYPE_CHECKING:
    from rewrite_engine.explain.accuracy.report import AccuracyReport, OutputAccuracy

UNBROKEN = "\N{NO-BREAK SPACE}"  # a space that breaks no line
BAR_WIDTH = 80  # pixels of the digits of a dtype
FEW_DIGITS, SOME_DIGITS = 4, 10  # up to which a bar is red, and yellow
COLOURS = ("#c0392b", "#d4a017", "#2e8b57")
STYLE = (
    "body{font-family:system-ui,sans-serif;margin:2em auto;max-width:90em;padding:0 1em;"
    "color-scheme:light dark}h1{font-size:1.2em}"
)


def report_as_html(report: AccuracyReport) -> str:
    """Return the notebook view of a report."""
    parts = [bold(heading(report)), _outputs(report)]
    for k, (title, losses) in enumerate(sections(report)):
        shown = _table(loss_table(losses))
        parts.append(folded(title.removesuffix(":"), shown, is_open=k == 0))
    for one in report.effects:
        parts.append(_sentence(effect_text(one)))
    for one in report.possible:
        parts.append(_sentence(possible_text(one)))
    for advice in report.suggestions:
        parts.append(_sentence(advice_text(advice)))
    parts += [_sentence(one) for one in verdict(report)]
    parts += [faint(note) for note in (*report.notes, basis(report))]
    return whole(*parts)


def page(reports: Sequence[AccuracyReport], title: str = "accuracy") -> str:
    """Return a page for the browser with some reports."""
    body = "".join([f"<section>{report_as_html(one)}</section><hr>" for one in reports])
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>\n"


def _outputs(report: AccuracyReport) -> str:
    """Return the table of outputs; bars show the digits."""
    one = output_table(report)
    rows = [
        [_bar(o, row[0], compiled=False), _bar(o, row[1], compiled=True), *map(escape, row[2:])]
        for o, row in zip(shown_outputs(report), one.rows, strict=True)
    ]
    heads = [head.replace(" ", UNBROKEN) for head in one.heads]
    return table(heads, first(rows, len(report.outputs), MAX_OUTPUTS), one.numbers)


def _bar(o: OutputAccuracy, text: str, compiled: bool) -> str:
    """Return digits with a bar of their number."""
    digits = o.compiled if compiled else o.written
    colour = COLOURS[(digits >= FEW_DIGITS) + (digits >= SOME_DIGITS)]
    if o.full - digits < 1:
        colour = COLOURS[-1]
    width = round(BAR_WIDTH * digits / o.full)
    outer = f"display:inline-block;width:{BAR_WIDTH}px;background:rgba(128,128,128,.2)"
    inner = f"display:block;height:.5em;width:{width}px;background:{colour}"
    bar = f'<span style="{outer}"><span style="{inner}"></span></span>'
    return f'<span style="white-space:nowrap">{escape(text)} {bar}</span>'


def _table(one: AccuracyTable) -> str:
    return table(one.heads, _escaped(one.rows), one.numbers)


def _escaped(rows: Iterable[Sequence[str]]) -> Iterable[list[str]]:
    return ([*map(escape, row)] for row in rows)


def _sentence(text: str) -> str:
    return f'<div style="margin:.3em 0">{escape(text)}</div>'
