"""Spaces for the subterms of a graph: of the functions of one shipped subject, with the numbers of
the subterms, and what is known of their variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from rewrite_engine.discover.space import Facts, Sample, Space, TermMaker, maker
from rewrite_engine.discover.subjects import FAR, SUBJECTS, numbers
from rewrite_engine.discover.subterms import Bounds, Subterm, number_of
from rewrite_engine.facts import nonneg
from rewrite_engine.graph.node import Variable

#: shipped subjects whose functions are elementwise
ELEMENTWISE = ("exp_log", "trigonometry", "powers", "gamma", "errors", "bessel", "logic")
PARTS = (0.0, 0.3, 1.0)  # of an interval of known bounds, where terms are compared
MAX_OPERANDS = 2  # of an op that makes terms


@dataclass(frozen=True)
class Regime:
    """Subterms that are compared with the terms of one space. known: the facts of variables.
    is_assumed: whether the space has more facts: that unknown signs are not negative.
    """

    space: Space
    known: Facts
    members: list[Subterm]
    is_assumed: bool


def regimes(found: Sequence[Subterm], own: Sequence[Any], is_assumed: bool) -> Iterator[Regime]:
    """Yield the regimes of subterms. own: an author's ops, which are functions of all spaces."""
    groups: dict[Any, list[Subterm]] = {}
    for one in found:
        if is_assumed and all(one.facts):
            continue
        ops = dict.fromkeys([node.op for node in one.nodes])
        subject = subject_of({str(op) for op in ops})
        known = {m.name for m in shipped(subject).makers}
        extra = tuple([op for op in ops if str(op) not in known])
        key = subject, extra, numbers_in(one), one.leaves, one.facts, one.bounds
        groups.setdefault(key, []).append(one)
    for (subject, extra, constants, leaves, facts, bounds), members in groups.items():
        makers = [*map(op_maker, dict.fromkeys([*own, *extra]))]
        given = [f or ((nonneg,) if is_assumed else ()) for f in facts]
        space = space_of(subject, [m for m in makers if m], constants, leaves, bounds)
        space = replace(space, variables=dict(zip(leaves, given, strict=True)))
        yield Regime(space, dict(zip(leaves, facts, strict=True)), members, is_assumed)


@cache
def shipped(subject: str) -> Space:
    """Return the shipped space of a subject in which least is known."""
    return SUBJECTS[subject]()[-1]


def subject_of(names: set[str]) -> str:
    """Return the subject with most of these functions."""
    return max(ELEMENTWISE, key=lambda s: len(names & {m.name for m in shipped(s).makers}))


def numbers_in(one: Subterm) -> tuple[float, ...]:
    """Return the numbers of a subterm."""
    found = [number_of(v) for node in one.nodes for v in node.inputs]
    return tuple(sorted({float(n) for n in found if n is not None}))


def op_maker(op: Any) -> TermMaker | None:
    """Return the maker of an op's terms; None for an op that would make too many."""
    try:
        made = maker(op)
    except Exception:
        return None
    return made if made.arity <= MAX_OPERANDS else None


def space_of(
    subject: str,
    makers: Sequence[TermMaker],
    constants: Sequence[float],
    leaves: Sequence[Variable],
    bounds: Sequence[Bounds],
) -> Space:
    """Return the space of a subject's functions and some others, on other variables."""
    base = shipped(subject)
    usual = [float(c.data) for c in base.numbers]  # type: ignore[attr-defined]
    (given,), near = base.far(base.variables), base.draw(0, base.variables)
    first = next(iter(base.variables))
    far, high = np.unique(given[first]), float(np.abs(near[first]).max())
    ends = {v: b for v, b in zip(leaves, bounds, strict=True) if b is not None}
    inner = [low + part * (top - low) for low, top in ends.values() for part in PARTS]
    made = numbers(
        subject,
        [*base.makers, *makers],
        "".join([str(v.name) for v in leaves]),
        dict.fromkeys([*usual, *constants]),
        far=sorted({*FAR, *far, *-far, *inner}),
        high=high,
    )
    ours = dict(zip(made.variables, leaves, strict=True))
    return replace(
        made,
        variables=dict.fromkeys(leaves, ()),
        draw=lambda seed, facts: _drawn(made, ours, ends, seed, facts),
        far=lambda facts: _far(made, ours, ends, facts),
    )


def _drawn(
    made: Space, ours: dict[Variable, Variable], ends: dict[Variable, Any], seed: int, facts: Facts
) -> Sample:
    """Return a sample of a space on other variables, inside their bounds."""
    given = made.draw(seed, {v: facts[own] for v, own in ours.items()})
    found = {ours[v]: a for v, a in given.items()}
    for v, (low, high) in ends.items():
        part = np.random.default_rng(seed).uniform(0, 1, len(found[v]))
        inside = (found[v] >= low) & (found[v] <= high)
        found[v] = np.where(inside, found[v], low + part * (high - low))
    return found


def _far(
    made: Space, ours: dict[Variable, Variable], ends: dict[Variable, Any], facts: Facts
) -> list[Sample]:
    """Return the far samples of a space on other variables, inside their bounds."""
    found: list[Sample] = []
    for given in made.far({v: facts[own] for v, own in ours.items()}):
        some = {ours[v]: a for v, a in given.items()}
        inside = [(some[v] >= low) & (some[v] <= high) for v, (low, high) in ends.items()]
        keep = np.all(inside, axis=0) if inside else slice(None)
        found.append({v: a[keep] for v, a in some.items()})
    return [some for some in found if next(iter(some.values())).size]
