"""Samples of arrays: moderate ones tell terms apart, and far ones show which terms lose digits,
overflow or treat ties and zeros wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import rewrite_engine.facts.samples as of_facts
from rewrite_engine.discover.space import Facts, Sample
from rewrite_engine.facts import lower_triangular, nonneg, positive, positive_definite
from rewrite_engine.graph.node import Variable

LENGTHS = ((3, 2), (2, 4), (4, 3), (5, 2), (2, 3))  # n and m of samples
FAR_LENGTHS = (6, 4)
NEAR_SEEDS = 10  # seeds below are of samples that tell terms apart
SCALE = 1e60  # a product of six such numbers overflows, and that of two does not
SQUARE_SCALE = 1e160  # the square of such a number overflows
CONDITION = 1e6  # one solve is right, and one with a product of two such matrices is wrong
MAGNITUDES = (800.0, 40.0, 2.5, 0.3, 1e-6, 1e-13)  # far apart, so that sums do not cancel
TIED = (-1.0, 0.0, 1.0, 2.0)
MIXED, PLUS, MINUS = (-1.0, 1.0), (1.0,), (-1.0,)
SCALES = (1.0, 0.5, 2.0)  # of samples that test an equality, by seed
SIGNS = (MIXED, PLUS, MIXED, MINUS)  # of the elements of near samples, by seed

#: length names, declared facts -> the leaves of a space
Leaves = Mapping[Variable, tuple[str, Sequence[Any]]]

#: makes an array that has a fact, of any other array
OF_NUMBERS: dict[Any, Callable[[Any], Any]] = {
    nonneg: np.abs,
    positive: lambda a: np.where(a == 0, 1.0, np.abs(a)),
}


def having(value: Any, facts: Iterable[Any], ill: bool = False) -> Any:
    """Return a value that has facts, made of any other. ill: keep a bad condition."""
    for one in facts:
        make = (OF_ILL.get(one) if ill else None) or OF_NUMBERS.get(one) or one.drawer
        if make is None:
            raise ValueError(f"no value with the fact {one.name} can be made")
        value = make(value)
    return value


def definite(a: Any) -> Any:
    """Return a positive definite matrix with the condition of another one."""
    vectors, sizes, _ = np.linalg.svd(a)
    return of_facts.with_mirror_image(vectors * sizes @ vectors.T)


#: facts whose usual makers improve the condition of a matrix
OF_ILL: dict[Any, Callable[[Any], Any]] = {
    positive_definite: definite,
    lower_triangular: lambda a: np.linalg.cholesky(definite(a) @ definite(a).T),
}


# --- elements -------------------------------------------------------------------------------------


def moderate(
    rng: Any, shape: tuple[int, ...], signs: Sequence[float] = MIXED, scale: float = 1.0
) -> Any:
    """Return numbers of moderate size; in a matrix, one of each column is larger. A scalar has the
    first sign.
    """
    value = scale * rng.uniform(0.2, 1.6, shape) * (rng.choice(signs, shape) if shape else signs[0])
    if len(shape) != 2:
        return value
    return value + rng.permutation(np.eye(*shape)) * rng.choice(signs, shape[1]) * 2.5 * scale


def large(rng: Any, shape: tuple[int, ...]) -> Any:
    """Return numbers of which a product of a few overflows."""
    return moderate(rng, shape) * SCALE


def small(rng: Any, shape: tuple[int, ...]) -> Any:
    """Return numbers of which a product of a few underflows."""
    return moderate(rng, shape) / SCALE


def huge(rng: Any, shape: tuple[int, ...]) -> Any:
    """Return numbers whose squares overflow."""
    return moderate(rng, shape) * SQUARE_SCALE


def tiny(rng: Any, shape: tuple[int, ...]) -> Any:
    """Return numbers whose squares underflow."""
    return moderate(rng, shape) / SQUARE_SCALE


def spread(rng: Any, shape: tuple[int, ...]) -> Any:
    """Return numbers of all magnitudes."""
    size = int(np.prod(shape))
    found = np.resize(MAGNITUDES, max(size, len(MAGNITUDES))) * rng.uniform(1, 1.5)
    return rng.permutation(found)[:size].reshape(shape) * rng.choice([-1.0, 1.0], shape)


def tied(rng: Any, shape: tuple[int, ...]) -> Any:
    """Return few different numbers, with zeros."""
    return rng.choice(TIED, shape)


def ill_conditioned(rng: Any, shape: tuple[int, ...]) -> Any:
    """Return a matrix of a bad condition; other arrays are of moderate size."""
    if len(shape) != 2:
        return moderate(rng, shape)
    left, sizes, right = np.linalg.svd(rng.normal(size=shape), full_matrices=False)
    return left * np.geomspace(1, 1 / CONDITION, len(sizes)) @ right


FAR_ELEMENTS = (moderate, large, small, huge, tiny, spread, tied, ill_conditioned)


# --- samples --------------------------------------------------------------------------------------


def near_sample(leaves: Leaves, seed: int, declared: Facts) -> Sample:
    """Return values of moderate size; lengths, signs and elements differ by seed. A sample that
    tests an equality has another scale, and signs that differ by variable: a logarithm of negative
    numbers alone does not tell terms apart.
    """
    lengths, rng = LENGTHS[seed % len(LENGTHS)], np.random.default_rng(seed)
    shifts = range(len(leaves)) if seed >= NEAR_SEEDS else [0] * len(leaves)
    scale = SCALES[seed % len(SCALES)] if seed >= NEAR_SEEDS else 1.0
    signs = [SIGNS[(seed + k) % len(SIGNS)] for k in shifts]
    elements = [partial(moderate, signs=some, scale=scale) for some in signs]
    return sample(leaves, elements, rng, lengths, declared)


def far_samples(leaves: Leaves, declared: Facts) -> list[Sample]:
    """Return a sample of each kind of elements that shows errors."""
    found = []
    for k, elements in enumerate(FAR_ELEMENTS):
        rng, same = np.random.default_rng(NEAR_SEEDS + k), [elements] * len(leaves)
        with np.errstate(over="ignore", invalid="ignore"):  # (of a matrix times its transpose)
            found.append(sample(leaves, same, rng, FAR_LENGTHS, declared))
    return found


def sample(
    leaves: Leaves,
    elements: Sequence[Callable[[Any, tuple[int, ...]], Any]],
    rng: Any,
    lengths: tuple[int, int],
    declared: Facts,
) -> Sample:
    """Return values of variables that have declared facts. elements: makes those of each variable.
    A variable that is a square by a fact alone is none without its facts. With matrices of a bad
    condition, vectors are products with the first square: the solutions of its equations are of
    moderate size.
    """
    found: dict[Variable, Any] = {}
    ill, square = elements[0] is ill_conditioned, None
    for make, (v, (letters, own)) in zip(elements, leaves.items(), strict=True):
        facts = declared.get(v, ())
        loose = letters == "nn" and bool(own) and not facts
        shape = tuple([lengths["nm".index(one)] for one in ("nm" if loose else letters)])
        value = having(np.asarray(make(rng, shape)), facts, ill)
        if ill and letters == "n" and square is not None and not facts:
            value = square @ value
        if square is None and letters == "nn" and not loose:
            square = value
        found[v] = value
    return found
