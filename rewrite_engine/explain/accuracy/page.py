"""The report of accuracy as HTML: in notebooks, and as a page for the browser, which needs neither
network nor scripts.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from rewrite_engine.explain.accuracy.show import report_blocks
from rewrite_engine.explain.notebook import as_html
from rewrite_engine.graph.html import whole

if TYPE_CHECKING:
    from rewrite_engine.explain.accuracy.report import AccuracyReport

STYLE = (
    "body{font-family:system-ui,sans-serif;margin:2em auto;max-width:90em;padding:0 1em;"
    "color-scheme:light dark}"
)


def report_as_html(report: AccuracyReport) -> str:
    """Return the notebook view of a report."""
    return whole(*as_html(report_blocks(report)))


def page(reports: Sequence[AccuracyReport], title: str = "accuracy") -> str:
    """Return a page for the browser with some reports."""
    body = "".join([f"<section>{report_as_html(one)}</section><hr>" for one in reports])
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>\n"
