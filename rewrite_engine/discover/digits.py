"""How many decimal digits of a computed value are right, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mpmath import mp

from rewrite_engine.discover.judge import DIGITS, GREATEST, LEAST, MANY_DIGITS

FULL = 16.0  # decimal digits of a double


def right_digits(value: Any, true: Any) -> Any:
    """Return the right digits of each element of a value, at most `FULL`; NaN if the true value is
    unknown, or out of the range of doubles.
    """
    flat = np.ravel(true)
    found = np.full(len(flat), math.nan) if value is None else np.ravel(value)
    found = np.broadcast_to(found, len(flat)) if len(found) == 1 else found
    with mp.workdps(DIGITS):
        return np.array([_digits(v, t) for v, t in zip(found, flat, strict=True)])


def _digits(value: Any, true: Any) -> float:
    size = abs(float(true))
    if not math.isfinite(size) or size > GREATEST or 0 < size < LEAST:
        return math.nan
    if not math.isfinite(value):
        return 0.0
    error = abs(mp.mpf(float(value)) - true)
    if error == 0:
        return FULL
    if true == 0:
        return 0.0 if error > LEAST else FULL
    return float(min(FULL, max(0.0, -float(mp.log10(error / abs(true))))))


def number_text(x: Any) -> str:
    """Return a true number with the digits of a double."""
    with mp.workdps(MANY_DIGITS):
        return str(mp.nstr(x, 16))
