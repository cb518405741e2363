"""Check of a rewriting step against its rule's claim (`match/claim.py`), on the values of one call.

A difference of some units in the last place, within the claim, is compared with the effect of noise
on the term before: no term is determined better than that. A NaN or infinity that results from an
overflow may become a number. A NaN that comes from an input may not, unless the rule stabilises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.link.debug.contract import equal
from rewrite_engine.link.debug.noise import WIDE, within
from rewrite_engine.link.debug.record import RewriteStep
from rewrite_engine.link.debug.run import TermValues
from rewrite_engine.link.debug.told import first_difference, largest_difference
from rewrite_engine.match.claim import Claim, exact, refines
from rewrite_engine.tensor.elemwise import Elemwise

ROUNDING = 8  # units in the last place that are only rounding


class Judgement(NamedTuple):
    """Verdict on a step. why: the violation, or None. mended: whether values changed, legitimately,
    by more than rounding.
    """

    why: str | None = None
    mended: bool = False


def claim_of(rule: Any) -> Claim:
    """Return the claim of a step: its rule's, without assumptions; merged nodes must be equal."""
    claim = getattr(rule, "claim", None)
    if not isinstance(claim, Claim):
        return exact if rule == "merge" else refines
    return claim.then or refines if claim.kind == "assumes" else claim


def judged(step: RewriteStep, run: TermValues, a: Any, b: Any) -> Judgement:
    """Return the verdict on a step from a term with value a to one with value b."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.dtype.hasobject:
        good = equal(step.before, a, b)
        return Judgement(None if good else "other values")
    if a.dtype != b.dtype or a.shape != b.shape:
        return Judgement("another dtype or shape")
    with np.errstate(all="ignore"):
        wrong = ~((a == b) | ((a != a) & (b != b)))
        if a.dtype.kind == "c":  # one with an infinite part is infinite
            wrong = wrong & ~(np.isinf(a) & np.isinf(b))
        if not np.any(wrong):
            return Judgement()
        return _Difference(step, run, a, b, wrong).verdict()


class _Difference:
    """Difference between two values that are not the same everywhere."""

    def __init__(self, step: RewriteStep, run: TermValues, a: Any, b: Any, wrong: Any) -> None:
        self.step, self.run, self.a, self.b, self.wrong = step, run, a, b, wrong
        self.claim = claim_of(step.rule)
        self.samples: list[Any] = []
        self.cone = run.cone(step.before, step.after)
        if not self.cone and step.before.owner is not None:
            self.cone = [step.before.owner]

    def verdict(self) -> Judgement:
        """Return the violation, or None."""
        if self.claim.kind == "exact" and self.is_elementwise():
            why = "other bits, and it claims to be exact"
            return Judgement(None if self.is_layout() else why)
        a, b, units = self.a, self.b, self.units()
        left = self.wrong & ~within(a, b, [], units / WIDE)
        if self.claim.ulps and a.dtype.kind in "fc":
            left = left & ~(np.abs(a - b) <= units * np.spacing(self.largest_added()))
        if not np.any(left):
            return Judgement()
        self.samples = self.run.samples(self.step.before, self.cone)
        left = left & ~within(a, b, self.samples, units)
        if not np.any(left):
            return Judgement(mended=True)
        if a.dtype.kind not in "fc":
            return Judgement(mended=True) if self.overflowed(left) else Judgement("other values")
        for why, where in (
            ("a number becomes NaN, or infinite", np.isfinite(a) & ~np.isfinite(b)),
            ("what is infinite becomes something else", self.bad_infinities()),
            ("a NaN is lost", np.isnan(a) & ~np.isnan(b) & self.nans_lost()),
            ("values differ by more than rounding does", np.isfinite(a) & np.isfinite(b)),
        ):
            found = left & where
            if np.any(found) and not self.may_be(why, found):
                return Judgement(why)
        return Judgement(mended=True)

    def is_elementwise(self) -> bool:
        """Return whether no sum with unspecified order is involved."""
        after = self.run.cone(self.step.after, self.step.before)
        return all([_is_plain(node) for node in (*self.cone, *after)])

    def is_layout(self) -> bool:
        """Return whether bits differ only because NumPy computes strided arrays in another way."""
        step, run = self.step, self.run
        after = run.cone(step.after, step.before)
        known = {v: run.values.get(v) for v in run.leaves([*self.cone, *after])}
        arrays = {v: x for v, x in known.items() if isinstance(x, np.ndarray)}
        even = {v: np.array(x, order="C") for v, x in arrays.items()}
        try:
            a, b = run.replayed(step.before, self.cone, even), run.replayed(step.after, after, even)
        except Exception:
            return False
        return bool(((a == b) | ((a != a) & (b != b))).all())

    def units(self) -> float:
        """Return how many units in the last place are allowed."""
        units = max(self.claim.ulps or 0, ROUNDING)
        if "reorder" in getattr(self.step.rule, "tags", ()):
            units *= sum([len(node.inputs) for node in self.cone]) or 1
        return float(units * self.coarseness())

    def coarseness(self) -> float:
        """Return a unit of the coarsest float on the way, in units of the result."""
        if self.a.dtype.kind not in "fc":
            return 1.0
        types = [v.type for node in self.cone for v in node.outputs if v.type.kind in "fc"]
        eps = [float(np.finfo(t.dtype).eps) for t in types]
        return max([*eps, 0.0]) / float(np.finfo(self.a.dtype).eps) or 1.0

    def may_be(self, why: str, where: Any) -> bool:
        """Return whether large differences of elements are excused."""
        granted = getattr(self.step.rule, "needs_grant", None)
        a, b = self.a[where], self.b[where]
        if granted is not None and not (np.isfinite(a) & np.isfinite(b)).all():
            return True  # it is assumed that there are none
        if why.startswith("a number"):
            unsure = [~np.isfinite(s) for s in self.samples if s.shape == self.a.shape]
            if unsure and np.any(unsure, axis=0)[where].all():
                return True  # with some noise it is none
            return bool(self.claim.ulps and np.isinf(b).all() and self.is_large())
        if why.startswith("values"):
            small = float(np.finfo(a.dtype).tiny)
            if (np.abs(a - b) <= small).all() and self.claim.kind != "exact":
                return True
            return self.overflowed(where)
        return False

    def is_large(self) -> bool:
        """Return whether intermediate numbers are so large that combinations are infinite."""
        most = float(np.finfo(self.a.dtype).max)
        return any([_largest(x) > most / 1e4 for x in self.values()])

    def values(self) -> list[Any]:
        """Return all values of the term before, operands first."""
        made = [v for node in self.cone for v in node.outputs]
        found = [*self.run.leaves(self.cone), *made]
        return [
            self.run.at_hand(v) for v in found if isinstance(v, Constant) or v in self.run.values
        ]

    def largest_added(self) -> Any:
        """Return, per element, the largest intermediate number, whose units in the last place count
        in sums.
        """
        size = np.abs(self.a)
        for x in self.values():
            if not isinstance(x, np.ndarray) or x.dtype.kind not in "biufc" or not x.size:
                continue
            large = np.abs(np.where(np.isfinite(x), x, 0)).astype(size.dtype)
            whole = large.shape != size.shape and large.ndim
            size = np.maximum(size, large.max() if whole else large)
        return size

    def overflowed(self, where: Any) -> bool:
        """Return whether an intermediate value is not finite, so that its results prove nothing."""
        for node in self.cone:
            for v in node.outputs:
                value = self.run.values.get(v)
                if v is self.step.before or not isinstance(value, np.ndarray):
                    continue
                if value.dtype.kind in "fc" and not np.isfinite(value).all():
                    here = ~np.isfinite(value)
                    if value.shape != where.shape or not (where & ~here).any():
                        return True
        return False

    def bad_infinities(self) -> Any:
        a, b = self.a, self.b
        bad = np.isnan(b) | np.isinf(b)
        return np.isinf(a) & (np.ones(a.shape, bool) if self.claim.kind == "exact" else bad)

    def nans_lost(self) -> Any:
        """Return where the term before is NaN because an operand is NaN (or infinite, for rules
        that do not stabilise).
        """
        limits = getattr(self.step.rule, "phase", None) == "stabilize"
        if self.claim.kind == "exact":
            return np.ones(self.a.shape, bool)
        other: dict[Variable, Any] = {}
        if self.a.dtype.kind == "c" and not all([_is_finite(x) for x in self.values()]):
            return np.zeros(self.a.shape, bool)  # products of infinite parts are NaN, or not
        for v in self.run.leaves(self.cone):
            if not isinstance(v, Constant) and v not in self.run.values:
                continue
            value = self.run.at_hand(v)
            if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
                continue
            bad = np.isnan(value) if limits else ~np.isfinite(value)
            if bad.any():
                other[v] = np.where(bad, value.dtype.type(1), value)
        if not other:
            return np.zeros(self.a.shape, bool)
        try:
            again = self.run.replayed(self.step.before, self.cone, other)
        except Exception:
            return np.zeros(self.a.shape, bool)
        return ~np.isnan(again) if again.shape == self.a.shape else np.zeros(self.a.shape, bool)


def _is_plain(node: Apply) -> bool:
    return isinstance(node.op, Elemwise) or bool(node.op.view_map)


def _is_finite(x: Any) -> bool:
    array = isinstance(x, np.ndarray) and x.dtype.kind in "fc"
    return not array or bool((np.isfinite(x) | np.isnan(x)).all())


def _largest(x: Any) -> float:
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "biufc" or not x.size:
        return 0.0
    return float(np.max(np.abs(np.nan_to_num(x.astype("complex128")))))


def told_of(a: Any, b: Any) -> Sequence[str]:
    """Describe the first difference of two values in a line."""
    return [f"first difference: {first_difference(a, b)}{largest_difference(a, b)}"]
