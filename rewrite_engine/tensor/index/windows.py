"""Windows: slices `x[i : i + 3]` of a fixed length, whose start is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.tensor.index.template import INPUT, Slice, Template, pair
from rewrite_engine.tensor.math import add, sub


def length_of(entry: Slice, ends: Sequence[Variable]) -> int | None:
    """Return the length of a slice, if its ends are inputs and the length is the same for all their
    values. (It is cut off at the ends of the array. Sums of narrow or unsigned integers may wrap.)

    >>> import rewrite_engine.tensor as pt
    >>> i = pt.lscalar("i")
    >>> length_of(Slice(INPUT, INPUT), [i - 1, i + 2])
    3
    """
    if entry.start != INPUT or entry.stop != INPUT or entry.step not in (None, 1):
        return None
    if not all([v.type.dtype in ("int32", "int64") for v in ends]):
        return None
    (start, first), (stop, last) = map(_shifted, ends)
    return last - first if start is stop and last > first else None


def windows(template: Template, inputs: Sequence[Variable]) -> Iterator[Variable]:
    """Yield the ends of the windows of an index."""
    for entry, ends in pair(template, inputs):
        if isinstance(entry, Slice) and length_of(entry, ends) is not None:
            yield from ends


def _shifted(v: Variable) -> tuple[Variable, int]:
    """Return the variable that integers are added to, and their sum."""
    total = 0
    while v.owner is not None and v.head in (add, sub) and len(v.owner.inputs) == 2:
        a, b = v.owner.inputs
        if isinstance(a, Constant) and v.head is add:
            a, b = b, a
        if not isinstance(b, Constant) or b.type.kind not in "iu" or v.type.kind != "i":
            break
        number: Any = b.data
        total += int(number) if v.head is add else -int(number)
        v = a
    return v, total
