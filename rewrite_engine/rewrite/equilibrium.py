"""Drivers that apply rules in some order: to a fixed point by `EquilibriumOptimizer` (innermost)
and `OutermostOptimizer`, or once at each node by `WalkingOptimizer`.

Rewriting to a fixed point makes no passes over the whole graph. The worklist is the sorted list of
the initial nodes, consumed by index, and a heap of new or changed nodes. Both are ordered by level,
so a node is visited after everything below it is settled (outermost: after everything above it is
done). A node is visited again only if something changed that a rule at it may have read. Visiting a
node is defined in `rewrite/run.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Any, Literal

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.match.dispatch import Dispatch
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.run import Run
from rewrite_engine.rewrite.watched import kind_for


class Innermost(Run):
    """Run that visits the lowest node first among those that may match."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.retries: dict[Apply, int] = {}

    def order(self) -> Iterator[Apply]:
        """Yield live nodes by level, settled: the initial ones, and those that arrive on the
        heap.
        """
        fgraph, heap = self.fgraph, self.heap
        level, dirty, settle, reach = (
            fgraph.order.level, fgraph.dirty, fgraph.settle, self.dispatch.reach,
        )  # fmt: skip
        order, levels = self.given()
        raised = fgraph.order.raised = []  # empty: levels are what they were
        queued, retries = self.queued, self.retries
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
            if raised:
                del raised[1:]
                now = level[node]
                if now > at:
                    heappush(heap, (now, tie, node))
                    continue
            queued.discard(node)
            changed = node in dirty
            if changed and not settle(node):
                continue
            yield node
            if self.hit:
                self.hit = False
                continue
            up = retries.pop(node, 0) if retries else 0
            if changed and (own := reach(node.op)) > up:
                up = own
            if up:
                self.retry_above(node, up)
        self.result.stopped = StopReason.SATURATED

    def given(self) -> tuple[list[Apply], list[int]]:
        """Return the nodes to visit first, and their levels, in order."""
        return self.fgraph.order.arranged()

    def retry_above(self, node: Apply, up: int) -> None:
        """Retry nodes up to `up` levels above, from where a rule may read this node."""
        fgraph, queued = self.fgraph, self.queued
        for out in node.outputs:
            for client in fgraph.users[out]:
                if up > 1:
                    self.retries[client] = max(up - 1, self.retries.get(client, 0))
                if client not in queued:
                    fgraph.schedule(client)


class InnermostInTurns(Innermost):
    """Run innermost first and in turns: other rules where these have changed something, and these
    where the others have, until neither do.

    touched: the nodes that entered, or were scheduled again, in this turn, in this order.
    """

    def __init__(self, others: Dispatch, *args: Any) -> None:
        super().__init__(*args)
        self.others = others
        self.touched: Any = None

    def entered(self, node: Apply, level: int) -> None:
        super().entered(node, level)
        self.touched[node] = None

    def schedule(self, node: Apply, level: int) -> None:
        super().schedule(node, level)
        self.touched[node] = None

    def go(self, order: Iterable[Apply]) -> None:
        left = None
        while self.account.left != left:
            left = self.account.left
            super().go(order)
            self.dispatch, self.others = self.others, self.dispatch
            order = self.order()

    def given(self) -> tuple[list[Apply], list[int]]:
        touched, self.touched = self.touched, {}
        if touched is None:
            return super().given()
        level, reach = self.level, self.dispatch.reach
        nodes = sorted([node for node in touched if node in level], key=level.__getitem__)
        self.retries = {node: reach(node.op) for node in nodes}
        return nodes, [level[node] for node in nodes]


class Outermost(Run):
    """Run that visits the highest node first."""

    def order(self) -> Iterator[Apply]:
        """Yield live nodes, the highest level first. After each firing the graph is settled, so
        that nodes above are tried again before nodes below.
        """
        fgraph, inbox, level, queued = self.fgraph, self.heap, self.level, self.queued
        raised = fgraph.order.raised = list[Apply]()  # they stand higher than the heap says
        nodes = fgraph.toposort()
        queued.update(nodes)
        heap = [(-level[node], i, node) for i, node in enumerate(reversed(nodes))]
        tie = len(heap)
        while heap or inbox:
            for _, late, node in inbox:
                if node in level:
                    heappush(heap, (-level[node], -late, node))
            inbox.clear()
            for node in raised:  # it stands too low on the heap, and is passed over there later
                if node in queued and node in level:
                    tie += 1
                    heappush(heap, (-level[node], tie, node))
            raised.clear()
            if not heap:
                break
            _, _, node = heappop(heap)
            if node not in queued:
                continue
            queued.discard(node)
            yield node
            if self.hit or fgraph.dirty:
                self.hit = False
                self.retry_above(fgraph.flush())
        self.result.stopped = StopReason.SATURATED

    def retry_above(self, changed: Iterable[Apply]) -> None:
        """Retry the nodes from which a rule may read the changed nodes."""
        fgraph, reach = self.fgraph, self.dispatch.reach
        level = fgraph.order.level
        rising = {node: reach(node.op) for node in changed if node in level}
        while rising:
            above: dict[Apply, int] = {}
            for node, left in rising.items():
                fgraph.schedule(node)
                if left:
                    for out in node.outputs:
                        for client in fgraph.users[out]:
                            above[client] = max(left - 1, above.get(client, 0))
            rising = above


class Walk(Run):
    """Run that visits each node once, if it still exists at its turn."""

    defers = False

    def __init__(self, backwards: bool, *args: Any) -> None:
        super().__init__(*args)
        self.backwards = backwards

    def order(self) -> Iterator[Apply]:
        nodes = self.fgraph.toposort()
        self.result.stopped = StopReason.PASSED
        for node in reversed(nodes) if self.backwards else nodes:
            if node in self.level:
                yield node
                self.hit = False


class EquilibriumOptimizer(GraphRewriter):
    """Driver that applies rules until none applies, innermost terms first.

    rules: a `RuleSet`, or rules in order; at a node the first that applies is used. budget: see
    `RunBudget`; using it up raises `RuleLoopError`, which shows the cycle, and restores the graph
    as it was before. again: rules without work in the initial graph: they are tried where the
    others have changed something, and the others where they have, in turns.
    """

    kind: type[Any] = Innermost
    more: tuple[Any, ...] = ()

    def __init__(
        self,
        rules: Iterable[Rule] | Rule,
        name: str = "equilibrium",
        budget: RunBudget | None = None,
        again: RuleSet | None = None,
    ) -> None:
        super().__init__(name)
        self.rules = rules if isinstance(rules, RuleSet) else RuleSet(rules)
        self.budget = RunBudget.of(budget)
        if again:
            self.kind, self.more = InnermostInTurns, (again.dispatch,)

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        kind = kind_for(fgraph, self.kind)
        kind(*self.more, fgraph, self.rules, self.budget, result).execute()


class OutermostOptimizer(EquilibriumOptimizer):
    """Driver that applies rules until none applies, outermost terms first: a rule fires at a node
    only if none applies to anything computed from it. Unneeded terms are then never processed, so
    this ends where innermost rewriting may not (lazy lists).
    """

    kind = Outermost


class WalkingOptimizer(EquilibriumOptimizer):
    """Driver that tries the rules once at each node.

    order: "in_to_out" (a node after its inputs) or "out_to_in". At a node the first rule that
    applies is used. budget: see `RunBudget`.
    """

    kind = Walk

    def __init__(
        self,
        rules: Iterable[Rule] | Rule,
        order: Literal["in_to_out", "out_to_in"] = "in_to_out",
        name: str = "walk",
        budget: RunBudget | None = None,
    ) -> None:
        if order not in ("in_to_out", "out_to_in"):
            raise ValueError(f'the order must be "in_to_out" or "out_to_in", not {order!r}')
        super().__init__(rules, name, budget)
        self.order = order
        self.more = (order == "out_to_in",)
