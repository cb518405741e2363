"""In-place insertion: an op overwrites an input that nobody needs any more, instead of allocating.

It comes last, on the finished graph, and decides per node from liveness and aliasing: the `DestroyHandler` answers on the
one order of the graph whether every other reader can run before. Nothing is tried and taken back.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.op import Op
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.trace import Trace

_cannot: Any = Op.inplace_on_inputs


class InplaceOptimizer(GraphRewriter):
    """Give every op that can work in place (`Op.inplace_on_inputs`) an input to overwrite, where it is safe."""

    def __init__(self, name: str = "inplace") -> None:
        super().__init__(name)

    #: what a trace and a report call this step
    rule_name = "inplace/overwrite_dead_input"

    def run(self, fgraph: Any, trace: Trace | None, result: Result) -> None:
        if fgraph.guard is None:
            fgraph.attach_feature(DestroyHandler())
        for node in fgraph.toposort():
            result.visits += 1
            if node in fgraph and self.overwrite(fgraph, node, trace):
                result.fired[self.rule_name] = result.fired.get(self.rule_name, 0) + 1
        result.stopped = StopReason.PASSED

    def overwrite(self, fgraph: Any, node: Apply, trace: Trace | None) -> bool:
        """Put an in-place version of a node in its place, if there is one and it is safe."""
        if node.op.destroy_map or type(node.op).inplace_on_inputs is _cannot:
            return False
        for i in range(len(node.inputs)):
            op = node.op.inplace_on_inputs([i], node) if node.inputs[i].owner or self.mutable(fgraph, node, i) else None
            if op is None or not fits(op, node, i) or fgraph.guard.refusal(fgraph, node, i) is not None:
                continue
            new = op.make_node(*node.inputs)
            if trace is not None:
                trace.about(node, new.outputs[0])
            fgraph.replace_all(zip(node.outputs, new.outputs, strict=True), self.rule_name)
            if trace is not None:
                trace.fired(self.rule_name)
            return True
        return False

    def mutable(self, fgraph: Any, node: Apply, i: int) -> bool:
        """Whether a root may be overwritten."""
        return node.inputs[i] in fgraph.guard.mutable


def fits(op: Any, node: Apply, i: int) -> bool:
    """Whether the types allow output and input to share memory (an op may ask for more)."""
    return any(i in destroyed for destroyed in op.destroy_map.values())
