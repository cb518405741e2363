"""A trace as JSON lines, for programs and for replays. `schema.json` defines each field.

There is one object per line; `kind` is firing, attempt, phase, or (from `explain`) function. All
code that writes lines uses the functions here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewrite_engine.rewrite.result import COLUMNS, Result

if TYPE_CHECKING:
    from rewrite_engine.rewrite.trace import Firing, Trace
    from rewrite_engine.rewrite.trace.attempts import Attempt
    from rewrite_engine.rewrite.trace.places import Address

VERSION = 1
SCHEMA = Path(__file__).with_name("schema.json")

Record = dict[str, Any]

# fields that are attributes of the same name
FIRING = ("graph", "number", "phase", "strategy", "depth", "seconds")
ATTEMPT = (
    "graph", "number", "phase", "strategy", "term", "verdict", "part", "reason", "firing",
    "ruled_out", "took", "seconds",
)  # fmt: skip
PHASE = (
    "note", "firings", "taken_back", "taken_back_by", "visits", "merged", "nodes_before",
    "nodes_after", "seconds",
)  # fmt: skip


def schema() -> Record:
    """Return the JSON Schema (draft 2020-12) of a line."""
    found: Record = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return found


def trace_lines(trace: Trace) -> Iterator[str]:
    """Yield the lines of a trace."""
    kept = [f for f in trace.records if f.graph in trace.pasts and trace.pasts[f.graph].turned]
    # the oldest firing to begin with, for graphs of which a trace has forgotten some
    since = {f.graph: trace.count + 1 for f in kept}  # where all that is left is that of one go
    since |= {f.graph: f.number for f in reversed(kept) if not f.part}

    def record(f: Firing, place: Address | None) -> Record:
        return firing_record(f, place, since.get(f.graph))

    return lines_of(trace, trace.records, trace.tries, record)


def lines_of(
    trace: Trace,
    firings: Iterable[Any],
    tries: Iterable[Attempt],
    record: Callable[[Any, Address | None], Record],
    **more: Any,
) -> Iterator[str]:
    """Yield lines of a trace: firings and attempts in order, then the phases. record: builds the
    line of a firing and its address; more: fields of the others.
    """
    place = trace.addresses()
    fired = ((f.seconds, 0, f.number, record(f, place.get(f.number))) for f in firings)
    tried = ((a.seconds, 1, a.number, attempt_record(a, **more)) for a in tries)
    for *_, found in merge(fired, tried):
        yield line(found)
    for result in trace.phases:
        yield line(phase_record(result, **more))


def line(record: Record) -> str:
    """Return a record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


def start(kind: str) -> Record:
    """Return the fields that all lines begin with. function, function_index: for a report on
    compiled functions.
    """
    return {"version": VERSION, "kind": kind, "function": None, "function_index": None}


def _fields(thing: Any, names: Iterable[str]) -> Record:
    return {name: getattr(thing, name) for name in names}


def firing_record(f: Firing, place: Address | None, since: int | None, **more: Any) -> Record:
    """Return the record of a firing. place: its address; more: fields that the caller provides."""
    file, row = f.origin or (None, None)
    return start("firing") | _fields(f, FIRING) | _rule(f) | {
        "evidence": [],
        "place": None if place is None else list(place),
        "since": since,
        "before": f.before if isinstance(f.before, str) else None,
        "after": f.after if isinstance(f.after, str) else None,
        "letters": {},
        "made": None,
        "user_file": file,
        "user_line": row,
    } | more  # fmt: skip


def attempt_record(a: Attempt, **more: Any) -> Record:
    """Return the record of one try of a rule."""
    own = {"bindings": dict(a.bindings), "evidence": list(a.evidence)}
    return start("attempt") | _fields(a, ATTEMPT) | _rule(a) | own | more


def phase_record(result: Result, **more: Any) -> Record:
    """Return the record of one run of a driver."""
    return start("phase") | _fields(result, PHASE) | {
        "phase": result.name,
        "stopped": result.stopped.name,
        "rules": {name: _fields(stats, COLUMNS) for name, stats in result.rules.items()},
        "refusals": dict(result.refusals),
    } | more  # fmt: skip


def _rule(record: Any) -> Record:
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
