"""What a notebook shows of the result of a check. The pieces are in `graph/html.py`."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from rewrite_engine.errors import plural
from rewrite_engine.graph.html import bold, code, first, folded, table, whole

if TYPE_CHECKING:
    from rewrite_engine.check.finding import CheckReport, Finding

MAX_ROWS = 50
COLOURS = {"WRONG": "#d0342c", "LOOPS": "#d0342c", "DEAD": "#c2410c", "OVERLAP": "#b45309"}


def check_as_html(report: CheckReport) -> str:
    """Return what a notebook shows of a check: the summary, and a table of the findings."""
    parts = [bold(report.summary)]
    for heading, findings in (("", report.findings), ("explained", report.explained)):
        if findings:
            rows = first(map(_row, findings), len(findings), MAX_ROWS)
            shown = table(("", "what", "about", "why"), rows)
            said = f"{plural(len(findings), 'finding')} that a rule explains"
            parts.append(folded(said, shown) if heading else shown)
    return whole(*parts)


def _row(one: Finding) -> list[str]:
    """The line of a finding, with its example folded below."""
    colour = COLOURS.get(one.kind, "inherit")
    kind = f'<b style="color:{colour}">{escape(one.kind)}</b>'
    about = f"<code>{escape(one.subject)}</code>"
    about += f"<br><small>{escape(one.place)}</small>" if one.place else ""
    why = escape(one.why)
    why += f"<br><b>fix:</b> {escape(one.fix)}" if one.fix else ""
    why += folded("example", code(one.example)) if one.example else ""
    return [kind, escape(one.name), about, why]
