"""Excuses: each way in which a difference between the two sides of a step is forgiven, as a row.

`verdict.py` tries the rows by their evidence (`STRICT_ORDER`, `LENIENT_ORDER`) until no element is
left. Those here need values, noise, or that no true value is known; those that need the true value
are in `digits.py`. Reports print the reason; `scripts/verdicts_table` lists all rows
in `docs/reference/verdicts.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.difference import Difference, DifferentElement, part, remembered
from rewrite_engine.judge.noise import REACH, is_nan, last_unit, within
from rewrite_engine.judge.values import compute_all
from rewrite_engine.tensor import Argmax, Elemwise

Mask = Any
LOST, THE_LIMIT = "NaN becomes a number", "which is the limit"
LARGE_PARTS = 1e4  # by how much numbers may be below the largest one, so that sums of them overflow


class Excuse(NamedTuple):
    """A way in which a difference is forgiven. claims: of which rules; evidence: what it needs;
    forgives: a function of the difference and of the places that nothing else excuses, which
    returns where it does. lenient: only in calls of programs, where not everything can be known,
    not in checks of rules. integers: for integers and booleans, too.
    """

    name: str
    reason: str
    claims: str
    evidence: str
    forgives: Callable[[Difference, Mask], Mask]
    lenient: bool = False
    integers: bool = False


def each(predicate: Callable[[DifferentElement], bool]) -> Callable[[Difference, Mask], Mask]:
    """Return a function of a difference that asks for each element."""

    def forgives(d: Difference, left: Mask) -> Mask:
        found = np.zeros(left.shape, bool)
        for at in np.argwhere(left):
            place = tuple(at) if left.ndim else ()
            found[place] = predicate(d.element(place))
        return found

    return forgives


# --- by the values alone --------------------------------------------------------------------------


def _is_rounding(d: Difference, left: Mask) -> Mask:
    return d.near


def _is_complex_infinity(d: Difference, left: Mask) -> Mask:
    return np.isinf(d.a) & np.isinf(d.b) & (d.a.dtype.kind == "c")


def _underflows(d: Difference, left: Mask) -> Mask:
    tiny = np.finfo(d.a.dtype).tiny
    return (d.b == 0) & (np.abs(d.a) < tiny)


def _is_partial_sum(d: Difference, left: Mask) -> Mask:
    if not d.sides.reorders:
        return False
    most = np.finfo(d.a.dtype).max
    return ~np.isfinite(d.b) & ~is_nan(d.a) & (d.sizes >= most / 2)


def _is_grouping(d: Difference, left: Mask) -> Mask:
    """Return where NaN becomes infinite, and sums of the numbers on the way overflow."""
    if not d.claim.ulps:
        return False
    return is_nan(d.a) & np.isinf(d.b) & (d.sizes >= np.finfo(d.a.dtype).max)


def _is_memory_order(d: Difference, left: Mask) -> Mask:
    """Whether bits are the same if both sides get arrays in C order; or sums are added up in an
    order that NumPy chooses by the memory.
    """
    if not _is_elementwise(d):
        return _is_noise(d, left)
    even = {
        v: np.array(x, order="C") if isinstance(x, np.ndarray) else x for v, x in d.given.items()
    }
    found = [compute_all(v, even) for v in (d.sides.term, d.sides.new)]
    if any(isinstance(one, Exception) for one in found):
        return False
    a, b = found[0][d.sides.term], found[1][d.sides.new]  # type: ignore[index]
    return d.near & bool(((a == b) | ((a != a) & (b != b))).all())


def _is_tie(d: Difference, left: Mask) -> Mask:
    """Return where two positions of an extremum have values that differ by rounding at most."""
    node = d.sides.term.owner
    if node is None or not isinstance(node.op, Argmax) or d.known.get(node.inputs[0]) is None:
        return False
    x, axes = d.known[node.inputs[0]], node.op.axes(node.inputs[0].type.ndim)
    kept = [i for i in range(x.ndim) if i not in axes]
    flat = x.transpose(*kept, *axes).reshape(*[x.shape[i] for i in kept], -1)
    shape = flat.shape[:-1]
    one, other = [
        np.take_along_axis(flat, found.reshape(*shape, 1), -1)[..., 0] for found in (d.a, d.b)
    ]
    unit = last_unit(np.abs(one)) if one.dtype.kind == "f" else 0
    near = (one == other) | (np.abs(one - other) <= d.units * unit) | (is_nan(one) & is_nan(other))
    return np.reshape(near, d.a.shape)


def _is_elementwise(d: Difference) -> bool:
    """Whether no sum is involved."""
    nodes = toposort([d.sides.term, d.sides.new], list(d.given))
    return all([isinstance(n.op, Elemwise) or bool(n.op.view_map) for n in nodes])


# --- by noise -------------------------------------------------------------------------------------


def _is_noise(d: Difference, left: Mask) -> Mask:
    return within(d.a, d.b, d.samples, d.units / REACH)


def _is_large(d: Difference, left: Mask) -> Mask:
    if not d.claim.ulps or d.a.dtype.kind not in "fc":
        return False
    most = float(np.finfo(d.a.dtype).max) / LARGE_PARTS
    large = any([_largest(x) > most for x in d.known.values()])
    return np.isinf(d.b) & large


def _overflows(d: Difference, left: Mask) -> Mask:
    both = np.isfinite(d.a) & np.isfinite(d.b) if d.a.dtype.kind in "fc" else True
    return d.overflowed & both


def _is_mended(d: Difference, left: Mask) -> Mask:
    if d.a.dtype.kind not in "fc":
        return False
    infinite = np.isinf(d.a) & np.isfinite(d.b)
    return infinite | (is_nan(d.a) & ~is_nan(d.b) & ~_by_operands(d))


def _by_operands(d: Difference) -> Mask:
    """Return where the left side is NaN because an operand is (or is infinite, unless the rule
    stabilises).
    """
    none = np.zeros(d.a.shape, bool)
    if d.a.dtype.kind == "c" and any(np.isinf(x).any() for x in d.floats):
        return none  # products of infinite parts are NaN, or not
    other = {}
    leaves = {v for node in d.nodes for v in node.inputs if isinstance(v, Constant)}
    for v, x in [*d.given.items(), *[(c, c.data) for c in leaves]]:
        if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
            bad = np.isnan(x) if d.sides.limits else ~np.isfinite(x)
            if bad.any():
                other[v] = np.where(bad, x.dtype.type(1), x)
    if not other:
        return none
    try:
        again = d.values.replayed(d.sides.term, d.nodes, dict(d.given) | other)
    except Exception:
        return none
    return ~np.isnan(again) if np.shape(again) == d.a.shape else none


def _is_granted(d: Difference, left: Mask) -> Mask:
    if d.sides.granted is None or d.a.dtype.kind not in "fc":
        return False
    return ~(np.isfinite(d.a) & np.isfinite(d.b))


def _is_extreme(d: Difference, left: Mask) -> Mask:
    numbers = np.isfinite(d.a) & np.isfinite(d.b)
    if not d.claim.ulps or all(map(is_moderate, d.floats)):
        return False
    return numbers | (not d.has_nan)


def is_moderate(x: Any) -> bool:
    """Whether the squares of all numbers are ordinary ones, too."""
    size, limits = np.abs(x), np.finfo(x.dtype)
    most, least = float(limits.max) ** 0.4, float(limits.tiny) ** 0.4
    return bool((((size < most) & (size > least)) | (size == 0)).all())


def _largest(x: Any) -> float:
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "biufc" or not x.size:
        return 0.0
    return float(np.max(np.abs(np.nan_to_num(x.astype("complex128")))))


def _overflows_unseen(e: DifferentElement) -> bool:
    return e.t is None and bool(is_nan(e.a)) and overflows(e, e.size)


def overflows(e: DifferentElement, size: float) -> bool:
    """Whether a number on the way to the left side overflows, so that its NaN shows nothing."""
    if e.whole.claim.ulps and size >= np.finfo(e.a.dtype).max:
        return True
    return e.is_finite and _has_infinite_step(e)


@remembered
def _has_infinite_step(e: DifferentElement) -> bool:
    values = compute_all(e.sides.term, e.given)
    if isinstance(values, Exception):
        return False
    arrays = [np.asarray(a) for v, a in values.items() if getattr(v.type, "kind", "?") in "fc"]
    return any(np.isinf(a).any() for a in arrays if a.dtype.kind in "fc")


def _is_unknown_complex(e: DifferentElement) -> bool:
    if not is_nan(e.a) or is_nan(e.b) or e.a.dtype.kind != "c" or e.t is not None:
        return False
    inputs = [part(x, e.at) for x in e.floats if x.ndim <= len(e.at)] if e.at else e.floats
    finite = all(np.isfinite(x).all() for x in inputs)
    return finite or (e.sides.limits and not any(np.isnan(x).any() for x in inputs))


# --- the table ------------------------------------------------------------------------------------

VALUES, NORMS, NOISE, DIGITS = "values", "norms", "noise", "digits"
UNKNOWN = "unknown truth"
NOT_EXACT, EXACT, APPROX, STABLE = "refines, approx", "exact", "approx", "rules that stabilise"
GRANTED, BACKWARD = "assumes", "backward"

EXCUSES: tuple[Excuse, ...] = (
    Excuse("rounding", "the two differ by rounding", NOT_EXACT, VALUES, _is_rounding),
    Excuse("complex infinity", "a complex number with an infinite part is infinite", NOT_EXACT,
           VALUES, _is_complex_infinity),
    Excuse("underflow", "a number below the smallest normal one may be 0", NOT_EXACT, VALUES,
           _underflows),
    Excuse("partial sum", "a partial sum of such large numbers may overflow in another order",
           "approx, of rules that reorder", VALUES, _is_partial_sum),
    Excuse("overflown sum", "the left side is NaN because a sum overflows on the way", APPROX,
           VALUES, _is_grouping),
    Excuse("memory order", "NumPy adds up, and rounds, by the order of the memory", EXACT, VALUES,
           _is_memory_order, True, integers=True),
    Excuse("tie", "both positions have the extremum, up to rounding", NOT_EXACT, VALUES, _is_tie,
           integers=True),
    Excuse("noise", "no more than a unit in the last place of the steps changes it", NOT_EXACT,
           NOISE, _is_noise, integers=True),
    Excuse("large numbers", "numbers on the way are so large that sums of them overflow", APPROX,
           UNKNOWN, _is_large, True),
    Excuse("granted", "the user has granted that there are no such values", GRANTED, NOISE,
           _is_granted, True),
    Excuse("mended", "the left side overflows on the way", NOT_EXACT, UNKNOWN, _is_mended, True),
    Excuse("overflow", "a step of the left side overflows, or underflows to 0", NOT_EXACT, UNKNOWN,
           _overflows, integers=True),
    Excuse("extreme numbers", "products of such numbers overflow, or underflow", APPROX, UNKNOWN,
           _is_extreme),
    Excuse("overflow to NaN", "a step of the left side overflows, so that its NaN shows nothing",
           NOT_EXACT, UNKNOWN, each(_overflows_unseen)),
    Excuse("complex NaN", "no true value is known of complex numbers here", NOT_EXACT, UNKNOWN,
           each(_is_unknown_complex)),
)  # fmt: skip


#: excuses of values that stay the same but for rounding
SAME_VALUES = frozenset({"rounding", "underflow", "memory order", "near in norm", "small error"})


def applies(excuse: Excuse, d: Difference) -> bool:
    """Whether an excuse is for differences of this claim."""
    is_exact, is_backward = d.claim.kind == "exact", d.claim.kind == "backward"
    if excuse.claims == GRANTED:
        return d.sides.granted is not None
    if is_backward or excuse.claims == BACKWARD:
        return is_backward and excuse.claims == BACKWARD
    return is_exact if excuse.claims == EXACT else not is_exact
