"""An index of joined arrays of unknown lengths: it comes to an end, and has the value by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.language import rewritten
from rewrite_engine.rules.indexing.joined import at_most

a, b = pt.matrices("a b")
x, y = pt.vectors("x y")
t = pt.tensor3("t")
n = pt.lscalar("n")
k = pt.lvector("k")

#: terms of unknown length, which an index moves into in different ways
PARTS = {
    "product": a @ x,
    "sum": pt.exp(x) + y,
    "shifted": x[n:] * y[n:],
    "difference": pt.diff(x),
    "choice": pt.switch(x > 0, x, y),
    "every second": pt.exp(x)[::2],
    "backward": pt.exp(x)[::-1],
    "rows": (a * b).sum(axis=1),
    "largest": a.max(axis=0),
    "diagonal": pt.diag(a @ b),
    "batch": (t @ a)[1][:, 0],
    "running": pt.cumsum(x),
    "sorted": pt.sort(x),
    "filled": pt.full((n,), y[0]),
    "range": pt.arange(n) * 1.0,
    "changed": pt.set_subtensor(x[1:3], 7.0),
    "chosen": pt.exp(x)[k],
    "flat": pt.exp(a).flatten(),
    "repeated": pt.repeat(x, 3),
    "tiled": pt.tile(x, 3),
    "joined": pt.concatenate([pt.exp(x), y]),
}

INDEXES = {
    "[:2]": lambda v: v[:2],
    "[-2:]": lambda v: v[-2:],
    "[1:3]": lambda v: v[1:3],
    "[1:6:2]": lambda v: v[1:6:2],
    "[0]": lambda v: v[0],
    "[-1]": lambda v: v[-1],
    "[::-1][:2]": lambda v: v[::-1][:2],
    "[:-1][-2:]": lambda v: v[:-1][-2:],
    "exp[:2]": lambda v: pt.exp(v)[:2],
    "matrix@[:2]": lambda v: (t[0, :2, :1] @ v[None])[:, :2],
}

NAMES = [*PARTS]
VALUES: dict[Any, Any] = {
    a: np.arange(25.0).reshape(5, 5) % 7,
    b: np.arange(25.0).reshape(5, 5) % 4,
    x: np.array([1.5, -2.0, 0.5, 3.0, -1.0]),
    y: np.array([0.25, 4.0, -3.0, 1.0, 2.0]),
    t: np.arange(50.0).reshape(2, 5, 5) % 3,
    n: 3,
    k: np.array([4, 0, 2]),
}


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("name", PARTS)
def test_an_index_of_a_join_comes_to_an_end(name: str, index: str) -> None:
    other = PARTS[NAMES[(NAMES.index(name) + 7) % len(NAMES)]]
    for parts in ([PARTS[name]] * 2, [PARTS[name], other], [other, PARTS[name]]):
        term = INDEXES[index](pt.concatenate(parts))
        f, g = [
            rw.function([*VALUES], term, mode=rw.Mode("vm", passes), on_unused_input="ignore")
            for passes in ("fast_run", None)
        ]
        np.testing.assert_allclose(f(*VALUES.values()), g(*VALUES.values()), rtol=1e-12)


def test_an_index_of_a_join_of_products_is_put_on_each_part_once() -> None:
    joined = pt.concatenate([a @ x, b @ y])
    parts = "Subtensor{:2}(a) @ x, Subtensor{:2}(b) @ y"
    assert str(rewritten(joined[:2])) == f"Subtensor{{:2}}(Join{{axis=0}}({parts}))"
    product = pt.linalg.block_diag(a, b) @ pt.concatenate([x, y])
    text = str(rewritten(pt.concatenate([product[:2], x[2:]])))
    assert "Subtensor{:2}(a) @" in text
    assert "Subtensor{:2}(b) @" in text
    assert text.count(":2") == 3


@pytest.mark.parametrize(
    ("entry", "most"),
    [
        (slice(2), 2),
        (slice(1, 6, 2), 3),
        (slice(n, 4), 4),
        (slice(-3, None), 3),
        (slice(-5, None, 2), 3),
        (slice(-3, -1), 3),
        (slice(None, -1), float("inf")),
        (slice(None, n), float("inf")),
        (slice(5, None, -1), float("inf")),
    ],
    ids=str,
)
def test_the_most_elements_of_a_slice(entry: slice, most: float) -> None:
    assert at_most(entry) == most
    if n not in (entry.start, entry.stop):
        found = [len(range(length)[entry]) for length in range(12)]
        assert max(found) <= most
        assert most == float("inf") or max(found) >= most - 1
