"""The package `rewrite_engine.random` under its name for users: `pt.random`.

It is an upper layer, and is loaded at its first use.
"""

from typing import Any

from rewrite_engine import hooks


def __getattr__(name: str) -> Any:
    return getattr(hooks.random, name)


def __dir__() -> list[str]:
    return dir(hooks.random)
