"""Conditions that values must fulfil, in code that cannot raise errors.

Traced code cannot raise an error that depends on values. It computes whether there may be one
(`require`), and the linker, which collects these conditions, asks another linker for the error. In
functions that a user traces nobody collects them, and they cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import local
from typing import Any

import jax.numpy as jnp


class _Collected(local):
    """Conditions of the innermost graph that is being traced; None: nobody asks for them."""

    conditions: list[Any] | None = None


_collected = _Collected()


def require(condition: Callable[[], Any]) -> None:
    """Note that a call may be an error unless all elements of a condition are true. condition: a
    function that returns it, called if anybody asks.
    """
    if _collected.conditions is not None:
        _collected.conditions.append(jnp.all(condition()))


def are_collected() -> bool:
    """Return whether anybody asks for conditions."""
    return _collected.conditions is not None


@contextmanager
def collecting(wanted: bool = True) -> Iterator[list[Any]]:
    """Collect the conditions that are required inside, if they are wanted."""
    before, found = _collected.conditions, list[Any]()
    _collected.conditions = found if wanted else None
    try:
        yield found
    finally:
        _collected.conditions = before


def all_of(conditions: Sequence[Any]) -> Any:
    """Return whether all conditions hold, as one value."""
    held = jnp.asarray(True)
    for condition in conditions:
        held = held & condition
    return held
