"""Names of a package that are looked up when they are first used (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any


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

        if first:
            import_module(f"{package}.{first}")
        home, is_other, there = homes[name].partition(":")
        value = import_module(f".{home}", package)
        if there or not is_other:
            value = getattr(value, there or name)
        setattr(sys.modules[package], name, value)
        return value

    return getattr_
