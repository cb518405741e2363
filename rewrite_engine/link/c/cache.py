"""Cache of compiled modules, from one process to the next.

Each module has a folder in `folder()`, named by a hash of its text, its versions, the compiler and
its arguments, Python and NumPy: only changes that the text does not show can make it outdated,
which is the purpose of the versions. The folder holds the module, its text, and a checksum of its
name and itself. A module is compiled in a temporary folder, which then takes its place in one step,
so that processes never see incomplete modules; the second process to compile one uses the existing
one. A module that is damaged, or of another text, is compiled again.
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
    """Return the folder of the modules: `config.compiledir`, or a folder in the user's cache."""
    if config.compiledir:
        return Path(config.compiledir)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rewrite_engine" / "c"


def key_of(source: CSource) -> str:
    """Return the name of a module."""
    text = "\0".join([source.text, repr(source.version), *identity(source)])
    return hashlib.sha256(text.encode()).hexdigest()


def module_of(source: CSource) -> ModuleType:
    """Return the module of a text: already loaded, cached, or compiled now. Raises `CompileError`,
    `NoCompilerError`.
    """
    key = key_of(source)
    with _lock:
        found = _loaded.get(key)
        if found is None:
            found = _loaded[key] = _new(source) if source.version is None else _kept(source, key)
        return found


def _new(source: CSource) -> ModuleType:
    """Compile a module that is not shared."""
    with tempfile.TemporaryDirectory(prefix="rewrite_engine_") as place:
        return load(compile_module(source, Path(place)))


def _kept(source: CSource, key: str) -> ModuleType:
    """Load a module from its folder; compile it if it is missing or damaged."""
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
    """Move a folder to its place; return the module's file there."""
    if place.exists() and not is_whole(place):
        away = Path(tempfile.mkdtemp(prefix="old.", dir=place.parent))
        with suppress(OSError):
            os.replace(place, away)
        shutil.rmtree(away, ignore_errors=True)
    with suppress(OSError):  # another process was quicker
        os.rename(own, place)
    return place if is_whole(place) else own


def is_whole(place: Path) -> bool:
    """Return whether a folder has the undamaged module of its name."""
    try:
        found = (place / SUM).read_text(encoding="ascii")
        return found == checksum(place / "node.so", place.name)
    except (OSError, UnicodeDecodeError):
        return False


def checksum(file: Path, key: str) -> str:
    """Return the checksum of a module with its name."""
    return hashlib.sha256(key.encode() + file.read_bytes()).hexdigest()


def prune(place: Path) -> None:
    """Remove the oldest modules if there are too many."""
    with suppress(OSError):
        found = sorted(place.iterdir(), key=lambda one: one.stat().st_mtime)
        for one in found[: max(0, len(found) - MOST)]:
            shutil.rmtree(one, ignore_errors=True)


def load(file: Path) -> ModuleType:
    """Load the module in a file. Raises `ImportError`."""
    loader = ExtensionFileLoader("node", str(file))
    spec = spec_from_file_location("node", file, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
