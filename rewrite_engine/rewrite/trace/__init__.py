"""`Trace`: a record of all changes to the graph that it is attached to.

A firing is recorded as references; with `terms=True` also as text, made immediately, since nodes
change later. With `attempts=True` every try is recorded too, also of rules that an index ruled out
(`attempts.py`). `lines.py` writes JSON lines, with the addresses of nodes from `places.py`;
`explain/replaying.py` replays them, from the oldest recorded state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.memory import exchanged
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import REFUSED, origin_line
from rewrite_engine.rewrite.result import Result
from rewrite_engine.rewrite.trace.places import Address, Past, made
from rewrite_engine.terms.print import brief as brief

if TYPE_CHECKING:
    from pathlib import Path

    from rewrite_engine.rewrite.trace.attempts import Attempt


class Firing(NamedTuple):
    """Record of one application of a rule. `before` and `after` are text if the trace records
    terms, else variables.

    graph: the index of the graph among those that the trace saw. at: the position in its journal
    (`Past`). node: where the rule was applied. makes: the nodes of the new term that the graph did
    not have. origin: the user's line (with terms). depth: the depth of the text. seconds: since
    the trace began. part: 0 for the first of several firings that form a group, as in a strategy.
    strategy: the name of the strategy that applied the rule, if any.
    """

    rule: Any
    before: Any
    after: Any
    phase: str
    graph: int
    at: int
    node: Any
    makes: Sequence[Apply]
    origin: tuple[str, int] | None
    depth: int | None
    number: int
    seconds: float
    part: int
    strategy: str | None

    @property
    def rule_name(self) -> str:
        """Name of the rule, as queries use it."""
        return str(getattr(self.rule, "name", self.rule))


_firing = tuple.__new__  # (a third of the time that `Firing(...)` takes)


class Application(NamedTuple):
    """Group of firings from one result of a rule or strategy at a node.

    since: the number of the last firing before it. steps: the steps of a strategy before the
    inserted one.
    """

    node: Apply
    since: int
    strategy: str | None
    steps: Sequence[Any]


class Trace(Feature):
    """Feature that records firings in a ring buffer of `size` entries (None: all of them): each
    replacement, with its reason. Drivers attach a trace that they receive to their graph.

    terms: record the terms before and after as text, `depth` levels deep. attempts: also record
    every try of a rule, in `tries` (another buffer of that size); this uses the interpreter to find
    why a rule does not apply, and is slow. The record can be replayed, from `oldest()` on. A trace
    with a `size` takes memory for the graph at its oldest entry (100 bytes a node), for that many
    entries with the nodes they replaced and made, and for the changes of the graph since then.
    Raises `ValueError` for a `size` below 1.
    """

    times = True

    def __init__(
        self,
        *,
        terms: bool = False,
        depth: int = 4,
        size: int | None = None,
        attempts: bool = False,
    ) -> None:
        if size is not None and size < 1:
            raise ValueError(f"size must be at least 1, or None for all entries, not {size}")
        self.terms, self.depth, self.size, self.attempts = terms, depth, size, attempts
        self.records: deque[Firing] = deque(maxlen=size)
        self._next_tidying = inf if size is None else size
        self.tries: deque[Attempt] = deque(maxlen=size)
        self.phase = ""
        self.place = ""  # of an inner graph that is worked on: " in f"
        self.phases: list[Result] = []
        self.count = self.tried_count = 0
        self.started = perf_counter()
        self.graph = 0  # the number of the present one
        self.past: Past | None = None  # of the present graph
        self.pasts: dict[int, Past] = {}
        self.application: Application | None = None  # what is done in one go just now
        self._before: list[tuple[Any, ...]] = []  # what is about to fire,
        self._at = 0  # at which position of the journal
        self._visited: tuple[Any, Apply, str] | None = None
        self._inner: list[Attempt] = []  # tries in the strategy that is being tried

    # --- what graphs and drivers tell ------------------------------------------------------------

    def on_begin(self, fgraph: FunctionGraph, driver: Any) -> None:
        self.phase = driver.name + self.place
        self._turn_to(fgraph)

    def _turn_to(self, fgraph: FunctionGraph) -> Past:
        """Record events of this graph from here on."""
        past = self.past
        if past is None or past.fgraph is not fgraph:
            if past is not None:  # what happens to that graph from here on is another matter
                past.fgraph.remove_feature(past)
            self.graph += 1
            past = self.past = self.pasts[self.graph] = Past(fgraph, self.count)
        fgraph.attach_feature(past)
        return past

    def on_end(self, fgraph: FunctionGraph, result: Result) -> None:
        self._inner.clear()  # (those that were made for an error message)
        if not result.parts:  # one that consists of others adds nothing
            self.phases.append(result)

    def on_detach(self, fgraph: FunctionGraph) -> None:
        if self.past is not None and self.past.fgraph is fgraph:
            fgraph.remove_feature(self.past)

    def on_inner(self, fgraph: FunctionGraph, inner: FunctionGraph, place: str | None) -> None:
        self.place = f" in {place}" if place else ""
        (inner.attach_feature if place else inner.remove_feature)(self)

    def on_apply(self, fgraph: FunctionGraph, node: Apply, rule: Any, result: Any) -> None:
        steps = getattr(result, "steps", None)
        self.application = Application(
            node, self.count, None if steps is None else rule.name, (steps or ())[:-1]
        )

    def on_applied(self, fgraph: FunctionGraph, done: bool) -> None:
        if self.application is not None and not done:
            self.forget(self.application.since)
        self.application = None

    def on_replace(self, fgraph: FunctionGraph, old: Variable, new: Variable, reason: Any) -> None:
        """Record the terms before they change."""
        if reason is REFUSED:
            return
        past, now = self.past, self.application
        if past is None or past.fgraph is not fgraph:
            past = self._turn_to(fgraph)
        steps, node = ((), old.owner) if now is None else (now.steps, now.node)
        self._before, known = [], past.known
        for rule, between in steps:
            self._before.append((rule, old, between, node, made(known, between)))
            old, node = between, between.owner
        self._before.append((reason, old, new, node, made(known, new)))
        self._at = past.end

    def on_redirect(
        self, fgraph: FunctionGraph, old: Any, new: Any, clients: Any, reason: Any
    ) -> None:
        """Record the announced replacement."""
        before, now = self._before, self.application
        if not before or before[-1][0] is not reason:
            return
        seconds, number = perf_counter() - self.started, self.count
        since, strategy = (number, None) if now is None else (now.since, now.strategy)
        where = self.phase, self.graph, self._at
        for rule, old, new, node, makes in before:
            number += 1
            when = number, seconds, number - 1 - since, strategy
            self.keep(_firing(Firing, (rule, old, new, *where, node, makes, None, None, *when)))
        self.count, self._before = number, []
        if number > self._next_tidying:
            self.tidy()

    def keep(self, firing: Firing) -> None:
        """Record a firing in progress, with its announced data."""
        if self.terms:
            before, after = self.text(firing.before), self.text(firing.after)
            origin = None if firing.node is None else origin_line(firing.node.origin)
            firing = firing._replace(before=before, after=after, origin=origin, depth=self.depth)
        self.records.append(firing)

    def on_exchange(self, fgraph: FunctionGraph, node: Apply, op: Any, reason: Any) -> None:
        old, out = exchanged(node, op)
        self._at, self._before = self._turn_to(fgraph).end, [(reason, old, out, node, ())]
        self.on_redirect(fgraph, old, out, (), reason)

    def tidy(self) -> None:
        """Release data about graphs for entries that have left the buffer."""
        if self.size is None or not self.records:
            return
        self._next_tidying = self.count + self.size
        oldest = self.records[0]
        for graph in [graph for graph in self.pasts if graph < oldest.graph]:
            del self.pasts[graph]
        past = self.pasts[oldest.graph]
        if oldest.number > past.count + 1:
            past.turn(oldest.at)

    def mark(self) -> tuple[int, int]:
        return self.count, self.tried_count

    def on_take_back(self, fgraph: FunctionGraph, mark: Any, by: str, why: str) -> None:
        """Remove the firings since the mark; their tries name who undid them, and why. (Entries
        that have left the buffer do not return.)
        """
        self.forget(mark[0])
        self._close(self._inner)
        since: list[Attempt] = []
        while self.tries and self.tries[-1].number > mark[1]:
            since.append(self.tries.pop())
        self.tries += [a.taken_back(by, why) for a in reversed(since)]

    def forget(self, count: int) -> None:
        """Remove the firings after number `count`, which did not take place after all."""
        self.tidy()
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
        """Record that rules are about to be tried at a node. known: all rules for its op; those
        that are no candidates were ruled out by the index.
        """
        self._visited = fgraph, node, self.text(node)
        there = set(candidates)
        for rule in known:
            if rule not in there:
                self._close([self._attempt(rule, node, "failed", None, 0.0, ruled_out=True)])

    def tried(self, rule: Any, node: Apply, verdict: str, reason: Any, seconds: float) -> None:
        """Record that a rule was tried at the visited node. verdict: fired, failed, refused or
        error; reason: what refused, or the exception. Tries within a strategy get the outcome of
        the whole.
        """
        from rewrite_engine.rewrite.trace.attempts import blamed, settled

        inner = self._inner
        if inner and verdict == "failed":
            reason = blamed(rule, inner)
        whole = self._attempt(rule, node, verdict, reason, seconds)
        self._close([*settled(inner, whole, self.count), whole])

    @property
    def inside(self) -> int:
        """Return the number of tries so far in the strategy that is being tried."""
        return len(self._inner)

    def within(
        self, rule: Any, node: Apply, verdict: str, reason: Any, seconds: float,
        ruled_out: bool = False,
    ) -> None:  # fmt: skip
        """Record that a rule was tried as a part of a strategy, perhaps at a node outside the
        graph. verdict: as in `tried`; "fired" becomes final if the whole strategy does.
        """
        self._inner.append(self._attempt(rule, node, verdict, reason, seconds, ruled_out))

    def undo(self, start: int, by: str) -> None:
        """Mark the tries after the first `start` as taken back, because a sequence fails."""
        from rewrite_engine.rewrite.trace.attempts import failure

        inner = self._inner
        if start < len(inner):
            why = failure(inner[-1])
            inner[start:] = [a.taken_back(by, why) for a in inner[start:]]

    def _close(self, tries: Iterable[Attempt]) -> None:
        """Record finished tries."""
        for a in tries:
            self.tried_count += 1
            self.tries.append(replace(a, number=self.tried_count))
        self._inner.clear()

    def _attempt(
        self, rule: Any, node: Apply, verdict: str, reason: Any, seconds: float,
        ruled_out: bool = False,
    ) -> Attempt:  # fmt: skip
        from rewrite_engine.rewrite.trace import attempts as a  # few traces ask why

        fgraph, visited, term = self._visited or (None, None, "")
        found = a.diagnosed(rule, node, fgraph, verdict, reason, self.text)
        return a.Attempt(
            number=0, graph=self.graph, phase=self.phase, rule=rule, node=node,
            term=term if visited is node else self.text(node), verdict=verdict, part=found.part,
            reason="" if verdict == "fired" else found.reason,
            bindings={name: a.shown(value, self.text) for name, value in found.bindings.items()},
            evidence=a.evidence_texts(found.evidence),
            firing=self.count if verdict == "fired" else None, ruled_out=ruled_out, strategy=None,
            took=seconds, seconds=perf_counter() - self.started,
        )  # fmt: skip

    # --- reading ---------------------------------------------------------------------------------

    def oldest(self, graph: int | None = None) -> FunctionGraph:
        """Return a copy of a graph (by its number, from 1 on; None: the last one) before its oldest
        recorded entry: the graph with which `replay` begins. Raises `LookupError` if there is none.
        """
        self.tidy()
        wanted = self.graph if graph is None else graph
        past = self.pasts.get(wanted)
        if past is None:
            raise LookupError(f"the trace has no record of graph {wanted}, only of {[*self.pasts]}")
        first = next((f for f in self.records if f.graph == wanted and not f.part), None)
        then = past.end if first is None else first.at
        return past.copy(then if past.turned else 0)[0]

    def addresses(self) -> dict[int, Address]:
        """Return where each recorded firing took place (`places.py`), by its number; later firings
        of a group have no address.
        """
        self.tidy()
        place: dict[Apply, Address] = {}
        found: dict[int, Address] = {}
        graph, pasts = 0, self.pasts
        for firing in self.records:
            if firing.graph != graph:
                if firing.graph not in pasts or (firing.part and pasts[firing.graph].turned):
                    continue
                graph = firing.graph
                place = pasts[graph].numbers(firing.at if pasts[graph].turned else 0)
            if firing.node in place:
                found[firing.number] = place[firing.node]
            for j, node in enumerate(firing.makes):
                place[node] = (firing.number, j)
        return found

    def text(self, v: Any) -> str:
        """Return a term as text, `depth` levels deep."""
        return brief(v, self.depth)

    def lines(self) -> Iterator[str]:
        """Yield the whole record as JSON lines (`trace/records.py`), in order."""
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


def asked_for_tries(fgraph: FunctionGraph) -> Trace | None:
    """Return the trace of a graph that records every try, or None."""
    return next((f for f in fgraph.features if isinstance(f, Trace) and f.attempts), None)
