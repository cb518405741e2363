"""PyTensor's drivers with their own arguments, as drivers that are here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.op import Op
from rewrite_engine.match.decorate import node_rewriter
from rewrite_engine.match.rule import Rule
from rewrite_engine.rewrite.budget import RunBudget
from rewrite_engine.rewrite.driver import GraphRewriter, SequentialOptimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer, WalkingOptimizer
from rewrite_engine.rewrite.result import Result

__all__ = [
    "EquilibriumGraphRewriter",
    "SequentialGraphRewriter",
    "SubstitutionNodeRewriter",
    "WalkingGraphRewriter",
    "copy_stack_trace",
]


def copy_stack_trace(from_var: Any, to_var: Any) -> Any:
    """`to_var` as it is: what takes the place of a node comes from the same lines anyway."""
    return to_var


def SubstitutionNodeRewriter(op1: Op, op2: Op, transfer_tags: bool = True) -> Rule:
    """The rule that puts one op in the place of another, applied to the same inputs."""

    def substitute(fgraph: FunctionGraph, node: Any) -> Any:
        return op2.make_node(*node.inputs).outputs

    return node_rewriter([op1])(substitute)


class WalkingGraphRewriter(WalkingOptimizer):
    """`WalkingOptimizer`; order: first outputs, then inputs, if nothing else is said."""

    def __init__(
        self,
        node_rewriter: Rule,
        order: Literal["in_to_out", "out_to_in"] = "out_to_in",
        name: str = "walk",
    ) -> None:
        super().__init__(node_rewriter, order, name)


class EquilibriumGraphRewriter(EquilibriumOptimizer):
    """`EquilibriumOptimizer`. max_use_ratio: how often each rule may fire for each node that there
    is; the run stops there, and keeps what is done.
    """

    def __init__(
        self, rewriters: Iterable[Rule], max_use_ratio: float | None = None, name: Any = None
    ) -> None:
        super().__init__(rewriters, name or "equilibrium")
        self.max_use_ratio = max_use_ratio

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        if self.max_use_ratio is not None:
            most = int(self.max_use_ratio * len(fgraph))
            self.budget = RunBudget(per_rule=most, on_budget="stop")
        super().run(fgraph, result)


class SequentialGraphRewriter(SequentialOptimizer):
    """`SequentialOptimizer` of drivers, one by one or as one list."""

    def __init__(self, *rewrites: Any, name: str = "sequence") -> None:
        several = len(rewrites) == 1 and not isinstance(rewrites[0], GraphRewriter)
        super().__init__(rewrites[0] if several else rewrites, name)
