"""Random cases: well-typed graphs over all public ops, with values."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from fuzz.arrays import FLOATS, INTEGERS, MOODS
from fuzz.case import Case
from fuzz.elementwise import ELEMENTWISE
from fuzz.motifs import MOTIFS
from fuzz.pool import Pool, Skip
from fuzz.steps import ARRAYS
from rewrite_engine.errors import RewriteEngineError

SIZES = ((2, 3), (3, 2), (1, 3), (2, 2), (0, 2), (3, 0), (4, 1), (1, 1), (2, 3), (3, 4))
STEPS: dict[Any, float] = ELEMENTWISE | ARRAYS | {step: 1.3 * w for step, w in MOTIFS.items()}


def dtypes_of(rng: Random) -> list[str]:
    """The dtypes of the leaves of a graph: one, or several."""
    kind = rng.random()
    if kind < 0.35:
        return ["float64"]
    if kind < 0.55:
        return ["float32"]
    if kind < 0.62:
        return ["float16"]
    if kind < 0.7:
        return [rng.choice(INTEGERS)]
    if kind < 0.8:
        return [rng.choice(FLOATS), rng.choice(INTEGERS)]
    if kind < 0.85:
        return ["complex128", "float64"] if rng.random() < 0.6 else ["complex64", "float32"]
    return [rng.choice((*FLOATS, *INTEGERS, "bool")) for _ in range(3)]


def new_pool(rng: Random, wrong: bool) -> Pool:
    """A pool with some leaves."""
    mood = rng.choices(MOODS, (0.35, 0.1, 0.2, 0.15, 0.12, 0.05, 0.03))[0]
    sizes: tuple[int, ...] = (2, *rng.choice(SIZES))
    if wrong and 0 in sizes:
        sizes = (2, 2, 3)
    p = Pool(rng, dtypes_of(rng), mood, sizes, wrong)
    for _ in range(rng.choice((1, 2, 2, 3))):
        p.leaf()
    if wrong:
        v = p.pick()
        p.leaf(v.type.dtype, tuple([n + 1 for n in p.values[v].shape]))
    return p


def grow(p: Pool, steps: int, table: dict[Any, float] = STEPS) -> None:
    """Take steps."""
    choices, weights = list(table), list(table.values())
    for step in p.rng.choices(choices, weights, k=steps):
        try:
            step(p)
        except (Skip, RewriteEngineError):
            continue


def random_case(rng: Random) -> Case:
    """A graph with values. Raises `Crash` where building it does."""
    wrong = rng.random() < 0.07
    while True:
        p = new_pool(rng, wrong)
        grow(p, rng.choice((2, 3, 4, 5, 6, 8, 10)))
        made = [v for v in p.terms if v.owner is not None]
        if made and (p.failed or not wrong):
            break
    last = made[-1:-7:-1]
    outputs = list(dict.fromkeys([last[0], *rng.choices(last, k=rng.choice((0, 0, 1, 2)))]))
    case = Case.of(outputs, p.given, wrong=p.failed)
    if rng.random() < 0.06:
        return replace(case, mutable=tuple(rng.sample(case.inputs, min(len(case.inputs), 2))))
    if rng.random() < 0.03:
        return replace(case, stands_in=tuple(case.inputs[:2]))
    return with_shared(rng, p, case) if rng.random() < 0.12 else case


def with_shared(rng: Random, p: Pool, case: Case) -> Case:
    """Some inputs are shared variables, with updates."""
    shared = tuple([v for v in case.inputs if rng.random() < 0.5])
    updates = {}
    for v in shared:
        fitting = [t for t in p.terms if t.type == v.type and t is not v]
        if fitting and rng.random() < 0.7:
            updates[v] = rng.choice(fitting)
    return Case.of(case.outputs, p.given, shared=shared, updates=updates, wrong=case.wrong)
