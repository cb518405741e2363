"""Places in source code, as reports write them."""

from __future__ import annotations

import linecache
import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def place_text(where: tuple[str | None, int | None] | None, short: bool = False) -> str:
    """Return `file:line`: from the working directory, or (short) the file's name only; "" if the
    file is unknown.
    """
    if where is None or where[0] is None:
        return ""
    name = where[0]
    if short:
        return f"{os.path.basename(name)}:{where[1]}"
    if name.startswith(PACKAGE):
        return f"{name.removeprefix(PACKAGE)}:{where[1]}"
    relative = os.path.relpath(name) if os.path.isabs(name) else name
    return f"{name if relative.startswith(os.pardir) else relative}:{where[1]}"


def source_text(where: tuple[str | None, int | None] | None) -> str:
    """Return the line of code at a place; "" if it is unknown."""
    if where is None or where[0] is None or where[1] is None:
        return ""
    return linecache.getline(where[0], where[1]).strip()
