"""Lookup of a package's names at their first use (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Any

from rewrite_engine.fork import free_after_fork

#: held while a name is loaded: threads that load modules which need each other's would see them
#: half made
_loading = free_after_fork(RLock())
PATIENCE = 10.0  # seconds to wait for another thread, which may wait for a module of this one


def lookup(package: str, homes: Mapping[str, str], first: str = "") -> Callable[[str], Any]:
    """Return the `__getattr__` of a package, which loads the module of a name at its first use.

    homes: the module of each name (".x": a module of the parent package). "x:y" maps the name to
    `y` of module x; "x:" maps it to the module. No other module may have one of the names: its
    import would set the name to the module. first: a module to load before any other.
    """

    def getattr_(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        home, is_other, there = homes[name].partition(":")
        with _one_thread():
            if first:
                import_module(f"{package}.{first}")
            value = import_module(f".{home}", package)
        if there or not is_other:
            value = getattr(value, there or name)
        setattr(sys.modules[package], name, value)
        return value

    return getattr_


@contextmanager
def _one_thread() -> Iterator[None]:
    """Make other threads wait for one import, with a time limit."""
    held = _loading.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if held:
            _loading.release()
