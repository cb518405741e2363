"""Dimensions in another order, under other names, more and fewer of them."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
import rewrite_engine.xtensor as px
from rewrite_engine.errors import (
    BroadcastError,
    DimsError,
    NDimError,
    OptionError,
    ShapeError,
    SpecifiedShapeError,
)
from tests.xtensor.arrays import array, values, variables


@pytest.mark.parametrize(
    ("order", "want"),
    [
        ((), "cba"),
        ((...,), "abc"),
        (("c", ...), "cab"),
        ((..., "a"), "bca"),
        (("c", ..., "a"), "cba"),
        (("b", "a", "c"), "bac"),
    ],
)
def test_transpose(order: Any, want: str) -> None:
    found, value = values(lambda x: x.transpose(*order), "abc")
    assert found.dims == tuple(want)
    np.testing.assert_array_equal(value, array("abc").transpose(["abc".index(d) for d in want]))


def test_transpose_of_what_is_not_there() -> None:
    (x,) = variables("ab")
    assert x.T.dims == ("b", "a")
    assert x.transpose("a", "b") is x
    assert x.transpose("q", "b", "a", missing_dims="ignore").dims == ("b", "a")
    with pytest.warns(UserWarning, match="no dimensions"):
        x.transpose("q", ..., missing_dims="warn")
    for order in (("q", "a", "b"), ("a",), ("a", "a"), (..., "a", ...)):
        with pytest.raises(DimsError):
            x.transpose(*order)
    with pytest.raises(OptionError):
        x.transpose("a", "b", missing_dims="perhaps")


def test_rename() -> None:
    found, value = values(lambda x: x.rename(a="z") + x.rename({"a": "z"}), "ab")
    assert found.dims == ("z", "b")
    np.testing.assert_array_equal(value, 2 * array("ab"))
    (x,) = variables("ab")
    assert x.rename("other").name == "other"
    for names in ({"q": "z"}, {"a": "b"}):
        with pytest.raises(DimsError):
            x.rename(names)


def test_expand_dims() -> None:
    found, value = values(lambda x: x.expand_dims({"u": 2, "v": 1}), "ab")
    assert found.type.shape[:2] == (2, 1)
    assert found.dims == ("u", "v", "a", "b")
    np.testing.assert_array_equal(value, np.broadcast_to(array("ab"), (2, 1, 2, 3)))
    assert variables("ab")[0].expand_dims("u").type.shape[0] == 1
    found, value = values(lambda x: x.expand_dims(["u", "v"], axis=[0, -1]), "ab")
    assert (found.dims, value.shape) == (("u", "a", "b", "v"), (1, 2, 3, 1))
    n, (x,) = pt.lscalar("n"), variables("a")
    assert x.expand_dims(u=n).eval({x: np.zeros(2), n: 4}).shape == (4, 2)
    with pytest.raises(DimsError, match="already"):
        x.expand_dims("a")
    with pytest.raises(NDimError):
        x.expand_dims("u", axis=[0, 1])


def test_squeeze() -> None:
    x = px.xtensor("x", dims=("a", "b", "c"), shape=(1, None, 1))
    assert x.squeeze().dims == ("b",) == x.squeeze(axis=[0, 2]).dims
    found = x.squeeze("b")
    assert found.dims == ("a", "c")
    assert found.eval({x: np.ones((1, 1, 1))}) == [[1.0]]
    with pytest.raises(ShapeError):
        found.eval({x: np.ones((1, 2, 1))})
    with pytest.raises(ShapeError):
        px.xtensor(dims="a", shape=(2,)).squeeze("a")
    with pytest.raises(DimsError):
        x.squeeze("q")


def test_stack_and_unstack() -> None:
    found, value = values(lambda x: x.stack(z=("c", "a")), "abc")
    assert found.dims == ("b", "z")
    np.testing.assert_array_equal(value, array("abc").transpose(1, 2, 0).reshape(3, 8))
    found, value = values(lambda x: x.stack(z=("c", "a")).unstack(z={"c": 4, "a": -1 + 3}), "abc")
    assert found.dims == ("b", "c", "a")
    np.testing.assert_array_equal(value, array("abc").transpose(1, 2, 0))
    found, value = values(lambda x: x.stack(z=("a", "b")).cumsum("z").unstack(z=x.sizes), "ab")
    np.testing.assert_allclose(value, array("ab").cumsum().reshape(2, 3))
    (x,) = variables("ab")
    for use in (lambda: x.stack(b=("a",)), lambda: x.stack(z="ab"), lambda: x.unstack(a={"b": 2})):
        with pytest.raises(DimsError):
            use()
    with pytest.raises(ShapeError):
        x.unstack(a={"u": 2, "v": 2}).eval({x: np.zeros((3, 1))})


def test_broadcast() -> None:
    (x, y), value = variables("ab", "cb"), None
    both = px.broadcast(x, y)
    assert both[0].dims == both[1].dims == ("a", "b", "c")
    given = {x: array("ab"), y: array("cb", seed=1)}
    value = both[1].eval(given)
    np.testing.assert_array_equal(value, np.broadcast_to(given[y].T, (2, 3, 4)))
    left, right = px.broadcast(x, y, exclude="b")
    assert (left.dims, right.dims) == (("a", "c", "b"), ("a", "c", "b"))
    assert px.broadcast() == ()
    assert x.broadcast_like(y).dims == ("c", "b", "a")
    with pytest.raises(BroadcastError):
        px.broadcast(*[px.xtensor(dims="a", shape=(n,)) for n in (2, 3)])


def test_concat() -> None:
    found, value = values(lambda x, y: px.concat([x, y, 0.0, x], dim="b"), "ab", "b")
    x, y = array("ab"), array("b", seed=1)
    assert found.dims == ("a", "b")
    parts = [x, np.broadcast_to(y, (2, 3)), np.zeros((2, 1)), x]
    np.testing.assert_array_equal(value, np.concatenate(parts, axis=1))
    found, value = values(lambda x, y: px.concat([x, y], dim="new"), "ab", "b")
    assert found.dims == ("new", "a", "b")
    assert found.type.shape == (2, None, None)
    np.testing.assert_array_equal(value, [x, np.broadcast_to(y, (2, 3))])
    with pytest.raises(ShapeError):
        px.concat([], dim="a")
    with pytest.raises(BroadcastError):
        px.concat([px.xtensor(dims=("a", "b"), shape=(n, None)) for n in (2, 3)], dim="b")


def test_filled_like() -> None:
    found, value = values(lambda x: px.full_like(x, 2.5) + px.ones_like(x) + px.zeros_like(x), "ab")
    assert found.dims == ("a", "b")
    assert (value == np.full((2, 3), 3.5)).all()
    (x,) = variables("ab")
    assert px.full_like(x, 1, dtype="int16").dtype == "int16"
    with pytest.raises(NDimError):
        px.full_like(x, x)


def test_lengths() -> None:
    (x,) = variables("ab")
    assert [*x.sizes] == ["a", "b"]
    assert x.type.broadcastable == (False, False)
    value = {x: np.zeros((4, 5))}
    assert [int(n.eval(value)) for n in (*x.shape, x.size)] == [4, 5, 20]


def test_a_static_length_of_one_is_checked() -> None:
    one, other = px.xtensor("one", dims="a", shape=(1,)), px.xtensor("other", dims="a")
    joined = px.concat([one.expand_dims(b=1), other], dim="b")
    with pytest.raises(SpecifiedShapeError):
        joined.eval({one: np.zeros(1), other: np.zeros(2)})
