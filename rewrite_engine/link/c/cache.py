"""Modules that are compiled, kept from one process to the next.

Each has a folder in `folder()`, named by a hash of its text, its versions, the compiler and its
arguments, Python and NumPy: nothing can be out of date but what the text does not show, and for
that there are versions. In it are the module, its text, and a checksum of its name and itself. A
module is compiled in a folder of its own, which then takes its place in one step, so that processes
do not see each other's halves; whoever comes second uses what is there. A module that is damaged,
or of another text, is compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Lock
from types import ModuleType

from rewrite_engine.config import config
from rewrite_engine.link.c.compiler import compile_module, identity
from rewrite_engine.link.c.source import CSource

MOST = 2000  # modules that are kept; the oldest go first
SUM = "sum"

_loaded: dict[str, ModuleType] = {}
_lock = Lock()


def folder() -> Path:
    """Where modules are kept: `config.compiledir`, or a folder in the user's cache."""
    if config.compiledir:
        return Path(config.compiledir)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rewrite_engine" / "c"


def key_of(source: CSource) -> str:
    """The name of a module."""
    text = "\0".join([source.text, repr(source.version), *identity(source)])
    return hashlib.sha256(text.encode()).hexdigest()


def module_of(source: CSource) -> ModuleType:
    """The module of a text: loaded before, kept, or compiled now. Raises `CompileError`,
    `NoCompilerError`.
    """
    key = key_of(source)
    with _lock:
        found = _loaded.get(key)
        if found is None:
            found = _loaded[key] = _new(source) if source.version is None else _kept(source, key)
        return found


def _new(source: CSource) -> ModuleType:
    """A module that nobody else gets."""
    with tempfile.TemporaryDirectory(prefix="rewrite_engine_") as place:
        return load(compile_module(source, Path(place)))


def _kept(source: CSource, key: str) -> ModuleType:
    """A module out of its folder; compiled, if it is not there as it should be."""
    place = folder() / key
    if is_whole(place):
        with suppress(ImportError):
            return load(place / "node.so")
        shutil.rmtree(place, ignore_errors=True)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = Path(tempfile.mkdtemp(prefix="new.", dir=place.parent))
    except OSError:  # nothing can be kept there
        return _new(source)
    try:
        made = compile_module(source, own)
        (own / SUM).write_text(checksum(made, key), encoding="ascii")
        return load(put(own, place) / "node.so")
    finally:
        shutil.rmtree(own, ignore_errors=True)
        prune(place.parent)


def put(own: Path, place: Path) -> Path:
    """Let a folder take its place; return where its module is now."""
    if place.exists() and not is_whole(place):
        away = Path(tempfile.mkdtemp(prefix="old.", dir=place.parent))
        with suppress(OSError):
            os.replace(place, away)
        shutil.rmtree(away, ignore_errors=True)
    with suppress(OSError):  # another process was quicker
        os.rename(own, place)
    return place if is_whole(place) else own


def is_whole(place: Path) -> bool:
    """Whether a folder has the module of its name, as it was made."""
    try:
        found = (place / SUM).read_text(encoding="ascii")
        return found == checksum(place / "node.so", place.name)
    except (OSError, UnicodeDecodeError):
        return False


def checksum(file: Path, key: str) -> str:
    """The checksum of a module with its name."""
    return hashlib.sha256(key.encode() + file.read_bytes()).hexdigest()


def prune(place: Path) -> None:
    """Remove the oldest modules where there are too many."""
    with suppress(OSError):
        found = sorted(place.iterdir(), key=lambda one: one.stat().st_mtime)
        for one in found[: max(0, len(found) - MOST)]:
            shutil.rmtree(one, ignore_errors=True)


def load(file: Path) -> ModuleType:
    """The module in a file. Raises `ImportError`."""
    loader = ExtensionFileLoader("node", str(file))
    spec = spec_from_file_location("node", file, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
