"""What all drivers share: `GraphRewriter`, and how they are run one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

from rewrite_engine.errors import RewriteEngineError
from rewrite_engine.rewrite.collector import paused_collector
from rewrite_engine.rewrite.result import Result, StopReason
from rewrite_engine.rewrite.trace import Trace


class GraphRewriter:
    """Something that improves a `FunctionGraph`. Subclasses define `run(fgraph, trace, result)`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def rewrite(self, fgraph: Any, trace: Trace | None = None) -> Result:
        """Improve the graph in place; return what was done.

        Errors name the rule (see each driver), and carry as `result` what was done until then.
        """
        result = Result(self.name, nodes_before=len(fgraph))
        merged = fgraph.merged
        start = perf_counter()
        if trace is not None:
            trace.begin(self.name, fgraph)
        try:
            with paused_collector():
                self.run(fgraph, trace, result)
        except BaseException as error:
            if result.stopped is not StopReason.BUDGET:
                result.stopped = StopReason.FAILED
            if isinstance(error, RewriteEngineError):
                error.result = result  # of the outermost driver in the end
            raise
        finally:
            result.seconds = perf_counter() - start
            result.nodes_after = len(fgraph)
            result.merged = fgraph.merged - merged
            if trace is not None:
                trace.end(result, fgraph)
        return result

    apply = rewrite

    def run(self, fgraph: Any, trace: Trace | None, result: Result) -> None:
        """Do the work and note it in `result`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class SequentialOptimizer(GraphRewriter):
    """Drivers one after the other."""

    def __init__(self, parts: Sequence[GraphRewriter], name: str = "sequence") -> None:
        super().__init__(name)
        self.parts = tuple(parts)

    def run(self, fgraph: Any, trace: Trace | None, result: Result) -> None:
        for part in self.parts:
            try:
                result.parts.append(part.rewrite(fgraph, trace))
            except RewriteEngineError as error:
                result.parts.append(error.result)
                result.stopped = error.result.stopped
                raise
        if any(p.stopped is StopReason.BUDGET for p in result.parts):
            result.stopped = StopReason.BUDGET

    def __iter__(self) -> Iterator[GraphRewriter]:
        return iter(self.parts)


class MergeOptimizer(GraphRewriter):
    """Equal nodes become one. A graph does that by itself at all times; this driver settles what is
    left to be done (after `fgraph.merging` was off), and is the phase under which merging shows in
    a report.

    reorders: from here on sums and products of floats merge in whatever order their operands stand
    (the one that came first stays).
    """

    def __init__(self, name: str = "merge", reorders: bool = False) -> None:
        super().__init__(name)
        self.reorders = reorders

    def run(self, fgraph: Any, trace: Trace | None, result: Result) -> None:
        fgraph.merging = True
        fgraph.reorders = self.reorders
        for node in fgraph.toposort():
            if (
                node in fgraph
                and not node.op.destroy_map
                and fgraph.table.get(fgraph.key_of(node, node.inputs)) is not node
            ):
                fgraph.mark(node, None, None)
                fgraph.flush()
        result.stopped = StopReason.PASSED
