"""Memory of a region: temporaries in one arena, and results in the memory of donated arguments.

`link/plan/buffers.py` decides which values may share memory. Here its decisions become words of the
frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rewrite_engine.graph.node import Variable
from rewrite_engine.link.native.lifetimes import Lifetimes
from rewrite_engine.link.native.text import SIZE
from rewrite_engine.link.native.values import (
    Group,
    Length,
    NativeCall,
    NativeValue,
    Number,
    View,
    in_order,
    times,
)
from rewrite_engine.link.plan.buffers import Lifetime, Reader, can_overwrite, share_buffers

if TYPE_CHECKING:
    from rewrite_engine.link.native.region import RegionPlan

Results = Sequence[tuple[NativeValue, tuple[Length, ...]]]


def place_temporaries(plan: RegionPlan, live: Lifetimes, results: Results) -> int:
    """Assign addresses in one arena to temporaries; return the word with the arena's size."""
    own = {value for value, _ in results}
    first: dict[NativeValue, int] = {}
    for s in plan.statements:
        for value in map(_whole, _computed_values(s)):
            if value in live.last and value not in own:
                first.setdefault(value, s.at)
    lifetimes = [
        Lifetime((value.kind, times(*value.shape)), at, live.last[value])
        for value, at in first.items()
    ]
    zero, end = plan.constant_word(0), plan.constant_word(64)  # the size of the arena comes first
    for value, buffer in zip(first, share_buffers(lifetimes), strict=True):
        if buffer == len(plan.buffers):
            word = plan.new_word()
            plan.buffers.append(word)
            plan.instructions.append(("add", word, end, zero))
            size = plan.word_of(times((SIZE[value.kind], ()), *value.shape))
            end = plan.compute("add", end, plan.compute("round", size))
        value.word = plan.buffers[buffer]
    return end if plan.buffers else zero


def _computed_values(s: Group | NativeCall) -> list[NativeValue]:
    """Return the values that a statement computes."""
    if isinstance(s, NativeCall):
        return [s.value]
    return [*[node.value for node in s.nodes], *[r.value for r in s.reduced]]


def _whole(value: NativeValue) -> NativeValue:
    """Return the value in whose memory a value is."""
    while value.part_of is not None:
        value = value.part_of[0]
    return value


def donate(
    plan: RegionPlan, donated: Mapping[Variable, int], results: Results, live: Lifetimes
) -> dict[int, int]:
    """Let results use the memory of donated arguments; return the argument of each such result.

    donated: positions of arguments that nobody reads after the region. A call that falls back to
    the VM needs the original arguments, so nothing that may refuse runs after the first write.
    """
    found: dict[int, int] = {}
    if plan.loops:
        return found
    calls = [s for s in plan.statements if isinstance(s, NativeCall) and live.runs(s)]
    refusing = [Reader(s.at) for s in calls if s.refuses]
    for v, j in donated.items():
        given = plan.of[v]
        if isinstance(given, Number):
            continue
        old, shape = given.value, plan.shape(v)
        readers = [*refusing, *_readers(plan, live, old)]
        for k, (value, lengths) in enumerate(results):
            fits = (value.kind, value.shape, lengths) == (old.kind, old.shape, shape)
            new = value.group is not None and value.part_of is None and k not in found
            if fits and new and can_overwrite(readers, value.at):
                found[k], value.word = j, old.word
                break
    return found


def _readers(plan: RegionPlan, live: Lifetimes, value: NativeValue) -> Iterator[Reader]:
    """Yield the readers of a value in running order."""
    for s in plan.statements:
        if isinstance(s, NativeCall):
            if live.runs(s) and value in [x.value for x in s.reads]:
                yield Reader(s.at)
            continue
        items = [item.view for node in live.nodes(s) for item in node.items]
        views = [x for x in items if isinstance(x, View) and x.value is value]
        if views:
            in_place = [x.offset is None and x.steps == in_order(s.space) for x in views]
            yield Reader(s.at, all(in_place))
