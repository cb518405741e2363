"""Compiled modules, found by their text: loaded ones in this process, others on disk
(`rewrite_engine/disk.py`). A module without a version is not stored.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Lock
from types import ModuleType

from rewrite_engine.disk import DiskCache, read
from rewrite_engine.fork import free_after_fork
from rewrite_engine.link.c.compiler import compile_module, identity
from rewrite_engine.link.c.source import CSource

disk = DiskCache("c", ".so")
_loaded: dict[tuple[str, ...], ModuleType] = {}
_lock = free_after_fork(Lock())


def module_of(source: CSource) -> ModuleType:
    """Return the module of a text: already loaded, cached, or compiled now. Raises `CompileError`,
    `NoCompilerError`.
    """
    key = (source.text, repr(source.version), *identity(source))
    with _lock:
        module = _loaded.get(key)
        if module is None:
            path = None if source.version is None else disk.path(*key)
            module = _loaded[key] = _load_cached(path) or _compile(source, path)
        return module


def _load_cached(path: str | None) -> ModuleType | None:
    """Return the module in a file of the cache, if it is usable."""
    if path is None or read(path) is None:
        return None
    with suppress(ImportError):
        return load(path)
    return None


def _compile(source: CSource, path: str | None) -> ModuleType:
    """Compile a module, and store it. path: its file in the cache."""
    with tempfile.TemporaryDirectory(prefix="rewrite_engine_") as folder:
        file = compile_module(source, Path(folder))
        disk.write(path, file.read_bytes())  # (a module may be followed by a checksum)
        return load(str(file))


def load(file: str) -> ModuleType:
    """Load the module in a file. Raises `ImportError`."""
    loader = ExtensionFileLoader("node", file)
    spec = spec_from_file_location("node", file, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
