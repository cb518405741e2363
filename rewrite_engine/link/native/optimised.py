"""Optimised code, made by a thread while a function already runs unoptimised code.

LLVM takes a quarter of the time without optimisation, and the code computes the same bits. So a
new module is compiled without it first, and used. A thread compiles the same text again, writes it
to disk, and replaces the addresses where they are read: words of the tables of regions. Both codes
stay, as a call may be in the middle of the first one.

A module that nobody waits for any more is not compiled again, nor is one whose turn has not come
when the process ends. A fork waits a little, since a child has no such thread; it starts its own.
"""

from __future__ import annotations

import atexit
import os
import threading
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, NamedTuple
from weakref import ref

from rewrite_engine.fork import free_after_fork

SECONDS_AT_FORK = 2.0  # to wait for modules, so that children have them
SECONDS_AT_EXIT = 0.5  # so that the next process finds them on disk


class Word:
    """Word of a table where an address is read."""

    __slots__ = ("table", "place")

    def __init__(self, table: Any, place: int) -> None:
        self.table, self.place = ref(table), place

    @property
    def reader(self) -> Any:
        """The weak reference to the table."""
        return self.table

    def is_needed(self) -> bool:
        """Return whether the table still exists."""
        return self.table() is not None

    def replace(self, address: int) -> None:
        """Store another address in the table."""
        table = self.table()
        if table is not None:
            table[self.place] = address


class Module(NamedTuple):
    """Module to compile again. names: of its functions. compile: does it. is_needed: whether
    anybody waits for it.
    """

    names: Sequence[str]
    compile: Callable[[], None]
    is_needed: Callable[[], bool]


class Optimiser:
    """Thread that compiles modules, in the order in which they come."""

    def __init__(self) -> None:
        self.modules: deque[Module] = deque()
        self.changed = threading.Condition(free_after_fork(threading.Lock()))
        self.thread: threading.Thread | None = None
        self.is_closed = False
        self._registered = False

    def add(self, module: Module) -> None:
        """Compile a module later."""
        with self.changed:
            self.modules.append(module)
            self._start()
            self.changed.notify_all()

    def settle(self, seconds: float | None = None) -> bool:
        """Wait until all modules are compiled, or for some seconds; return whether they are."""
        end = None if seconds is None else monotonic() + seconds
        with self.changed:
            while self.modules and not self.is_closed:
                left = None if end is None else end - monotonic()
                if left is not None and left <= 0:
                    return False
                self._start()
                self.changed.wait(left)
        return not self.modules

    def _start(self) -> None:
        if self.thread is None and not self.is_closed:
            if not self._registered:  # after LLVM's locks, so that a fork waits for modules first
                self._registered = True
                atexit.register(self.close)
                if hasattr(os, "register_at_fork"):
                    os.register_at_fork(before=self._before_fork, after_in_child=self._in_child)
            self.thread = threading.Thread(
                target=self._run, name="rewrite_engine optimiser", daemon=True
            )
            self.thread.start()

    def _run(self) -> None:
        while True:
            with self.changed:
                while not self.modules and not self.is_closed:
                    self.changed.wait()
                if self.is_closed:
                    return
                module = self.modules[0]
            try:
                if module.is_needed():
                    module.compile()
            except Exception as error:  # the first code stays
                what = f"{', '.join(module.names)} stays unoptimised: {error!r}"
                warnings.warn(what, RuntimeWarning, stacklevel=1)
            with self.changed:
                self.modules.popleft()
                self.changed.notify_all()

    def _before_fork(self) -> None:
        if self.thread is not threading.current_thread():
            self.settle(SECONDS_AT_FORK)

    def _in_child(self) -> None:
        self.changed = threading.Condition(self.changed._lock)  # type: ignore[attr-defined]
        self.thread = None
        if self.modules:
            with self.changed:
                self._start()

    def close(self) -> None:
        """Finish at the end of the process: LLVM must not be at work when it is unloaded."""
        self.settle(SECONDS_AT_EXIT)
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()
        if self.thread is not None:
            self.thread.join()


optimiser = Optimiser()
