"""`WalkingOptimizer`: every node once, in order. What a rule makes is not visited again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from rewrite_engine.graph.node import Apply
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.run import Run
from rewrite_engine.rewrite.trace import Trace


class WalkingOptimizer(GraphRewriter):
    """Try the rules once at each node.

    order: "in_to_out" (a node after what it needs) or "out_to_in". At a node the first rule that
    applies is taken. budget: see `RunBudget`.
    """

    def __init__(
        self,
        rules: Iterable[Rule] | Rule,
        order: Literal["in_to_out", "out_to_in"] = "in_to_out",
        name: str = "walk",
        budget: RunBudget | None = None,
    ) -> None:
        super().__init__(name)
        if order not in ("in_to_out", "out_to_in"):
            raise ValueError(f'the order is "in_to_out" or "out_to_in", not {order!r}')
        self.rules = rules if isinstance(rules, RuleSet) else RuleSet(rules)
        self.order = order
        self.budget = RunBudget.of(budget)

    def run(self, fgraph: Any, trace: Trace | None, result: Result) -> None:
        nodes = fgraph.toposort()
        if self.order == "out_to_in":
            nodes.reverse()
        result.stopped = StopReason.PASSED
        Run(fgraph, self.rules, self.budget, trace, result).execute(still_there(fgraph, nodes))


def still_there(fgraph: Any, nodes: Iterable[Apply]) -> Iterator[Apply]:
    """Those of the nodes that are in the graph when their turn comes."""
    for node in nodes:
        if node in fgraph:
            yield node
