"""Names of a package that are looked up when they are first used (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Any

#: held while a name is loaded: threads that load modules which need each other's would see them
#: half made
_loading = RLock()
PATIENCE = 10.0  # seconds to wait for another thread, which may wait for a module of this one


def lookup(package: str, homes: Mapping[str, str], first: str = "") -> Callable[[str], Any]:
    """The `__getattr__` of a package: loads what a name needs, once.

    homes: which module of the package has a name (".x": of the package around it). "x:y": the name
    is that of `y` there; "x:": of the module. No other module may be called as one of the names:
    once it is imported, the name would be the module. first: a module that has to be there before
    any.
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
    """Let other threads wait, but not for ever."""
    held = _loading.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if held:
            _loading.release()
