"""How much a search may cost: answers and seconds, and what happens when they are used up.

A search is anything that yields answers one by one. `bounded` counts them; the search itself asks
`Watch.tick` now and then, so that one which finds nothing ends too. The time that passes while
somebody looks at an answer does not count. Searches of miniKanren goals are in `terms/search.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, TypeVar

from rewrite_engine.errors import SearchBudgetError

T = TypeVar("T")

OnBudget = Literal["raise", "stop"]


class OutOfBudget(Exception):
    """Raised within a search to end it; `bounded` makes an error of it, or an end."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a search may use. None: no limit.

    answers: how many are taken. seconds: of searching. on_budget: "raise" an error when one of them
    is used up, or "stop" as if there was no more. Raises `ValueError` for anything else.
    """

    answers: int | None = None
    seconds: float | None = None
    on_budget: OnBudget = "raise"

    def __post_init__(self) -> None:
        if self.on_budget not in ("raise", "stop"):
            raise ValueError(f'on_budget is "raise" or "stop", not {self.on_budget!r}')
        for name, value in (("answers", self.answers), ("seconds", self.seconds)):
            if value is not None and not value >= 0:
                raise ValueError(f"{name} is a number that is not negative, or None, not {value!r}")


class Watch:
    """What one search has used of its budget."""

    __slots__ = ("budget", "deadline", "found", "left")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.found = 0
        self.left = float("inf") if budget.seconds is None else budget.seconds
        self.deadline = perf_counter() + self.left

    def tick(self) -> None:
        """Asked within a search: raises `OutOfBudget` when the time is over."""
        if perf_counter() > self.deadline:
            raise OutOfBudget(f"{self.budget.seconds:g} seconds, in which it found {self.told()}")

    def resume(self) -> None:
        """The search goes on."""
        self.deadline = perf_counter() + self.left

    def pause(self) -> None:
        """The search has an answer: one that it may still have, or else it is out of budget."""
        self.left = self.deadline - perf_counter()
        if self.found == self.budget.answers:
            raise OutOfBudget(f"{self.told()}, and there are more")
        self.found += 1

    def told(self) -> str:
        """The number of answers, in words."""
        return "1 answer" if self.found == 1 else f"{self.found} answers"


def bounded(
    found: Iterator[T], watch: Watch, error: Callable[[str], Exception] = SearchBudgetError
) -> Iterator[T]:
    """Yield the answers of a search within its budget.

    error: makes the exception that is raised where the budget says so, from what was used up.
    """
    try:
        while True:
            watch.resume()
            try:
                answer = next(found)
            except StopIteration:
                return
            watch.pause()
            yield answer
    except OutOfBudget as spent:
        if watch.budget.on_budget == "raise":
            raise error(f"used up its budget of {spent}") from None
