"""Lengths that a term allows: which dimensions of its inputs have to be equally long is found by
running it, so that matrices are not square where they need not be, and each length is 0 and 1 once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from rewrite_engine.check.draw import LENGTH
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.tensor.elemwise import Elemwise

MAX_LENGTH = 1000  # elements along an axis of what is computed
MOST = 6  # dimensions of which all divisions into two are tried
VALUE = -1  # in the place of a dimension: a whole number, which may be a length itself

Dimension = tuple[Any, int]  # of an input
Lengths = Mapping[Dimension, int]
Runs = Callable[[Lengths], bool]


def unknown_lengths(inputs: Sequence[Any]) -> list[Dimension]:
    """Return the dimensions whose lengths the types do not fix, and the numbers that may be
    lengths.
    """
    found = []
    for v in inputs:
        shape = getattr(v.type, "shape", None)
        if shape == () and v.type.kind in "iu":
            found.append((v, VALUE))
        found += [(v, i) for i, n in enumerate(shape or ()) if n is None]
    return found


def small_lengths(given: Mapping[Any, Any], outputs: Sequence[Any]) -> dict[Any, Any]:
    """The values of inputs, but small ones of what ops take as lengths, steps or indices, which
    would fill the memory.
    """
    counts = set[Any]()
    for node in reversed(toposort(outputs)):
        if not isinstance(node.op, Elemwise) or not counts.isdisjoint(node.outputs):
            counts.update([v for v in node.inputs if getattr(v.type, "shape", None) == ()])
    found = dict(given)
    for v, x in given.items():
        if v in counts and v.type.kind in "iu" and abs(int(x)) > MAX_LENGTH:
            sign = 1 if x > 0 else -1
            found[v] = np.asarray(sign * (abs(int(x)) % (LENGTH + 1)), x.dtype)
    return found


def fitting_lengths(inputs: Sequence[Any], runs: Runs) -> Iterator[Lengths]:
    """Yield lengths of the inputs of a term. runs: whether it has a value with some lengths, where
    all others are `LENGTH`. No two are equal that need not be, in two orders; each is 0 and 1 once;
    and where several have to be equal, one of them is 1 and the others 0. None if no lengths fit
    that are known.
    """
    if not runs({}):
        return
    unknown = unknown_lengths(inputs)
    classes = divided(unknown, lambda some: runs(dict.fromkeys(some, LENGTH + 1)))
    for order in (classes, classes[::-1]):
        yield distinct(order)
    for tied in classes:
        for length in (0, 1):
            yield distinct(classes) | dict.fromkeys(tied, length)
        for one in tied if len(tied) > 1 else ():
            yield distinct(classes) | dict.fromkeys(tied, 0) | {one: 1}


def distinct(classes: Sequence[Sequence[Dimension]]) -> dict[Dimension, int]:
    """Return lengths from 2 on, a different one for each class."""
    return {d: 2 + i for i, tied in enumerate(classes) for d in tied}


def divided(
    unknown: Sequence[Dimension], fit: Callable[[Sequence[Dimension]], bool]
) -> list[list[Dimension]]:
    """Return dimensions that have to be equal. fit: whether some may be longer than all others."""
    done: list[list[Dimension]] = []
    todo = [list(unknown)]
    while todo:
        tied = todo.pop(0)
        part = next((p for p in _parts(tied) if fit(p)), None)
        if part is None:
            done.append(tied)
        else:
            todo += [list(part), [d for d in tied if d not in part]]
    return done


def _parts(tied: Sequence[Dimension]) -> Iterator[tuple[Dimension, ...]]:
    """Yield parts of which one or its rest may be a class; the small ones first."""
    most = len(tied) // 2 if len(tied) <= MOST else 2
    for size in range(1, most + 1):
        yield from combinations(tied, size)
