"""In-place insertion: an op overwrites an input that nobody needs any more, instead of allocating.

It comes last, on the finished graph, and decides per node from liveness and aliasing: the
`DestroyHandler` answers on the one order of the graph whether every other reader can run before.
Nothing is tried and taken back.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.rewrite.driver import GraphRewriter
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.trace import Trace

_cannot: Any = Op.inplace_on_inputs


class InplaceOptimizer(GraphRewriter):
    """Give every op that can work in place (`Op.inplace_on_inputs`) an input to overwrite, where it
    is safe.

    Of the readers of a value the last `TRIES` in the present order are asked; one further down
    could hardly be moved behind all the others, and asking every reader of a value that thousands
    read would be quadratic.
    """

    TRIES = 4

    #: what a trace and a report call this step
    rule_name = "inplace/overwrite_dead_input"

    def __init__(self, name: str = "inplace") -> None:
        super().__init__(name)

    def run(self, fgraph: Any, trace: Trace | None, result: Result) -> None:
        if fgraph.guard is None:
            fgraph.attach_feature(DestroyHandler())
        late: dict[Variable, int] = {}
        for node in fgraph.toposort():
            result.visits += 1
            if node in fgraph and self.overwrite(fgraph, node, late, trace):
                result.count(self.rule_name)
        result.stopped = StopReason.PASSED

    def overwrite(
        self, fgraph: Any, node: Apply, late: dict[Variable, int], trace: Trace | None
    ) -> bool:
        """Put an in-place version of a node in its place, if there is one and it is safe."""
        if node.op.destroy_map or type(node.op).inplace_on_inputs is _cannot:
            return False
        for i, v in enumerate(node.inputs):
            if self.is_early(fgraph, node, v, late):
                continue
            op = node.op.inplace_on_inputs([i], node)
            if op is None or fgraph.guard.refusal(fgraph, node, i) is not None:
                continue
            new = op.make_node(*node.inputs)
            if trace is not None:
                trace.about(node, new.outputs[0])
            for old, out in zip(node.outputs, new.outputs, strict=True):
                fgraph.replace(old, out, self.rule_name)
            if trace is not None:
                trace.fired(self.rule_name)
            return True
        return False

    def is_early(self, fgraph: Any, node: Apply, v: Variable, late: dict[Variable, int]) -> bool:
        """Whether a variable cannot be overwritten by anybody, or several of its readers come
        after `node`.
        """
        if v.owner is None:
            return v not in fgraph.guard.mutable
        readers = fgraph.clients[v]
        if len(readers) <= self.TRIES:
            return False
        level = fgraph.order.level
        if v not in late:
            late[v] = sorted([level[c] for c in readers])[-self.TRIES]
        return bool(level[node] < late[v])
