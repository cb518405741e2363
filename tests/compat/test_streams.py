"""Theano's `RandomStreams`: sizes first, older names of parameters."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compat.streams import RandomStreams

DRAWN = {
    "uniform": (("uniform", (1000,), -1.0, 3.0), {}, "float64", (-1, 3), 1.0),
    "normal": (("normal", (1000,)), {"avg": 2.0, "std": 0.1}, "float64", (1, 3), 2.0),
    "binomial": (("binomial", (1000,), 1, 0.25), {"dtype": "float32"}, "float32", (0, 1), 0.25),
    "poisson": (("poisson", (1000,)), {"lam": 3.0}, "int64", (0, 20), 3.0),
    "integers": (("random_integers", (1000,), 2, 4), {}, "int64", (2, 4), 3.0),
    "choice": (("choice", (1000,)), {"a": 3, "p": [0.0, 0.5, 0.5]}, "int64", (1, 2), 1.5),
    "permutation": (("permutation", (4,), 5), {}, "int64", (0, 4), 2.0),
    "multinomial": (("multinomial", (4,), 6, [0.5, 0.5]), {}, "int64", (0, 6), 3.0),
}


@pytest.mark.parametrize("name", DRAWN)
def test_draws(name: str) -> None:
    (method, *args), options, dtype, ends, mean = DRAWN[name]
    found = rw.function([], getattr(RandomStreams(seed=5), method)(*args, **options))()
    assert found.dtype == dtype
    assert len(found) == args[0][0]
    assert ends[0] <= found.min() <= found.max() <= ends[1]
    assert abs(found.mean() - mean) < 0.25


def test_draws_go_on_and_start_again() -> None:
    stream = RandomStreams(seed=5)
    f = rw.function([], stream.uniform((2,)))
    one, two = f(), f()
    assert (one != two).all()
    stream.seed(5)
    np.testing.assert_array_equal(f(), one)


def test_a_rank_for_a_size_that_does_not_say_it() -> None:
    size = pt.lvector("size")
    x = RandomStreams().normal(size, ndim=2)
    assert x.type.ndim == 2
    assert rw.function([size], x)([2, 3]).shape == (2, 3)


@pytest.mark.parametrize("shape", [(6,), (3, 4)])
def test_rows_are_shuffled(shape: Any) -> None:
    x = np.arange(np.prod(shape), dtype="float64").reshape(shape)
    found = rw.function([], RandomStreams(3).shuffle_row_elements(x))()
    np.testing.assert_array_equal(np.sort(found, axis=-1), x)
    assert (found != x).any()
