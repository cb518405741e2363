"""`vectorize_graph` by names: all of a batch is what it is one by one."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
import rewrite_engine.xtensor as px
from rewrite_engine.errors import DimsError, ForeignObjectError, NDimError
from rewrite_engine.xtensor.vectorization import vectorize_graph
from tests.xtensor.arrays import array, variables

FORMULAS: Any = {
    "sum": lambda x, y: (x * y).sum("b"),
    "order": lambda x, y: x.T + y,
    "parts": lambda x, y: x.isel(b=[2, 0], a=1),
    "several": lambda x, y: x.isel(a=px.as_xtensor([0, 1], dims="b"), b=slice(0, 2)),
    "dot": lambda x, y: x.dot(y),
    "joined": lambda x, y: px.concat([x, y], dim="a"),
    "written": lambda x, y: x.isel(b=[0, 1]).set(2.0),
    "stack": lambda x, y: x.stack(z=("a", "b")).cumsum("z"),
    "stretched": lambda x, y: x.expand_dims(u=2),
    "no batch": lambda x, y: y + 1.0,
    "length": lambda x, y: x / x.sizes["b"],
    "renamed": lambda x, y: x.rename(a="z"),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_batch_is_one_by_one(name: str) -> None:
    x, y = variables("ab", "b")
    z = FORMULAS[name](x, y)
    many = px.xtensor("many", dims=("a", "draw", "b"))
    found = vectorize_graph(z, {x: many})
    assert found.dims == ("draw", *z.dims)
    batch, other = np.random.default_rng(2).normal(size=(2, 5, 3)), array("b", seed=1)
    f = rw.function([x, y], z, on_unused_input="ignore")
    want = np.stack([f(batch[:, k], other) for k in range(5)])
    g = rw.function([many, y], found, on_unused_input="ignore")
    np.testing.assert_allclose(g(batch, other), want)


def test_two_batches() -> None:
    x, y = variables("a", "a")
    xs, ys = px.xtensor("xs", dims=("c", "a")), px.xtensor("ys", dims=("a", "b"))
    found = vectorize_graph([x + y, x.sum()], {x: xs, y: ys})
    assert [v.dims for v in found] == [("c", "b", "a"), ("c", "b")]
    given = {xs: array("ca"), ys: array("ab", seed=1)}
    want = given[xs][:, None] + given[ys].T
    np.testing.assert_allclose(found[0].eval(given), want)
    sums = found[1].eval(given)
    np.testing.assert_allclose(sums, np.broadcast_to(given[xs].sum(1)[:, None], (4, 3)))


def test_batches_of_tensors_are_named() -> None:
    x, t = variables("a")[0], pt.vector("t")
    z = x * px.as_xtensor(t, dims="a")
    xs, ts = px.xtensor("xs", dims=("a", "c")), pt.matrix("ts")
    assert vectorize_graph(z, {x: xs, t: ts}, new_tensor_dims=["c"]).dims == ("c", "a")
    found = vectorize_graph(z, {x: xs, t: ts}, new_tensor_dims=["b"])
    assert found.dims == ("c", "b", "a")
    given = {xs: array("ac"), ts: array("ba", seed=1)}
    np.testing.assert_allclose(found.eval(given), given[xs].T[:, None] * given[ts])
    whole = vectorize_graph([t * 2.0, t.sum()], {t: ts}, new_tensor_dims=["b"])
    assert [v.type.ndim for v in whole] == [2, 1]
    named = vectorize_graph(x + 1.0, {x: ts}, new_tensor_dims=["draw"])
    assert named.dims == ("draw", "a")


def test_draws_are_drawn_anew() -> None:
    x, xs = variables("a")[0], px.xtensor("xs", dims=("a", "draw"))
    rng = rw.shared(np.random.default_rng(4))
    z = px.random.normal(x, 1.0, extra_dims={"u": 2}, rng=rng).T
    found = vectorize_graph(z, {x: xs})
    assert found.dims == ("draw", "a", "u")
    value = found.eval({xs: np.zeros((3, 5))})
    assert value.shape == (5, 3, 2)
    assert len(np.unique(value)) == 30


def test_wrong_batches() -> None:
    x, t = variables("ab")[0], pt.vector("t")
    y = x.sum("a") * px.as_xtensor(t, dims="b")
    for replace, error in [
        ({x: px.xtensor(dims=("a", "draw"))}, DimsError),
        ({x: px.xtensor(dims=("a", "b", "c")), t: pt.matrix()}, NDimError),
        ({t: pt.scalar()}, NDimError),
        ({x: 1.0}, ForeignObjectError),
    ]:
        with pytest.raises(error):
            vectorize_graph(y, replace)
    row = px.xtensor("row", dims=("u",))
    with pytest.raises(DimsError, match="already"):
        vectorize_graph(x.sum() + row.sum(), {x: px.xtensor(dims=("a", "b", "u")), row: row})
    with pytest.raises(NDimError, match="no name"):
        pt.vectorize_graph(y, {t: pt.matrix()})


def test_of_tensors_made_of_named_arrays() -> None:
    """Plain `vectorize_graph` goes as far as names end."""
    x, xs = variables("a")[0], px.xtensor("xs", dims=("draw", "a"))
    found = pt.vectorize_graph(x.values.sum(), {x: xs})
    np.testing.assert_allclose(found.eval({xs: array("ab")}), array("ab").sum(1))
