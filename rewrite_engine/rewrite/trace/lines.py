"""A trace as JSON lines, for programs and for replays: its entries become records (`records.py`).

There is one object per line; `kind` is firing, attempt or phase. `explain/lines.py` adds the lines
of reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from typing import TYPE_CHECKING, Any

from rewrite_engine.rewrite.result import Result
from rewrite_engine.rewrite.trace.records import VERSION as VERSION
from rewrite_engine.rewrite.trace.records import (
    AttemptLine,
    FiringLine,
    Line,
    PhaseLine,
    RuleCounts,
    filled,
    to_json,
)

if TYPE_CHECKING:
    from rewrite_engine.rewrite.trace import Firing, Trace
    from rewrite_engine.rewrite.trace.attempts import Attempt
    from rewrite_engine.rewrite.trace.places import Address


def trace_lines(trace: Trace) -> Iterator[str]:
    """Yield the lines of a trace."""
    kept = [f for f in trace.records if f.graph in trace.pasts and trace.pasts[f.graph].turned]
    # the oldest firing to begin with, for graphs of which a trace has forgotten some
    since = {f.graph: trace.count + 1 for f in kept}  # where all that is left is that of one go
    since |= {f.graph: f.number for f in reversed(kept) if not f.part}
    place = trace.addresses()
    firings = [firing_line(f, place.get(f.number), since.get(f.graph)) for f in trace.records]
    yield from map(to_json, in_order(firings, trace.tries))
    yield from map(to_json, map(phase_line, trace.phases))


def in_order(
    firings: Iterable[FiringLine], tries: Iterable[Attempt], **more: Any
) -> Iterator[Line]:
    """Yield firings and attempts by time. more: fields of the attempts."""
    fired = ((f.seconds, 0, f.number, f) for f in firings)
    tried = ((a.seconds, 1, a.number, attempt_line(a, **more)) for a in tries)
    for *_, found in merge(fired, tried):
        yield found


def firing_line(
    f: Firing, place: Address | None, since: int | None = None, **more: Any
) -> FiringLine:
    """Return the record of a firing. place: its address; more: fields that the caller provides."""
    file, row = f.origin or (None, None)
    own: dict[str, Any] = {
        "evidence": [],
        "before": f.before if isinstance(f.before, str) else None,
        "after": f.after if isinstance(f.after, str) else None,
        "letters": {},
        "made": None,
        "saved": None,
    }
    where = {"place": place, "since": since, "user_file": file, "user_line": row}
    line: FiringLine = filled(FiringLine, f, **_rule(f) | own | where | more)
    return line


def attempt_line(a: Attempt, **more: Any) -> AttemptLine:
    """Return the record of one try of a rule."""
    own = {"bindings": dict(a.bindings), "evidence": list(a.evidence)}
    line: AttemptLine = filled(AttemptLine, a, **_rule(a) | own | more)
    return line


def phase_line(result: Result, **more: Any) -> PhaseLine:
    """Return the record of one run of a driver."""
    counts = {name: filled(RuleCounts, stats) for name, stats in result.rules.items()}
    own = {"phase": result.name, "stopped": result.stopped.name, "rules": counts}
    line: PhaseLine = filled(PhaseLine, result, **own, refusals=dict(result.refusals), **more)
    return line


def _rule(record: Any) -> dict[str, Any]:
    """Return the fields about the rule of a firing or try."""
    rule = record.rule
    claim = getattr(rule, "claim", None)
    file, row = getattr(rule, "where", None) or (None, None)
    return {
        "rule": record.rule_name,
        "rule_text": getattr(rule, "text", None),
        "claim": None if claim is None else str(claim),
        "assumes": getattr(rule, "needs_grant", None),
        "rule_file": file,
        "rule_line": row,
    }
