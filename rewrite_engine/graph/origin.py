"""Where in the user's code a node was built: noted for a few instructions, resolved on demand."""

from __future__ import annotations

import os
import sys
from types import CodeType

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# code object and instruction, resolved to a line on demand (or file and line already)
Origin = tuple[CodeType | str, int]


def user_origin() -> Origin | None:
    """Where in the user's code we are: the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(PACKAGE):
        back = frame.f_back
        if back is None:
            return None
        frame = back
    return frame.f_code, frame.f_lasti


def origin_line(origin: Origin | None) -> tuple[str, int] | None:
    """Resolve an origin to (file name, line)."""
    if origin is None:
        return None
    code, lasti = origin
    if isinstance(code, str):
        return code, lasti
    for start, stop, line in code.co_lines():
        if start <= lasti < stop and line is not None:
            return code.co_filename, line
    return code.co_filename, code.co_firstlineno
