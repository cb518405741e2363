"""Broadcasting: which dimensions of several arrays are one, and have to be equally long.

A dimension broadcasts only if it is *statically* 1. One that merely turns out to be 1 when the
graph runs is refused beside a longer one: the gradient was built in the belief that they are
equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Shape = tuple[int | None, ...]


def broadcast(shapes: Sequence[Shape]) -> tuple[list[Any], list[list[Any]]]:
    """What static shapes, seen as padded with 1 on the left, broadcast to: the lengths of the
    result, and the groups of those that have to be equal. A length is 1, or a pair (number of the
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
