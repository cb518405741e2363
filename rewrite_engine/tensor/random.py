"""`rewrite_engine.random`, under the name that it has for users: `pt.random`. (It stands above this
layer, and is loaded when it is first used.)
"""

from typing import Any

from rewrite_engine import hooks


def __getattr__(name: str) -> Any:
    return getattr(hooks.random, name)


def __dir__() -> list[str]:
    return dir(hooks.random)
