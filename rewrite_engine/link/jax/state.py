"""States of random generators as arrays, so that loops and branches can carry them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rewrite_engine.errors import UntraceableError
from rewrite_engine.graph.node import Variable
from rewrite_engine.random.type import RandomGeneratorType

LOW = (1 << 64) - 1


def is_state(v: Variable) -> bool:
    """Return whether a variable is the state of a generator."""
    return isinstance(v.type, RandomGeneratorType)


def words_of(rng: Any) -> Any:
    """Return the state of a generator (PCG64, as `numpy.random.default_rng` makes it) as six
    uint64. Raises `UntraceableError` for other kinds.
    """
    state = rng.bit_generator.state
    if state["bit_generator"] != "PCG64":
        kind = state["bit_generator"]
        raise UntraceableError(f"JAX takes states of PCG64, as of default_rng(seed), not {kind}")
    a, b = state["state"]["state"], state["state"]["inc"]
    words = [a >> 64, a & LOW, b >> 64, b & LOW, state["has_uint32"], state["uinteger"]]
    return np.array(words, np.uint64)


def generator_of(words: Any) -> Any:
    """Return the generator with a state."""
    a, b, c, d, has, rest = [int(w) for w in np.asarray(words)]
    rng = np.random.Generator(np.random.PCG64(0))
    rng.bit_generator.state = {
        "bit_generator": "PCG64", "state": {"state": a << 64 | b, "inc": c << 64 | d | 1},
        "has_uint32": has, "uinteger": rest,
    }  # fmt: skip
    return rng
