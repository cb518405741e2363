"""Broadcasting: which dimensions of several arrays correspond and must have equal lengths.

A dimension broadcasts only if it is *statically* 1. A dimension that merely has length 1 at run
time is refused if the other one is longer, since the gradient was built for equal lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Shape = tuple[int | None, ...]


def broadcast(shapes: Sequence[Shape]) -> tuple[list[Any], list[list[Any]]]:
    """Return the broadcast of static shapes, and the groups of dimensions that must have equal
    lengths.

    Shapes are padded with 1 on the left. A length in the result is 1, or a pair (number of the
    shape, dimension).

    >>> broadcast([(None, 3), (None,)])
    ([(0, 0), (0, 1)], [[(0, 1), (1, 0)]])
    """
    ndim = max([len(s) for s in shapes], default=0)
    lengths: list[Any] = []
    equal = []
    for axis in range(-ndim, 0):
        long = [
            (i, axis + len(s)) for i, s in enumerate(shapes) if len(s) >= -axis and s[axis] != 1
        ]
        lengths.append(long[0] if long else 1)
        if len(long) > 1:
            equal.append(long)
    return lengths, equal
