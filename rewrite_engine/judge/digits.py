"""Verdicts by many digits: the true value of a term, whether a number is near it, and the excuses
that need it. Requires mpmath.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from mpmath import mp, mpc, mpf

from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.traverse import explicit_graph_inputs
from rewrite_engine.judge.difference import (
    DifferentElement,
    coarseness,
    filled,
    remembered,
)
from rewrite_engine.judge.excuses import (
    APPROX,
    DIGITS,
    LOST,
    NOT_EXACT,
    STABLE,
    THE_LIMIT,
    Excuse,
    each,
    overflows,
)
from rewrite_engine.judge.limits import far_values, limit_at
from rewrite_engine.judge.matrix_truth import true_values
from rewrite_engine.judge.noise import MENDED, evaluate, is_nan, last_unit
from rewrite_engine.judge.reference import DIGITS as DECIMALS
from rewrite_engine.judge.reference import error, reference
from rewrite_engine.judge.values import compute_all

LOGARITHMS = ("log", "log1p", "log2", "log10")


@mp.workdps(DECIMALS)
def true_value(term: Variable, given: dict[Any, Any]) -> Any:
    """Return the true value of a term: an array of numbers; None if it is not known."""
    inputs = [np.asarray(x) for x in given.values()]
    finite = all(np.isfinite(x).all() for x in inputs if x.dtype.kind in "fc")
    if term.type.kind != "c" or finite:
        return reference(term, given, compute_all(term, given))
    # mpmath has its own complex infinities: what is known is what does not depend on them
    truths = []
    for number in 0, 1:
        other = {v: filled(np.asarray(x), number) for v, x in given.items()}
        truths.append(reference(term, other, compute_all(term, other)))
    a, b = truths
    return None if a is None or b is None else np.where(a == b, a, None)


def number(a: Any) -> Any:
    """A float as a number with many digits."""
    return mpc(complex(a)) if a.dtype.kind == "c" else mpf(float(a))


def unit(dtype: Any, *sizes: Any) -> Any:
    """The unit in the last place of the largest of these."""
    most = np.finfo(dtype).max
    known = [x if isinstance(x, mpf) else mpf(float(x)) for x in sizes if x == x]
    largest = float(min(max(known), mpf(float(most))))
    return mpf(float(last_unit(np.asarray(largest, most.dtype))))


@mp.workdps(DECIMALS)
def is_true(b: Any, t: Any, size: float, units: float) -> bool:
    """Whether b is the true value, up to rounding."""
    if t is None or t != t:
        return False
    if np.isfinite(b) and not mp.isinf(t):
        return bool(abs(number(b) - t) <= units * unit(b.dtype, size, abs(t)))
    return b.dtype.kind == "f" and error(b, t, b.dtype) == 0


@mp.workdps(DECIMALS)
def units_off(x: Any, t: Any, size: float) -> float:
    """How far a number is from the true one, in units in the last place."""
    return float(abs(number(x) - t) / unit(x.dtype, size, abs(t)))


def is_infinite(t: Any) -> bool:
    """Whether a true value is infinite."""
    return bool(mp.isinf(t))


def text(t: Any) -> str:
    """Return the first digits of a true value."""
    return str(mp.nstr(t, 8))


# --- excuses --------------------------------------------------------------------------------------


@remembered
def truth(e: DifferentElement) -> Any:
    """Return the true value; where digits are too few for the left side of a rule that stabilises,
    that of the right side.
    """
    if not e.sides.limits or e.t is None or not _is_lost(e):
        return e.t
    made = _right_side(e)
    return e.t if made is None else made


@remembered
def limit_of(e: DifferentElement) -> bool | None:
    """Whether the right side is the limit of the left side at finite inputs; None if no point near
    them has a value.
    """
    own = {*explicit_graph_inputs([e.sides.term])} & e.given.keys()
    given = {v: a for v, a in e.given.items() if v in own} or e.given
    return limit_at(e.sides.term, given, e.at, e.b)


@remembered
def _right_side(e: DifferentElement) -> Any:
    """The value of the right side, by many digits."""
    value = reference(e.sides.new, e.given, compute_all(e.sides.new, e.given))
    return None if value is None else np.asarray(value[e.at], object).item()


@remembered
def _is_lost(e: DifferentElement) -> bool:
    """Whether digits are too few for the left side, which is infinite or NaN because of that: no
    point near the inputs has another value.
    """
    if is_infinite(e.t):
        return bool(np.isfinite(e.b)) and (not e.is_finite or limit_of(e) is not False)
    if e.t == e.t or is_nan(e.b) or not overflows(e, 0.0):
        return False
    return not e.is_finite or limit_of(e) is None


def _has_few_digits(e: DifferentElement) -> bool:
    """Whether neither side has a value even with many digits."""
    if not e.sides.limits or e.t is None or e.t == e.t or not _is_lost(e):
        return False
    made = _right_side(e)
    return made is None or made != made


def _has_no_truth(e: DifferentElement) -> bool:
    t = truth(e)
    return bool(is_nan(e.b)) and e.sides.limits and not e.has_nan and t is not None and t != t


def unit_size(e: DifferentElement) -> float:
    """The size whose unit in the last place counts: of a logarithm of a sum, near 0, no digit is
    safe, on neither side.
    """
    root = e.sides.term.owner
    if not np.isfinite(e.size):
        return 0.0  # (of an overflow: what is added up is not known)
    if e.sides.limits and root is not None and str(root.op) in ("log", "sub"):
        return max(e.size, largest([x[np.isfinite(x)] for x in map(np.asarray, e.given.values())]))
    return e.size


def is_ambiguous_pole(e: DifferentElement) -> bool:
    """Whether the left side is NaN and in truth a pole of 0.0, or of -0.0: nobody knows which."""
    t = truth(e)
    if not is_nan(e.a) or not e.is_finite or t is None or not is_infinite(t):
        return False
    return str(e.sides.term.head) not in LOGARITHMS and not e.size >= np.finfo(e.a.dtype).max


@remembered
def truth_of_matrices(e: DifferentElement) -> Any:
    """Return the true value of a term of linear algebra; None if it is not known."""
    found = true_values(e.sides.term, e.given)
    return None if found is None else np.asarray(found[e.at], object).item()


def _is_true(e: DifferentElement) -> bool:
    """Whether the right side is the true value, and the left side has none, or b is infinite."""
    if is_nan(e.b) or (np.isfinite(e.a) and np.isfinite(e.b)) or is_ambiguous_pole(e):
        return False
    t, units = truth(e), e.whole.units
    if t is None and not np.isfinite(e.a):
        t = truth_of_matrices(e)
    if e.whole.claim.ulps and not np.isfinite(e.a):
        units = max(units, float(MENDED.get(real_name(e.a), 0)))
    if is_true(e.b, t, unit_size(e), units):
        return True
    if not is_nan(e.a):
        return False
    reached = not e.is_finite and (t is None or t != t)  # by NaN, wherever it stands
    infinite = any(np.isinf(x).any() for x in e.floats)
    known = t is not None and bool(np.isfinite(complex(t)) if t == t else False)
    mended = e.sides.limits and not reached and (known or not infinite)
    return mended and is_true(e.b, t, largest([x[np.isfinite(x)] for x in e.floats]), units)


def real_name(a: Any) -> str:
    """The name of the dtype of the parts of a number."""
    return str(np.finfo(a.dtype).dtype)


def _is_log_of_nearly_zero(e: DifferentElement) -> bool:
    t = truth(e)
    rounded = is_nan(e.a) and t is not None and t != t and e.is_finite
    return bool(
        rounded and e.sides.limits and np.isneginf(e.b.real) and coarseness(e.sides.term) > 1
    )


def _is_narrow(e: DifferentElement) -> bool:
    """Whether the left side is infinite, and narrower floats on the way end before those of the
    result.
    """
    infinite = np.isinf(e.a) and np.isfinite(e.b) and bool(e.whole.claim.ulps)
    return bool(infinite and coarseness(e.sides.term) > 1)


def _is_subnormal(e: DifferentElement) -> bool:
    """Whether the left side is infinite, and the true value is among those that the right side has
    if the last place of a subnormal step on its way changes by a unit.
    """
    t = truth(e)
    if not np.isinf(e.a) or not np.isfinite(e.b) or e.a.dtype.kind != "f":
        return False
    if t is None or t != t or is_infinite(t):
        return False
    found = [float(e.b), *filter(np.isfinite, _by_subnormal_steps(e))]
    return bool(min(found) <= t <= max(found))


def _by_subnormal_steps(e: DifferentElement) -> Iterator[float]:
    """Yield values of the right side with one step changed where it is subnormal: by the smallest
    number, up and down.
    """
    values = compute_all(e.sides.new, e.given)
    for v, x in {} if isinstance(values, Exception) else values.items():
        if v.owner is None or not isinstance(x, np.ndarray) or x.dtype.kind != "f":
            continue
        limits = np.finfo(x.dtype)
        where = (x != 0) & (np.abs(x) < limits.tiny)
        for unit in (limits.smallest_subnormal, -limits.smallest_subnormal) if where.any() else ():
            with suppress(Exception):  # of an op that refuses the number
                again = evaluate([e.sides.new], e.given, mended={v: (where, x + unit)})
                yield float(again[e.sides.new][e.at].item())


def _is_lost_infinity(e: DifferentElement) -> bool:
    lost = e.a.dtype.kind == "c" and not e.is_finite
    return bool(is_nan(e.a) and np.isinf(e.b) and lost and not is_ambiguous_pole(e))


def _is_limit(e: DifferentElement) -> bool:
    if not is_nan(e.a) or is_nan(e.b) or is_ambiguous_pole(e):
        return False
    return limit(e) is None


def _is_near_end(e: DifferentElement) -> bool:
    """Whether a finite number is so near to the largest one that rounding makes an infinity of
    it.
    """
    if not e.whole.claim.ulps or not np.isinf(e.a) or not np.isfinite(e.b):
        return False
    info = np.finfo(e.a.dtype)
    far = np.abs(e.b) >= float(info.max) * (1 - e.whole.units * float(info.eps))
    return bool(far and e.a.dtype.kind == "f" and (e.a > 0) == (e.b > 0))


def _is_nearer(e: DifferentElement) -> bool:
    t = truth(e)
    if not (np.isfinite(e.a) and np.isfinite(e.b)) or t is None or t != t:
        return False
    if e.sides.limits and e.b == 0 and abs(t) < float(np.finfo(e.a.dtype).tiny):
        return True  # functions that are made stable may underflow where results are subnormal
    size = unit_size(e)
    off, was = units_off(e.b, t, size), units_off(e.a, t, size)
    return off <= max(e.whole.units, 2 * was)


def limit(e: DifferentElement) -> str | None:
    """Return what is wrong with a number in place of NaN. Stable functions may give the limit."""
    if truth(e) is None:
        return LOST
    term, limits = e.sides.term, e.sides.limits
    if e.is_finite:
        found = limit_of(e)
        if found is None and limits and overflows(e, 0.0):
            return None  # the digits are too few
    else:
        known = [x for x in far_values(term, e.given, e.at) if x is not None and x == x]
        found = all([is_true(e.b, x, 0, 8) for x in known])
        if not known and not limits:
            return LOST
    if found:
        return None if limits else f"{LOST}, {THE_LIMIT}"
    return f"{LOST}, which is not the limit" if found is False and limits else LOST


def largest(inputs: Any) -> float:
    """Return the size of the largest operand: what an overflow left NaN may underflow beside it."""
    arrays = [x for x in inputs if x.dtype.kind in "biufc"]
    return max([float(np.abs(x[~np.isnan(x)]).max(initial=1)) for x in arrays], default=1.0)


DIGIT_EXCUSES: tuple[Excuse, ...] = (
    Excuse("nearer", "it is no farther from the true value", NOT_EXACT, DIGITS, each(_is_nearer)),
    Excuse("true value", "it is the true value; the left side overflows, or loses digits, on the "
           "way", NOT_EXACT, DIGITS, each(_is_true)),
    Excuse("few digits", "400 digits are too few for both sides", STABLE, DIGITS,
           each(_has_few_digits)),
    Excuse("no true value", "there is no true value: rounding made a number of it", STABLE, DIGITS,
           each(_has_no_truth)),
    Excuse("logarithm of nearly 0", "coarser floats make a number below 0 of nearly 0", STABLE,
           DIGITS, each(_is_log_of_nearly_zero)),
    Excuse("lost infinity", "NumPy's products of complex numbers lose infinities", NOT_EXACT,
           DIGITS, each(_is_lost_infinity)),
    Excuse("narrow step", "a step in narrower floats overflows, or underflows to 0", APPROX, DIGITS,
           each(_is_narrow)),
    Excuse("subnormal step", "a step is subnormal: a unit in its last place changes the result to "
           "the true value", NOT_EXACT, DIGITS, each(_is_subnormal)),
    Excuse("near the end", "it is so near the largest number that rounding makes an infinity of it",
           APPROX, DIGITS, each(_is_near_end)),
    Excuse("limit", "it is the limit, which rules that stabilise may give", STABLE, DIGITS,
           each(_is_limit)),
)  # fmt: skip
