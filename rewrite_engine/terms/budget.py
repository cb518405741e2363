"""Budgets of searches: answers and seconds, and what happens when they are used up.

A search is anything that yields answers one by one. `bounded` counts them; the search itself calls
`Watch.tick` now and then, so that a search without answers ends too. A search that never calls it,
because it loops somewhere in Python, is interrupted by a thread (`watchdog`). The time during which
the caller inspects an answer does not count. Searches of miniKanren goals are in `terms/search.py`.
"""

from __future__ import annotations

import _weakrefset
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from ctypes import c_ulong, py_object, pythonapi
from dataclasses import dataclass
from threading import Event, RLock, Thread, get_ident
from time import perf_counter, sleep
from types import FrameType
from typing import Literal, TypeVar

from rewrite_engine.errors import SearchBudgetError

T = TypeVar("T")

OnBudget = Literal["raise", "stop"]


#: seconds over time after which a search is interrupted that does not ask; again after as many
GRACE = 0.5


class OutOfBudget(Exception):
    """Raised within a search to end it; `bounded` converts it to an error, or ends quietly."""


class Overdue(BaseException):
    """Raised in a search that never checks the time. (No `Exception`: loops may catch those.)"""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a search. None: no limit.

    answers: the maximum number of answers. seconds: search time. on_budget: "raise" an error when a
    limit is reached, or "stop" as if there were no more answers. Raises `ValueError` for other
    values.
    """

    answers: int | None = None
    seconds: float | None = None
    on_budget: OnBudget = "raise"

    def __post_init__(self) -> None:
        if self.on_budget not in ("raise", "stop"):
            raise ValueError(f'on_budget must be "raise" or "stop", not {self.on_budget!r}')
        for name, value in (("answers", self.answers), ("seconds", self.seconds)):
            if value is not None and not (isinstance(value, int | float) and value >= 0):
                raise ValueError(f"{name} must be a nonnegative number or None, not {value!r}")


class Watch:
    """Use of a budget by one search."""

    __slots__ = ("budget", "deadline", "found", "left", "overdue", "struck")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.found = 0
        self.struck = False  # whether it was interrupted
        self.left = float("inf") if budget.seconds is None else budget.seconds
        self.deadline = self.overdue = float("inf")

    def tick(self) -> None:
        """Check the time within a search: raises `OutOfBudget` when it is over."""
        if perf_counter() > self.deadline:
            raise self.over()

    def over(self) -> OutOfBudget:
        """Return the exception that ends a search whose time is over."""
        return OutOfBudget(f"{self.budget.seconds:g} seconds, in which it found {self.told()}")

    def next(self, found: Iterator[T]) -> T:
        """Return the next answer of the search, within the limits; only this counts as time."""
        self.deadline = perf_counter() + self.left
        self.overdue = self.deadline + GRACE
        watched = self.budget.seconds is not None
        try:
            try:
                if watched:
                    watchdog.enter(self)
                answer = next(found)
            finally:
                if watched:
                    watchdog.leave(self)
        except Overdue:
            if not self.struck:  # it is meant for a search around this one
                raise
            raise self.over() from None
        self.left = self.deadline - perf_counter()
        if self.found == self.budget.answers:
            raise OutOfBudget(f"{self.told()}, and there are more")
        self.found += 1
        return answer

    def told(self) -> str:
        """Return the number of answers, in words."""
        return "1 answer" if self.found == 1 else f"{self.found} answers"


def bounded(
    found: Iterator[T],
    watch: Watch,
    asked: str = "the search",
    error: Callable[[str], Exception] = SearchBudgetError,
) -> Iterator[T]:
    """Yield the answers of a search within its budget.

    asked: the name of the search in the error, if the budget raises one. error: makes the error
    from a text.
    """
    try:
        with suppress(StopIteration):
            while True:
                yield watch.next(found)
    except OutOfBudget as spent:
        if watch.budget.on_budget == "raise":
            raise error(f"{asked} used up its budget of {spent}") from None


# --- searches that do not ask ---------------------------------------------------------------------


class Watchdog:
    """Thread that interrupts searches which exceed their time by more than `GRACE`, that is, those
    that do not check the clock themselves. It sleeps while there are no searches. It cannot
    interrupt C code that never returns to Python.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the thread and all searches, as in a forked process."""
        self.searches: dict[Watch, int] = {}  # and the thread of each
        self.lock = RLock()  # (a signal handler may search while its thread holds it)
        self.awake = Event()
        self.thread: Thread | None = None

    def enter(self, watch: Watch) -> None:
        """Watch a search: the thread checks it from time to time."""
        self.searches[watch] = get_ident()
        if self.awake.is_set():
            return
        with self.lock:
            self.awake.set()
            if self.thread is None:
                self.thread = Thread(target=self.look, name="searches", daemon=True)
                self.thread.start()

    def leave(self, watch: Watch) -> None:
        """Stop watching a search that has an answer or is over. An interrupt that has not been
        raised yet is raised here. (Withdrawing it would leave a mark in CPython 3.11 that one is
        due: Python then checks for it at each step, for ever, and hangs when it traces.)
        """
        with self.lock:
            self.searches.pop(watch, None)
            for _ in range(2):  # interrupts are raised where a loop goes back
                pass

    def look(self) -> None:
        """Check the searches in a loop; the function of the thread."""
        while self.awake.wait():
            sleep(GRACE / 2)
            with self.lock:
                self.awake.clear()
                if self.searches:  # (looked at after clearing: who enters now sets it)
                    self.awake.set()
                for watch, thread in list(self.searches.items()):
                    self.look_at(watch, thread, perf_counter())

    def look_at(self, watch: Watch, thread: int, now: float) -> None:
        """Interrupt an overdue search, repeatedly if it continues: a thread has one interrupt at a
        time, and an inner search may have received it. A search ended by Ctrl-C may not have
        unregistered. Does not interrupt code in which Python drops exceptions: the interrupt would
        be printed and lost.
        """
        inside = frames_inside(watch, thread)
        if inside is None:
            del self.searches[watch]
        elif now > watch.overdue and not any(map(drops_exceptions, inside)):
            watch.struck = True
            watch.overdue = now + GRACE
            pythonapi.PyThreadState_SetAsyncExc(c_ulong(thread), py_object(Overdue))


def frames_inside(watch: Watch, thread: int) -> list[FrameType] | None:
    """Return the frames of a search in a thread; None if it is in none."""
    found: list[FrameType] = []
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code is Watch.next.__code__ and frame.f_locals["self"] is watch:
            return found
        found.append(frame)
        frame = frame.f_back
    return None


def drops_exceptions(frame: FrameType) -> bool:
    """Return whether a frame is called by the garbage collector: a finalizer, or a callback of a
    weak reference (of other packages: this one has only callbacks in C).
    """
    code = frame.f_code
    return code.co_name == "__del__" or code.co_filename in (weakref.__file__, _weakrefset.__file__)


watchdog = Watchdog()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=watchdog.reset)
