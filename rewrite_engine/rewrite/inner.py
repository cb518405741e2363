"""`InnerGraphs`: what happens to the graphs inside ops (`graph/inner.py`).

An op that is to be inlined gives way to its graph. The graph of any other op is rewritten by
itself, by the phases that the outer graph gets but for working in place, until nothing is left to
do: once for each distinct op, however often it is used and wherever, inner ones first. The op of
the new graph then takes the place of the old one, and what has become equal by that is merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.inner import held
from rewrite_engine.graph.node import build_node
from rewrite_engine.match.ruleset import RuleSet
from rewrite_engine.rewrite.driver import GraphRewriter, SequentialOptimizer
from rewrite_engine.rewrite.equilibrium import EquilibriumOptimizer
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.trace import Trace


class Descent(GraphRewriter):
    """Drivers in each distinct graph inside ops, inner ones first; the graph itself is left to
    others, but for the ops that come of it.
    """

    inside: Sequence[GraphRewriter] = ()

    def idle(self, fgraph: FunctionGraph) -> bool:
        return not held(fgraph)

    def open(self, fgraph: FunctionGraph, trace: Trace | None, result: Result) -> None:
        """What is done in a graph before those inside its ops."""

    def run(self, fgraph: FunctionGraph, trace: Trace | None, result: Result) -> None:
        self.open(fgraph, trace, result)
        new: dict[Any, Any] = {}
        graphs: dict[Any, Any] = {}  # copies of those that wait for what they hold
        places: dict[Any, str] = {}
        times: Counter[str] = Counter()
        stack = held(fgraph)[::-1]
        while stack:
            op = stack[-1]
            if op in new:
                stack.pop()
                continue
            if op not in places:
                times[str(op)] += 1
                places[op] = str(op) + (f" #{times[str(op)]}" if times[str(op)] > 1 else "")
            with Inside(trace, places[op], result):
                if op not in graphs:
                    graphs[op] = op.fgraph.clone()
                    self.open(graphs[op], trace, result)
                missing = [one for one in held(graphs[op]) if one not in new]
                stack += missing
                if not missing:
                    graph = graphs.pop(op)
                    whole = SequentialOptimizer([Exchange(new), *self.inside], "inside")
                    result.parts.append(whole.rewrite(graph, trace, result.within))
                    new[op] = op.clone(graph)
        exchange = Exchange(new)
        if not exchange.idle(fgraph):
            result.parts.append(exchange.rewrite(fgraph, trace))
        result.stopped = StopReason.PASSED


class InnerGraphs(Descent):
    """Inline what is to be inlined, and rewrite the graphs inside the other ops.

    rules: those that inline. inside: the drivers that rewrite an inner graph, in order.
    """

    def __init__(self, rules: RuleSet, name: str = "inner") -> None:
        super().__init__(name)
        self.rules = rules

    def open(self, fgraph: FunctionGraph, trace: Trace | None, result: Result) -> None:
        """Put graphs in the places of the ops that are to be inlined."""
        if any([op.inline for op in held(fgraph)]):
            part = EquilibriumOptimizer(self.rules, "inline", budget=self.budget)
            result.parts.append(part.rewrite(fgraph, trace, result.within))


class InnerFirst(Descent):
    """A driver in the graphs inside ops, and then in the graph itself."""

    def __init__(self, part: GraphRewriter) -> None:
        super().__init__(part.name)
        self.inside = (part,)

    def idle(self, fgraph: FunctionGraph) -> bool:
        return self.inside[0].idle(fgraph)

    def run(self, fgraph: FunctionGraph, trace: Trace | None, result: Result) -> None:
        (part,) = self.inside
        if held(fgraph):
            super().run(fgraph, trace, result)
            result.parts.append(part.rewrite(fgraph, trace, result.within))
        else:
            part.run(fgraph, trace, result)


class Inside:
    """A block in which an inner graph is worked on: phases and errors name its op."""

    def __init__(self, trace: Trace | None, place: str, result: Result) -> None:
        self.trace, self.place, self.result = trace, place, result
        self.before = len(result.parts)

    def __enter__(self) -> None:
        if self.trace is not None:
            self.trace.place = f" in {self.place}"

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self.trace is not None:
            self.trace.place = ""
        if isinstance(error, RewriteEngineError):
            error.add_note(f"    in {self.place}")
        for part in self.result.parts[self.before :]:
            for leaf in part.leaves():
                leaf.name, leaf.place = f"{leaf.name} in {self.place}", self.place


class Exchange(GraphRewriter):
    """Put ops in the places of those that they were made of."""

    #: what a trace and a report call this step
    rule_name = "inner/rewritten"

    def __init__(self, new: dict[Any, Any]) -> None:
        super().__init__("inner")
        self.new = new

    def idle(self, fgraph: FunctionGraph) -> bool:
        return all([self.new.get(op, op) is op for op in held(fgraph)])

    def run(self, fgraph: FunctionGraph, trace: Trace | None, result: Result) -> None:
        result.stopped = StopReason.PASSED
        for node in fgraph.toposort():
            op = self.new.get(node.op, node.op)
            if op is node.op or node not in fgraph:
                continue
            types = tuple([v.type for v in node.outputs])
            new = build_node(op, node.inputs, types, node.origin)
            if trace is not None:
                trace.about(node, new.outputs[0])
            for old, out in zip(node.outputs, new.outputs, strict=True):
                fgraph.replace(old, out, self.rule_name)
            if trace is not None:
                trace.fired(self.rule_name)
            result.count(self.rule_name)
