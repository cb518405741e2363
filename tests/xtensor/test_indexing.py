"""Parts of arrays with names, and what is written to them."""

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
import rewrite_engine.xtensor as px
from rewrite_engine.errors import (
    DimsError,
    DTypeError,
    ForeignObjectError,
    ItemAssignmentError,
    NDimError,
)
from tests.xtensor.arrays import array, values, variables


def at(numbers: Any, dims: Any) -> Any:
    return px.as_xtensor(np.array(numbers), dims=dims)


#: index; the names of the result; the same for an array
CASES: Any = {
    "slices": ((slice(1, None), ..., slice(None, None, -2)), "abc", lambda x: x[1:, :, ::-2]),
    "numbers": ((1, ..., -1), "b", lambda x: x[1, :, -1]),
    "array": ((slice(None), [0, 2]), "abc", lambda x: x[:, [0, 2]]),
    "orthogonal": (([0, 0, 1], slice(None), [3, 0]), "abc", lambda x: x[[0, 0, 1]][:, :, [3, 0]]),
    "together": ((at([0, 1], "p"), at([0, 2], "p")), "pc", lambda x: x[[0, 1], [0, 2]]),
    "apart": (
        (at([0, 1], "p"), slice(None), at([0, 2], "p")),
        "pb",
        lambda x: x[[0, 1], :, [0, 2]],
    ),
    "both": (
        (at([0, 1], "p"), at([0, 2, 1], "q"), at([3, 1], "p")),
        "pq",
        lambda x: x[np.array([0, 1])[:, None], np.array([0, 2, 1]), np.array([3, 1])[:, None]],
    ),
    "two dimensions": (
        (slice(None), at([[0, 1], [2, 0]], ("p", "q"))),
        "apqc",
        lambda x: x[:, [[0, 1], [2, 0]]],
    ),
    "a name of its own": (
        (at([1, 0, 1], "b"),),
        "bc",
        lambda x: x[[1, 0, 1], [0, 1, 2]],
    ),
    "with a slice of that name": (
        (at([1, 0], "b"), slice(1, None)),
        "bc",
        lambda x: x[[1, 0], [1, 2]],
    ),
    "mask": ((slice(None), [True, False, True]), "abc", lambda x: x[:, [True, False, True]]),
    "names beside": ((("p", [1, 1]), 0), "pc", lambda x: x[[1, 1], 0]),
    "number and array": ((0, [2, 1], at([0, 3], "q")), "bq", lambda x: x[0][[2, 1]][:, [0, 3]]),
    "empty": (([],), "abc", lambda x: x[:0]),
    "everything": ((), "abc", lambda x: x),
}


@pytest.mark.parametrize("name", CASES)
def test_parts(name: str) -> None:
    index, dims, want = CASES[name]
    found, value = values(lambda x: x[index], "abc")
    assert found.dims == tuple(dims)
    np.testing.assert_array_equal(value, want(array("abc")))


@pytest.mark.parametrize("name", CASES)
def test_writing_to_parts(name: str) -> None:
    """A part set to numbers, or increased, is what NumPy has it to be at these positions."""
    index, _, want = CASES[name]
    places = np.arange(24).reshape(2, 3, 4)
    hit = np.bincount(want(places).ravel(), minlength=24).reshape(2, 3, 4)
    found, value = values(lambda x: x[index].inc(10.0), "abc")
    assert found.dims == ("a", "b", "c")
    np.testing.assert_allclose(value, array("abc") + 10 * hit)
    _, value = values(lambda x: x[index].set(10), "abc")
    np.testing.assert_allclose(value, np.where(hit, 10.0, array("abc")))


def test_what_is_written_stands_under_its_names() -> None:
    def change(x: Any, y: Any) -> Any:
        return x.isel(b=at([2, 0], "p"), c=slice(1, None)).set(y.isel(a=[0, 1]).rename(a="p"))

    _, value = values(change, "abc", "a")
    want = array("abc")
    want[:, [2, 0], 1:] = array("a", seed=1)[:, None]
    np.testing.assert_allclose(value, want)
    _, value = values(lambda x: x.isel(a=1).inc(np.ones((3, 4))), "abc")
    np.testing.assert_allclose(value[1], array("abc")[1] + 1)


def test_by_name() -> None:
    n = pt.lscalar("n")
    found, _ = values(lambda x: x.isel({"c": slice(1, 3), "a": 0}), "abc")
    assert found.dims == ("b", "c")
    (x,) = variables("abc")
    part = x[{"c": slice(None, n), "a": at([0, 1, 1], "b")}]
    np.testing.assert_array_equal(
        part.eval({x: array("abc"), n: 2}), array("abc")[[0, 1, 1], [0, 1, 2], :2]
    )
    assert x.isel(q=0, missing_dims="ignore").dims == x.dims
    with pytest.warns(UserWarning, match="no dimensions"):
        x.isel(q=0, missing_dims="warn")
    end = px.as_xtensor(n)
    assert x.isel(c=slice(end)).eval({x: array("abc"), n: 3}).shape == (2, 3, 3)


def test_first_and_last() -> None:
    _, value = values(lambda x: x.tail(c=2).thin(b=2), "abc")
    np.testing.assert_array_equal(value, array("abc")[:, ::2, -2:])
    _, value = values(lambda x: px.indexing.head(x, {"c": 3, "a": 1}), "abc")
    np.testing.assert_array_equal(value, array("abc")[:1, :, :3])
    _, value = values(lambda x: x.tail(), "abc")
    assert value.shape == (2, 3, 4)


def test_masks_of_variables() -> None:
    _, value = values(lambda x, m: x[m > 0], "ab", "a")
    np.testing.assert_array_equal(value, array("ab")[array("a", seed=1) > 0])


def test_wrong_indices() -> None:
    x, m = variables("ab")[0], px.xtensor("m", dims="b", dtype="bool")
    for index, error in [
        (None, DimsError),
        ((0, 0, 0), DimsError),
        ((..., ...), DimsError),
        ([[0, 1]], NDimError),
        (np.zeros(2), DTypeError),
        (m, DimsError),
        ((("p", at([0], "q")),), DimsError),
        (pt.random.rng("r"), ForeignObjectError),
    ]:
        with pytest.raises(error):
            x[index]
    with pytest.raises(DimsError, match="no dimension 'q'"):
        x.isel(q=0)
    with pytest.raises(ValueError, match="lengths 2 and 3"):
        x[at([0, 1], "p"), at([0, 1, 2], "p")]
    for part in (x, x + 1.0, px.as_xtensor(pt.vector()[1:], dims="a")):
        with pytest.raises(ForeignObjectError, match="expected an expression x.index."):
            (part if part is not x else px.xtensor(dims="a")).set(0.0)
    with pytest.raises(DimsError, match="the part"):
        x[0].set(px.xtensor(dims="z"))
    with pytest.raises(TypeError):
        x[0] = 1  # type: ignore[index]


def test_a_part_is_not_assigned_to() -> None:
    v = px.xtensor("v", dims=("a",))
    with pytest.raises(ItemAssignmentError) as info:
        v[{"a": 0}] = 1.0
    assert "test_indexing.py" in str(info.value)
    assert str(info.value).endswith("\n    write v = v[…].set(value); .inc adds a value")
