"""What a page of the site fetches by itself from other servers: nothing, by the check here."""

from __future__ import annotations

import re
from pathlib import Path

#: what a browser fetches by itself: scripts, style sheets, pictures, fonts
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//[^"]*"
      | <link\b[^>]*\brel="(?:stylesheet|preload|icon)"[^>]*\bhref="(?:https?:)?//[^"]*"
      | url\(\s*["']?(?:https?:)?//[^)]*\)
      | @import\s+["'](?:https?:)?//[^"']*""",
    re.VERBOSE,
)


def requests(site: Path) -> list[str]:
    """Return what the pages would fetch from other servers when somebody reads them."""
    files = [p for p in site.rglob("*") if p.suffix in (".html", ".css")]
    return [
        f"{file.relative_to(site)}: {found.group()}"
        for file in files
        for found in FETCHED.finditer(file.read_text(encoding="utf-8"))
    ]
