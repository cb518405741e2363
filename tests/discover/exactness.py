"""Both sides of found rules at many fresh points, with many digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp

from rewrite_engine.discover.choose import FoundRule
from rewrite_engine.discover.judge import ExactRunner, as_exact, value_or_none
from rewrite_engine.discover.subjects import having
from rewrite_engine.judge.values import TermValues

#: in which is computed, and again where the sides differ; in which they must agree
DIGITS, MORE, RIGHT = 80, 1_000, 30


def points(one: FoundRule, count: int, seed: int = 99) -> dict[Any, Any]:
    """Return values of the variables: of all sizes from 1e-4 to 40, with the facts of guards."""
    rng = np.random.default_rng(seed)
    found = {}
    for v in one.proposal.left.leaves:
        size = 10 ** rng.uniform(-4, np.log10(40), count)
        value = size * rng.choice([-1.0, 1.0], count)
        found[v] = having(value, one.guards.get(v, ()))
    return found


def compared(one: FoundRule, count: int, seed: int = 99) -> tuple[int, int]:
    """Return at how many of `count` points both sides have a value, and at how many these differ.

    (0, 0): an op has no exact meaning.
    """
    given = points(one, count, seed)
    known, differ = at_points(one, given, DIGITS)
    if differ.any():
        some = {v: a[differ] for v, a in given.items()}
        _, differ = at_points(one, some, MORE)
    return int(known.sum()), int(differ.sum())


def at_points(one: FoundRule, given: dict[Any, Any], digits: int) -> tuple[Any, Any]:
    """Return at which points both sides have a value, and at which these differ."""
    count = len(next(iter(given.values())))
    with mp.workdps(digits):
        values = TermValues(ExactRunner(), {v: as_exact(a) for v, a in given.items()})
        sides = [value_or_none(values, t.variable) for t in one.proposal[:2]]
        if sides[0] is None or sides[1] is None:
            return np.zeros(count, bool), np.zeros(count, bool)
        a, b = [np.broadcast_to(side, count) for side in sides]
        known = np.array([mp.isfinite(x) and mp.isfinite(y) for x, y in zip(a, b, strict=True)])
        near = mp.mpf(10) ** -RIGHT
        differ = [
            bool(k and abs(x - y) > near * max(abs(x), abs(y)))
            for k, x, y in zip(known, a, b, strict=True)
        ]
    return known, np.array(differ)
