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
    lines = text.splitlines(keepends=True)
    linecache.cache[filename] = (len(text), None, lines, filename)
    weakref.finalize(owner, linecache.cache.pop, filename, None).atexit = False


def indent(lines: Sequence[str], depth: int) -> list[str]:
    """Indent lines by `depth` levels."""
    space = "    " * depth
    return [space + line for line in lines]
