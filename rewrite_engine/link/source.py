"""From text to a function: compiles generated code piece by piece, and shows it to tracebacks and
pdb.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from operator import setitem
from types import CodeType, FunctionType
from typing import Any

from rewrite_engine.graph.weak import on_death

#: (code objects, characters of the text of each): how many short ones are kept, and how many others
SHORT, LONG = (256, 20_000), (16, 400_000)

_number = count(1)
#: by the name of a file: weak references to its owner, which empty it when that dies
_owners: dict[str, Any] = {}
_gone: list[str] = []  # files whose owners are no more


def file_name(name: str) -> str:
    """Return a unique name for a generated file."""
    return f"<rewrite_engine {name} {next(_number)}>"


def define(text: str, first_line: int, filename: str, namespace: dict[str, Any]) -> FunctionType:
    """Compile the text of one function, which starts at `first_line` of the file.

    Graphs of one form have one text, as constants and ops are globals; so code objects are kept.
    """
    n = len(text)
    code = (short_code if n <= SHORT[1] else long_code if n <= LONG[1] else code_of)(text)
    return FunctionType(moved(code, filename, first_line - 1), namespace, code.co_name)


def code_of(text: str) -> CodeType:
    """Return the code object of the one function in a text."""
    module = compile(text, "", "exec", dont_inherit=True)
    return next(c for c in module.co_consts if isinstance(c, CodeType))


short_code, long_code = lru_cache(SHORT[0])(code_of), lru_cache(LONG[0])(code_of)


def moved(code: CodeType, filename: str, lines: int) -> CodeType:
    """Return a code object in another file, some lines further down. (Line numbers count from the
    first line of each code object.)
    """
    consts = tuple(
        [moved(c, filename, lines) if isinstance(c, CodeType) else c for c in code.co_consts]
    )
    first = code.co_firstlineno + lines
    return code.replace(co_filename=filename, co_firstlineno=first, co_consts=consts)


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
