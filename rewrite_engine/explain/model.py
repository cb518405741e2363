"""`FunctionReport`: what a report says of one function, as the records of its JSON lines.

A recorded function (`record.py`) computes its records on first use (`lines.py`, `snapshot.py`); one
that was read from a file has them already, and no recorded compilation. Text, pages, and
comparisons read the records; answers to questions need the recorded compilation, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rewrite_engine.errors import InputError
from rewrite_engine.explain.compare import FunctionComparison, check_values, output_names
from rewrite_engine.explain.cost import Cost
from rewrite_engine.explain.lines import firing_lines, function_line, phase_lines
from rewrite_engine.explain.record import FunctionRecord, RecordedFiring
from rewrite_engine.explain.snapshot import graph_lines
from rewrite_engine.explain.story import Family, families
from rewrite_engine.fork import cached_property
from rewrite_engine.rewrite.trace.records import FiringLine, FunctionLine, GraphLine, PhaseLine

SIZES = ("nodes", "flops", "bytes")  # estimates, in the names of fields


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive firings of one phase. result: the run of the phase, if known."""

    phase: str
    result: PhaseLine | None
    firings: tuple[FiringLine, ...]


class FunctionReport:
    """Report on one function. record: the recorded compilation, with the graphs before and after.
    about, firings, phases, graphs: the records of the JSON lines. Values are compared on first use.
    """

    def __init__(self, record: FunctionRecord | None) -> None:
        self._record = record

    @classmethod
    def of_lines(
        cls,
        about: FunctionLine,
        firings: Sequence[FiringLine],
        phases: Sequence[PhaseLine],
        graphs: Sequence[GraphLine],
    ) -> FunctionReport:
        """Make the report of a function from its lines, without a recorded compilation."""
        made = cls(None)
        made.__dict__.update(about=about, firings=firings, phases=phases, graphs=graphs)
        return made

    @property
    def is_saved(self) -> bool:
        """Whether only the lines are known, as of a report in a file."""
        return self._record is None

    @property
    def record(self) -> FunctionRecord:
        """The recorded compilation. Raises `InputError` for a report that was read from a file."""
        if self._record is None:
            raise InputError(
                f"{self.name!r} is in a saved report, which has no graphs to ask: explain the "
                "program itself"
            )
        return self._record

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(self.about.function) if self.is_saved else self.record.name

    @property
    def own_name(self) -> str:
        """Name that the user gave the function, or "function"."""
        return self.name if self.is_saved else self.record.function_name

    @property
    def index(self) -> int:
        """Number of the function in its report, from 1 on."""
        return int(self.about.function_index or 0) if self.is_saved else self.record.index

    # --- the recorded compilation ----------------------------------------------------------------

    @property
    def steps(self) -> Sequence[RecordedFiring]:
        """Firings of rules, in order, with their terms."""
        return self.record.steps

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        if not self.is_saved:
            return tuple(output_names(self.record))
        return next(tuple(one.output_names) for one in self.graphs if one.inside is None)

    @property
    def is_on_calls(self) -> bool:
        """Whether values are those of calls, not random ones."""
        return not self.about.compared_on.startswith("random")

    @cached_property
    def check(self) -> FunctionComparison:
        """Whether the rewritten graph computes what the graph as built does."""
        return check_values(self.record)

    # --- the records -----------------------------------------------------------------------------

    @cached_property
    def about(self) -> FunctionLine:
        """The function itself: its inputs, costs, times, values and formulas."""
        return function_line(self)

    @cached_property
    def firings(self) -> Sequence[FiringLine]:
        """Firings of rules, in order."""
        return firing_lines(self)

    @cached_property
    def phases(self) -> Sequence[PhaseLine]:
        """The records of phases, one for each run of a phase."""
        return phase_lines(self)

    @cached_property
    def graphs(self) -> Sequence[GraphLine]:
        """The function's graph and those inside its ops, with what each firing changed."""
        return tuple(graph_lines(self))

    @property
    def cost_before(self) -> Cost:
        """Estimated cost of the graph as it was built."""
        return self._cost("before")

    @property
    def cost_after(self) -> Cost:
        """Estimated cost of the rewritten graph."""
        return self._cost("after")

    def _cost(self, when: str) -> Cost:
        nodes, flops, size = (getattr(self.about, f"{what}_{when}") for what in SIZES)
        return Cost(nodes, flops, size, self.about.unsized, self.about.uncounted)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The firings by phase, in order."""
        runs: dict[str, list[PhaseLine]] = {}  # a phase may run several times
        for result in self.phases:
            if result.firings:
                runs.setdefault(result.phase, []).append(result)
        found = []
        for phase, firings in groupby(self.firings, key=lambda firing: firing.phase):
            some = runs.get(phase, [])
            run = some.pop(0) if len(some) > 1 else next(iter(some), None)
            found.append(Stretch(phase, run, tuple(firings)))
        return tuple(found)

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The firings by phase and rule, with what they saved."""
        return families(self.firings)

    @property
    def is_right(self) -> bool:
        """Whether no values disagree, and all claims and declarations are true."""
        return self.about.verdict != "disagree" and not self.about.claims.untrue
