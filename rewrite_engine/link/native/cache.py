"""Cache of machine code on disk, shared by processes.

A file is named by a hash of its text, the machine and the versions, so no file is out of date. It
begins with a checksum of its name and content: a damaged file, or a file with the code of another
text, is compiled again. Code contains names but no addresses, so any process may load it. A file is
written under another name and renamed in one step; processes never see half a file. If the folder
cannot be written, nothing is cached.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from rewrite_engine.config import config
from rewrite_engine.link.native.target import Machine

VERSION = 1  # of what the texts assume of each other
MOST = 64 << 20  # bytes that are kept; the oldest files go first
EVERY = 64  # files that are written between two looks at how much there is
_SUM = 32

_written = 0


def folder() -> Path:
    """Return the cache folder: below `config.compiledir`, or in the user's cache."""
    if config.compiledir:
        return Path(config.compiledir) / "native"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "rewrite_engine" / "native"


def kept(text: str, machine: Machine) -> bytes:
    """Return the object file of a text, from disk or newly compiled and stored."""
    global _written
    key = "\0".join([text, str(VERSION), *machine.identity])
    place = folder() / (blake2b(key.encode(), digest_size=20).hexdigest() + ".o")
    found = _read(place)
    if found is None:
        found = machine.compile(text)
        with suppress(OSError):
            _write(place, found)
            _written += 1
            if _written % EVERY == 1:
                prune(place.parent)
    return found


def _read(place: Path) -> bytes | None:
    """Return the content of a file, if it is complete."""
    try:
        data = place.read_bytes()
    except OSError:
        return None
    return data[_SUM:] if data[:_SUM] == _checksum(place, data[_SUM:]) else None


def _checksum(place: Path, data: bytes) -> bytes:
    """Return the checksum of the name of a file and its content."""
    return blake2b(data, digest_size=_SUM, key=place.name.encode()).digest()


def _write(place: Path, data: bytes) -> None:
    """Write a file completely or not at all."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix="new.", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_checksum(place, data) + data)
        os.replace(name, place)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        raise


def prune(place: Path) -> None:
    """Remove the oldest files if the cache is too large."""
    with suppress(OSError):
        files = sorted([(f.stat().st_mtime, f.stat().st_size, f) for f in place.iterdir()])
        left = sum([size for _, size, _ in files])
        for _, size, file in files:
            if left <= MOST:
                break
            file.unlink()
            left -= size
