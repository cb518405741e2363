"""Which firing is to blame where values disagree (`suspect`): found by halving among the states of
the graph, and tried by rewriting the graph again without the rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewrite_engine.explain.claims import CLAIM
from rewrite_engine.explain.compare import values_on
from rewrite_engine.explain.evaluate import walk
from rewrite_engine.explain.model import FunctionReport
from rewrite_engine.explain.record import FunctionRecord, RecordedFiring
from rewrite_engine.explain.states import Bisection, apart, bisected
from rewrite_engine.judge.compare import Agreement
from rewrite_engine.match.rule import Rule


@dataclass(frozen=True, slots=True)
class Suspect:
    """The answer for one function. basis: the values on which outputs disagree. found: how the
    firing was found. inside: the firing in the graph of an op that is behind it. excused: whether
    values agree without the rule; None if this could not be tried. why_none: why no firing is to
    blame.
    """

    basis: str
    found: Bisection
    inside: RecordedFiring | None = None
    excused: bool | None = None
    why_none: str | None = None

    @property
    def step(self) -> RecordedFiring | None:
        """The firing to blame."""
        return self.inside or self.found.step


def suspect(f: FunctionReport) -> Suspect:
    """Find the firing after which values disagree, on the inputs on which they disagree most."""
    record, check = f.record, f.check
    if check.verdict is not Agreement.DISAGREE:
        why = "no values disagree" if check.problem is None else check.problem
        return Suspect(check.worst, Bisection(None), why_none=why)
    values = values_on(record, check.worst)
    try:
        expected = walk(record.before, values)[0]
    except Exception as error:
        why = f"the graph as it was built raises {type(error).__name__}: {error}".splitlines()[0]
        return Suspect(check.worst, Bisection(None), why_none=why)
    found = bisected(record, values, expected)
    if found.step is None:
        why = "op by op the rewritten graph agrees, so the linker is to blame and no rule"
        return Suspect(check.worst, found, why_none=why)
    inside = None
    if not isinstance(found.step.rule, Rule):
        numbers = [one.number for one in check.claims.untrue if one.kind == CLAIM]
        inside = next((s for s in record.steps if s.number in numbers), None)
    return Suspect(
        check.worst, found, inside, _excused(record, inside or found.step, values, expected)
    )


def _excused(
    record: FunctionRecord, step: RecordedFiring, values: Any, expected: Any
) -> bool | None:
    """Whether the outputs agree if the rule of a firing is left out."""
    if not isinstance(step.rule, Rule):
        return None
    graph, mode = record.before.clone(), record.mode.excluding(step.rule_name)
    try:
        mode.optimizer.rewrite(graph)
        return not apart(graph, expected, walk(graph, values)[0])
    except Exception:
        return None
