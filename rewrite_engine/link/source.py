"""From text to a function: compiling generated code piece by piece, and letting tracebacks and
pdb see it.
"""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Sequence
from itertools import count
from types import CodeType, FunctionType
from typing import Any

_number = count(1)
_gone: list[str] = []  # files whose owners are no more


def file_name(name: str) -> str:
    """A name for a generated file that no other has."""
    return f"<rewrite_engine {name} {next(_number)}>"


def define(text: str, first_line: int, filename: str, namespace: dict[str, Any]) -> FunctionType:
    """Compile the text of one function, which starts at `first_line` of the file.

    The line numbers of a code object count from its first line, so moving that moves all.
    """
    module = compile(text, filename, "exec", dont_inherit=True)
    code = next(c for c in module.co_consts if isinstance(c, CodeType))
    code = code.replace(co_firstlineno=code.co_firstlineno + first_line - 1)
    return FunctionType(code, namespace, code.co_name)


def publish(filename: str, text: str, owner: Any) -> None:
    """Show the text to tracebacks, pdb and `inspect.getsource` for as long as `owner` lives."""
    while _gone:
        linecache.cache.pop(_gone.pop(), None)
    lines = text.splitlines(keepends=True)
    linecache.cache[filename] = (len(text), None, lines, filename)
    weakref.finalize(owner, _forget, filename).atexit = False


def _forget(filename: str) -> None:
    """Let go of a text. Its name goes with the next one that comes: owners die at any moment, also
    while `linecache.checkcache` walks through the names.
    """
    if filename in linecache.cache:
        linecache.cache[filename] = (0, None, [], filename)
        _gone.append(filename)


def indent(lines: Sequence[str], depth: int) -> list[str]:
    """Indent lines by `depth` levels."""
    space = "    " * depth
    return [space + line for line in lines]
