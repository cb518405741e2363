"""Intervals, and bounds of results computed from the bounds of their operands.

An op declares one of these functions as `bounds=`, or it declares `range=` and `increasing=`
(`scalar/op.py`). The fact `bounded` calls them (`facts/numbers.py`) and rounds outwards. Each
function takes the dtype of the result and a pair (low, high) per operand, and returns such a pair,
or None.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.errors import OptionError

LONGEST = 2**62  # no array has as many elements
Ends = tuple[Any, Any]


class Interval(NamedTuple):
    """Numbers between two ends, written as `Interval.parse("(0, inf)")`.

    An open end is not a value of the exact function; rounding may produce it.
    """

    low: float
    high: float
    open_low: bool
    open_high: bool

    @staticmethod
    @cache
    def parse(text: str) -> Interval:
        """Parse an interval such as `(0, inf)` or `[-1, 1]`. Raise `OptionError` for any other
        text.
        """
        try:
            low, high = map(float, text[1:-1].split(","))
        except ValueError:
            low, high = math.inf, -math.inf
        if not low <= high or text[0] not in "([" or text[-1] not in ")]":
            raise OptionError(f"{text!r} is not an interval; write one as '(0, inf)' or '[-1, 1]'")
        return Interval(low, high, text[0] == "(", text[-1] == ")")

    def __str__(self) -> str:
        ends = f"{self.low:g}, {self.high:g}"
        return f"{'[('[self.open_low]}{ends}{'])'[self.open_high]}"

    @property
    def limited(self) -> bool:
        """Whether both ends are finite."""
        return self.low - self.low == self.high - self.high == 0


def total(dtype: Any, *ends: Ends) -> Ends:
    """Return bounds of a sum."""
    low, high = sum([a for a, _ in ends]), sum([b for _, b in ends])
    return _in_any_order(dtype, (low, high), sum(_sizes(ends)), len(ends))


def product(dtype: Any, *ends: Ends) -> Ends | None:
    """Return bounds of a product."""
    low, high = ends[0]
    for a, b in ends[1:]:
        corners = [low * a, low * b, high * a, high * b]
        low, high = min(corners), max(corners)
    sizes = _sizes(ends)
    if len(ends) > 2 and dtype.kind == "f":
        if math.prod([max(1, s) for s in sizes]) > float(np.finfo(dtype).max):
            return None  # a product of some of them may overflow
    return _in_any_order(dtype, (low, high), math.prod(sizes), len(ends))


def _sizes(ends: Any) -> list[Any]:
    return [max(-a, b) for a, b in ends]


def _in_any_order(dtype: Any, ends: Ends, size: Any, count: int) -> Ends:
    """Widen bounds by the rounding errors of three or more operands combined in any order."""
    if count < 3 or dtype.kind != "f":
        return ends
    slack = count * (float(np.finfo(dtype).eps) * size + float(np.finfo(dtype).tiny))
    return ends[0] - slack, ends[1] + slack


def difference(dtype: Any, a: Ends, b: Ends) -> Ends:
    """Return bounds of x - y."""
    return a[0] - b[1], a[1] - b[0]


def quotient(dtype: Any, a: Ends, b: Ends) -> Ends | None:
    """Return bounds of x / y, or None if y may be 0."""
    if b[0] <= 0 <= b[1]:
        return None
    corners = [end / by for end in a for by in b]
    return min(corners), max(corners)


def remainder(dtype: Any, a: Ends, b: Ends) -> Ends | None:
    """Return bounds of the remainder of a division by a positive integer."""
    return (0, b[1] - 1) if np.dtype(dtype).kind in "iu" and b[0] > 0 else None


def negative(dtype: Any, a: Ends) -> Ends:
    """Return bounds of -x."""
    return -a[1], -a[0]


def modulus(dtype: Any, a: Ends) -> Ends:
    """Return bounds of abs(x)."""
    low, high = sorted([max(end, -end) for end in a])
    return (0 if a[0] <= 0 <= a[1] else low), high


def square(dtype: Any, a: Ends) -> Ends:
    """Return bounds of x * x."""
    low, high = sorted([a[0] * a[0], a[1] * a[1]])
    return (0 if a[0] <= 0 <= a[1] else low), high


def largest(dtype: Any, *ends: Ends) -> Ends:
    """Return bounds of a maximum."""
    return max([a for a, _ in ends]), max([b for _, b in ends])


def smallest(dtype: Any, *ends: Ends) -> Ends:
    """Return bounds of a minimum."""
    return min([a for a, _ in ends]), min([b for _, b in ends])


def converted(dtype: Any, a: Ends) -> Ends:
    """Return bounds of a conversion to `dtype`: integers are rounded towards 0 and must not
    wrap.
    """
    if dtype.kind == "b":
        return 0, 1
    return (math.trunc(a[0]), math.trunc(a[1])) if dtype.kind in "iu" else a


def as_result(ends: Ends, dtype: Any) -> Ends:
    """Return the bounds of an operand; those of integers as numbers of a float dtype, to which the
    integers are converted first.
    """
    if dtype.kind != "f":
        return ends
    with np.errstate(over="ignore"):
        low, high = [dtype.type(end).item() if type(end) is int else end for end in ends]
    return low, high


def monotone(op: Any, dtype: Any, ends: Ends) -> Ends | None:
    """Return bounds of an increasing function: its values at the ends, widened by a few units."""
    wide = dtype if dtype.kind in "iu" else np.float64
    with np.errstate(all="ignore"):
        low, high = [op.impl(np.asarray(end, wide)).item() for end in ends]
    if low - low != 0 or high - high != 0:
        return None  # outside of its domain, or an overflow
    if not op.correctly_rounded:
        slack = 8 * float(np.finfo(dtype).eps)
        low, high = low - slack * abs(low), high + slack * abs(high)
        tiny = float(np.finfo(dtype).tiny)  # below it, functions of SciPy give 0
        low, high = 0.0 if 0 < low < tiny else low, 0.0 if -tiny < high < 0 else high
    if op.range is None:
        return low, high
    return max(low, op.range.low), min(high, op.range.high)


def rounded(ends: Ends | None, dtype: Any) -> Ends | None:
    """Return the bounds of results rounded to a dtype; None if they may overflow or wrap."""
    if ends is None or any(end - end != 0 for end in ends):
        return None
    low, high = ends
    if dtype.kind in "biu":
        limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        inside = limits[0] <= low and high <= limits[1]
        return (math.floor(low), math.ceil(high)) if inside else None
    with np.errstate(all="ignore"):
        near = np.array([low, high]).astype(dtype)
        if not np.isfinite(near).all():
            return None
        below, above = np.nextafter(near, np.array([-np.inf, np.inf], dtype))
    a, b = near.tolist()
    return (a if a <= low else below.item()), (b if b >= high else above.item())
