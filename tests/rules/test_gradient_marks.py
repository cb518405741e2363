"""`zero_grad` and its kin leave no nodes behind in what runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.gradient import (
    disconnected_grad,
    grad,
    grad_clip,
    grad_scale,
    undefined_grad,
    zero_grad,
)

x = pt.dvector("x")
MARKS = {
    "zero_grad": zero_grad,
    "disconnected_grad": disconnected_grad,
    "undefined_grad": undefined_grad,
    "grad_clip": lambda v: grad_clip(v, -1, 1),
    "grad_scale": lambda v: grad_scale(v, 3.0),
}


@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS)
def test_what_runs_has_no_marks(mark: Any) -> None:
    f = rw.function([x], pt.exp(mark(x)))
    assert [str(node.op) for node in f.fgraph.toposort()] == ["exp"]
    assert len(rw.function([x], pt.log(pt.exp(mark(x)))).fgraph) == 0
    assert len(rw.function([x], mark(x), mode="fast_compile").fgraph) == 0


@pytest.mark.parametrize(
    ("name", "slope"), [("zero_grad", 0.0), ("grad_clip", 1.0), ("grad_scale", 6.0)]
)
def test_gradients_are_taken_before(name: str, slope: float) -> None:
    cost = pt.sqr(MARKS[name](x)).sum() + x.sum()
    f = rw.function([x], grad(cost, x))
    np.testing.assert_allclose(f([1.0]), [slope + 1.0])
    assert grad(cost, x).eval({x: [1.0]}) == slope + 1.0


def test_the_users_graph_keeps_them() -> None:
    y = pt.exp(zero_grad(x))
    rw.rewrite_graph(y)
    assert grad(y.sum(), x).eval({x: [1.0]}).tolist() == [0.0]


def test_inside_of_other_graphs() -> None:
    inner = pt.dvector("inner")
    op = rw.OpFromGraph([inner], [pt.exp(grad_scale(inner, 3.0))])
    f = rw.function([x], [op(x), grad(op(x).sum(), x)])
    for got, expected in zip(f([0.0]), [[1.0], [3.0]], strict=True):
        assert got.tolist() == expected


def test_they_can_be_kept() -> None:
    f = rw.function([x], pt.exp(zero_grad(x)), mode=rw.Mode().excluding("gradient_mark"))
    assert len(f.fgraph) == 2
