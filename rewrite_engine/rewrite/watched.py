"""Loop of the drivers that counts and times every try of a rule and, for a trace with attempts,
records the reason for its outcome.

A feature of the graph requests this (`Feature.times`): a trace does, and a `Stopwatch` does nothing
else. The changes to the graph are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from sys import modules
from time import perf_counter
from typing import Any

from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.match.dispatch import Candidates
from rewrite_engine.match.rule import Rule
from rewrite_engine.rewrite.loop import Stop
from rewrite_engine.rewrite.run import Called, Run
from rewrite_engine.rewrite.step import Refusal
from rewrite_engine.rewrite.trace import asked_for_tries


class Stopwatch(Feature):
    """Feature that makes drivers count and time every try of a rule:
    `driver.rewrite(fgraph, Stopwatch())`.
    """

    times = True


def kind_for(fgraph: FunctionGraph, kind: Any) -> Any:
    """Return the kind of run that the features of a graph require."""
    return watched(kind) if any([f.times for f in fgraph.features]) else kind


@cache
def watched(kind: type[Any]) -> type[Any]:
    """Return a subclass of a kind of run that counts, times and records every try."""
    return type(f"Watched{kind.__name__}", (kind, Watched), {})


class Watched(Run):
    """Run that counts, times and records every try. then: when the present one began; loaded: how
    many modules there were; inside: the seconds of all rules within strategies.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.tries, self.asked = asked_for_tries(self.fgraph), self.time_part
        self.then = self.inside = 0.0
        self.loaded = 0

    def go(self, order: Iterable[Apply]) -> None:
        super().go(order if self.tries is None else self.told(order))

    def told(self, order: Iterable[Apply]) -> Iterator[Apply]:
        """Yield the nodes; notify the trace first of the rules tried there."""
        dispatch = self.dispatch
        for node in order:
            known = dispatch.rules_for(node.op).rules
            self.tries.visit(self.fgraph, node, dispatch.candidates(node), known)
            yield node

    def called(self, rules: Candidates) -> Called:
        return [(rule, partial(self.time, rule, rule.apply)) for rule in rules]

    def time(self, rule: Rule, apply: Any, fgraph: FunctionGraph, node: Apply) -> Any:
        """Try a rule and time it. Time that rules take within a strategy counts for them."""
        stats, before, self.loaded = self.tally[rule.name], self.inside, len(modules)
        stats.calls += 1
        self.then = perf_counter()
        try:
            new = apply(fgraph, node)
        finally:
            stats.seconds -= self.inside - before
        if new is not None and new is not False:
            return new
        if self.tries is None:  # by far the most
            self.took(rule)
        else:
            self.tell(node, rule, False)
        return None

    def take(self, node: Apply, rule: Rule, new: Any) -> bool:
        if self.tries is None:
            try:
                return super().take(node, rule, new)
            finally:
                self.took(rule)
        try:
            hit = super().take(node, rule, new)
        except Stop:
            if self.hit:
                self.tell(node, rule, True)
            raise
        self.tell(node, rule, hit)
        return hit

    def fail(self, node: Apply, rule: Rule, error: Exception) -> None:
        if self.tries is not None:
            self.tries.tried(rule, node, "error", error, self.took(rule))
        super().fail(node, rule, error)

    def tell(self, node: Apply, rule: Rule, hit: bool) -> None:
        """Record a finished try in the trace (a rule that raised is already recorded)."""
        reason, self.reason = self.reason, None
        verdict = "fired" if hit else "refused" if isinstance(reason, Refusal) else "failed"
        self.tries.tried(rule, node, verdict, reason, self.took(rule))

    def took(self, rule: Rule) -> float:
        """Return how long the present try took, and record it, separately if it loaded modules."""
        seconds = perf_counter() - self.then
        if len(modules) > self.loaded:
            self.tally[rule.name].loading += seconds
        else:
            self.tally[rule.name].seconds += seconds
        return seconds

    def time_part(self, part: Rule, node: Apply, ask: Callable[[], tuple[Any, str, Any]]) -> Any:
        """Try a rule within a strategy and time it. ask: a function that returns its result, a
        verdict, and why.
        """
        stats = self.tally[part.name]
        stats.calls += 1
        verdict, why = "error", None
        then, loaded = perf_counter(), len(modules)
        try:
            found, verdict, why = ask()
        except Exception as error:
            why = error
            raise
        finally:
            took = perf_counter() - then
            if len(modules) > loaded:
                stats.loading += took
                self.loaded = len(modules)  # (that of the rule around it is its own)
            else:
                stats.seconds += took
            self.inside += took
            if self.tries is not None:
                self.tries.within(part, node, verdict, why, took)
        return found
