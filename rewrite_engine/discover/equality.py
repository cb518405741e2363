"""Whether both sides of a proposal are equal at new samples, and under which facts: `weakest`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from rewrite_engine.discover.grow import PlainRunner
from rewrite_engine.discover.judge import LEAST, value_or_none
from rewrite_engine.discover.propose import Proposal
from rewrite_engine.discover.space import Facts, Space
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.judge.noise import NoisyRunner, noises, within
from rewrite_engine.judge.values import TermValues

DRAWS = range(100, 112)  # seeds of samples of other lengths, at which a proposal must hold
CLOSE = 1e-7  # relative difference of values that are equal


def weakest(space: Space, one: Proposal) -> Facts | None:
    """Return the weakest facts of variables under which both sides have equal values; None if they
    differ in any case.
    """
    every = [(v, fact) for v in one.left.leaves for fact in space.variables[v]]
    for n in range(len(every) + 1):
        for chosen in combinations(every, n):
            facts = {v: tuple([f for w, f in chosen if w is v]) for v in space.variables}
            if holds(space, one, facts):
                return facts
    return None


def holds(space: Space, one: Proposal, facts: Facts) -> bool:
    """Whether both sides have equal values at new samples of variables with facts. Elementwise
    terms are not compared where a part of one is infinite: it may have overflowed.
    """
    compared = 0
    for seed in DRAWS:
        try:
            given = dict(space.draw(seed, facts))
        except (ValueError, ArithmeticError):
            continue
        values = TermValues(PlainRunner(), given)
        a, b = [value_or_none(values, t.variable) for t in one[:2]]
        if a is None and b is None:
            continue
        if a is None or b is None:
            return False
        if space.pointwise:  # (a number stands for an array of it)
            a, b, out = np.broadcast_arrays(a, b, overflown(one, values))
            if out.all():
                continue
            a, b = np.where(out, 0, a), np.where(out, 0, b)
        if not are_equal(a, b, space.pointwise, partial(under_noise, one, given)):
            return False
        compared += 1
    return compared > 0


def overflown(one: Proposal, values: TermValues) -> Any:
    """Return at which elements a part of an elementwise term is infinite."""
    parts = [np.asarray(values.value(v)) for v in ancestors([t.variable for t in one[:2]])]
    found: Any = np.False_
    for part in parts:
        if part.dtype.kind == "f":
            found = found | np.isinf(part)
    return found


def are_equal(a: Any, b: Any, pointwise: bool, samples: Callable[[], Any]) -> bool:
    """Whether two values are equal, up to rounding. samples: makes values of both under noise, for
    what is a difference of large parts and has few digits.
    """
    if not isinstance(a, np.ndarray | np.number) or a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)
    if np.shape(a) != np.shape(b):
        return False
    if not pointwise:
        sizes = np.abs(np.asarray(a))
        rest = CLOSE * sizes[~np.isnan(sizes)].max(initial=LEAST)
        return bool(np.allclose(a, b, rtol=CLOSE, atol=rest, equal_nan=True))
    same = np.isclose(a, b, rtol=CLOSE, atol=LEAST, equal_nan=True)
    if not same.all():
        of_a, of_b = samples()
        same = same | within(a, b, of_a) | within(b, a, of_b)
    return bool(same.all())


def under_noise(one: Proposal, given: Mapping[Variable, Any]) -> list[list[Any]]:
    """Return values of both sides where each result of a node is moved by a unit."""
    found: list[list[Any]] = [[], []]
    for dice in noises():
        values = TermValues(NoisyRunner(PlainRunner(), dice), dict(given))
        for samples, term in zip(found, one[:2], strict=True):
            samples.append(value_or_none(values, term.variable))
    return found
