"""`WalkingOptimizer`: every node once, in order. What a rule makes is not visited again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply
from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.run import Run


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

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        Walk(self.order == "out_to_in", fgraph, self.rules, self.budget, result).execute()


class Walk(Run):
    """A run that visits each node once that is still there when its turn comes."""

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

    def entered(self, node: Apply, level: int) -> None:
        self.fresh.append(node)

    def schedule(self, node: Apply, level: int) -> None:
        """It is not visited again."""
