"""Shapes of ops that hold a graph follow from the graph; no error is lost by that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import OpFromGraph
from rewrite_engine.errors import ShapeError

X, Y, M = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m")
N = pt.lscalar("n")
A, B = pt.dvectors("a", "b")
LONG, OTHER = np.ones(4), np.ones(4) * 2


def ops(f: Any) -> set[str]:
    return {str(node.op).partition("{")[0] for node in f.fgraph.apply_nodes}


@pytest.mark.parametrize(
    "make",
    [
        lambda x, y: pt.exp(x) * y,
        lambda x, y: pt.join(0, x, y, y),
        lambda x, y: x[:, None] + y[None, :],
        lambda x, y: pt.outer(x, y).T,
        lambda x, y: pt.stack([x, y, x]),
    ],
)
def test_the_shape_is_known_without_the_value(make: Any) -> None:
    f = OpFromGraph([X, Y], [make(X, Y)], name="f")
    shape = rw.function([A, B], f(A, B).shape, on_unused_input="ignore")
    assert "f" not in ops(shape)
    np.testing.assert_array_equal(shape(LONG, OTHER), make(A, B).eval({A: LONG, B: OTHER}).shape)


def test_lengths_are_written_out() -> None:
    f = OpFromGraph([X], [X[1:]], name="f")
    assert "f" not in ops(shape := rw.function([A], f(A).shape))
    assert shape(LONG).tolist() == [3]
    assert shape([]).tolist() == [0]


def test_shapes_through_nested_ops() -> None:
    inner = OpFromGraph([X], [pt.join(0, X, X)], name="inner")
    outer = OpFromGraph([X], [pt.exp(inner(inner(X)))], name="outer")
    shape = rw.function([A], outer(A).shape)
    assert not ops(shape) & {"inner", "outer"}
    assert shape(LONG).tolist() == [16]


def test_a_nest_of_doublings_costs_linear_time() -> None:
    f = OpFromGraph([X], [pt.join(0, X, X)])
    for _ in range(30):
        f = OpFromGraph([X], [pt.exp(pt.join(0, f(X), f(X)))])
    assert rw.function([A], f(A).shape)([1.0]).tolist() == [2**31]


def test_lengths_that_do_not_fit_are_still_an_error() -> None:
    f = OpFromGraph([X, Y], [X * Y], name="f")
    assert f.equal_lengths(f(A, B).owner) == [[(0, 0), (1, 0)]]
    shape = rw.function([A, B], f(A, B).shape)
    assert "f" not in ops(shape)
    with pytest.raises(ShapeError):
        shape(LONG, LONG[1:])


def test_what_may_fail_otherwise_is_computed() -> None:
    f = OpFromGraph([X, N], [X[:N], X[N] * X], name="f")
    assert f.equal_lengths(f(A, N)[0].owner) is None
    shape = rw.function([A, N], f(A, N)[0].shape)
    with pytest.raises(IndexError):
        shape(LONG, 9)
    assert shape(LONG, 2).tolist() == [2]


def test_a_shape_that_nobody_knows_is_that_of_the_value() -> None:
    f = OpFromGraph([X], [X[X > 0.0]], name="f")
    shape = rw.function([A], f(A).shape)
    assert shape([1.0, -1.0, 2.0]).tolist() == [2]


def test_static_lengths_are_constants() -> None:
    row = pt.dmatrix("row", shape=(1, 3))
    f = OpFromGraph([row], [pt.exp(row).sum(axis=0)])
    assert f(row).type.shape == (3,)
    assert len(rw.function([row], f(row).shape, on_unused_input="ignore").fgraph) == 0
