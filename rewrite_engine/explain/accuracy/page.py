"""The report of accuracy as HTML: in notebooks, and as a page for the browser, which needs neither
network nor scripts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rewrite_engine.explain.accuracy.show import report_blocks
from rewrite_engine.explain.notebook import as_html
from rewrite_engine.graph.html import browser_page, whole

if TYPE_CHECKING:
    from rewrite_engine.explain.accuracy.report import AccuracyReport


def report_as_html(report: AccuracyReport) -> str:
    """Return the notebook view of a report."""
    return whole(*as_html(report_blocks(report)))


def page(reports: Sequence[AccuracyReport], title: str = "accuracy") -> str:
    """Return a page for the browser with some reports."""
    body = "".join([f"<section>{report_as_html(one)}</section><hr>" for one in reports])
    return browser_page(title, body)
