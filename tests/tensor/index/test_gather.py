"""Indexing with arrays of integers and masks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, BroadcastError, DTypeError, ShapeError
from rewrite_engine.gradient import Rop, grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.index.gather import AdvancedIncSubtensor, AdvancedSubtensor
from rewrite_engine.tensor.type import TensorType

SHAPE = (3, 4, 2)
ARRAY = np.arange(24.0).reshape(SHAPE)


@st.composite
def indexings(draw):
    """An index for `ARRAY` with at least one array in it."""
    arrays = st.sampled_from([(2,), (1,), (2, 1), (3, 1), ()])
    items = []
    for n in SHAPE[: draw(st.integers(1, 3))]:
        kind = draw(st.sampled_from(["array", "array", "slice", "int"]))
        if kind == "array":
            size = draw(arrays)
            items.append(
                draw(st.integers(0, 2**16).map(np.random.default_rng)).integers(-n, n, size)
            )
        elif kind == "slice":
            items.append(
                draw(st.sampled_from([slice(None), slice(1, None), slice(None, None, -1)]))
            )
        else:
            items.append(draw(st.integers(-n, n - 1)))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), None)
    return tuple(items)


@given(indexings())
def test_values_and_static_shape_agree_with_numpy(index):
    try:
        want = ARRAY[index]
    except IndexError:
        return
    x = TensorType("float64", SHAPE)("x")
    y = x[index]
    (got,) = evaluate([y], {x: ARRAY})
    np.testing.assert_array_equal(got, want)
    assert y.type.shape == want.shape


@pytest.mark.parametrize(
    "index",
    [
        ([0, 2, 2],),
        (slice(None), [1, 1]),
        ([0, 1], slice(None), [1, 1]),
        (0, slice(None), np.array([0, 1])),
        (ARRAY > 5,),
        (slice(None), np.array([True, False, True, False])),
    ],
)
def test_set_inc_and_gradients(index):
    rng = np.random.default_rng(0)
    part = ARRAY[index]
    value = rng.normal(size=part.shape)
    x, y = pt.tensor3("x", dtype="float64"), TensorType("float64", (None,) * part.ndim)("y")
    got = evaluate([x[index].inc(y)], {x: ARRAY, y: value})[0]
    want = ARRAY.copy()
    np.add.at(want, index, value)
    np.testing.assert_allclose(got, want)
    once = evaluate([x[index].set(1.5)], {x: ARRAY})[0]
    want = ARRAY.copy()
    want[index] = 1.5
    np.testing.assert_array_equal(once, want)
    verify_grad(lambda x: x[index] ** 2, [ARRAY], eps=1e-4)
    verify_grad(lambda x, y: x[index].inc(y**2) * x, [ARRAY, value], eps=1e-4)


def test_symbolic_arrays():
    x, i, mask = pt.dvector("x"), pt.lvector("i"), pt.vector("m", dtype="bool")
    array = np.arange(4.0)
    got = evaluate([x[i], x[mask]], {x: array, i: [3, 3, 0], mask: array > 1})
    assert [a.tolist() for a in got] == [[3, 3, 0], [2, 3]]
    assert x[i].owner.op is AdvancedSubtensor(("i",))


def test_symbolic_slices_beside_arrays():
    x, i, k = pt.dmatrix("x"), pt.lvector("i"), pt.lscalar("k")
    array = np.arange(12.0).reshape(3, 4)
    got = evaluate([x[i, k:]], {x: array, i: [2, 0], k: 1})[0]
    np.testing.assert_array_equal(got, array[[2, 0], 1:])


def test_repeated_indices_add_up():
    x, i = pt.dvector("x"), pt.lvector("i")
    g = grad((x[i] ** 2).sum(), x)
    assert evaluate([g], {x: [1.0, 2.0], i: [1, 1, 1]})[0].tolist() == [0, 12]


def test_gathers_of_one_array_are_written_into_one():
    x, i, j = pt.dvector("x"), pt.lvector("i"), pt.lvector("j")
    g = grad((x[i] * x[j]).sum(), x)
    assert isinstance(g.owner.op, AdvancedIncSubtensor)
    assert isinstance(g.owner.inputs[0].owner.op, AdvancedIncSubtensor)
    assert evaluate([g], {x: [1.0, 2.0], i: [0, 1], j: [1, 1]})[0].tolist() == [2, 5]


def test_inplace():
    op = AdvancedIncSubtensor(("i",))
    assert op.inplace_on_inputs([0]) is AdvancedIncSubtensor(("i",), False, True)


def test_errors():
    x = TensorType("float64", (3, 4))("x")
    with pytest.raises(DTypeError, match="an index must be"):
        x[pt.dvector()]
    with pytest.raises(DTypeError, match="an index must be"):
        x[np.array([0.5])]
    with pytest.raises(BroadcastError, match="cannot be broadcast together"):
        x[np.array([0, 1]), np.array([0, 1, 2])]
    with pytest.raises(ShapeError, match=r"a mask of shape \(2,\) does not fit"):
        x[np.array([True, False])]
    with pytest.raises(AxisError, match="too many indices"):
        x[np.array([0]), 0, 0]
    with pytest.raises(AxisError, match="too many indices"):
        x[np.ones((3, 4), dtype=bool), 0]
    v, i = pt.dvector("v"), pt.lvector("i")
    with pytest.raises(AxisError, match=r"out of bounds[\s\S]*test_gather.py"):
        evaluate([v[i]], {v: [1.0], i: [4]})
    y = pt.dvector("y")
    strict = AdvancedIncSubtensor(("i",), True)(v, y, i)
    with pytest.raises(BroadcastError, match="does not broadcast to the part"):
        evaluate([strict], {v: [1.0, 2.0], i: [0, 1], y: [1.0]})
    assert evaluate([v[i].set(y)], {v: [1.0, 2.0], i: [0, 1], y: [5.0]})[0].tolist() == [5, 5]
    with pytest.raises(
        BroadcastError, match=r"shape \(3,\) does not broadcast to the part \[i\] of shape \(2,\)"
    ):
        evaluate([v[i].set(y)], {v: [1.0, 2.0], i: [0, 1], y: [1.0, 2.0, 3.0]})


# --- what is written several times ------------------------------------------------------------

WRITTEN = {
    "one number": (lambda b, z: b[[0, 0, 0]].set(z), ()),
    "a vector": (lambda b, z: b[[0, 1, 0]].set(z), (3,)),
    "negative": (lambda b, z: b[[0, -4, 2]].set(z), (3,)),
    "unique": (lambda b, z: b[[0, 2, 1]].set(z), (3,)),
    "a matrix of indices": (lambda b, z: b[[[0, 1], [1, 0]]].set(z), (2, 2)),
    "broadcast": (lambda b, z: b[[[0, 1], [1, 0]]].set(z), (2,)),
    "columns": (lambda b, z: b[[[0, 1], [1, 2]]].set(z[:, None]), (2,)),
    "pairs": (lambda b, z: b.reshape((2, 2))[[0, 1, 0], [1, 1, 1]].set(z), (3,)),
    "rows": (lambda b, z: b.reshape((2, 2))[[0, 1, 0]].set(z), (3, 2)),
    "one row": (lambda b, z: b.reshape((2, 2))[[0, 1, 0]].set(z), (2,)),
    "beside a slice": (lambda b, z: b.reshape((2, 2))[:, [0, 0]].set(z), (2, 2)),
    "a mask": (lambda b, z: b[b > 1.5].set(z), (2,)),
    "a mask beside an array": (
        lambda b, z: b.reshape((2, 2))[[0, 0], np.array([True, False])].set(z), (2,)
    ),
    "increased": (lambda b, z: b[[0, 0, 1]].inc(z), (3,)),
    "increased by one number": (lambda b, z: b[[0, 0, 1]].inc(z), ()),
    "set, then increased": (lambda b, z: b[[0, 0, 1]].set(z)[[0, 0, 0]].inc(z), (3,)),
    "transposed indices": (
        lambda b, z: b[pt.constant(np.array([[0, 1, 1], [1, 0, 2]]).T)].set(z), (3, 2)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_gradients_of_what_is_written_several_times(name: str):
    function, shape = WRITTEN[name]
    b, z = pt.dvector("b"), pt.tensor("z", dtype="float64", shape=shape)
    rng = np.random.default_rng(1)
    values = [np.array([0.0, 1, 2, 3]), rng.normal(size=shape)]
    out = function(b, z)
    weights = rng.normal(size=evaluate([out], {b: values[0], z: values[1]})[0].shape)
    verify_grad(lambda b, z: (function(b, z) * weights).sum(), values, eps=1e-4)
    v = pt.tensor("v", dtype="float64", shape=shape)
    both = [(grad((out * weights).sum(), z) * v).sum(), (Rop(out, z, v) * weights).sum()]
    left, right = evaluate(both, {b: values[0], z: values[1], v: rng.normal(size=shape)})
    np.testing.assert_allclose(left, right)


def test_duplicates_that_are_ignored():
    x, y, i = pt.dvector("x"), pt.dvector("y"), pt.lvector("i")
    out = x[i].inc(y, ignore_duplicates=True)
    given = {x: [1.0, 2.0, 3.0], y: [10.0, 20.0, 30.0], i: [0, 0, 2]}
    got = evaluate([out, *grad((out * x).sum(), [x, y])], given)
    assert [a.tolist() for a in got] == [[21, 2, 33], [22, 4, 36], [0, 1, 3]]
    f = rw.function([x, y, i], out)
    assert f(*given.values()).tolist() == [21, 2, 33]
    assert f([1.0, 2.0, 3.0], [5.0], [1, 1, -1]).tolist() == [1, 7, 8]
    same = pt.inc_subtensor(x[:1], 1, ignore_duplicates=True)
    assert same.owner.op is x[:1].inc(1).owner.op


def test_an_index_that_is_an_input():
    b, z, i = pt.dvector("b"), pt.dvector("z"), pt.lvector("i")
    g = grad(b[i].set(z).sum(), z)
    got = rw.function([b, z, i], g)(np.zeros(3), np.ones(4), [1, 2, 1, 2])
    assert got.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("index", [([[0], [0]], None), (None, [[0, 1], [1, 1]])], ids=str)
def test_a_value_is_stretched_over_indices_beside_a_new_axis(index):
    x, y = pt.dvector("x"), pt.dvector("y")
    want = np.array([1.0, 2.0])
    np.add.at(want, tuple([i if i is None else np.array(i) for i in index]), np.array([10.0]))
    assert rw.function([x, y], x[index].inc(y))([1.0, 2.0], [10.0]).tolist() == want.tolist()
