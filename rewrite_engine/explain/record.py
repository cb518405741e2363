"""Recording of compiled functions: each graph before and after, the firings, the times.

    with recording() as recorder:
        ...                       # code that calls rewrite_engine.function
    recorder.records              # one `FunctionRecord` per function, in order

A recorder is an observer in `compile.observe`. It changes nothing. Calls go through `capture.py`,
which copies the inputs of some calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from inspect import unwrap
from os.path import basename
from typing import Any

from rewrite_engine.compile import Function, observe
from rewrite_engine.explain.capture import Calls, capture_calls
from rewrite_engine.explain.term import (
    Change,
    describe_change,
    describe_graphs,
    describe_inside,
    describe_overwrite,
    exchanged_for,
)
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import Line, forward_line, origin_line, user_origin
from rewrite_engine.graph.weak import WeakKeys
from rewrite_engine.link.linker import get_linker
from rewrite_engine.match.explain import diagnose
from rewrite_engine.match.fact import Evidence
from rewrite_engine.match.rule import DataRule
from rewrite_engine.rewrite.inner import Exchange
from rewrite_engine.rewrite.inplace import InplaceOptimizer
from rewrite_engine.rewrite.trace import Firing, Trace
from rewrite_engine.rewrite.trace.attempts import evidence_texts
from rewrite_engine.rewrite.trace.records import FailedFunction

MIN_SPARE_SECONDS = 0.2  # of the processor, of further checks
KINDS_OF_CHECKS = 3  # outputs of calls, firings in calls, firings on special values

#: what drivers do themselves, by its name
DRIVERS: dict[str, Any] = {
    InplaceOptimizer.rule_name: unwrap(InplaceOptimizer.run),
    Exchange.rule_name: unwrap(Exchange.run),
}


class RecordedFiring(Firing):
    """Firing with everything that reports say of it.

    old: the variable that was replaced; new: the graph's variable that took its place. made: the
    nodes that came into the graph. evidence: what facts said for the guards of the rule.
    conditions: the guards that are plain predicates. forward: the user's line that a node of a
    gradient is the derivative of. seconds: since rewriting began.
    """

    old: Variable
    new: Variable
    change: Change
    made: tuple[Apply, ...]
    evidence: tuple[str, ...]
    conditions: tuple[str, ...]
    forward: Line | None

    @property
    def assumes(self) -> str | None:
        """The assumption that the user granted for this rule; None if it needs none, or if facts
        proved it (they are the evidence).
        """
        return getattr(self.rule, "needs_grant", None)

    @property
    def rule_where(self) -> Line | None:
        """File and line of the rule; of the code for what drivers do themselves."""
        driver = DRIVERS.get(self.rule) if isinstance(self.rule, str) else None
        if driver is not None:
            return driver.__code__.co_filename, driver.__code__.co_firstlineno
        where: Line | None = getattr(self.rule, "where", None)
        return where

    @property
    def proved(self) -> str | None:
        """The assumption that facts proved for this rule, so that nothing was assumed."""
        claim = getattr(self.rule, "claim", None)
        return None if claim is None or self.assumes is not None else claim.condition


class DetailedTrace(Trace):
    """Trace with the text of each firing, and the terms that it replaced and made."""

    def __init__(self, attempts: bool = False) -> None:
        super().__init__(attempts=attempts)
        self.records: list[RecordedFiring] = []  # type: ignore[assignment]

    @cached_property
    def made_by(self) -> dict[Apply, list[RecordedFiring]]:
        """The firings that put a node there. (Of a trace that is complete.)"""
        found: dict[Apply, list[RecordedFiring]] = {}
        for step in self.records:
            tops = [] if step.new.owner is None else [step.new.owner]
            for node in dict.fromkeys([*step.made, *tops]):
                found.setdefault(node, []).append(step)
        return found

    @cached_property
    def replaced_by(self) -> dict[Variable, list[RecordedFiring]]:
        """The firings that replaced a variable. (Of a trace that is complete.)"""
        found: dict[Variable, list[RecordedFiring]] = {}
        for step in self.records:
            found.setdefault(step.old, []).append(step)
        return found

    @cached_property
    def taken_by(self) -> dict[Apply, list[RecordedFiring]]:
        """The firings whose old term a node was a part of. (Of a trace that is complete.)"""
        found: dict[Apply, list[RecordedFiring]] = {}
        for step in self.records:
            for node in dict.fromkeys(step.change.used):
                found.setdefault(node, []).append(step)
        return found

    def keep(self, firing: Firing) -> None:
        """Record a firing as text. An error in this must not stop the user's program."""
        node, old, new = firing.node, firing.before, firing.after
        fgraph = self.pasts[firing.graph].fgraph
        made = tuple([one for one in firing.makes if one in fgraph.apply_nodes])
        said: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
        try:
            if firing.rule == InplaceOptimizer.rule_name:
                change, made = describe_overwrite(node, new.owner, fgraph.inputs), (node,)
            elif firing.rule == Exchange.rule_name and not exchanged_for(node, new):
                change = describe_inside(node, fgraph.inputs)
            else:
                change = describe_change(old, new, fgraph.inputs)
                change = replace(change, of_graph=describe_graphs(old, new, made))
            said = guards(firing.rule, node, fgraph)
        except Exception as error:
            trouble = f"{new} ({type(error).__name__} while describing it: {error})"
            change = Change(str(old), trouble)
        origin = None if node is None else origin_line(node.origin)
        before, after = change.before, change.after
        step = RecordedFiring._make(firing._replace(before=before, after=after, origin=origin))
        step.old, step.new, step.change, step.made = old, new, change, made
        step.evidence, step.conditions = said
        step.forward = None if node is None else forward_line(node.origin)
        self.records.append(step)


def guards(rule: Any, node: Apply, fgraph: Any = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the answers of facts to a rule's guards at a node, `positive(y): because it is a
    softmax`, and the guards that are plain predicates.
    """
    if not isinstance(rule, DataRule) or not rule.guards:
        return (), ()
    found = diagnose(rule, node, fgraph, run=False).evidence
    return evidence_texts(found), tuple([g for g, said in found if not isinstance(said, Evidence)])


@dataclass(frozen=True, slots=True, eq=False)
class FunctionRecord:
    """Record of one compiled function.

    before: the graph as it was built; `before.memo` maps variables of `after` to its own. place:
    where the user called `function`. seconds: per stage. inputs: one `Argument` or `Cell` per input
    of the graph. n_results: how many outputs are results, the others are new states. keys: names
    of the results, if they are returned as a dict. runs: what the linker says of how it runs.
    called: what is known of its calls. regions: its parts that are machine code.
    """

    index: int
    function_name: str
    place: tuple[str, int] | None
    before: FunctionGraph
    after: FunctionGraph
    mode: Any
    trace: DetailedTrace
    seconds: dict[str, float]
    inputs: tuple[Any, ...]
    n_results: int
    keys: tuple[Any, ...] = ()
    runs: str = ""
    called: Calls = field(default_factory=Calls)
    regions: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The function's name, or its place if it has none."""
        if self.function_name == "function" and self.place is not None:
            return f"function at {basename(self.place[0])}:{self.place[1]}"
        return self.function_name

    @property
    def spare_seconds(self) -> float:
        """Seconds that further checks of each kind may take, after the first: together as long as
        compiling and the first call took.
        """
        took = sum(self.seconds.values()) + (self.called.seconds or 0.0)
        return max(MIN_SPARE_SECONDS, took / KINDS_OF_CHECKS)

    @property
    def steps(self) -> list[RecordedFiring]:
        """The firings, in order."""
        return self.trace.records

    @property
    def merged_at_build(self) -> int:
        """How many equal nodes were merged before any rule was tried."""
        return self.after.merged - sum(
            phase.merged for phase in self.trace.phases if not phase.place
        )


class Recorder:
    """An observer of `function` that collects a `FunctionRecord` of each. attempts: also every try
    of a rule (slow). failed: the functions that did not compile.
    """

    def __init__(self, attempts: bool = False) -> None:
        self.attempts = attempts
        self.records: list[FunctionRecord] = []
        self.failed: list[FailedFunction] = []

    def on_failure(self, name: str | None, error: BaseException) -> None:
        """Note a function that did not compile."""
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        file, line = origin_line(user_origin()) or (None, None)
        one = FailedFunction(name=name or "function", file=file, line=line, error=text)
        self.failed.append(one)

    def new_trace(self) -> DetailedTrace:
        """Return the trace for a function that is about to be rewritten."""
        return DetailedTrace(self.attempts)

    def __call__(
        self,
        function: Function,
        before: FunctionGraph | None,
        trace: Any,
        seconds: dict[str, float],
    ) -> None:
        if before is None:
            return
        origin = origin_line(user_origin())
        program = function.program
        record = FunctionRecord(
            index=len(self.records) + 1,
            function_name=program.name,
            place=origin,
            before=before,
            after=program.fgraph,
            mode=function.mode,
            trace=trace if isinstance(trace, DetailedTrace) else DetailedTrace(),
            seconds=dict(seconds),
            inputs=program.inputs,
            n_results=program.n_results,
            keys=program.packing if isinstance(program.packing, tuple) else (),
            runs=get_linker(function.mode.linker).told(function.nodes),
            regions=tuple([n.op for n in function.nodes if getattr(n.op, "is_region", False)]),
        )
        self.records.append(record)
        _records[function] = record
        capture_calls(function, record.called)


_records: WeakKeys[Function, FunctionRecord] = WeakKeys()


def record_of(function: Function) -> FunctionRecord | None:
    """Return the record of a function that was compiled under a recorder; else None."""
    return _records.get(function)


@contextmanager
def recording(attempts: bool = False) -> Iterator[Recorder]:
    """Record the functions that are compiled inside the `with` block. attempts: also record every
    try of a rule (slow).
    """
    recorder = Recorder(attempts)
    observe.append(recorder)
    try:
        yield recorder
    finally:
        observe.remove(recorder)
