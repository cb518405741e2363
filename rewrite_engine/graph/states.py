"""Collection of the states whose default updates are declared while a step of a loop is built: they
belong to the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_said: ContextVar[list[Any] | None] = ContextVar("_said", default=None)


@contextmanager
def collected() -> Iterator[list[Any]]:
    """Context manager that collects the states passed to `collect` inside it, but not inside a
    nested one.
    """
    found: list[Any] = []
    token = _said.set(found)
    try:
        yield found
    finally:
        _said.reset(token)


def collect(state: Any) -> None:
    """Record a state that got a default update."""
    found = _said.get()
    if found is not None:
        found.append(state)
