"""From text to a function: compiles generated code piece by piece, and shows it to tracebacks and
pdb.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from itertools import count
from operator import setitem
from types import CodeType, FunctionType
from typing import Any

from rewrite_engine.graph.weak import on_death

_number = count(1)
#: by the name of a file: weak references to its owner, which empty it when that dies
_owners: dict[str, Any] = {}
_gone: list[str] = []  # files whose owners are no more


def file_name(name: str) -> str:
    """Return a unique name for a generated file."""
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
    """Show the text to tracebacks, pdb and `inspect.getsource` for as long as `owner` lives.

    The name is removed when the next text is published: owners die at any moment, also while
    `linecache.checkcache` iterates over the names.
    """
    while _gone:
        name = _gone.pop()
        linecache.cache.pop(name, None)
        _owners.pop(name, None)
    lines = text.splitlines(keepends=True)
    linecache.cache[filename] = (len(text), None, lines, filename)
    empty: tuple[int, None, list[str], str] = (0, None, [], filename)
    _owners[filename] = (
        on_death(owner, setitem, linecache.cache, filename, empty),
        on_death(owner, _gone.append, filename),
    )


def indent(lines: Sequence[str], depth: int) -> list[str]:
    """Indent lines by `depth` levels."""
    space = "    " * depth
    return [space + line for line in lines]
