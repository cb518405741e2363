"""`rewrite_engine.random`, under the name that it has for users: `pt.random`. (It stands above this
layer, and is loaded when it is first used.)
"""

from importlib import import_module
from typing import Any

_HOME = "rewrite_engine.random"


def __getattr__(name: str) -> Any:
    return getattr(import_module(_HOME), name)


def __dir__() -> list[str]:
    return dir(import_module(_HOME))
