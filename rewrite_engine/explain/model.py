"""`FunctionReport`: all that a report knows of one function, made of records that do not change.

Text (`show.py`) and JSON lines (`lines.py`) print it, and collect nothing themselves. Expensive
parts, such as the comparison of values, are computed once, on first use. `record.py` records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from rewrite_engine.explain.compare import FunctionComparison, check_values, output_names
from rewrite_engine.explain.cost import Cost, Peak, cost_of, peak_of
from rewrite_engine.explain.record import FunctionRecord, RecordedFiring
from rewrite_engine.explain.story import Family, families
from rewrite_engine.link.program import Argument
from rewrite_engine.printing.formula import Roots
from rewrite_engine.rewrite.result import Result

DECLARED = "assumptions/declared"  # the rule that takes a declaration out of the graph


@dataclass(frozen=True, slots=True)
class ReportedInput:
    """An argument of a function, or a shared variable (state). shape: of its value in the first
    call, if it is known; else what its type knows.
    """

    name: str
    type: Any
    shape: tuple[int | None, ...]
    state: bool


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive firings of one phase. result: the result of the phase, if known."""

    phase: str
    result: Result | None
    steps: tuple[RecordedFiring, ...]


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption of firings. granted: by the mode, or (declared) by the user for a term; else
    facts proved it. steps: the numbers of the firings.
    """

    name: str
    granted: bool
    steps: tuple[int, ...]
    declared: bool = False


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds. loading: of rewriting, what went into loading rules, and modules that they use for
    the first time. phases: the rest, of all runs of each, by name; inside: the op whose graph they
    were of. first_call: None before it.
    """

    build: float
    rewrite: float
    link: float
    loading: float
    phases: dict[str, float]
    inside: dict[str, str]
    first_call: float | None


@dataclass(frozen=True, eq=False)
class FunctionReport:
    """Report on one function. record: the recorded compilation, with the graphs before and after.
    Values are compared on first use.
    """

    record: FunctionRecord

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.record.name

    @cached_property
    def inputs(self) -> tuple[ReportedInput, ...]:
        """The arguments and the state, in the order of the graph's inputs."""
        record, shapes, found = self.record, self.check.shapes_before, []
        roots = Roots()
        for v, spec in zip(record.before.inputs, record.inputs, strict=True):
            state = not isinstance(spec, Argument)
            known = shapes.get(v) if state or record.called.values is not None else None
            shape = v.type.shape if known is None else known
            found.append(ReportedInput(str(roots(v)), v.type, shape, state))
        return tuple(found)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return tuple(output_names(self.record))

    # --- what happened ---------------------------------------------------------------------------

    @property
    def steps(self) -> Sequence[RecordedFiring]:
        """Firings of rules, in order."""
        return self.record.steps

    @property
    def phases(self) -> Sequence[Result]:
        """What each phase did, run by run."""
        return self.record.trace.phases

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The firings by phase, in order."""
        runs: dict[str, list[Result]] = {}  # a phase may run several times
        for result in self.phases:
            if result.firings:
                runs.setdefault(result.name, []).append(result)
        found = []
        for phase, steps in groupby(self.steps, key=lambda step: step.phase):
            some = runs.get(phase, [])
            run = some.pop(0) if len(some) > 1 else next(iter(some), None)
            found.append(Stretch(phase, run, tuple(steps)))
        return tuple(found)

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The firings by phase and rule, with what they saved."""
        return families(self)

    @cached_property
    def merged(self) -> dict[str, int]:
        """How many equal nodes were merged, while it was built and in each phase."""
        found = {"build": self.record.merged_at_build}
        for phase in self.phases:
            found[phase.name] = found.get(phase.name, 0) + phase.merged
        return found

    @cached_property
    def times(self) -> Times:
        """Seconds that each stage took."""
        phases: dict[str, float] = {}
        for phase in self.phases:
            seconds = phase.seconds - phase.loading
            phases[phase.name] = phases.get(phase.name, 0.0) + seconds
        stages = self.record.seconds
        return Times(
            **stages,
            loading=max(0.0, stages["rewrite"] - sum(phases.values())),
            phases=phases,
            inside={phase.name: phase.place for phase in self.phases if phase.place},
            first_call=self.record.called.seconds,
        )

    # --- whether it was right, and worth it ------------------------------------------------------

    @cached_property
    def check(self) -> FunctionComparison:
        """Whether the rewritten graph computes what the graph as built does."""
        return check_values(self.record)

    @cached_property
    def cost_before(self) -> Cost:
        """The estimated cost of the graph as it was built."""
        return cost_of(self.record.before, self.check.shapes_before)

    @cached_property
    def cost_after(self) -> Cost:
        """The estimated cost of the rewritten graph."""
        return cost_of(self.record.after, self.check.shapes_after)

    @cached_property
    def peaks(self) -> tuple[Peak, Peak]:
        """The estimated peak of memory of the graph as it was built, and rewritten."""
        record, check = self.record, self.check
        return (
            peak_of(record.before, check.shapes_before),
            peak_of(record.after, check.shapes_after),
        )

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Assumptions behind the firings: those the mode grants, then those that facts proved."""
        found: dict[tuple[str, bool], list[int]] = {}
        for step in self.steps:
            name = step.assumes or step.proved
            if name is not None:
                found.setdefault((name, step.assumes is not None), []).append(step.number)
        told = sorted(found.items(), key=lambda item: not item[0][1])
        declared = [step for step in self.steps if step.rule_name == DECLARED]
        return (
            *[Assumption(step.before, True, (step.number,), True) for step in declared],
            *[Assumption(name, granted, tuple(n)) for (name, granted), n in told],
        )
