"""`Gain` of a rule: digits at an example, and flops."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from mpmath import mp

from rewrite_engine import hooks
from rewrite_engine.discover.digits import right_digits
from rewrite_engine.discover.grow import PlainRunner
from rewrite_engine.discover.judge import DIGITS, GREATEST, MOST_ELEMENTS, Judge, value_or_none
from rewrite_engine.discover.propose import Proposal
from rewrite_engine.graph.node import Variable
from rewrite_engine.judge.values import TermValues

LEAST_TIMES = 1.02  # below, a term costs as much


@dataclass(frozen=True)
class Gain:
    """Digits and flops that the right side of a rule saves.

    points: far points at which the right side alone is right; of an op without an exact meaning, at
    which rounding does not move it. digits: right digits today and with the rule, at the example:
    the most ordinary of these points. example: the point with the value today and the true one, or
    "". price: what both sides cost, in flops of the sample, with a little for each call.
    """

    points: int
    digits: tuple[float, float] | None
    example: str
    price: tuple[float, float]

    @property
    def times(self) -> float:
        """How many times cheaper the right side is."""
        return self.price[0] / max(self.price[1], 1.0)

    def __str__(self) -> str:
        found = list[str]()
        if self.digits is not None:
            found.append(f"{self.digits[0]:.0f} -> {self.digits[1]:.0f} digits at {self.example}")
        elif self.points:
            found.append(f"steadier at {self.points} points")
        if self.times > LEAST_TIMES:
            found.append(f"{times_text(self.times)} times cheaper")
        return "; ".join(found) or ("fewer ops" if self.price[1] < self.price[0] else "as good")


def times_text(times: float) -> str:
    """Return a factor with two or three digits: "1.25", "12", "5,000"."""
    return f"{times:.3g}" if times < 100 else f"{float(f'{times:.2g}'):,.0f}"


def gain_of(one: Proposal, judge: Judge) -> Gain:
    """Return what a proposal gains at the far points of a judge."""
    price = one.before.price, one.after.price
    elements = sorted(one.before.wrong - one.after.wrong)
    if judge.space.pointwise:
        elements.sort(key=lambda e: distance(point_of(one, judge, e)))
    found = (at_element(one, judge, e) for e in elements)
    digits, example = next((pair for pair in found if pair is not None), (None, ""))
    return Gain(one.mended, digits, example, price)


def point_of(one: Proposal, judge: Judge, element: int) -> dict[Variable, float]:
    """Return the values of the variables at an element of the far samples."""
    sample, i = divmod(element, MOST_ELEMENTS)
    flat = {v: np.ravel(judge.far[sample][v]) for v in one.left.leaves}
    return {v: float(a[i] if len(a) > 1 else a[0]) for v, a in flat.items()}


def distance(point: dict[Variable, float]) -> float:
    """Return how far from 1 the values of variables are, in powers of ten."""
    return sum([abs(math.log10(abs(x))) for x in point.values() if x])


def at_element(one: Proposal, judge: Judge, element: int) -> tuple[tuple[float, float], str] | None:
    """Return the right digits of both sides at an element of the far samples, and the point as
    text; None if the true value is not known, or no double.
    """
    sample, i = divmod(element, MOST_ELEMENTS)
    given = judge.far[sample]
    true = judge.true_value(one.left.variable, judge.truths[sample])
    values = TermValues(PlainRunner(), dict(given))
    today, new = [value_or_none(values, j.form) for j in (one.before, one.after)]
    if true is None:
        return None
    if not judge.space.pointwise:
        i = worst(today, true)
    right = np.ravel(true)[i]
    pair = [_element(a, i, np.size(true)) for a in (today, new)]
    found = float(right_digits(pair[0], right)[0]), float(right_digits(pair[1], right)[0])
    if not np.isfinite(found).all():
        return None  # (out of the range of doubles)
    known = max(min(int(found[0]) + 3, 17), 6)  # so many digits show the difference
    with mp.workdps(DIGITS):
        shown, now = mp.nstr(right, known), f"{pair[0]:.{known}g}"
    if not judge.space.pointwise:
        return found, f"a far sample: {now} today, {shown} is true"
    point = point_of(one, judge, element)
    where = ", ".join([f"{hooks.short(v)} = {x:g}" for v, x in point.items()])
    return found, f"{where}: {now} today, {shown} is true"


def worst(value: object, true: object) -> int:
    """Return the number of the element of an array with the largest error, of those in the range of
    doubles; of the largest one, if there is no value.
    """
    b = np.ravel(np.asarray(true, object))
    a = np.full(len(b), math.nan) if value is None else np.ravel(np.asarray(value, object))
    sizes = [abs(y) if abs(y) <= GREATEST else 0 for y in b]
    if len(a) != len(b):
        return 0
    off = [abs(x - y) if size else -1 for x, y, size in zip(a, b, sizes, strict=True)]
    return max(range(len(b)), key=lambda i: (off[i] if off[i] == off[i] else math.inf, sizes[i]))


def _element(a: object, i: int, n: int) -> float:
    """Return an element of a value that has n, or stands for them; NaN if there is no value."""
    flat = np.ravel(np.asarray(math.nan if a is None else a))
    return float(flat[i] if len(flat) == n else flat[0])
