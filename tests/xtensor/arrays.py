"""Arrays with names for the tests, and what is expected of them in NumPy's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import rewrite_engine as rw
import rewrite_engine.xtensor as px

LENGTHS = {"a": 2, "b": 3, "c": 4}


def array(dims: Sequence[str], dtype: str = "float64", seed: int = 0) -> Any:
    """Numbers between -3 and 3, or integers from 0 up, as long along names as `LENGTHS` says."""
    shape = tuple([LENGTHS[d] for d in dims])
    rng = np.random.default_rng([seed, len(dims)])
    if np.dtype(dtype).kind in "iub":
        return rng.integers(0, 2, shape).astype(dtype)
    return rng.uniform(-3, 3, shape).astype(dtype)


def variables(*dims: str, dtype: str = "float64") -> list[Any]:
    """A variable for each text, whose letters name its dimensions."""
    return [px.xtensor(f"x{k}", dims=tuple(d), dtype=dtype) for k, d in enumerate(dims)]


def values(function: Callable[..., Any], *dims: str, dtype: str = "float64") -> Any:
    """What a function of variables with these names is; the variable, and its value."""
    xs = variables(*dims, dtype=dtype)
    found = function(*xs)
    given = [array(d, dtype, k) for k, d in enumerate(dims)]
    return found, rw.function(xs, found)(*given)


def by_names(x: Any, dims: str, order: Sequence[str]) -> Any:
    """An array with these names, its dimensions in an order; of length 1 where it has no such."""
    have = [d for d in order if d in dims]
    x = np.transpose(x, [dims.index(d) for d in have])
    return x.reshape([LENGTHS[d] if d in dims else 1 for d in order])
