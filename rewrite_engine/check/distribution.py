"""Comparison of random draws on the two sides of a rule: bit by bit under `exact`, else by the
distributions of each element and of each pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.judge.difference import BothSides
from rewrite_engine.judge.verdict import KEPT, NOT_RUN, Broken, Verdict
from rewrite_engine.link.linker import get_linker
from rewrite_engine.random.type import RandomGeneratorType
from rewrite_engine.tensor.type import TensorType

DRAWS = 1000  # with as many states
ELEMENTS = 4  # of an array that are looked at
LENGTH = 3
UNLIKELY = 1e-8  # how probable it has to be that two samples are of one distribution
DEVIATIONS = 6.0  # how far a mean of products may be off


def has_state(inputs: Iterable[Any]) -> bool:
    """Whether a term takes the state of a generator."""
    return any(isinstance(v.type, RandomGeneratorType) for v in inputs)


def judge_draws(sides: BothSides, inputs: Sequence[Any]) -> Verdict:
    """Compare the draws of both sides."""
    given = ordinary(inputs)
    lefts = drawn(sides.term, inputs, given, 0)
    if isinstance(lefts, Exception):
        return NOT_RUN
    rights = drawn(sides.new, inputs, given, 0)
    if isinstance(rights, Exception):
        return Verdict(Broken.ERROR_NEW, f"{Broken.ERROR_NEW}: {rights!r}", given=given)
    (a, b) = lefts[0], rights[0]
    if a.dtype != b.dtype or a.shape != b.shape:
        said = (a.dtype, a.shape), (b.dtype, b.shape)
        why = str(Broken.SHAPE)
        return Verdict(Broken.SHAPE, why, left=said[0], right=said[1], given=given)
    if all([x.tobytes() == y.tobytes() for x, y in zip(lefts, rights, strict=True)]):
        return KEPT
    if sides.promise.kind == "exact":
        why = "other bits of draws from one state"
        return Verdict(Broken.BITS, why, left=a, right=b, given=given)
    others = drawn(sides.new, inputs, given, DRAWS)
    differ = other_distribution(_columns(lefts), _columns(others))
    return Verdict(Broken.DRAWS, differ, left=a, right=b, given=given) if differ else KEPT


def ordinary(inputs: Sequence[Any]) -> dict[Any, Any]:
    """Return numbers for the inputs that are not states; no two are equal."""
    rng, given = np.random.default_rng(0), {}
    for v in inputs:
        if isinstance(v.type, TensorType):
            shape = tuple([LENGTH if n is None else n for n in v.type.shape])
            whole = v.type.kind in "iub"
            a = rng.integers(1, 5, shape) if whole else rng.uniform(0.2, 0.9, shape)
            given[v] = np.asarray(a).astype(v.type.dtype)
    return given


def drawn(output: Any, inputs: Sequence[Any], given: Any, first: int) -> Any:
    """Return the values of a variable for many states, from one seed on, or the error it raises."""
    try:
        run = get_linker("py").compile(FunctionGraph(list(inputs), [output], merging=False))
        return [np.asarray(run(*_row(inputs, given, first + i))[0]) for i in range(DRAWS)]
    except Exception as failure:  # whatever it is, it is the same on both sides
        return failure


def _row(inputs: Sequence[Any], given: Any, seed: int) -> list[Any]:
    states = (np.random.default_rng([seed, i]) for i in range(len(inputs)))
    return [given[v] if v in given else next(states) for v in inputs]


def _columns(draws: Sequence[Any]) -> Any:
    """Draws of a few elements, one row for each state."""
    return np.stack([np.ravel(a)[:ELEMENTS].astype("float64") for a in draws])


def other_distribution(a: Any, b: Any) -> str | None:
    """Return why two samples of vectors have different distributions; None if they may be equal."""
    from scipy.stats import ks_2samp, rankdata

    n = len(a)
    ranks = np.empty((2 * n, a.shape[1]))
    for i in range(a.shape[1]):
        if ks_2samp(a[:, i], b[:, i]).pvalue < UNLIKELY:
            return f"element {i} has another distribution"
        ranks[:, i] = (rankdata(np.concatenate([a[:, i], b[:, i]])) - n) / n
    for i, j in combinations(range(a.shape[1]), 2):
        products = ranks[:, i] * ranks[:, j]
        off = abs(products[:n].mean() - products[n:].mean())
        if off > DEVIATIONS * np.sqrt((products[:n].var() + products[n:].var() + 1e-12) / n):
            return f"elements {i} and {j} have another distribution together"
    return None
