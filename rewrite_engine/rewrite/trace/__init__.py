"""`Trace`: what happened to a graph. Drivers report to it; without one they report nothing.

A firing is kept as references; with `terms=True` also as text, taken at once, since nodes change
later. With `attempts=True` every try is kept too, also of rules that an index ruled out
(`attempts.py`). `lines.py` writes JSON lines, with the addresses that nodes have in `places.py`;
`explain/replay.py` does again what they say, from the oldest state that is kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import origin_line
from rewrite_engine.rewrite.result import Result
from rewrite_engine.rewrite.trace.places import Past, Place, addresses, made
from rewrite_engine.terms.print import brief as brief

if TYPE_CHECKING:
    from rewrite_engine.rewrite.trace.attempts import Attempt


@dataclass(slots=True)  # (freezing doubles the time to make one)
class Firing:
    """One application of a rule. `before` and `after` are text if the trace takes terms, else
    variables.

    seconds: since the trace began. origin: the user's line (with terms). graph: which of those that
    the trace saw. node: where the rule was applied. makes: the nodes of the new term that the graph
    did not have. at: how many changes of the graph the trace had noted. part: 0 for the first of
    those that were done in one go, as a strategy does. depth: how deep the text goes. strategy: the
    name of the strategy that applied the rule, if one did.
    """

    number: int
    phase: str
    rule: Any
    before: Any
    after: Any
    seconds: float
    origin: tuple[str, int] | None
    graph: int
    node: Apply
    makes: Sequence[Apply]
    at: int = 0
    part: int = 0
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
    does not apply, and is slow. What is kept can be replayed, from `oldest()` on. A trace with a
    `size` takes memory for the graph as it was then (100 bytes a node), for that many entries with
    the nodes they replaced and made, and for the changes of the graph since then. Raises
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
        self.size = size
        self.records: deque[Firing] = deque()
        self._keep = self.records.append if size is None else self._push
        self.tries: deque[Attempt] = deque(maxlen=size)
        self.terms = terms
        self.depth = depth
        self.attempts = attempts
        self.phase = ""
        self.place = ""  # of an inner graph that is worked on: " in f"
        self.strategy: str | None = None  # that is at work
        self.phases: list[Result] = []
        self.count = 0
        self.tried_count = 0
        self.started = perf_counter()
        self.graph = 0  # the number of the present one
        self.past: Past | None = None  # of the present graph
        self.pasts: dict[int, Past] = {}
        self.together = False  # whether what fires now is done in one go,
        self.part = 0  # and the number of steps of it so far
        self._depth = 0
        self._before: Any = None
        self._visited: tuple[Any, Apply, str] | None = None
        self._inner: list[Attempt] = []  # tries in the strategy that is being tried

    def begin(self, phase: str, fgraph: FunctionGraph | None = None) -> None:
        """A phase begins on a graph (on another one than before, perhaps), or a part of it."""
        self.phase = phase + self.place
        self._depth += 1
        if fgraph is None:
            return
        if self.past is None or self.past.fgraph is not fgraph:
            if self.past is not None:  # what happens to that graph from here on is another story
                self.past.fgraph.remove_feature(self.past)
            self.graph += 1
            self.past = self.pasts[self.graph] = Past(fgraph, self.graph)
        if self.size is not None:
            fgraph.attach_feature(self.past)

    def end(self, result: Result, fgraph: FunctionGraph | None = None) -> None:
        """A phase is over; one that consists of others adds nothing to `phases`."""
        self._depth -= 1
        self._inner.clear()  # (those that were made for an error message)
        if not self._depth and fgraph is not None and self.past is not None:
            fgraph.remove_feature(self.past)  # (it is there if the trace has a size)
        if not result.parts:
            self.phases.append(result)

    # --- firings ---------------------------------------------------------------------------------

    def begin_steps(self, strategy: str | None) -> None:
        """Several steps are about to be taken in one go, by a strategy or by one rule."""
        self.strategy, self.together, self.part = strategy, True, 0

    def end_steps(self) -> None:
        """They were taken."""
        self.strategy, self.together, self.part = None, False, 0

    def about(self, node: Apply, new: Any, old: Variable | None = None) -> None:
        """A rule is about to replace an output of a node (the first one): note the terms while they
        are there.
        """
        if old is None and node.outputs:
            old = node.outputs[0]
        past = self.past
        makes: Sequence[Apply] = ()
        if past is None:
            at = 0
        else:
            if new not in past.known:
                makes = made(past.known, new)
            at = past.start + len(past.log)
        if self.terms and old is not None:
            texts = self.text(old), self.text(new)
            self._before = node, *texts, origin_line(node.origin), makes, at
        else:
            self._before = node, old, new, None, makes, at

    def fired(self, rule: Any, own: Variable | None = None) -> None:
        """The replacement that was announced by `about` took place; `own` is the graph's variable
        for the new term.
        """
        node, before, after, origin, makes, at = self._before
        self.count += 1
        self._keep(
            Firing(
                self.count, self.phase, rule, before, after, perf_counter() - self.started, origin,
                self.graph, node, makes, at, self.part, self.depth if self.terms else None,
                self.strategy,
            )
        )  # fmt: skip
        if self.together:
            self.part += 1

    def _push(self, firing: Firing) -> None:
        """Keep an entry of a trace with a size; the oldest one leaves."""
        records = self.records
        records.append(firing)
        if len(records) <= self.size:  # type: ignore[operator]
            return
        graph, oldest = records.popleft().graph, records[0]
        if graph != oldest.graph:
            self.pasts.pop(graph, None)
        elif firing.at >= self.past.due:  # type: ignore[union-attr]
            self.pasts[graph].turn(oldest.at)

    def mark(self) -> tuple[int, int]:
        """The present state, for `take_back`."""
        return self.count, self.tried_count

    def take_back(self, mark: tuple[int, int], by: str, why: str) -> None:
        """The graph was put back to where it was at a mark: what fired since then leaves the
        record, and the tries say who took it back, and why. (What had left to make room does not
        come back.)
        """
        self.forget(mark[0])
        self._close(self._inner)
        since: list[Attempt] = []
        while self.tries and self.tries[-1].number > mark[1]:
            since.append(self.tries.pop())
        self.tries += [a.taken_back(by, why) for a in reversed(since)]

    def forget(self, count: int) -> None:
        """The firings after number `count` did not take place after all."""
        while self.records and self.records[-1].number > count:
            self.records.pop()
        self.count = count

    # --- attempts --------------------------------------------------------------------------------

    def visit(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        candidates: Sequence[Any],
        known: Iterable[Any] = (),
    ) -> None:
        """Rules are about to be tried at a node. known: all rules for its op; those that are no
        candidates were ruled out by the index.
        """
        self._visited = fgraph, node, self.text(node)
        there = set(candidates)
        for rule in known:
            if rule not in there:
                self._close([self._attempt(rule, node, "failed", None, 0.0, ruled_out=True)])

    def tried(self, rule: Any, node: Apply, verdict: str, reason: Any, seconds: float) -> None:
        """A rule was tried at the node that is being visited. verdict: fired, failed, refused or
        error; reason: what refused, or the exception. What was tried within a strategy comes out as
        the whole of it does.
        """
        from rewrite_engine.rewrite.trace.attempts import blamed, settled

        inner = self._inner
        if inner and verdict == "failed":
            reason = blamed(rule, inner)
        whole = self._attempt(rule, node, verdict, reason, seconds)
        self._close([*settled(inner, whole, self.count), whole])

    @property
    def inside(self) -> int:
        """How many tries there were in the strategy that is being tried."""
        return len(self._inner)

    def within(
        self, rule: Any, node: Apply, verdict: str, reason: Any, seconds: float,
        ruled_out: bool = False,
    ) -> None:  # fmt: skip
        """A rule was tried as a part of a strategy, perhaps at a node that the graph does not have.
        verdict: as of `tried`; fired is what will have if the whole does.
        """
        self._inner.append(self._attempt(rule, node, verdict, reason, seconds, ruled_out))

    def undo(self, start: int, by: str) -> None:
        """A sequence fails: what was done in it, after the first so many tries, is taken back."""
        from rewrite_engine.rewrite.trace.attempts import failure

        inner = self._inner
        if start < len(inner):
            why = failure(inner[-1])
            inner[start:] = [a.taken_back(by, why) for a in inner[start:]]

    def _close(self, tries: Iterable[Attempt]) -> None:
        """Keep tries that are over."""
        for a in tries:
            self.tried_count += 1
            self.tries.append(replace(a, number=self.tried_count))
        self._inner.clear()

    def _attempt(
        self, rule: Any, node: Apply, verdict: str, reason: Any, seconds: float,
        ruled_out: bool = False,
    ) -> Attempt:  # fmt: skip
        from rewrite_engine.rewrite.trace.attempts import attempted  # few traces ask why

        fgraph, visited, term = self._visited or (None, None, "")
        if visited is not node:
            term = self.text(node)
        return attempted(
            rule, node, fgraph, verdict, reason, self.text,
            number=0, phase=self.phase, term=term, took=seconds,
            seconds=perf_counter() - self.started, ruled_out=ruled_out, strategy=None,
            firing=self.count if verdict == "fired" else None, graph=self.graph,
        )  # fmt: skip

    # --- reading ---------------------------------------------------------------------------------

    def oldest(self, graph: int | None = None) -> FunctionGraph:
        """A copy of a graph (by its number, from 1 on; None: the last one) as it was before the
        oldest entry that is kept of it: what `replay` begins with. Raises `LookupError` if none is.
        """
        wanted = self.graph if graph is None else graph
        past = self.pasts.get(wanted)
        if past is None:
            raise LookupError(f"nothing is kept of a graph {wanted}: there are {[*self.pasts]}")
        first = next((f for f in self.records if f.graph == wanted and not f.part), None)
        then = past.end if first is None else first.at
        return past.at(then if past.turned else 0).copy()[0]

    def addresses(self) -> dict[int, Place]:
        """Where each firing that is kept took place (`places.py`), by its number."""
        return addresses(self.records, self.pasts)

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
