"""Limits: whether a number in the place of NaN is the limit of a term at its inputs.

The term is computed with many digits at points that come near the inputs, from all sides and with
operands of different speeds. Points outside of the domain, at which it is NaN, say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from mpmath import mp, mpf

from rewrite_engine.graph.node import Variable
from rewrite_engine.judge.exact import exact
from rewrite_engine.judge.noise import last_unit
from rewrite_engine.judge.reference import DIGITS, reference

#: what stands for infinity: both orders of two of them have to lead to one limit
FAR = (("1e700", "1e720"), ("1e720", "1e700"))
#: distances from a point. The smaller one leaves most digits to functions that cancel
NEAR, NEARER = mpf("1e-40"), mpf("1e-80")
SHRINKS = mpf("1e-15")  # a difference, from one distance to the other
MAX_OPERANDS = 3  # with sides of their own


def far_values(term: Variable, given: dict[Any, Any], at: Any) -> Iterator[Any]:
    """Yield values of a term where large numbers stand for infinities; None, NaN where digits are
    too few.
    """
    for far in FAR:
        moved = {v: far_away(x, far[i % 2]) for i, (v, x) in enumerate(given.items())}
        there = reference(term, moved)
        yield None if there is None else np.asarray(there[at], object).item()


def far_away(x: Any, number: str) -> Any:
    wide = exact(x)
    return np.asarray(
        np.frompyfunc(lambda v: mpf(number) * mp.sign(v) if mp.isinf(v) else v, 1, 1)(wide), object
    )


@mp.workdps(DIGITS)
def limit_at(term: Variable, given: dict[Any, Any], at: Any, b: Any) -> bool | None:
    """Whether a number is the limit of a term at finite inputs; None if no point near them has a
    value.
    """
    target, known = mp.mpmathify(complex(b) if b.dtype.kind == "c" else float(b)), False
    for steps in ways(given):
        off = []
        for distance in (NEAR, NEARER):
            moved = {v: moved_by(x, steps[v], distance) for v, x in given.items()}
            value = reference(term, moved)
            there = None if value is None else np.asarray(value[at], object).item()
            off.append(mp.nan if there is None else abs(there - target))
        if off[1] != off[1] or off[0] != off[0]:
            continue
        known = True
        rounding = 8 * mpf(float(last_unit(b))) if np.isfinite(b) else mpf(0)
        if off[1] > rounding and not off[1] <= SHRINKS * off[0]:
            return False
    return True if known else None


def ways(given: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
    """Yield for each input a direction, and how much faster it comes near than the distance."""
    inputs = [v for v, x in given.items() if np.asarray(x).dtype.kind in "fc"]
    is_complex = any(np.asarray(given[v]).dtype.kind == "c" for v in inputs)
    sides = (1, -1, 1j, -1j) if is_complex and len(inputs) == 1 else (1, -1)
    count = min(len(inputs), MAX_OPERANDS)
    for speeds in SPEEDS[: 1 if len(inputs) < 2 else None]:
        for directions in product(sides, repeat=count):
            chosen = zip(inputs, range(len(inputs)), strict=True)
            steps = {v: (directions[i % count], speeds[i % 2]) for v, i in chosen}
            yield {v: steps.get(v, (0, as_near)) for v in given}


def moved_by(x: Any, step: tuple[Any, Any], distance: Any) -> Any:
    """Numbers at a distance, which is relative to those that are not 0."""
    direction, speed = step
    if not direction:
        return x
    by = mp.mpmathify(direction) * speed(distance)
    return np.asarray(np.frompyfunc(lambda v: v * (1 + by) if v else by, 1, 1)(exact(x)), object)


def as_near(distance: Any) -> Any:
    return distance


def squared(distance: Any) -> Any:
    return distance**2


def exponentially(distance: Any) -> Any:
    """Nearer than any power of the distance."""
    return mp.exp(-1 / distance)


SPEEDS = (
    (as_near, as_near),
    (as_near, squared),
    (squared, as_near),
    (as_near, exponentially),
    (exponentially, as_near),
)
