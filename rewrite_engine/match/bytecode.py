"""Cache of the byte code of matchers between processes, next to the byte code of modules.

It is one file in the folder with the `.pyc` file of this module. A matcher's code depends only on
its text, which is the key: nothing can be out of date. New code is written when the process ends,
to a file that replaces the other in one step; a file that is damaged, or of another Python, is
ignored. Nothing is written where Python writes no byte code (`PYTHONDONTWRITEBYTECODE`), and
nothing is read or written if `config.keep_matchers` is False.
"""

from __future__ import annotations

import atexit
import marshal
import os
import sys
import zlib
from contextlib import suppress
from functools import cached_property
from types import CodeType

from rewrite_engine.config import config

HEAD = f"matchers of {sys.version}\n".encode()
CHECK = 4  # bytes of the checksum that follows
MOST = 200  # matchers that are kept; there are some hundred shipped rules

Codes = dict[str, bytes]


def read(path: str) -> Codes:
    """Return {key: marshalled code}; empty if there is no usable file."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return {}
    start = len(HEAD) + CHECK
    if data[: len(HEAD)] != HEAD or data[len(HEAD) : start] != checksum(data[start:]):
        return {}
    return dict(marshal.loads(data[start:]))


def write(path: str, codes: Codes) -> None:
    """Write a complete file in one step, if possible."""
    body = marshal.dumps(codes)
    own = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(own, "wb") as file:
            file.write(HEAD + checksum(body) + body)
        os.replace(own, path)
    except OSError:
        with suppress(OSError):
            os.unlink(own)


def checksum(body: bytes) -> bytes:
    """Return the checksum of the rest of a file."""
    return zlib.crc32(body).to_bytes(CHECK, "little")


class Kept:
    """Code in one file, and new code. path: None if nothing can be stored."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.new: Codes = {}

    @cached_property
    def known(self) -> Codes:
        """Contents of the file when the first matcher was needed."""
        return {} if self.path is None else read(self.path)

    def code(self, source: str, filename: str) -> CodeType:
        """Return the code of a text. Raises `SyntaxError`."""
        if self.path is None or not config.keep_matchers:
            return compile(source, filename, "exec", dont_inherit=True)
        key = f"{filename}\n{source}"
        found = self.known.get(key)
        if found is not None:
            return marshal.loads(found)  # type: ignore[no-any-return]
        code = compile(source, filename, "exec", dont_inherit=True)
        if not self.new:
            atexit.register(self.save)
        self.new[key] = marshal.dumps(code)
        return code

    def save(self) -> None:
        """Write new code, and code that other processes wrote meanwhile. The oldest is dropped
        first.
        """
        if self.path is None or sys.dont_write_bytecode or not config.keep_matchers:
            return
        codes = [*(read(self.path) | self.new).items()]
        write(self.path, dict(codes[-MOST:]))


def file_beside(cached: str | None) -> str | None:
    """Return the file for matchers next to a module's byte code."""
    if cached is None:
        return None
    folder, name = os.path.split(cached)
    tag = name.partition(".")[2].removesuffix(".pyc")  # of the Python, and how it optimizes
    return os.path.join(folder, f"matchers.{tag}.bin")


kept = Kept(file_beside(__spec__.cached if __spec__ is not None else None))
