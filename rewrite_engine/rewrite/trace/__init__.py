"""`Trace`: what happened to a graph. Drivers report to it; without one they report nothing.

A firing is kept as references; with `terms=True` also as text, taken at once, since nodes change
later. With `attempts=True` every try is kept too, also of rules that an index ruled out
(`attempts.py`). `lines.py` writes JSON lines, with the addresses that nodes have in `places.py`;
`explain/replay.py` does again what they say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import origin_line
from rewrite_engine.rewrite.result import Result
from rewrite_engine.rewrite.trace.places import Place, Places
from rewrite_engine.terms.print import brief as brief

if TYPE_CHECKING:
    from rewrite_engine.rewrite.trace.attempts import Attempt


@dataclass(slots=True)  # (freezing doubles the time to make one)
class Firing:
    """One application of a rule. `before` and `after` are text if the trace takes terms, else
    variables.

    seconds: since the trace began. origin: the user's line (with terms). graph, place: which graph
    that the trace saw, and where in it the node is (`places.py`); None if the trace does not keep
    everything. depth: how deep the text goes. strategy: the name of the strategy that applied the
    rule, if one did.
    """

    number: int
    phase: str
    rule: Any
    before: Any
    after: Any
    seconds: float
    origin: tuple[str, int] | None
    graph: int = 1
    place: Place | None = None
    depth: int | None = None
    strategy: str | None = None

    @property
    def rule_name(self) -> str:
        """The rule's name, as queries know it."""
        return str(getattr(self.rule, "name", self.rule))


class Trace:
    """Records firings in a ring buffer of `size` entries (None: all of them).

    terms: note the terms before and after as text, `depth` levels deep. attempts: record every try
    of a rule too, in `tries` (another buffer of that size); this asks the interpreter why a rule
    does not apply, and is slow. Only a trace that keeps everything can be replayed. Raises
    `ValueError` for a `size` below 1.
    """

    def __init__(
        self,
        *,
        terms: bool = False,
        depth: int = 4,
        size: int | None = None,
        attempts: bool = False,
    ) -> None:
        if size is not None and size < 1:
            raise ValueError(f"a trace keeps at least one entry, not {size} (None: all of them)")
        self.records: deque[Firing] = deque(maxlen=size)
        self.tries: deque[Attempt] = deque(maxlen=size)
        self.terms = terms
        self.depth = depth
        self.attempts = attempts
        self.phase = ""
        self.strategy: str | None = None  # that is at work
        self.phases: list[Result] = []
        self.count = 0
        self.tried_count = 0
        self.started = perf_counter()
        self.places = Places(size is None)
        self._before: Any = None
        self._visited: tuple[Any, Apply, str] | None = None

    def begin(self, phase: str, fgraph: Any = None) -> None:
        """A phase begins on a graph."""
        self.phase = phase
        self.places.begin(fgraph)

    def end(self, result: Result, fgraph: Any = None) -> None:
        """A phase is over; one that consists of others adds nothing to `phases`."""
        if not result.parts:
            self.phases.append(result)

    # --- firings ---------------------------------------------------------------------------------

    def about(self, node: Apply, new: Any, old: Variable | None = None) -> None:
        """A rule is about to replace an output of a node (the first one): note the terms while they
        are there.
        """
        if old is None and node.outputs:
            old = node.outputs[0]
        place = self.places.about(node, new) if self.places.wanted else None
        if self.terms and old is not None:
            self._before = self.text(old), self.text(new), origin_line(node.origin), place
        else:
            self._before = old, new, None, place

    def fired(self, rule: Any, own: Variable | None = None) -> None:
        """The replacement that was announced by `about` took place; `own` is the graph's variable
        for the new term.
        """
        before, after, origin, place = self._before
        self.count += 1
        if self.places.wanted:
            self.places.fired(self.count)
        self.records.append(
            Firing(
                self.count, self.phase, rule, before, after, perf_counter() - self.started, origin,
                self.places.graph, place, self.depth if self.terms else None, self.strategy,
            )
        )  # fmt: skip

    def take_back(self, count: int) -> None:
        """The graph was put back to where it was after firing `count`: later ones did not take
        place.
        """
        while self.records and self.records[-1].number > count:
            self.records.pop()
        self.count = count

    # --- attempts --------------------------------------------------------------------------------

    def visit(
        self, fgraph: Any, node: Apply, candidates: Sequence[Any], known: Iterable[Any] = ()
    ) -> None:
        """Rules are about to be tried at a node. known: all rules for its op; those that are no
        candidates were ruled out by the index.
        """
        self._visited = fgraph, node, self.text(node.outputs[0]) if node.outputs else str(node)
        there = set(candidates)
        for rule in known:
            if rule not in there:
                self._note(rule, node, "failed", None, 0.0, ruled_out=True)

    def tried(self, rule: Any, node: Apply, verdict: str, reason: Any, seconds: float) -> None:
        """A rule was tried at the node that is being visited. verdict: fired, failed, refused or
        error; reason: what refused, or the exception.
        """
        self._note(rule, node, verdict, reason, seconds)

    def _note(
        self, rule: Any, node: Apply, verdict: str, reason: Any, seconds: float,
        ruled_out: bool = False,
    ) -> None:  # fmt: skip
        from rewrite_engine.rewrite.trace.attempts import attempted  # few traces ask why

        fgraph, visited, term = self._visited or (None, None, "")
        if visited is not node:
            term = self.text(node.outputs[0])
        self.tried_count += 1
        self.tries.append(
            attempted(
                rule, node, fgraph, verdict, reason, self.text,
                number=self.tried_count, phase=self.phase, term=term, took=seconds,
                seconds=perf_counter() - self.started, ruled_out=ruled_out,
                firing=self.count if verdict == "fired" else None, graph=self.places.graph,
            )
        )  # fmt: skip

    # --- reading ---------------------------------------------------------------------------------

    def text(self, v: Any) -> str:
        """A term as text, `depth` levels deep."""
        return brief(v, self.depth)

    def lines(self) -> Iterator[str]:
        """Everything that was kept as JSON lines (`trace/schema.json`), in order."""
        from rewrite_engine.rewrite.trace.lines import trace_lines

        return trace_lines(self)

    def write_jsonl(self, path: str | Path) -> None:
        """Write the lines to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in self.lines())

    def __iter__(self) -> Iterator[Firing]:
        return iter(self.records)

    def __len__(self) -> int:
        return self.count
