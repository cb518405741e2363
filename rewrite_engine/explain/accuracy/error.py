"""Values with their exact counterparts, their relative errors, and how many digits are right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpmath import mp, mpf

from rewrite_engine.judge import wide

INF = float("inf")


@dataclass(slots=True, eq=False)
class ValuePair:
    """Value that was computed in floats, and the exact one. mask: the elements whose exact values
    are known; None: all.
    """

    computed: Any
    true: Any
    mask: Any = None
    _error: Any = field(default=None, repr=False)

    @property
    def is_number(self) -> bool:
        """Return whether it is an array of floats or complex numbers."""
        return isinstance(self.computed, np.ndarray | np.generic) and (
            np.asarray(self.computed).dtype.kind in "fc"
        )

    @property
    def error(self) -> Any:
        """Relative error of each element: 0 if both are the same, infinite if nothing is right;
        NaN where the exact value is not known. Of other values than floats: 0, or infinite.
        """
        if self._error is None:
            self._error = errors(self)
        return self._error


def errors(x: ValuePair) -> Any:
    """Return the relative error of each element."""
    if not isinstance(x.computed, np.ndarray | np.generic):
        return np.zeros(())
    computed = np.asarray(x.computed)
    true = x.true if isinstance(x.true, np.ndarray) else np.asarray(x.true)
    if true.shape != computed.shape:
        return np.full(computed.shape, INF)
    if computed.dtype.kind not in "fc":
        return np.where(computed == true, 0.0, INF)
    if true.dtype == wide.WIDE:
        return _wide_errors(computed, true)
    smallest, largest = limits(computed.dtype)
    if x.mask is None:
        return _exact_errors(computed, true, smallest, largest)
    found = np.full(computed.shape, np.nan)
    found[x.mask] = _exact_errors(computed[x.mask], true[x.mask], smallest, largest)
    return found


def where_known(fn: Any, x: ValuePair, *others: Any) -> Any:
    """Return booleans of a function of exact values (of `x`, and of arrays like it): False where
    they are not known.
    """
    arrays = [np.asarray(a) for a in (x.true, *others)]
    if x.mask is None:
        return np.asarray(np.frompyfunc(fn, len(arrays), 1)(*arrays), bool)
    found = np.zeros(arrays[0].shape, bool)
    found[x.mask] = np.frompyfunc(fn, len(arrays), 1)(*[a[x.mask] for a in arrays])
    return found


def are_zero(x: ValuePair) -> Any:
    """Return which exact values are known to be 0."""
    if np.asarray(x.true).dtype != object:
        return np.asarray(x.true) == 0
    return where_known(lambda t: bool(t == 0), x)


def limits(dtype: Any) -> tuple[Any, Any]:
    """Return the smallest and the largest positive number of a dtype."""
    info = np.finfo(dtype)
    return mpf(float(info.smallest_subnormal)), mpf(float(info.max))


def _exact_errors(computed: Any, true: Any, smallest: Any, largest: Any) -> Any:
    number = mp.mpc if computed.dtype.kind == "c" else mpf
    python = complex if computed.dtype.kind == "c" else float

    def one(f: Any, t: Any) -> float:
        return error_of(number(python(f)), t, smallest, largest)

    with np.errstate(invalid="ignore"):
        return np.asarray(np.frompyfunc(one, 2, 1)(computed, true), float)


def error_of(f: Any, t: Any, smallest: Any, largest: Any) -> float:
    """Return the relative error of one number. One that is too large or too small for the dtype
    may be infinite or 0.
    """
    if t != t or f != f:
        return 0.0 if t != t and f != f else INF
    if f == t:
        return 0.0
    size = abs(t)
    if size > largest:
        same = isinstance(t, mp.mpc) or mp.sign(f) == mp.sign(t)
        return 0.0 if mp.isinf(f) and same else INF
    if mp.isinf(f):
        return INF
    apart = abs(f - t)
    if apart <= smallest:
        return 0.0
    return INF if size == 0 else float(apart / size)


def _wide_errors(computed: Any, true: Any) -> Any:
    info = np.finfo(computed.dtype)
    with np.errstate(all="ignore"):
        wide_computed = computed.astype(wide.WIDE)
        apart, size = np.abs(wide_computed - true), np.abs(true)
        found = np.where(size > 0, apart / np.where(size > 0, size, 1), INF)
        same = (wide_computed == true) | (np.isnan(computed) & np.isnan(true))
        over = (size > info.max) & np.isinf(computed) & (np.sign(computed) == np.sign(true))
        same |= over | (apart <= info.smallest_subnormal)
        found = np.where(same, 0.0, np.where(np.isnan(found), INF, found))
    return found.astype(float)


def unit(dtype: Any) -> float:
    """Return the largest relative error of rounding to a dtype."""
    return float(np.finfo(dtype).eps) / 2


def all_digits(dtype: Any) -> float:
    """Return the number of digits that a dtype holds: 15.95 of float64; of others than floats, the
    same number.
    """
    dtype = np.dtype(dtype)
    return float(-np.log10(unit(dtype if dtype.kind in "fc" else np.float64)))


def digits(error: Any, most: float) -> Any:
    """Return the number of right digits for relative errors, at most `most`; NaN where unknown."""
    with np.errstate(all="ignore"):
        return np.clip(-np.log10(error), 0.0, most) + 0.0  # (no -0.0)


def written(t: Any, count: int = 20) -> str:
    """Return an exact number as text with some digits."""
    if isinstance(t, np.longdouble):
        return (
            np.format_float_positional(t, count, unique=False, trim="-", fractional=False)
            if (1e-5 < abs(t) < 1e16)
            else np.format_float_scientific(t, 17)
        )
    if isinstance(t, mpf | mp.mpc):
        return str(mp.nstr(t, count))
    return str(t)
