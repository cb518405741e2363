"""`Trace`: what happened to a graph. Drivers report firings to it; without one they report nothing.

A firing is kept as references; with `terms=True` also as text, taken at once, since nodes change
later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import origin_line
from rewrite_engine.rewrite.result import Result
from rewrite_engine.terms.print import brief as brief

Describe = Callable[[Variable], str]


@dataclass(frozen=True, slots=True)
class Firing:
    """One application of a rule. `before` and `after` are text if the trace takes terms, else
    variables.
    """

    number: int
    phase: str
    rule: Any
    before: Any
    after: Any
    seconds: float  # since the trace began
    origin: tuple[str, int] | None

    @property
    def rule_name(self) -> str:
        """The rule's name, as queries know it."""
        return str(getattr(self.rule, "name", self.rule))


class Trace:
    """Records firings in a ring buffer of `size` entries (None: all of them).

    terms: note the terms before and after as text, `depth` levels deep.
    """

    def __init__(self, *, terms: bool = False, depth: int = 4, size: int | None = None) -> None:
        self.records: deque[Firing] = deque(maxlen=size)
        self.terms = terms
        self.depth = depth
        self.phase = ""
        self.phases: list[Result] = []
        self.count = 0
        self.started = perf_counter()
        self._before: Any = None

    def begin(self, phase: str, fgraph: Any = None) -> None:
        """A phase begins on a graph."""
        self.phase = phase

    def end(self, result: Result, fgraph: Any = None) -> None:
        """A phase is over; one that consists of others adds nothing to `phases`."""
        if not result.parts:
            self.phases.append(result)

    def about(self, node: Apply, new: Any, old: Variable | None = None) -> None:
        """A rule is about to replace an output of a node (the first one): note the terms while they
        are there.
        """
        if old is None and node.outputs:
            old = node.outputs[0]
        if self.terms and old is not None:
            self._before = (self.text(old), self.text(new), origin_line(node.origin))
        else:
            self._before = (old, new, None)

    def fired(self, rule: Any, own: Variable | None = None) -> None:
        """The replacement that was announced by `about` took place; `own` is the graph's variable
        for the new term.
        """
        before, after, origin = self._before
        self.count += 1
        self.records.append(
            Firing(
                self.count, self.phase, rule, before, after, perf_counter() - self.started, origin
            )
        )

    def text(self, v: Any) -> str:
        """A term as text, `depth` levels deep."""
        return brief(v, self.depth)

    def __iter__(self) -> Iterator[Firing]:
        return iter(self.records)

    def __len__(self) -> int:
        return self.count
