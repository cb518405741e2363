"""Verdicts on the claim `backward(n)`, by errors in the norm of the result: the largest element of
each of its matrices (of a vector, all elements).

The left side's error is the largest of these: its error against the true value (many digits, if
mpmath is installed and the ops have exact meanings), what noise in its steps and its inputs changes
(`noise.py`), and one unit in the last place. It also shows the condition: if it is more than
`eps ** -0.4` units (1.8e6 in float64, 590 in float32), the condition is not moderate, and the claim
says nothing of errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import ILL_TYPED, clone_replace
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.difference import HAS_DIGITS, Difference, coarseness, filled
from rewrite_engine.judge.excuses import BACKWARD, NORMS, Excuse, is_moderate
from rewrite_engine.judge.noise import Dice, is_black_box, moved
from rewrite_engine.judge.values import compute_all
from rewrite_engine.tensor.type import TensorType

if HAS_DIGITS:
    from rewrite_engine.judge.matrix_truth import apart, are_numbers, true_values

MOVES = 6  # runs with other last places of the inputs
CONDITION = 0.4  # inputs are moderate if noise makes less than eps to this power of the result


@dataclass
class Norms:
    """Errors in norms, an array that broadcasts to the result each. left, right: of both sides;
    size: of the result; unit: one unit in the last place of a number of size 1; times: how many
    times its own error the left side permits; moved: returns what noise changes.
    """

    left: Any
    right: Any
    size: Any
    unit: float
    times: float
    moved: Callable[[], Any]

    @cached_property
    def noise(self) -> Any:
        """By how much noise in steps and inputs changes the left side, as a norm."""
        return self.moved()

    @property
    def allowed(self) -> Any:
        """Error that the right side may have."""
        return self.times * self.base

    @property
    def base(self) -> Any:
        """Error of the left side."""
        return np.maximum(np.maximum(self.left, self.noise), self.size * self.unit)

    @property
    def is_kept(self) -> Any:
        """Where the error of the right side is at most `allowed`. Noise is computed only if the
        other errors of the left side do not allow it.
        """
        kept = self.right <= self.times * np.maximum(self.left, self.size * self.unit)
        return kept if np.all(kept) else self.right <= self.allowed

    @property
    def is_moderate(self) -> Any:
        """Where the condition is moderate."""
        return np.maximum(self.left, self.noise) <= self.size * self.unit ** (1 - CONDITION)

    @property
    def growth(self) -> float:
        """How many times the left side's error the worst error is."""
        with np.errstate(all="ignore"):
            found = np.where(self.is_moderate, self.right / self.base, 0)
            return float(np.nanmax(found, initial=0))


def norm(x: Any) -> Any:
    """Return the largest of the finite numbers of each matrix in an array."""
    size = np.abs(np.asarray(x))
    axes = tuple(range(max(size.ndim - 2, 0), size.ndim))
    return np.max(np.where(np.isnan(size), 0, size), axis=axes, keepdims=True, initial=0)


def norms(d: Difference) -> Norms:
    """Return the errors of both sides, by many digits if possible."""
    if "norms" not in d.cache:
        true = true_value(d)
        d.cache["norms"] = _norms(d, None if true is None or not are_numbers(true).all() else true)
    return d.cache["norms"]  # type: ignore[no-any-return]


def quick_norms(d: Difference) -> Norms:
    """Return the errors of both sides, where the left side stands for the true value."""
    if "quick norms" not in d.cache:
        d.cache["quick norms"] = _norms(d, None)
    return d.cache["quick norms"]  # type: ignore[no-any-return]


def _norms(d: Difference, true: Any) -> Norms:
    unit = float(np.finfo(d.a.dtype).eps) * coarseness(d.sides.term, d.nodes)
    growth = d.claim.growth or 1
    numbers = np.isfinite(d.a) & np.isfinite(d.b)
    size = norm(np.where(numbers, d.a, 0))
    if true is None:
        left = np.zeros_like(size)
        right = norm(np.where(numbers, np.abs(d.b - d.a), 0))
    else:
        left = norm(np.where(np.isfinite(d.a), apart(d.a, true), 0))
        right = norm(np.where(numbers, apart(d.b, true), 0))
    times = growth + (true is None)
    return Norms(left, right, size, unit, times, lambda: norm(changed_by_noise(d)))


def true_value(d: Difference) -> Any:
    """Return the true value of the left side, numbers with many digits; None if it is not known."""
    if "true" not in d.cache:
        known = HAS_DIGITS and d.true_value is not None and d.has_digits
        d.cache["true"] = true_values(d.sides.term, d.given) if known else None
    return d.cache["true"]


def changed_by_noise(d: Difference) -> Any:
    """Return by how much noise in the steps of the left side, and in its inputs, changes it at
    most; infinity where a number becomes none, or if it then fails.
    """
    samples = [*d.samples, *moved_samples(d)]
    if len(samples) < MOVES:
        return np.full(d.a.shape, np.inf)
    return variation(d.a, samples)


def variation(a: Any, samples: Sequence[Any]) -> Any:
    """Return the largest differences of samples from an array; infinity where one of the two is
    finite, and the other is not.
    """
    found = np.zeros(a.shape)
    for s in samples:
        both = np.isfinite(a) & np.isfinite(s)
        either = np.isfinite(a) | np.isfinite(s)
        off = np.where(both, np.abs(np.where(both, s, 0) - np.where(both, a, 0)), 0)
        found = np.maximum(found, np.where(either & ~both, np.inf, off))
    return found


def moved_samples(d: Difference) -> list[Any]:
    """Return values of the left side for other last places of its inputs."""
    term, given = with_floats(d.sides.term, d.given)
    if term is not d.sides.term:
        return moved_values(term, given)
    found = []
    for seed in range(MOVES):
        other = {v: moved_in_norm(Dice(seed), x) for v, x in given.items()}
        with suppress(Exception):
            found.append(d.values.replayed(term, d.nodes, other))
    return [x for x in found if np.shape(x) == d.a.shape]


def moved_values(term: Variable, given: Mapping[Variable, Any]) -> list[Any]:
    """Return values of a term for other last places of its inputs; fewer if it then fails."""
    term, given = with_floats(term, given)
    found = []
    for seed in range(MOVES):
        other = {v: moved_in_norm(Dice(seed), np.asarray(x)) for v, x in given.items()}
        values = compute_all(term, other)
        if not isinstance(values, Exception):
            found.append(np.asarray(values[term]))
    return found


def with_floats(term: Variable, given: Mapping[Variable, Any]) -> tuple[Variable, dict[Any, Any]]:
    """Return a term, and values, with floats in place of matrices of integers, which have no last
    places: as precise as the coarsest step. Unchanged if its ops take no floats there.
    """
    if term.type.kind not in "fc":
        return term, dict(given)
    coarse = float(np.finfo(term.type.dtype).eps) * coarseness(term)
    dtype = "float64" if coarse <= np.finfo("float64").eps else "float32"
    whole = {
        v: TensorType(dtype, v.type.shape)(v.name)
        for v, x in given.items()
        if np.ndim(x) >= 2 and np.asarray(x).dtype.kind in "iub"
    }
    try:
        (other,) = clone_replace([term], whole, rebuild_strict=False) if whole else (term,)
    except ILL_TYPED:
        return term, dict(given)
    return other, {whole.get(v, v): x.astype(dtype) if v in whole else x for v, x in given.items()}


def moved_in_norm(dice: Dice, x: Any) -> Any:
    """Return an input with other last places: of matrices, those of the largest element, but for
    elements that are 0; else of each number.
    """
    if not isinstance(x, np.ndarray) or x.ndim < 2 or x.dtype.kind not in "fc":
        return moved(dice, x)
    numbers = np.isfinite(x) & (x != 0)
    unit = float(np.finfo(x.dtype).eps) * norm(np.where(numbers, x, 0))
    return np.where(numbers, x + dice.throw(x.shape) * unit, x).astype(x.dtype)


def is_singular_by_rounding(term: Variable, given: Mapping[Variable, Any]) -> bool:
    """Whether the last places of the inputs decide what a term is, so that the other side of a rule
    may find a matrix singular, and this one not.
    """
    values = compute_all(term, given)
    samples = moved_values(term, given)
    if isinstance(values, Exception) or len(samples) < MOVES or _solves_singular(term, values):
        return True
    a = np.asarray(values[term])
    if a.dtype.kind not in "fc" or not a.size or not np.isfinite(a).all():
        return False
    unit = float(np.finfo(a.dtype).eps)
    return bool((norm(variation(a, samples)) > norm(a) * unit**0.5).any())


def _solves_singular(term: Variable, values: Mapping[Variable, Any]) -> bool:
    """Whether a term inverts a matrix that is singular but for its last places. (A right side of
    zeros hides that from the solution.)
    """
    for node in toposort([term]):
        a = values.get(node.inputs[0]) if node.inputs else None
        if type(node.op).__name__ not in ("Solve", "MatrixInverse") or a is None or not a.size:
            continue
        a = a if a.dtype.kind in "fc" else a.astype("float64")
        wide = a.astype(np.result_type(a, "float32"))  # (NumPy has no condition of float16)
        if not np.isfinite(a).all() or np.linalg.cond(wide) > np.finfo(a.dtype).eps ** -0.5:
            return True
    return False


# --- excuses --------------------------------------------------------------------------------------


def _is_near(d: Difference, left: Any) -> Any:
    return np.isfinite(d.a) & np.isfinite(d.b) & quick_norms(d).is_kept


def _is_small(d: Difference, left: Any) -> Any:
    return np.isfinite(d.a) & np.isfinite(d.b) & norms(d).is_kept


def _is_ill_conditioned(d: Difference, left: Any) -> Any:
    numbers = np.isfinite(d.a) & np.isfinite(d.b)
    return (d.is_finite | numbers) & ~norms(d).is_moderate


def _has_no_numbers(d: Difference, left: Any) -> Any:
    """Where an element is none, if an input has such elements, and both sides, too."""
    numbers = np.isfinite(d.a), np.isfinite(d.b)
    if d.is_finite or numbers[0].all() or numbers[1].all():
        return False
    return ~(numbers[0] & numbers[1])


def _has_no_truth(d: Difference, left: Any) -> Any:
    """Where an input is none, and the true value is none, too, or not known: LAPACK may then find
    any number. The right side has elements that are none only if the true value has.
    """
    if d.is_finite:
        return False
    true = true_value(d)
    known = np.zeros(d.a.shape, bool) if true is None else are_numbers(true)
    numbers = np.isfinite(d.b)
    return np.where(numbers, ~known & np.isfinite(d.a), not known.all())


def _meets_zeros(d: Difference, left: Any) -> Any:
    """Return where the left side is NaN only because it multiplies elements that are not finite
    with zeros: with numbers in place of these elements, it equals the right side.
    """
    here = ~np.isfinite(d.a) & np.isfinite(d.b)
    if d.is_finite or not here.any():
        return False
    for number in (1.0, -2.5):
        other = {v: filled(np.asarray(x), number) for v, x in d.given.items()}
        values = compute_all(d.sides.term, other)
        if isinstance(values, Exception) or np.shape(values[d.sides.term]) != d.a.shape:
            return False
        a = np.asarray(values[d.sides.term])
        unit = float(np.finfo(d.a.dtype).eps) * coarseness(d.sides.term, d.nodes)
        base = unit * norm(np.where(here & np.isfinite(a), a, 0))
        here = here & (np.abs(d.b - a) <= (d.claim.growth or 1) * base)
    return here


def _is_mended(d: Difference, left: Any) -> Any:
    """Where the left side overflowed, and the right side is the true value, up to its own noise."""
    here = ~np.isfinite(d.a) & np.isfinite(d.b)
    if not d.is_finite or not here.any():
        return False
    true = true_value(d)
    if true is None:
        return here & _overflows_on_the_way(d)
    noise = _own_noise(d)
    unit = float(np.finfo(d.a.dtype).eps) * coarseness(d.sides.term, d.nodes)
    base = np.maximum(noise, unit * norm(np.where(here, d.b, 0)))
    return here & (apart(d.b, true) <= (d.claim.growth or 1) * base)


def _own_noise(d: Difference) -> Any:
    """What the last places of the inputs change of the right side, in its norm."""
    samples = moved_values(d.sides.new, d.given)
    return norm(variation(d.b, [s for s in samples if s.shape == d.b.shape]))


def _overflows_on_the_way(d: Difference) -> bool:
    steps = [x for x in d.known.values() if isinstance(x, np.ndarray) and x.dtype.kind in "fc"]
    return any([np.isinf(x).any() for x in steps if x is not d.a]) or bool(np.isinf(d.a).any())


def _is_extreme(d: Difference, left: Any) -> Any:
    """Where products of the inputs overflow, or underflow; or LAPACK gets an infinite number, of
    which it makes any.
    """
    some = [x[np.isfinite(x)] for x in d.floats]
    infinite = any([np.isinf(x).any() for x in d.floats]) and any(map(is_black_box, d.nodes))
    return np.full(d.a.shape, infinite or not all(map(is_moderate, some)))


BACKWARD_EXCUSES: tuple[Excuse, ...] = (
    Excuse("near in norm", "it differs by at most n + 1 times what noise changes of the left side",
           BACKWARD, NORMS, _is_near, True),
    Excuse("small error", "its error in the norm of the result is at most n times the left side's",
           BACKWARD, NORMS, _is_small),
    Excuse("ill condition", "the last places of the inputs change too much of the left side",
           BACKWARD, NORMS, _is_ill_conditioned),
    Excuse("no numbers", "an input has NaN or infinite elements, and so have both sides", BACKWARD,
           NORMS, _has_no_numbers),
    Excuse("no true number", "an input has NaN or infinite elements, and so has the true value",
           BACKWARD, NORMS, _has_no_truth),
    Excuse("zeros", "NaN or infinite elements of an input meet only zeros", BACKWARD, NORMS,
           _meets_zeros),
    Excuse("overflown matrix", "the left side overflows, and it is the true value", BACKWARD, NORMS,
           _is_mended),
    Excuse("extreme matrix", "products of such numbers overflow, or LAPACK gets infinite ones",
           BACKWARD, NORMS, _is_extreme),
)  # fmt: skip
