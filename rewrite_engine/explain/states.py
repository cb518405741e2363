"""The graph of a function at any time while it was rewritten: after a phase, after a firing; and
the first firing after which it computes something else (`bisected`).

The journal that a trace keeps goes back there (`rewrite/trace/places.py`); nothing is run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rewrite_engine.errors import UnknownNameError
from rewrite_engine.explain.evaluate import walk
from rewrite_engine.explain.record import FunctionRecord, RecordedFiring
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.judge.compare import Agreement, compare_values
from rewrite_engine.rewrite.trace.places import Past


def own_steps(record: FunctionRecord) -> list[RecordedFiring]:
    """The firings in the graph of the function itself, not in graphs inside of ops."""
    graphs = {n for n, past in record.trace.pasts.items() if past.fgraph is record.after}
    return [step for step in record.steps if step.graph in graphs]


def graph_until(record: FunctionRecord, number: int) -> FunctionGraph:
    """Return the graph after firing `number` (0: as built). Raises `UnknownNameError`."""
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
    """Return the graph after a phase. Raises `UnknownNameError`."""
    names = list(dict.fromkeys(result.name for result in record.trace.phases))
    if phase not in names:
        known = ", ".join(name for name in names if " in " not in name) or "none"
        raise UnknownNameError(f"no phase is called {phase!r}; there are {known}")
    there = names[: names.index(phase) + 1]
    numbers = [step.number for step in own_steps(record) if step.phase in there]
    return graph_until(record, max(numbers, default=0))


class Bisection(NamedTuple):
    """The search for the first firing after which the outputs disagree. step: that firing; None
    where it cannot be told. probes: (number of a firing, whether they disagree after it), in the
    order in which they were looked at. outputs: (name, as they were built, before the firing,
    after it) of those that disagree.
    """

    step: RecordedFiring | None
    probes: tuple[tuple[int, bool], ...] = ()
    outputs: tuple[tuple[int, Any, Any, Any], ...] = ()


def bisected(record: FunctionRecord, values: Sequence[Any], expected: Sequence[Any]) -> Bisection:
    """Find the first firing after which the outputs disagree with those expected, by halving. (One
    in a graph inside of an op is found as the step that put that graph in.)
    """
    steps, found = own_steps(record), dict[int, list[Any] | None]()
    probes: list[tuple[int, bool]] = []

    def is_wrong(k: int) -> bool:
        """Whether the outputs disagree after k firings."""
        graph = record.after
        if k < len(steps):
            graph = record.trace.pasts[steps[k].graph].copy(steps[k].at)[0]
        try:
            found[k] = walk(graph, values)[0]
        except Exception:
            found[k] = None
        probes.append((steps[k - 1].number, bool(apart(graph, expected, found[k]))))
        return probes[-1][1]

    low, high = 0, len(steps)
    if not high or not is_wrong(high):
        return Bisection(None, tuple(probes))
    while high - low > 1:
        middle = (low + high) // 2
        if is_wrong(middle):
            high = middle
        else:
            low = middle
    before = found[low] if low else list(expected)
    wrong = apart(record.after, expected, found[high])
    outputs = [
        (i, expected[i], None if before is None else before[i],
         None if (after := found[high]) is None else after[i])
        for i in wrong
    ]  # fmt: skip
    return Bisection(steps[low], tuple(probes), tuple(outputs))


def apart(graph: FunctionGraph, expected: Sequence[Any], found: Any) -> list[int]:
    """Which outputs disagree: all, where there are none."""
    if found is None:
        return list(range(len(expected)))
    types = [v.type for v in graph.outputs]
    compared = map(compare_values, types, expected, found)
    return [i for i, one in enumerate(compared) if one.verdict is Agreement.DISAGREE]
