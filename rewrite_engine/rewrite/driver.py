"""Base of all drivers: `GraphRewriter`; drivers made of drivers; merging.

While a graph is rewritten, Python's cyclic collector is paused: graphs are live reference cycles,
and scanning them repeatedly makes rewriting superlinear. Which driver to use: see
`rewrite/strategies`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from time import perf_counter
from typing import Any

from rewrite_engine.errors import (
    ForeignObjectError,
    MethodNotDefined,
    RewriteEngineError,
    RuleError,
    describe,
)
from rewrite_engine.graph.feature import Feature
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.weak import on_death
from rewrite_engine.rewrite.budget import Account, RunBudget
from rewrite_engine.rewrite.loop import Cycle
from rewrite_engine.rewrite.result import Result, Rollback, StopReason

ENDLESS = (StopReason.BUDGET, StopReason.LOOP)


class paused_collector:  # noqa: N801  (used as a function)
    """Context manager that switches the collector off, if it is on, until the block ends. A block
    that is interrupted on entry or exit ends when its object dies. (With several threads, the one
    that switched the collector off switches it on again. There is no lock that Ctrl-C could leave
    locked.)
    """

    __slots__ = ("__weakref__", "end")
    end: Any

    def __enter__(self) -> None:
        self.end = None
        if gc.isenabled():
            self.end = on_death(self, gc.enable)
            gc.disable()

    def __exit__(self, *error: object) -> None:
        if self.end is not None:
            gc.enable()
            self.end = None


class GraphRewriter:
    """Base class of drivers that improve a `FunctionGraph`. Subclasses define
    `run(fgraph, result)`; or, as in other libraries, `apply(fgraph)`, and
    `add_requirements(fgraph)`, which is called first.

    budget: limits for one run, for drivers that apply rules. name: by default the class's name.
    """

    budget = RunBudget()
    name: str = "GraphRewriter"

    def __init__(self, name: str | None = None) -> None:
        self.name = self.name if name is None else name  # (that of the class)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.name = vars(cls).get("name", cls.__name__)  # `__init__` may be the subclass's own

    def optimize(self, fgraph: FunctionGraph) -> Result:
        """Call `rewrite`; an older name."""
        return self.rewrite(fgraph)

    def __call__(self, fgraph: FunctionGraph) -> Result:
        """Call `rewrite`, as in other libraries."""
        return self.rewrite(fgraph)

    def rewrite(
        self, fgraph: FunctionGraph, trace: Feature | None = None, within: Result | None = None
    ) -> Result:
        """Improve the graph in place; return a report. trace: a `Trace`, or any feature, to attach
        during the run. within: the report of the outer driver, which also gets the changes.

        Errors name the rule (see each driver), and carry the report so far as `result`.
        """
        if not isinstance(fgraph, FunctionGraph):
            what = "a driver rewrites only a FunctionGraph(inputs, outputs)"
            raise ForeignObjectError(f"{what}, not {describe(fgraph)}")
        if trace is not None and trace not in fgraph.features:
            with paused_collector():
                fgraph.attach_feature(trace)
                try:
                    return self.rewrite(fgraph, None, within)
                finally:
                    fgraph.remove_feature(trace)
        result = Result(self.name, nodes_before=len(fgraph))
        if within is not None:
            result.within = within.within
            within.parts.append(result)
        merged, outer = fgraph.merged, fgraph.is_driven
        start = perf_counter()
        for feature in fgraph.features:
            feature.on_begin(fgraph, self)
        try:
            with paused_collector() if gc.isenabled() else nullcontext():
                fgraph.is_driven = True
                self.run(fgraph, result)
        except BaseException as error:
            at = result.parts[-1] if result.parts and result.stopped not in ENDLESS else result
            result.stopped = at.stopped if at.stopped in ENDLESS else StopReason.FAILED
            result.note = at.note
            if isinstance(error, RewriteEngineError):
                error.result = result  # of the outermost driver in the end
            raise
        finally:
            fgraph.is_driven, result.within = outer, None
            result.seconds = perf_counter() - start
            result.nodes_after = len(fgraph)
            result.merged = fgraph.merged - merged
            for feature in fgraph.features:
                feature.on_end(fgraph, result)
        return result

    apply = rewrite

    def idle(self, fgraph: FunctionGraph) -> bool:
        """Return whether the driver has nothing to do in this graph: it is skipped and reports
        nothing.
        """
        return False

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        """Do the work and record it in `result`."""
        if type(self).apply is GraphRewriter.apply:
            raise MethodNotDefined(
                f"{type(self).__name__} defines neither run(fgraph, result) nor apply(fgraph)"
            )
        require = getattr(self, "add_requirements", None)
        if require is not None:
            require(fgraph)
        self.apply(fgraph)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class FromFunctionGraphRewriter(GraphRewriter):
    """Driver that calls a function on a `FunctionGraph`."""

    def __init__(self, fn: Callable[[FunctionGraph], Any]) -> None:
        super().__init__(fn.__name__)
        self.fn = fn

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        self.fn(fgraph)


graph_rewriter = FromFunctionGraphRewriter  # as a decorator


class SequentialOptimizer(GraphRewriter):
    """Driver that runs other drivers one after the other."""

    def __init__(self, parts: Sequence[GraphRewriter], name: str = "sequence") -> None:
        super().__init__(name)
        self.parts = tuple(parts)

    def idle(self, fgraph: FunctionGraph) -> bool:
        return all(part.idle(fgraph) for part in self.parts)

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        for part in self.parts:
            if not part.idle(fgraph):
                part.rewrite(fgraph, None, result)
            self.after(part, fgraph)
        result.stop_as_parts()

    def after(self, part: GraphRewriter, fgraph: FunctionGraph) -> None:
        """Process the graph after a part (by default nothing)."""

    def __iter__(self) -> Iterator[GraphRewriter]:
        return iter(self.parts)


class Fixpoint(GraphRewriter):
    """Driver that repeats another until it changes nothing. budget: of all turns together; without
    a number of firings, no turn begins after 2,000,000 visits and 200 for each node.
    """

    def __init__(self, part: GraphRewriter, budget: RunBudget | None = None) -> None:
        super().__init__(f"repeat({part.name})")
        self.part = part
        self.budget = RunBudget.of(budget)

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        account = result.within = Account(result, self.budget, fgraph, turns=True)
        with Rollback(fgraph, result) as before:
            before.take()
            self.turns(fgraph, result, account)

    def turns(self, fgraph: FunctionGraph, result: Result, account: Account) -> None:
        """Run turn after turn; a turn itself detects a used-up budget, at the rule that
        exceeds it.
        """
        done = False
        while not done or account.cycle is not None:
            one = self.part.rewrite(fgraph, None, result)
            if account.cycle is None and one.stopped in ENDLESS:
                result.stopped, result.note = one.stopped, one.note
                return
            done = not one.firings and one.nodes_before == one.nodes_after  # else some were merged
            if account.visits < 0 and account.cycle is None and not done:
                one.stopped, one.note = StopReason.BUDGET, "too many turns, each of the whole graph"
                what = f"the phase {self.name}"
                account.cycle = Cycle(what, one.note, None, [0, 0, None], (0, 0))
            if account.cycle is not None and (done or account.budget.on_budget == "stop"):
                result.stopped = StopReason.LOOP if account.cycle.sure else StopReason.BUDGET
                result.note = account.cycle.why
                if account.budget.on_budget == "stop":
                    return
                raise account.cycle.error()


class TryOptimizer(GraphRewriter):
    """Driver that runs another one; if a rule fails in it, the graph is restored and the rest
    continues.
    """

    def __init__(self, part: GraphRewriter) -> None:
        super().__init__(f"try_({part.name})")
        self.part = part

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        before = Rollback(fgraph, result)
        before.take()
        try:
            result.stopped = self.part.rewrite(fgraph, None, result).stopped
        except RuleError as error:
            if result.within is not None and result.within.cycle is not None:
                raise  # it is the repetition around this that has no end
            result.stopped, result.note = StopReason.FAILED, str(error)
            before.restore(error)


class MergeOptimizer(GraphRewriter):
    """Driver that merges equal nodes. A graph always merges by itself; this driver settles pending
    changes (after `fgraph.merging` was off), and is the phase under which reports show merging.

    reorders: from now on, sums and products of floats merge in any order of their operands (the
    first one stays).
    """

    def __init__(self, name: str = "merge", reorders: bool = False) -> None:
        super().__init__(name)
        self.reorders = reorders

    def run(self, fgraph: FunctionGraph, result: Result) -> None:
        fgraph.merging = True
        fgraph.reorders = self.reorders
        result.stopped = StopReason.PASSED
        constants = [v for v in fgraph.variables if isinstance(v, Constant)]
        for v in constants if len(constants) > len(fgraph.constants) else ():
            fgraph.replace(v, fgraph.constants.setdefault(v.signature(), v), self.name)
        if len(fgraph.table) == len(fgraph):  # every node is the only one with its key
            return
        for node in fgraph.toposort():
            if node not in fgraph or node.op.destroy_map:
                continue
            if fgraph.table.get(fgraph.key_of(node, node.inputs)) is not node:
                fgraph.mark(node, None, None)
                fgraph.flush()
