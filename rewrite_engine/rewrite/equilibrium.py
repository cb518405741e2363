"""`EquilibriumOptimizer`: rules to a fixed point, from one worklist, inputs first.

There are no passes over the whole graph. The worklist is the sorted list of the nodes there are,
consumed by index, and a heap of those that are new or changed since; both by level, so a node is
visited when everything below it is settled. A node is visited again only if something changed that
a rule at it may have looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Any

from rewrite_engine.errors import CycleError, RuleLoopError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.step import fail, put
from rewrite_engine.rewrite.trace import Trace, brief


class EquilibriumOptimizer(GraphRewriter):
    """Apply rules until none applies.

    rules: a `RuleSet` or rules in order; at a node the first that applies is taken. max_firings:
    the budget (default: 20 per node of the graph, and 10,000); using it up raises `RuleLoopError`,
    which names the rules.
    """

    def __init__(
        self, rules: Iterable[Rule], name: str = "equilibrium", max_firings: int | None = None
    ) -> None:
        super().__init__(name)
        self.rules = rules if isinstance(rules, RuleSet) else RuleSet(rules)
        self.max_firings = max_firings

    def run(self, fgraph: Any, trace: Trace | None, result: Result) -> None:
        run = Run(fgraph, self, trace, result)
        fgraph.agenda = run.heap
        fgraph.lets_go = trace is None and fgraph.owns_nodes and not fgraph.features
        try:
            run.go()
        finally:
            fgraph.agenda = None
            fgraph.lets_go = False
            fgraph.queued.clear()
            fgraph.flush()


class Run:
    """One run over one graph."""

    def __init__(
        self, fgraph: Any, driver: EquilibriumOptimizer, trace: Trace | None, result: Result
    ) -> None:
        self.fgraph = fgraph
        self.heap: list[tuple[int, int, Apply]] = []
        self.trace = trace
        self.result = result
        self.dispatch = driver.rules.dispatch
        self.left = driver.max_firings or 10_000 + 20 * len(fgraph)
        self.ripples: dict[Apply, int] = {}
        self.recent: list[tuple[Rule, str]] = []
        self.kept: set[tuple[Apply, Rule]] = set()  # nodes still there after a rule replaced them

    def go(self) -> None:
        """Visit every node that may have something to match, until there is none."""
        candidates, reach = self.dispatch.candidates, self.dispatch.reach
        fgraph, trace, fired = self.fgraph, self.trace, self.result.fired
        dirty, settle, level = fgraph.dirty, fgraph.settle, fgraph.order.level
        left, visits, watched = self.left, 0, trace is not None
        for node in self.worklist():
            visits += 1
            changed = node in dirty
            if changed and not settle(node):
                continue
            for rule in candidates(node):
                try:
                    new = rule.apply(fgraph, node)
                    if new is None or new is False:
                        continue
                    out = node.outputs[0]
                    plain = isinstance(new, Variable) and new.type is out.type
                    if watched or not plain or len(node.outputs) > 1:
                        if not put(fgraph, node, rule, new, trace):
                            continue
                    elif fgraph.replace(out, new, rule) is out:
                        continue
                except Exception as error:
                    if isinstance(error, CycleError) and (node, rule) in self.kept:
                        raise endless(rule, node) from error
                    fail(rule, node, error)
                    continue
                fired[rule.name] = fired.get(rule.name, 0) + 1
                left -= 1
                if node in level:  # what replaces it is made from it: if that goes on, it is a loop
                    self.kept.add((node, rule))
                    fgraph.schedule(node)
                if left < 100:
                    self.watch(rule, new, left)
                break
            else:
                if self.ripples or (changed and reach(node.op)):
                    self.ripple(node, changed)
        self.result.visits = visits
        self.result.stopped = StopReason.SATURATED

    def worklist(self) -> Iterator[Apply]:
        """Yield live nodes by level: those there are, and those that the graph puts on the heap
        meanwhile.
        """
        fgraph, heap = self.fgraph, self.heap
        level = fgraph.order.level
        order = fgraph.toposort()
        levels = [level[node] for node in order]
        queued = fgraph.queued
        queued.update(order)
        i, n = 0, len(order)
        while i < n or heap:
            if heap and (i >= n or heap[0][0] < levels[i]):
                at, tie, node = heappop(heap)
            else:
                at, tie, node = levels[i], -i, order[i]
                i += 1
            if node not in queued:
                continue
            now = level[node]
            if now > at:
                heappush(heap, (now, tie, node))
                continue
            queued.discard(node)
            yield node

    def ripple(self, node: Apply, changed: bool) -> None:
        """Let nodes further above be tried again, as far up as a rule may look down at this one."""
        reach = self.ripples.pop(node, 0)
        if changed:
            reach = max(reach, self.dispatch.reach(node.op))
        if not reach:
            return
        for out in node.outputs:
            for client in self.fgraph.clients[out]:
                if reach > 1:
                    self.ripples[client] = max(reach - 1, self.ripples.get(client, 0))
                self.fgraph.schedule(client)

    def watch(self, rule: Rule, new: Any, left: int) -> None:
        """Near the end of the budget: note who fires; at the end, say so."""
        self.recent.append((rule, brief(new) if isinstance(new, Variable) else str(new)))
        if left > 0:
            return
        names = list(dict.fromkeys(rule.name for rule, _ in self.recent))
        terms = [f"    {rule.name} made {term}" for rule, term in self.recent[-2 * len(names) :]]
        self.result.stopped = StopReason.BUDGET
        raise RuleLoopError(
            f"the phase {self.result.name} does not come to an end: "
            "its budget of firings is used up\n"
            f"    the rules that fired last: {', '.join(names)}\n" + "\n".join(terms)
        )


def endless(rule: Rule, node: Apply) -> Exception:
    """The error for a rule whose right side contains what it replaces."""
    term = brief(node.outputs[0])
    return rule.error(RuleLoopError, f"makes of {term} a term that contains it, again and again")
