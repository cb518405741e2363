"""Everything that NumPy takes as an index: what is read, set and increased, static shapes, and
gradients, against NumPy.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, BroadcastError, DTypeError
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.tensor.type import TensorType
from tests.tensor.evaluate import evaluate_all

BOUND = st.none() | st.integers(-5, 5)
STEP = st.none() | st.integers(-3, 3).filter(bool)


class Indexing(NamedTuple):
    """A shape, and an index that NumPy takes there."""

    shape: tuple[int, ...]
    index: Any


@st.composite
def arrays_of_indices(draw: Any, n: int) -> Any:
    """Integers below n as a list, a tuple, or an array of some dtype."""
    if not n:
        return draw(st.sampled_from([[], np.zeros((0,), int), [[]], np.zeros((2, 0), "int8")]))
    size = draw(st.sampled_from([(0,), (1,), (2,), (3,), (2, 1), (2, 2)]))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    made = rng.integers(-n, n, size)
    kind = draw(st.sampled_from(["list", "array", "int8", "tuple"]))
    if kind == "list":
        return made.tolist()
    return tuple(made.tolist()) if kind == "tuple" else made.astype(kind if kind == "int8" else int)


@st.composite
def indexings(draw: Any) -> Indexing:
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    items: list[Any] = []
    axis, stop = 0, draw(st.integers(0, len(shape)))
    while axis < stop:
        n = shape[axis]
        kind = draw(st.sampled_from(["slice", "slice", "integer", "array", "mask", "mask 2"]))
        if kind == "slice" or (kind == "integer" and not n):
            items.append(slice(draw(BOUND), draw(BOUND), draw(STEP)))
        elif kind == "integer":
            items.append(draw(st.integers(-n, n - 1)))
        elif kind == "array":
            items.append(draw(arrays_of_indices(n)))
        else:
            ndim = 2 if kind == "mask 2" and axis + 2 <= stop else 1
            rng = np.random.default_rng(draw(st.integers(0, 1000)))
            items.append(rng.random(shape[axis : axis + ndim]) > 0.4)
            axis += ndim - 1
        axis += 1
    for extra in draw(st.lists(st.sampled_from([None, ...]), max_size=2, unique=True)):
        masks = any(str(getattr(i, "dtype", None)) == "bool" for i in items)
        first = len(items) if extra is ... and masks else 0  # they have to fit their dimensions
        items.insert(draw(st.integers(first, len(items))), extra)
    index = tuple(items)
    if len(items) == 1 and draw(st.booleans()) and not isinstance(items[0], tuple):
        index = items[0]
    try:
        np.zeros(shape)[index]
    except IndexError:
        assume(False)
    return Indexing(shape, index)


def array(shape: Any, dtype: str, seed: int = 0) -> np.ndarray:
    x = np.asarray(np.random.default_rng(seed).integers(-9, 9, shape))
    return np.asarray(x > 0) if dtype == "bool" else np.asarray((x + 0.5).astype(dtype))


def variables(value: np.ndarray) -> list[Any]:
    """Of types that know the lengths, and that do not."""
    known = TensorType(value.dtype, value.shape)("known")
    return [known, TensorType(value.dtype, [None] * value.ndim)("unknown")]


DTYPE = st.sampled_from(["float64", "float32", "int64", "int8", "bool"])


@settings(deadline=None, max_examples=150)
@given(indexings(), DTYPE)
def test_reading(case: Indexing, dtype: str) -> None:
    a = array(case.shape, dtype)
    want = a[case.index]
    for x in variables(a):
        y = x[case.index]
        (got,) = evaluate_all([y], {x: a})
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype
        shape = zip(y.type.shape, want.shape, strict=True)
        assert all(n == m or (n is None and x.name == "unknown") for n, m in shape), y.type
    f = rw.function([x], [y, y.shape])
    got, lengths = f(a)
    np.testing.assert_array_equal(got, want)
    assert tuple(lengths) == want.shape


@st.composite
def values(draw: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to another."""
    first = draw(st.integers(0, len(shape)))
    return tuple([draw(st.sampled_from([n, 1])) for n in shape[first:]])


def written(a: Any, index: Any, b: Any, how: str) -> Any:
    out = a.copy()
    if how == "set":
        out[index] = b
    elif how == "last":
        out[index] += b
    else:
        np.add.at(out, index, np.broadcast_to(b, a[index].shape))  # as it is, 2.4.6 reads too far
    return out


def write(part: Any, y: Any, how: str) -> Any:
    return part.set(y) if how == "set" else part.inc(y, ignore_duplicates=how == "last")


HOW = st.sampled_from(["set", "inc", "last"])


@settings(deadline=None, max_examples=200)
@given(st.data(), indexings(), HOW, st.sampled_from(["float64", "float32", "int64", "int8"]))
def test_writing(data: Any, case: Indexing, how: str, dtype: str) -> None:
    a = array(case.shape, dtype)
    kinds = ["bool", "int8", "int64"] + ["float32", "float64"] * (dtype[0] == "f" or how == "set")
    b = array(data.draw(values(a[case.index].shape)), data.draw(st.sampled_from(kinds)), 1)
    want = written(a, case.index, b.astype(dtype), how)
    for x in variables(a):
        for y in variables(b):
            out = write(x[case.index], y, how)
            (got,) = evaluate_all([out], {x: a, y: b})
            np.testing.assert_array_equal(got, want)
            assert (out.type.dtype, out.type.ndim) == (x.type.dtype, x.type.ndim)
    np.testing.assert_array_equal(rw.function([x, y], out)(a, b), want)


def summed(g: Any, shape: tuple[int, ...]) -> Any:
    """Along what was broadcast from a shape."""
    g = g.sum(tuple(range(g.ndim - len(shape))))
    ones = tuple(i for i, n in enumerate(shape) if n == 1)
    return g.sum(ones, keepdims=True)


@settings(deadline=None, max_examples=150)
@given(st.data(), indexings(), HOW, st.sampled_from(["float64", "float32"]))
def test_gradients(data: Any, case: Indexing, how: str, dtype: str) -> None:
    a, w = array(case.shape, dtype), array(case.shape, dtype, 2)
    part = a[case.index]
    b, weights = array(data.draw(values(part.shape)), dtype, 1), array(part.shape, dtype, 3)
    gx = written(np.zeros_like(a), case.index, weights, "inc")
    numbers = np.arange(part.size).reshape(part.shape)
    last = written(np.zeros(a.shape, int), case.index, numbers, "set")[case.index] == numbers
    gy = summed(w[case.index] if how == "inc" else np.where(last, w[case.index], 0), b.shape)
    kept = written(w, case.index, 0, "set") if how == "set" else w
    for x in variables(a):
        (got,) = evaluate_all([grad((x[case.index] * weights).sum(), x)], {x: a})
        np.testing.assert_allclose(got, gx)
        assert got.dtype == a.dtype
        for y in variables(b):
            cost = (write(x[case.index], y, how) * w).sum()
            found = evaluate_all(grad(cost, [x, y], disconnected_inputs="ignore"), {x: a, y: b})
            for g, want in zip(found, (kept, gy), strict=True):
                np.testing.assert_allclose(g, want)
                assert (g.dtype, g.shape) == (want.dtype, want.shape)


@pytest.mark.parametrize("index", [
    [], [[]], ([],), (slice(None), []), (0, 1), [0, 1], ([0, 1],), ((0, 1),), ((0, 1), (1, 0)),
    range(2), np.s_[::2, None, -1], np.s_[..., 0], (), ..., None, np.s_[[True, False]],
    np.s_[[True, False], 0], np.s_[[[True, False], [False, True]]], np.array(1), np.int8(-1),
    np.array([1, 0], "uint8"), np.array([], "int64"), (np.array([[0], [1]]), [0, 1]),
    (slice(None), None, [0]), ([0], None, [0]), ([1], slice(None), None), np.s_[-9:9, ::-1],
], ids=str)  # fmt: skip
def test_forms(index: Any) -> None:
    a = np.arange(4.0).reshape(2, 2)
    for x in variables(a):
        (got,) = evaluate_all([x[index]], {x: a})
        np.testing.assert_array_equal(got, a[index])
        (got,) = evaluate_all([x[index].set(7)], {x: a})
        np.testing.assert_array_equal(got, written(a, index, 7, "set"))
    assert variables(a)[0][index].type.shape == a[index].shape


def test_indices_that_are_lists_of_variables() -> None:
    x, i = pt.vector("x"), pt.lscalar("i")
    a = np.arange(4.0)
    (got,) = evaluate_all([x[[i, 0, i + 1]]], {x: a, i: np.array(2)})
    assert got.tolist() == [2, 0, 3]


def test_a_value_that_does_not_fit() -> None:
    x, y, i = pt.vector("x"), pt.vector("y"), pt.lvector("i")
    f = rw.function([x, y, i], x[i].inc(y))
    assert f([1.0, 2.0], [1.0], [0, 0, 1]).tolist() == [3, 3]
    with pytest.raises(BroadcastError):
        f([1.0, 2.0], [1.0, 2.0], [0, 0, 1])


@pytest.mark.parametrize("index", [
    np.s_[:, [0, 1, 1], ..., [0, 0, 1]], np.s_[:, 0, ..., [0, 1, 1]], np.s_[:1, [0, 1], ..., 1],
    np.s_[None, [0, 1], ..., [1, 0], 1], np.s_[[0, 1], ..., [1, 0], [0, 0]],
    np.s_[:, 0, ..., 1],
])  # fmt: skip
def test_an_ellipsis_of_no_dimension_keeps_arrays_apart(index: Any) -> None:
    """As in NumPy: what they take then comes first."""
    values = np.arange(8.0).reshape(2, 2, 2)
    x = pt.dtensor3("x")
    found = x[index].eval({x: values})
    assert found.shape == values[index].shape
    assert (found == values[index]).all()
    written = values.copy()
    written[index] = 7
    assert (x[index].set(7.0).eval({x: values}) == written).all()
    verify_grad(lambda x: pt.sin(x[index]), [values])


def test_what_is_added_to_more_dimensions_than_it_has() -> None:
    """(NumPy 2.4.6 reads behind the end of what it adds.)"""
    x, y = pt.dvector("x"), pt.dvector("y")
    f = rw.function([x, y], x[[[0, 0], [0, -1]]].inc(y))
    np.testing.assert_array_equal(f([10.0], [3.0, 11.0]), [38.0])
    np.testing.assert_array_equal(f([10.0, 20.0], [3.0, 11.0]), [27.0, 31.0])


YES, NO = np.array(True), np.array(False)


@pytest.mark.parametrize("index", [
    (YES,), (NO,), np.s_[YES, 0], np.s_[0, YES], np.s_[YES, [0, 1]], np.s_[[0, 1], :, YES],
    np.s_[:, NO], np.s_[None, YES], np.s_[YES, None, 0], np.s_[YES, NO], np.s_[..., YES],
    np.s_[[[0], [1]], YES, [0, 1]], np.s_[[True, False], YES], np.s_[::-1, 0, NO, [1]],
    np.s_[YES, [[True, False, True], [False, True, False]]], np.s_[0, ..., YES], np.s_[0, 1, 2, NO],
], ids=str)  # fmt: skip
@pytest.mark.parametrize("linker", ["vm", "native"])
def test_a_mask_of_no_dimension(linker: str, index: tuple[Any, ...]) -> None:
    """It adds a dimension, of length 1 or 0; constant and computed, read, written and derived."""
    a = np.arange(1.0, 25.0).reshape(2, 3, 4)
    masks = {pt.scalar(dtype="bool"): i for i in index if i is YES or i is NO}
    left = iter(masks)
    computed = tuple([next(left) if i is YES or i is NO else i for i in index])
    part = a[index]
    b = np.arange(part.size, dtype=float).reshape(part.shape)
    added, slope = a.copy(), np.zeros_like(a)
    np.add.at(added, index, b)
    np.add.at(slope, index, np.cos(part))
    for x, y in itertools.product(variables(a), variables(b)):
        for where in (index, computed):
            put = x[where].set(y)
            of_x, of_y = grad((put * a).sum(), [x, y])
            outputs = [x[where], put, x[where].inc(y), grad(pt.sin(x[where]).sum(), x), of_x, of_y]
            f = rw.function([x, y, *masks], outputs, mode=rw.Mode(linker=linker),
                            on_unused_input="ignore")  # fmt: skip
            wanted = [part, written(a, index, b, "set"), added, slope, written(a, index, 0, "set")]
            found = f(a, b, *masks.values())
            for got, want in zip(found, [*wanted, part], strict=True):
                assert got.shape == want.shape
                np.testing.assert_allclose(got, want)


def test_truth_values_of_numpy_and_masks_in_a_batch() -> None:
    x, m = pt.dvector("x"), pt.scalar("m", dtype="bool")
    assert x[np.True_].eval({x: [1.0, 2.0]}).tolist() == [[1, 2]]
    assert x[x[0] > 1].eval({x: [1.0, 2.0]}).shape == (0, 2)
    assert m[m].set(False).eval({m: True}).tolist() is False
    several = pt.vectorize_graph(x[m].set(0.0), {m: pt.vector("several", dtype="bool")})
    assert several.eval({"x": [1.0, 2.0], "several": [True, False]}).tolist() == [[0, 0], [1, 2]]
    for bad in (lambda: x[m:], lambda: x[YES:], lambda: x[0, 0, m]):
        with pytest.raises((DTypeError, AxisError)):
            bad()


@pytest.mark.parametrize("index", [True, False, (True, 1), (slice(None), False)])
def test_what_to_write_for_a_truth_value(index: Any) -> None:
    x = pt.dvector("x")
    with pytest.raises(TypeError, match=r"NumPy's x\[(True|False)\] is x\[None\]"):
        x[index]
    at = np.ones(3)
    assert x[None].eval({x: at}).shape == at[True].shape
    assert x[None][:0].eval({x: at}).shape == at[False].shape
