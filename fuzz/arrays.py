"""Arrays to run graphs on: special values of every dtype, and every layout in memory."""

from __future__ import annotations

import ctypes
from random import Random
from typing import Any

import numpy as np

FLOATS = ("float64", "float32", "float16")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")
MOODS = ("plain", "wide", "saturated", "special", "extreme", "opposite", "few")

PLAIN = (-2.5, -1.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.0, 1.5, 2.0, 3.0)
SATURATED = (
    -1000.0, -745.0, -710.0, -100.0, -89.0, -70.0, -40.0, -17.0, 0.0, 11.0, 17.0, 40.0, 88.0,
    100.0, 709.0, 745.0, 1000.0,
)  # fmt: skip
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)
WHOLE = (-3, -2, -1, 0, 0, 1, 1, 2, 3, 5)


def number(rng: Random, dtype: str, mood: str) -> Any:
    """A Python number for an element of an array."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random() < 0.5
    if kind in "iu":
        return _integer(rng, dtype, mood)
    if kind == "c":
        return complex(_real(rng, "float32", mood), _real(rng, "float32", mood))
    return _real(rng, dtype, mood)


def _integer(rng: Random, dtype: str, mood: str) -> int:
    info = np.iinfo(dtype)
    if mood == "extreme" or (mood == "special" and rng.random() < 0.3):
        found = rng.choice((info.min, info.max, info.max // 2 + 1, info.max - 1, info.min + 1, 100))
    elif mood in ("wide", "saturated"):
        found = rng.choice((100, 127, -100, 1000, -1000, 40, 7, 0))
    else:
        found = rng.choice(WHOLE)
    return max(info.min, min(info.max, found))


def _real(rng: Random, dtype: str, mood: str) -> float:
    if mood == "special" and rng.random() < 0.4:
        return rng.choice(SPECIAL)
    if mood == "saturated":
        return rng.choice(SATURATED)
    if mood == "opposite":
        return rng.choice((-0.9, 0.9, 0.9, -0.9, 1e-20)) * float(np.finfo(dtype).max)
    if mood == "few":
        return rng.choice((0.0, 1.0, -1.0, 2.0))
    if mood == "wide":
        return rng.choice((-1.0, 1.0, 1.0)) * 10.0 ** rng.uniform(-9, 6)
    if mood == "extreme" and rng.random() < 0.6:
        info = np.finfo(dtype)
        large, small = float(info.max), float(info.smallest_subnormal)
        return rng.choice((-1.0, 1.0)) * rng.choice(
            (large, large / 2, large * 0.1, large**0.5, small, small * 7, float(info.tiny), 1e30)
        )
    return rng.choice(PLAIN) if rng.random() < 0.4 else round(rng.uniform(-3, 3), 3)


def array(rng: Random, dtype: str, shape: tuple[int, ...], mood: str) -> np.ndarray:
    """An array of such numbers, contiguous."""
    count = int(np.prod(shape))
    if not count:
        return np.empty(shape, dtype)
    kind = np.dtype(dtype).kind
    wide = {"f": np.float64, "c": np.complex128, "b": np.bool_}.get(kind, object)
    with np.errstate(all="ignore"):
        values: Any = np.array([number(rng, dtype, mood) for _ in range(count)], wide)
        return values.astype(dtype).reshape(shape)


def same_layout(a: np.ndarray) -> np.ndarray:
    """A copy that lies in memory of its own as the array lies in its own."""
    a = np.asarray(a)  # (a number of NumPy has another address whenever it is asked)
    if not a.size:
        return a.copy()
    start, stop = np.lib.array_utils.byte_bounds(a)
    memory = bytearray(ctypes.string_at(start, stop - start))
    offset = a.__array_interface__["data"][0] - start
    return np.ndarray(a.shape, a.dtype, memory, offset, a.strides)


def laid_out(rng: Random, a: np.ndarray) -> np.ndarray:
    """An array of that dtype and shape in some layout; the same values, where the layout allows."""
    if rng.random() < 0.5:
        return a
    return rng.choice(LAYOUTS)(rng, a)


def _strided(rng: Random, a: np.ndarray) -> np.ndarray:
    if not a.ndim:
        return _read_only(rng, a)
    axis, step = rng.randrange(a.ndim), rng.choice((2, 3, -1, -2))
    shape = list(a.shape)
    shape[axis] = a.shape[axis] * abs(step)
    wide = np.ones(shape, a.dtype)
    part = wide[(slice(None),) * axis + (slice(None, None, step),)]
    part[...] = a
    return part


def _turned(rng: Random, a: np.ndarray) -> np.ndarray:
    order = list(range(a.ndim))
    rng.shuffle(order)
    back: Any = np.argsort(order) if order else []
    return (
        np.ascontiguousarray(a.transpose(order)).reshape(a.transpose(order).shape).transpose(back)
    )


def _read_only(rng: Random, a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


def _repeated(rng: Random, a: np.ndarray) -> np.ndarray:
    if not a.size or not a.ndim:
        return a
    axis = rng.randrange(a.ndim)
    one = a[(slice(None),) * axis + (slice(0, 1),)]
    return np.broadcast_to(one, a.shape)


def _overlapping(rng: Random, a: np.ndarray) -> np.ndarray:
    if a.ndim != 2 or not a.size:
        return _strided(rng, a)
    line = np.resize(a.ravel(), a.shape[0] + a.shape[1] - 1).astype(a.dtype)
    return np.lib.stride_tricks.sliding_window_view(line, a.shape[1], writeable=True)


def _unaligned(rng: Random, a: np.ndarray) -> np.ndarray:
    buffer = bytearray(a.nbytes + 1)
    found = np.frombuffer(buffer, a.dtype, a.size, 1).reshape(a.shape)
    found[...] = a
    return found


LAYOUTS = (_strided, _strided, _turned, _turned, _read_only, _repeated, _overlapping, _unaligned)
