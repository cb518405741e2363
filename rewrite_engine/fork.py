"""Safety of forked processes: a lock that another thread of the parent held when it forked would
never be released in the child.

`free_after_fork(lock)` releases a lock in each child; `hold_at_fork(lock)` waits for it before each
fork. `cached_property` is that of `functools`, which has no lock since Python 3.12.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

T = TypeVar("T")
L = TypeVar("L")


def free_after_fork(lock: L) -> L:
    """Return a lock of `threading` that will be free in each child process. The data that it guards
    must be valid at any time. Pass locks of modules only: they are never forgotten.
    """
    if hasattr(os, "register_at_fork"):
        reset: Any = getattr(lock, "_at_fork_reinit")  # noqa: B009 (unknown to type checkers)
        os.register_at_fork(after_in_child=reset)
    return lock


def hold_at_fork(lock: AbstractContextManager[Any]) -> None:
    """Hold a lock during each fork, which waits for it: for data that are not always valid, and
    that a child needs.
    """

    def release() -> None:
        lock.__exit__(None, None, None)

    if hasattr(os, "register_at_fork"):
        before = lock.__enter__
        os.register_at_fork(before=before, after_in_parent=release, after_in_child=release)


if sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(functools.cached_property[T]):  # noqa: N801 (as in functools)
        """Property that is computed once and then stored; threads may compute it at once."""

        def __init__(self, function: Callable[[Any], T]) -> None:
            super().__init__(function)
            self.lock = nullcontext()  # that of Python 3.11 is one for all instances of a class
