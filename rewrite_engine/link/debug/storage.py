"""Copies that preserve the memory layout of a value, and contents for output cells that test ops
that reuse them (`check_preallocated_output`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import product
from typing import Any

import numpy as np

from rewrite_engine.errors import OptionError, did_you_mean

#: what may be in the cells: copies of what was there first, and of what was there last; new arrays
#: in either order; steps of 1, 2, -1, -2; lengths that are one too many, or too few
KINDS = ("initial", "previous", "c_contiguous", "f_contiguous", "strided", "wrong_size")


def kinds_of(asked: Any) -> tuple[str, ...]:
    """Return the requested kinds: a list, or a text with colons; "ALL" for all. Raises
    `OptionError`.
    """
    names = asked.split(":") if isinstance(asked, str) else list(asked)
    names = [name for name in names if name]
    for name in names:
        if name not in (*KINDS, "ALL"):
            known = f"use {', '.join(KINDS)} or ALL"
            what = f"check_preallocated_output: there is no kind {name!r}"
            raise OptionError(f"{what}; {known}{did_you_mean(name, KINDS)}")
    return KINDS if "ALL" in names else tuple([name for name in KINDS if name in names])


def copy_of(value: Any) -> Any:
    """Return a copy that shares no memory. An array keeps its strides."""
    if type(value) is not np.ndarray:
        try:
            return deepcopy(value)
        except Exception:  # what cannot be copied (a lock, a module) is nobody's to overwrite
            return value
    flags = value.flags
    if flags.c_contiguous or flags.f_contiguous or 0 in value.strides or value.dtype.hasobject:
        return np.array(value, order="K")
    low = sum([s * (n - 1) for s, n in zip(value.strides, value.shape, strict=True) if s < 0])
    high = sum([s * (n - 1) for s, n in zip(value.strides, value.shape, strict=True) if s > 0])
    raw = np.zeros(high - low + value.itemsize, np.uint8)
    copy: Any = np.ndarray(value.shape, value.dtype, raw.data, -low, value.strides)
    copy[...] = value
    return copy


def filler(dtype: Any) -> Any:
    """Return a value for cells that no op computes: NaN, or an unlikely number."""
    kind = dtype.kind
    if kind in "fc":
        return np.nan
    return True if kind == "b" else np.iinfo(dtype).max - 7 if kind in "iu" else None


def preallocated(
    results: Sequence[Any], static: Sequence[Any], kinds: Sequence[str], ndim: int
) -> Iterator[tuple[str, list[Any]]]:
    """Yield names and contents for cells: arrays of the right dtypes for array results, None for
    others. static: known lengths, which the contents have, too. ndim: for how many of the last
    dimensions all strides are combined.
    """
    arrays = [x if isinstance(x, np.ndarray) and not x.dtype.hasobject else None for x in results]
    if all([x is None for x in arrays]):
        return

    def each(make: Any) -> list[Any]:
        return [None if x is None else _filled(make(x)) for x in arrays]

    def resized(axis: int, more: int) -> list[Any]:
        made = [None if x is None else _resized(x, s, axis, more) for x, s in zip(arrays, static)]
        return [None if x is None else _filled(x) for x in made]

    if "initial" in kinds or "previous" in kinds:
        yield "previous", each(copy_of)
    if "c_contiguous" in kinds:
        yield "c_contiguous", each(lambda x: np.empty(x.shape, x.dtype))
    most = max([x.ndim for x in arrays if x is not None])
    if "f_contiguous" in kinds and most > 1:
        yield "f_contiguous", each(lambda x: np.empty(x.shape, x.dtype, "F"))
    if "strided" in kinds and most:
        for steps in product(*[(1, -1)] * min(ndim, most)):
            for size in (1, 2):
                own = [s * size for s in steps]
                if own != [1] * len(own):
                    yield f"strided{tuple(own)}", each(lambda x, own=own: _strided(x, own))
    for axis in range(most) if "wrong_size" in kinds else ():
        for more in (-1, 1):
            name = f"wrong_size({more:+d} along dimension {axis})"
            yield name, resized(axis, more)


def _filled(array: Any) -> Any:
    value = filler(array.dtype)
    if value is not None:
        array[...] = value
    return array


def _strided(x: Any, steps: Sequence[int]) -> Any:
    """Return an array of the same shape with these steps along its last dimensions."""
    own = ([1] * x.ndim + list(steps))[len(steps) :] if len(steps) < x.ndim else steps
    own = list(own)[len(own) - x.ndim :]
    wide: Any = np.empty([n * abs(s) for n, s in zip(x.shape, own, strict=True)], x.dtype)
    return wide[(..., *[slice(None, None, s) for s in own])]


def _resized(x: Any, static: Sequence[int | None], axis: int, more: int) -> Any:
    """Return an array that is longer or shorter along a dimension, if it has one without a static
    length.
    """
    shape = list(x.shape)
    if axis < x.ndim and static[axis] is None:
        shape[axis] = max(shape[axis] + more, 0)
    return np.empty(shape, x.dtype)
