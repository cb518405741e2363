"""The graph of a function at any time while it was rewritten: after a phase, after a firing; and
the first firing after which it computes something else (`first_wrong`).

The journal that a trace keeps goes back there (`rewrite/trace/places.py`); nothing is run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.errors import UnknownNameError
from rewrite_engine.explain.evaluate import walk
from rewrite_engine.explain.record import FunctionRecord, RecordedFiring
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link.compare import Verdict, compare_values
from rewrite_engine.rewrite.trace.places import Past


def own_steps(record: FunctionRecord) -> list[RecordedFiring]:
    """The firings in the graph of the function itself, not in graphs inside of ops."""
    graphs = {n for n, past in record.trace.pasts.items() if past.fgraph is record.after}
    return [step for step in record.steps if step.graph in graphs]


def graph_until(record: FunctionRecord, number: int) -> FunctionGraph:
    """The graph after firing `number` (0: as it was built). Raises `UnknownNameError`."""
    steps = own_steps(record)
    if number == 0 or not steps:
        return record.before
    done = [k for k, step in enumerate(steps) if step.number <= number]
    if number > record.steps[-1].number:
        raise UnknownNameError(f"there is no firing {number}: the last is {len(record.steps)}")
    if len(done) == len(steps):
        return record.after
    following = steps[len(done)]
    past: Past = record.trace.pasts[following.graph]
    return past.copy(following.at)[0]


def graph_after(record: FunctionRecord, phase: str) -> FunctionGraph:
    """The graph after a phase. Raises `UnknownNameError`."""
    names = list(dict.fromkeys(result.name for result in record.trace.phases))
    if phase not in names:
        known = ", ".join(name for name in names if " in " not in name) or "none"
        raise UnknownNameError(f"no phase is called {phase!r}; there are {known}")
    there = names[: names.index(phase) + 1]
    numbers = [step.number for step in own_steps(record) if step.phase in there]
    return graph_until(record, max(numbers, default=0))


def first_wrong(
    record: FunctionRecord, values: Sequence[Any], expected: Sequence[Any]
) -> RecordedFiring | None:
    """The first firing after which the outputs disagree with those expected, by halving; None
    where it is in a graph inside of an op, or cannot be told.
    """
    steps = own_steps(record)
    low, high = 0, len(steps)
    if not high or not _is_wrong(record.after, values, expected):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        past = record.trace.pasts[steps[middle].graph]
        if _is_wrong(past.copy(steps[middle].at)[0], values, expected):
            high = middle
        else:
            low = middle
    return steps[low]


def _is_wrong(graph: FunctionGraph, values: Sequence[Any], expected: Sequence[Any]) -> bool:
    try:
        found = walk(graph, values)[0]
    except Exception:
        return True
    types = [v.type for v in graph.outputs]
    return any(
        compare_values(*one).verdict is Verdict.DISAGREE
        for one in zip(types, expected, found, strict=True)
    )
