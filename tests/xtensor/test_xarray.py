"""The same expressions of `DataArray`s and of variables with names, where xarray is installed."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.xtensor as px
from rewrite_engine.errors import DimsError
from tests.xtensor.arrays import array

xr = pytest.importorskip("xarray")

ROWS = xr.DataArray([1, 0, 1], dims="row")
CELLS = xr.DataArray([[0, 1], [2, 0]], dims=("row", "b"))

FORMULAS: Any = {
    "broadcast": lambda x, y: x + y * 2,
    "order of dims": lambda x, y: y - x,
    "reduce": lambda x, y: (x * y).sum("b"),
    "reduce all": lambda x, y: x.mean(),
    "several": lambda x, y: x.max(("a", "b")),
    "variance": lambda x, y: x.var("a") + x.std("a", ddof=1),
    "running": lambda x, y: x.cumsum("b"),
    "transpose": lambda x, y: x.transpose("b", ...),
    "rename": lambda x, y: x.rename({"a": "z"}),
    "expand": lambda x, y: x.expand_dims("u"),
    "expand at": lambda x, y: x.expand_dims(["u", "v"], axis=(1, 3)),
    "expand wide": lambda x, y: x.expand_dims({"u": 3}),
    "squeeze": lambda x, y: x.expand_dims("u").squeeze("u"),
    "diff": lambda x, y: x.diff("b"),
    "where": lambda x, y: x.where(x > y, 0.0),
    "clip": lambda x, y: x.clip(-1, 1),
    "dot": lambda x, y: x.dot(y),
    "dot over": lambda x, y: x.dot(y, dim="c"),
    "dot all": lambda x, y: x.dot(y, dim=...),
    "broadcast like": lambda x, y: y.broadcast_like(x),
    "slice": lambda x, y: x[:, 1:],
    "outer": lambda x, y: x[[0, 1, 0], [2, 0]],
    "by name": lambda x, y: x.isel(b=ROWS),
    "pointwise": lambda x, y: x.isel(a=ROWS, b=ROWS),
    "two dims": lambda x, y: x.isel(b=CELLS.rename(b="q")),
    "own name": lambda x, y: x.isel(a=xr.DataArray([0, 1, 0], dims="b")),
    "tuple": lambda x, y: x.isel(b=("q", [1, 1])),
    "number": lambda x, y: x.isel(a=-1),
    "tail": lambda x, y: x.tail(b=2),
    "thin": lambda x, y: x.thin({"b": 2}),
    "all": lambda x, y: (x > 0).all("b") | (x > 1).any("b"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMULAS)
def test_as_xarray(name: str) -> None:
    x = xr.DataArray(array("ab"), dims=("a", "b"))
    y = xr.DataArray(array("cb", seed=1), dims=("c", "b"))
    want = FORMULAS[name](x, y)
    inputs = [px.xtensor(n, dims=v.dims) for n, v in (("x", x), ("y", y))]
    found = FORMULAS[name](*inputs)
    assert found.dims == want.dims
    value = rw.function(inputs, found, on_unused_input="ignore")(x, y.T)
    np.testing.assert_allclose(value, want.values)


def test_stacked_arrays() -> None:
    x = xr.DataArray(array("abc"), dims=("a", "b", "c"))
    want = x.stack(z=("c", "a"))
    found = px.as_xtensor(x).stack(z=("c", "a"))
    assert found.dims == want.dims
    np.testing.assert_array_equal(found.eval(), want.values)


def test_arrays_become_constants_and_values() -> None:
    x = xr.DataArray(array("ab"), dims=("a", "b"), name="x")
    assert px.as_xtensor(x).type.shape == (2, 3)
    shared = px.xtensor_shared(x)
    assert (shared.name, shared.dims) == ("x", ("a", "b"))
    shared.set_value(x.T * 2)
    np.testing.assert_array_equal(shared.get_value(), 2 * x.values)
    with pytest.raises(DimsError):
        shared.set_value(x.rename(a="z"))
    with pytest.raises(DimsError):
        px.as_xtensor(x, dims=("b", "a"))
    assert (px.xtensor("v", dims=("b", "a")) + x).dims == ("b", "a")
