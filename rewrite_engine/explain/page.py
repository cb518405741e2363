"""The page for the browser (`--html`), made of the JSON lines and the files in `web/`. It needs no
network. `dagre` (MIT, see `web/dagre.LICENSE.txt`) lays out small graphs.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template

WEB = Path(__file__).with_name("web")


def page(lines: Iterable[str], title: str = "explain") -> str:
    """Return the page as text. lines: JSON lines of a report (`lines.py`)."""
    parts = {
        "style": _read("page.css"),
        "layout": f"/* {_read('dagre.LICENSE.txt')} */\n{_read('dagre.min.js')}",
        "script": _read("page.js"),
        "lines": "\n".join(line.replace("</", "<\\/") for line in lines),
        "title": escape(title),
    }
    return Template(_read("page.html")).substitute(parts)


def _read(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")
