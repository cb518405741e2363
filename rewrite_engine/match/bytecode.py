"""Cache of the byte code of matchers between processes (`rewrite_engine/disk.py`).

It is one file, because opening a file for each matcher takes as long as compiling them. A matcher's
code depends only on its text, which is its key in the file. New code is written when the process
ends. Nothing is written where Python writes no byte code (`PYTHONDONTWRITEBYTECODE`), and nothing
is read or written if `config.keep_matchers` is False.
"""

from __future__ import annotations

import atexit
import marshal
import sys
from types import CodeType

from rewrite_engine.config import config
from rewrite_engine.disk import DiskCache, read
from rewrite_engine.fork import cached_property

MAX_MATCHERS = 200  # in the file; there are some hundred shipped rules
VERSION = (sys.version, str(sys.flags.optimize))

Codes = dict[str, bytes]


class MatcherCache:
    """Code in the file, and new code."""

    def __init__(self) -> None:
        self.disk = DiskCache("matchers")
        self.new: Codes = {}

    def read(self) -> Codes:
        """Return {key: marshalled code}; empty if there is no usable file."""
        path = self.disk.path(*VERSION)
        content = None if path is None else read(path)
        return {} if content is None else dict(marshal.loads(content))

    @cached_property
    def known(self) -> Codes:
        """Contents of the file when the first matcher was needed."""
        return self.read()

    def code(self, source: str, filename: str) -> CodeType:
        """Return the code of a text. Raises `SyntaxError`."""
        if not config.keep_matchers:
            return compile(source, filename, "exec", dont_inherit=True)
        key = f"{filename}\n{source}"
        known = self.known.get(key)
        if known is not None:
            return marshal.loads(known)  # type: ignore[no-any-return]
        code = compile(source, filename, "exec", dont_inherit=True)
        if not self.new:
            atexit.register(self.save)
        self.new[key] = marshal.dumps(code)
        return code

    def save(self) -> None:
        """Write new code, and code that other processes wrote meanwhile. The oldest is dropped
        first.
        """
        if sys.dont_write_bytecode or not config.keep_matchers:
            return
        codes = [*(self.read() | self.new).items()]
        self.disk.write(self.disk.path(*VERSION), marshal.dumps(dict(codes[-MAX_MATCHERS:])))


matchers = MatcherCache()
