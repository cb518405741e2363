"""`WalkingOptimizer`: every node once, in order. What a rule makes is not visited again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from rewrite_engine.match.rule import Rule
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.step import attempt
from rewrite_engine.rewrite.trace import Trace


class WalkingOptimizer(GraphRewriter):
    """Try the rules once at each node.

    order: "in_to_out" (a node after what it needs) or "out_to_in". At a node the first rule that
    applies is taken.
    """

    def __init__(
        self,
        rules: Iterable[Rule],
        order: Literal["in_to_out", "out_to_in"] = "in_to_out",
        name: str = "walk",
    ) -> None:
        super().__init__(name)
        self.rules = rules if isinstance(rules, RuleSet) else RuleSet(rules)
        self.order = order

    def run(self, fgraph: Any, trace: Trace | None, result: Result) -> None:
        nodes = fgraph.toposort()
        if self.order == "out_to_in":
            nodes.reverse()
        candidates = self.rules.dispatch.candidates
        for node in nodes:
            if node not in fgraph:
                continue
            result.visits += 1
            for rule in candidates(node):
                if attempt(fgraph, node, rule, trace):
                    result.fired[rule.name] = result.fired.get(rule.name, 0) + 1
                    break
        result.stopped = StopReason.PASSED
