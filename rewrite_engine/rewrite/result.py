"""What a driver reports: why it stopped, what fired, how long it took."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field


class StopReason(enum.Enum):
    """Why a driver stopped."""

    SATURATED = "nothing more to do"
    PASSED = "one pass is done"
    BUDGET = "the budget is used up"


@dataclass(slots=True)
class Result:
    """Of one run of a driver.

    fired: firings per rule name. parts: the results of what it is made of.
    """

    name: str
    stopped: StopReason = StopReason.SATURATED
    fired: dict[str, int] = field(default_factory=dict)
    visits: int = 0
    merged: int = 0
    nodes_before: int = 0
    nodes_after: int = 0
    seconds: float = 0.0
    parts: list[Result] = field(default_factory=list)

    @property
    def firings(self) -> int:
        """How many rules fired."""
        return sum(self.fired.values()) + sum(p.firings for p in self.parts)

    def leaves(self) -> Iterator[Result]:
        """The results without parts, in order."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.firings} firings, "
            f"{self.nodes_before} -> {self.nodes_after} nodes, "
            f"{self.seconds * 1e3:.2f} ms, {self.stopped.name}"
        )
