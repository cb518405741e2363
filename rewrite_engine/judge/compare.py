"""Comparison of two values: whether they are the same, and how far apart in units in the last place
(ulps).

`compare_values` compares the values of two graphs for one output: the second may have repaired what
the first lost. `explain` and DebugMode use it for whole functions; `verdict.py` judges steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np

MAX_ROUNDING_ULPS = 64  # that rounding alone explains
ORDERED = {2: np.int16, 4: np.int32, 8: np.int64}


class Agreement(IntEnum):
    """How far two values agree; the larger, the worse."""

    IDENTICAL = 0
    AGREE = 1
    REPAIRED = 2
    UNKNOWN = 3
    DISAGREE = 4


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of comparing one value. ulps: of the element that differs most, None if there is none.
    text: the result in words.
    """

    verdict: Agreement
    text: str
    ulps: float | None = None
    special: int = 0  # elements that are not finite in both


def ulps(a: Any, b: Any) -> Any:
    """Return the number of floating-point numbers between two finite arrays of one dtype,
    elementwise, as floats.

    >>> ulps(np.array([1.0, 0.0]), np.array([1.0 + 2**-52, 5e-324]))
    array([1., 1.])
    """
    if a.dtype.kind == "c":
        return np.maximum(ulps(a.real.copy(), b.real.copy()), ulps(a.imag.copy(), b.imag.copy()))
    return np.abs(_place(a) - _place(b)).astype(float)


def _place(x: Any) -> Any:
    """Return each number's rank among the numbers of its dtype (0.0 and -0.0 share one), as long
    doubles.
    """
    dtype = ORDERED[x.dtype.itemsize]
    bits = x.view(dtype).astype(np.longdouble)
    return np.where(bits < 0, -(bits + np.longdouble(2) ** (8 * x.dtype.itemsize - 1)), bits)


def compare_values(type_: Any, expected: Any, found: Any, exact: Any = None) -> Comparison:
    """Compare an output of the graph as built (`expected`) with that of the rewritten one.

    Floats agree within the tolerance of their type; an element that was NaN or infinite and has a
    value now is repaired. exact: the value in wider floats, if known: a result nearer to it is an
    improvement, not a disagreement.
    """
    if not hasattr(type_, "dtype"):
        same = type_.values_eq_approx(expected, found)
        return _same() if same else Comparison(Agreement.DISAGREE, f"{expected!r} became {found!r}")
    a, b = np.asarray(expected), np.asarray(found)
    if a.dtype != b.dtype or a.shape != b.shape:
        text = f"{a.dtype} of shape {a.shape} became {b.dtype} of shape {b.shape}"
        return Comparison(Agreement.DISAGREE, text)
    if a.dtype.kind not in "fc" or a.dtype.itemsize // (1 + (a.dtype.kind == "c")) not in ORDERED:
        return _same() if np.array_equal(a, b) else _disagree(a, b, a != b)
    with np.errstate(all="ignore"):
        true = None if exact is None else np.atleast_1d(np.asarray(exact))
        return _compare_floats(type_, np.atleast_1d(a), np.atleast_1d(b), true)


def _compare_floats(type_: Any, a: Any, b: Any, exact: Any) -> Comparison:
    defined, finite = np.isfinite(a), np.isfinite(b)
    repaired = (~defined & finite) | (np.isnan(a) & ~np.isnan(b))
    same_special = ~defined & ~finite & ((np.isnan(a) & np.isnan(b)) | (a == b))
    wrong = ~repaired & ~same_special & ~(defined & finite)
    both = defined & finite
    if wrong.any():
        return _disagree(a, b, wrong)
    x, y = a[both], b[both]
    if x.size and not type_.values_eq_approx(y, x):
        better = _nearer(a, b, exact) & both
        if type_.values_eq_approx(np.where(better, b, a)[both], y):
            return _improved(a, b, exact, better)
        return _disagree(a, b, both & (np.abs(a - b) == np.max(np.abs(x - y))))
    distance = ulps(x, y) if x.size else np.zeros(1)
    if repaired.any():
        return _repaired(a, b, repaired, float(np.max(distance)))
    told = _agree(x, y, float(np.max(distance)), int(same_special.sum()), a.size)
    if (told.ulps or 0) > MAX_ROUNDING_ULPS and (_nearer(a, b, exact) | ~both | (a == b)).all():
        return replace(told, text=f"{told.text}, nearer to what it is in {exact.dtype}")
    return told


def _nearer(a: Any, b: Any, exact: Any) -> Any:
    """Return where the second value is nearer to the exact one."""
    if exact is None or exact.shape != a.shape:
        return np.zeros(a.shape, bool)
    return np.isfinite(exact) & (np.abs(b - exact) < np.abs(a - exact))


def _improved(a: Any, b: Any, exact: Any, where: Any) -> Comparison:
    apart = np.where(where & np.isfinite(a - b), np.abs(a - b), -1)
    at = np.unravel_index(int(np.argmax(apart)), a.shape)
    text = f"improved: {a[at]:.6g} became {b[at]:.6g}, in {exact.dtype} it is {exact[at]:.10g}"
    if a.size > 1:
        text += f", and {int(where.sum())} of {a.size} elements are nearer to that"
    return Comparison(Agreement.REPAIRED, text, None)


def _same() -> Comparison:
    return Comparison(Agreement.IDENTICAL, "identical", 0.0)


def _agree(x: Any, y: Any, worst: float, special: int, size: int) -> Comparison:
    """Describe how well values agree; `special` of `size` elements are not finite in both."""
    if special:
        found = _agree(x, y, worst, 0, size)
        text = f"{found.text} ({special} of {size} elements are nan or inf in both)"
        return Comparison(found.verdict, text, found.ulps, special)
    if worst == 0:
        return _same()
    if worst <= MAX_ROUNDING_ULPS:
        return Comparison(Agreement.AGREE, f"agree to {ulps_text(worst)}", worst)
    largest, apart = np.abs(x).max(), np.max(np.abs(x - y))
    if largest and apart <= MAX_ROUNDING_ULPS * np.spacing(largest):
        n = max(1, round(float(apart / np.spacing(largest))))
        text = f"agree to {ulps_text(n)} of the largest element ({largest:.3g})"
        return Comparison(Agreement.AGREE, text, n)
    unit = np.spacing(np.abs(x).dtype.type(1))
    if largest <= MAX_ROUNDING_ULPS * unit and apart <= MAX_ROUNDING_ULPS * unit:
        n = max(1, round(float(apart / unit)))
        text = f"agree to {ulps_text(n)} of 1.0 (they are 0 up to rounding)"
        return Comparison(Agreement.AGREE, text, n)
    relative = float((np.abs(x - y) / np.maximum(np.abs(x), np.abs(y))).max())
    return Comparison(
        Agreement.AGREE, f"agree to {ulps_text(worst)} (a relative {relative:.1e})", worst
    )


def ulps_text(n: float) -> str:
    """Return a number of units in the last place, in words."""
    return "1 ulp" if n == 1 else f"{n:.0f} ulps" if n < 1e6 else f"{n:.1e} ulps"


def _repaired(a: Any, b: Any, where: Any, worst: float) -> Comparison:
    at = tuple(np.argwhere(where)[0])
    text = f"repaired: {a[at]} became {b[at]:.6g}"
    if a.size > 1:
        text += f" in {int(where.sum())} of {a.size} elements"
        text += f", the others agree to {ulps_text(worst)}" if not where.all() else ""
    return Comparison(Agreement.REPAIRED, text, worst)


def _disagree(a: Any, b: Any, where: Any) -> Comparison:
    a, b, where = np.atleast_1d(a), np.atleast_1d(b), np.atleast_1d(where)
    at = tuple(int(i) for i in np.argwhere(where)[0])
    place = f" at {at if len(at) > 1 else at[0]}" if a.size > 1 else ""
    return Comparison(Agreement.DISAGREE, f"{a[at]!s} became {b[at]!s}{place}")
