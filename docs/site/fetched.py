"""Check that pages of the site fetch nothing from other servers by themselves."""

from __future__ import annotations

import re
from pathlib import Path

#: text that makes a browser fetch scripts, style sheets, pictures or fonts by itself
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//[^"]*"
      | <link\b[^>]*\brel="(?:stylesheet|preload|icon)"[^>]*\bhref="(?:https?:)?//[^"]*"
      | url\(\s*["']?(?:https?:)?//[^)]*\)
      | @import\s+["'](?:https?:)?//[^"']*""",
    re.VERBOSE,
)


def requests(site: Path) -> list[str]:
    """Return what browsers would fetch from other servers, each with the page that names it."""
    files = [p for p in site.rglob("*") if p.suffix in (".html", ".css")]
    return [
        f"{file.relative_to(site)}: {found.group()}"
        for file in files
        for found in FETCHED.finditer(file.read_text(encoding="utf-8"))
    ]
