"""Writer of Python source, line by line: indentation, local names, and names for objects.

Local names are numbered anew for each function: one with thousands of locals would be slow to call.
"""

from __future__ import annotations

import keyword
import linecache
import re
from typing import Any

from rewrite_engine.match.bytecode import matchers

#: what a global must not be called: locals of matchers, the builtins they use, and keywords
TAKEN = re.compile(
    "fgraph|node|inputs|tries|r|(left|at|[vpekri])[0-9]+|any|enumerate|len|range|tuple|type|"
    + "|".join(keyword.kwlist)
)


class Source:
    """Source of one function. lines: its lines so far. names: the globals that it needs."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.names: dict[str, Any] = {}
        self.indent = 1
        self.counter = 0

    def line(self, text: str) -> None:
        """Write a line of source."""
        self.lines.append("    " * self.indent + text)

    def test(self, *conditions: str) -> None:
        """Open an `if`, if there are conditions; everything that follows is inside."""
        if conditions and conditions != ("True",):
            self.line(f"if {' and '.join(conditions)}:")
            self.indent += 1

    def local(self, prefix: str = "v") -> str:
        """Return a new local name."""
        self.counter += 1
        return f"{prefix}{self.counter}"

    def constant(self, value: Any, hint: str = "") -> str:
        """Return a global name for a Python object: its own, if it has a good one."""
        for name, known in self.names.items():
            if known is value:
                return name
        own = hint or getattr(value, "__name__", None) or str(value)
        base = own if own.isidentifier() and not TAKEN.fullmatch(own) else "k"
        name = base
        while name in self.names:
            self.counter += 1
            name = f"{base}_{self.counter}"
        self.names[name] = value
        return name


def compiled(source: str, filename: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run source with these globals, and return them; tracebacks and debuggers show its lines."""
    code = matchers.code(source, filename)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(code, names)
    return names
