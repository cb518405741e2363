"""`RandomGeneratorType`: the type of random number generators."""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any, ClassVar

import numpy as np

from rewrite_engine.errors import DTypeError, describe
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.type import SingletonType


class RandomGeneratorVariable(Variable):
    """Variable for the state of a generator.

    It has the functions of `rewrite_engine.random` as methods, which return the next state and the
    draws: `next_rng, x = rng.normal(0, 1)`.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Callable[..., tuple[Any, Any]]:
        from rewrite_engine.random.functions import method

        return method(self, name)  # type: ignore[no-any-return]


class RandomGeneratorType(SingletonType):
    """Type of states of `numpy.random.Generator`. Two states are equal if they will draw equal
    numbers.

    An op that draws takes a state and returns the next one as another output.
    """

    variable_type: ClassVar[type[Variable]] = RandomGeneratorVariable

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return `data` itself. Raise `DTypeError` if it is not a generator."""
        if not is_generator(data):
            raise DTypeError(f"expected a numpy.random.Generator, got {describe(data)}")
        return data

    def values_eq(self, a: Any, b: Any) -> bool:
        """Return whether the kinds and the states of both are equal."""
        return same_state(a.bit_generator.state, b.bit_generator.state)

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Return whether draws from one generator advance the other."""
        return a.bit_generator is getattr(b, "bit_generator", None)


def is_generator(value: Any) -> bool:
    """Return whether a value is a generator (without loading `numpy.random` for others)."""
    module = sys.modules.get("numpy.random")
    return module is not None and isinstance(value, module.Generator)


def copied(rng: Any) -> Any:
    """Return a generator that will draw the same numbers: as `deepcopy`, in a twentieth of the
    time.
    """
    bits = rng.bit_generator
    if not type(bits).__module__.startswith("numpy.random."):
        return deepcopy(rng)
    made = type(bits)(_no_entropy())
    made.__setstate__(bits.__getstate__())
    return type(rng)(made)


@cache
def _no_entropy() -> Any:
    """Return a cheap seed for a generator whose state is then replaced. (A `SeedSequence` takes
    long.)
    """
    from numpy.random.bit_generator import ISeedSequence

    class NoEntropy(ISeedSequence):
        def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
            return np.zeros(n_words, dtype)

    return NoEntropy()


def same_state(a: Any, b: Any) -> bool:
    """Return whether two states are equal: numbers and arrays, in nested dicts."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_state(a[k], b[k]) for k in a)
    return bool((a == b).all() if hasattr(a, "all") else a == b)


random_generator_type = RandomGeneratorType()
