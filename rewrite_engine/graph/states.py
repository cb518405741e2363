"""States whose default updates are said while a step of a loop is built: they are the step's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_said: ContextVar[list[Any] | None] = ContextVar("_said", default=None)


@contextmanager
def collected() -> Iterator[list[Any]]:
    """A block; the states that `collect` is called with in it, but not in a block inside."""
    found: list[Any] = []
    token = _said.set(found)
    try:
        yield found
    finally:
        _said.reset(token)


def collect(state: Any) -> None:
    """Note a state that was given a default update."""
    found = _said.get()
    if found is not None:
        found.append(state)
