"""Several rests in one pattern of an op whose operands have any order: the ways to share operands
among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewrite_engine.errors import SearchBudgetError
from rewrite_engine.match.ac import without

MAX_WAYS = 100_000  # ways to share operands among rests that one match tries


@dataclass(slots=True)
class Tries:
    """Counter of the ways to share operands among rests that one match tries. Raises
    `SearchBudgetError` at the limit: n operands go to two rests in 2ⁿ ways.
    """

    left: float = MAX_WAYS

    def use(self) -> None:
        """Count one way to share operands."""
        self.left -= 1
        if self.left < 0:
            raise SearchBudgetError(
                "the operands of one term go to the rests of the pattern in more than "
                f"{MAX_WAYS:,} ways, and no guard takes one of the first"
            )


def shares(
    left: Sequence[Any],
    known: Sequence[Sequence[Any]],
    times: Sequence[int],
    ordered: bool,
    tries: Tries,
) -> Iterator[tuple[tuple[Any, ...], ...]]:
    """Yield the ways to share operands among rests, as multisets; each way once.

    known: the operands of rests that are already bound. times: how often each of the others occurs,
    most frequent first. The first takes few operands before many, earlier ones before later ones;
    its remainder is shared in the same way, and the last one takes all. (A rest that occurs several
    times has little choice. If others chose first, most choices would leave operands that it cannot
    take.) ordered: the order of operands matters.
    """
    for operands in known:
        result = minus(left, operands, ordered)
        if result is None:
            return
        left = result
    if not times:
        if not left:
            yield ()
        return
    each, *others = times
    pool = left if each == 1 else portion(left, each)
    if not others:
        tries.use()
        if len(pool) * each == len(left):
            yield (tuple(pool),)
        return
    for n in range(len(pool) + 1):
        for places in choices(pool, n, ordered):
            some = tuple([pool[i] for i in places])
            remaining = without(left, places) if each == 1 else minus(left, some * each)
            for more in shares(remaining or (), (), others, ordered, tries):
                yield some, *more


def minus(
    left: Sequence[Any], operands: Sequence[Any], ordered: bool = False
) -> tuple[Any, ...] | None:
    """Return operands without some of them; None if those are not all present (ordered: in that
    order).
    """
    count, remaining, taken = Counter(operands), [], []
    for v in left:
        if count[v]:
            count[v] -= 1
            taken.append(v)
        else:
            remaining.append(v)
    fits = taken == list(operands) if ordered else len(taken) == len(operands)
    return tuple(remaining) if fits else None


def portion(operands: Sequence[Any], times: int) -> list[Any]:
    """Return the operands that can be taken `times` times: each at its first places."""
    room = {v: n // times for v, n in Counter(operands).items()}
    results = []
    for v in operands:
        if room[v]:
            room[v] -= 1
            results.append(v)
    return results


def choices(operands: Sequence[Any], n: int, ordered: bool) -> Iterator[tuple[int, ...]]:
    """Yield the positions of n operands, first ones first; of equal ones only the first if not
    ordered.
    """
    seen: dict[Any, int] = {}
    before = [-1] * len(operands)  # where an equal one stands
    for i, v in enumerate(() if ordered else operands):
        before[i], seen[v] = seen.get(v, -1), i
    chosen: list[int] = []
    i = 0
    while True:
        room = len(operands) - i >= n - len(chosen)
        if len(chosen) == n:
            yield tuple(chosen)
            room = False
        if room:
            if before[i] < 0 or before[i] in chosen:
                chosen.append(i)
            i += 1
        elif chosen:
            i = chosen.pop() + 1
        else:
            return
