"""Noise: how much a value varies if intermediate results move by a unit in the last place.
Differences within a small multiple of that are rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply
from rewrite_engine.tensor.elemwise import Elemwise

#: what is 0 only where it is so exactly
EXACT = frozenset(("add", "sub"))
SAMPLES = 12
WIDE = 20  # times as far as noise reaches


def moved(value: Any, rng: Any) -> Any:
    """Return a value with each element moved by a unit in the last place at random, or not. 0 may
    become -0.0, and a number with hardly a digit left may vanish.
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or not value.size:
        return value
    if value.dtype.kind == "c":
        parts = moved(value.real.copy(), rng), moved(value.imag.copy(), rng)
        return np.asarray(parts[0] + 1j * parts[1], value.dtype)
    dice = rng.integers(-1, 2, value.shape)
    with np.errstate(all="ignore"):
        to = np.where(dice > 0, np.inf, -np.inf).astype(value.dtype)
        found = np.where((dice == 0) | ~np.isfinite(value), value, np.nextafter(value, to))
        found = np.where(value == 0, np.where(dice > 0, -value, value), found)
        tiny = (np.abs(found) < np.finfo(value.dtype).tiny) & (rng.random(value.shape) < 0.3)
        return np.where(tiny, value.dtype.type(0), found).astype(value.dtype)


def noisy(node: Apply, given: Sequence[Any], value: Any, rng: Any) -> Any:
    """Return a result of a node, moved. A 0 that results from nonzero operands underflowed, and may
    become the smallest number.
    """
    found, op = moved(value, rng), node.op
    if not isinstance(op, Elemwise) or str(op.scalar_op) in EXACT or value.dtype.kind != "f":
        return found
    zero = value == 0
    for x in given if zero.any() else ():
        zero = zero & (x != 0)
    if not zero.any():
        return found
    sign = np.where(np.signbit(value), -1, 1) * (rng.integers(0, 2, value.shape))
    least = sign * np.finfo(value.dtype).smallest_subnormal
    return np.where(zero, least, found).astype(value.dtype)


def within(a: Any, b: Any, samples: Sequence[Any], units: float = 1.0) -> Any:
    """Return where b is as near to a as samples of a, or within units in its last place."""
    kind = a.dtype.kind
    found = [s for s in samples if np.shape(s) == a.shape]
    with np.errstate(all="ignore"):
        same = (a == b) | ((a != a) & (b != b))
        for s in found:
            same = same | (s == b) | ((s != s) & (b != b))
        if kind not in "fc":
            return same
        size = np.maximum(np.abs(a), np.abs(b))
        around = units * np.spacing(size)
        for s in found:
            around = np.maximum(around, np.nan_to_num(np.abs(s - a), nan=0, posinf=0))
        near = np.abs(a - b) <= WIDE * around
        return same | (near & np.isfinite(a) & np.isfinite(b))


def spread_of(run: Callable[[Sequence[Any]], Any], given: Sequence[Any], a: Any, b: Any) -> bool:
    """Return whether the second value of a function differs from the first by no more than noise in
    its arguments explains.
    """
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.dtype.kind not in "fc":
        return False
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    rng = np.random.default_rng(0)
    samples = []
    for _ in range(SAMPLES):
        try:
            samples.append(run([moved(x, rng) for x in given]))
        except Exception:
            return False
    return bool(within(a, b, samples).all())
