"""Pieces of HTML for notebooks. Styles are inline, colours come from the page, and nothing is
loaded: they look alike in Jupyter, VS Code and Colab, on light and dark pages, offline.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

FAINT = "opacity:.7;font-size:90%"
PAGE = (
    "body{font-family:system-ui,sans-serif;margin:2em auto;max-width:90em;padding:0 1em;"
    "color-scheme:light dark}"
)
#: what is wider than the page scrolls; what may be very long, in a frame of this height
SCROLLED, SHORT = "overflow:auto;max-width:100%", "max-height:36em"


def faint(text: str) -> str:
    """Return HTML of a remark in small letters."""
    return f'<div style="{FAINT}">{escape(text)}</div>'


def bold(text: str) -> str:
    """Return HTML of a line in bold letters."""
    return f'<div style="margin:.2em 0"><b>{escape(text)}</b></div>'


def scrolled(html: str, short: bool = False) -> str:
    """Return a block that scrolls if it is wider than the page; with short, also if it is long."""
    style = f"{SCROLLED};{SHORT}" if short else SCROLLED
    return f'<div style="{style};padding:.3em 0;line-height:1.3">{html}</div>'


def code(text: str) -> str:
    """Return HTML of lines of code or of a report, unchanged."""
    style = f"{SCROLLED};{SHORT};white-space:pre;font-family:monospace;margin:.3em 0"
    return f'<pre style="{style}">{escape(text, False)}</pre>'


def folded(summary: str, html: str, is_open: bool = False) -> str:
    """Return a block that shows its summary, and the rest after a click."""
    shown = ' open=""' if is_open else ""
    head = f'<summary style="cursor:pointer;{FAINT}">{escape(summary)}</summary>'
    return f'<details{shown} style="margin:.1em 0">{head}{html}</details>'


def whole(*parts: str) -> str:
    """Return the complete HTML of an object."""
    return f'<div class="rewrite-engine">{"".join(parts)}</div>'


def browser_page(title: str, body: str) -> str:
    """Return a page for the browser, which needs neither network nor scripts."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{PAGE}</style>'
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> str:
    """Return a table of HTML cells. numbers: how many columns, from the left, hold numbers, which
    are aligned on the right.
    """

    def cells(tag: str, texts: Sequence[str]) -> str:
        sides = ("right" if k < numbers else "left" for k in range(len(texts)))
        style = "vertical-align:baseline;padding:.15em .6em"
        pairs = zip(sides, texts, strict=True)
        return "".join([f'<{tag} style="text-align:{s};{style}">{x}</{tag}>' for s, x in pairs])

    head = f"<thead><tr>{cells('th', [*map(escape, heads)])}</tr></thead>"
    body = "".join([f"<tr>{cells('td', row)}</tr>" for row in rows])
    return scrolled(f'<table style="border-collapse:collapse">{head}<tbody>{body}</tbody></table>')


def first(rows: Iterable[Sequence[str]], count: int, most: int) -> Iterable[Sequence[str]]:
    """Yield the first rows of a table of `count` rows, and a line that says how many more there
    are.
    """
    yield from islice(rows, most)
    if count > most:
        yield [f"… {count - most} more"]
