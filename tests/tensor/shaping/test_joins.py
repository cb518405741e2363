"""Joining, stacking and splitting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, DTypeError, NDimError, ShapeError
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.tensor.shaping.joins import Join, MakeVector, Split
from rewrite_engine.tensor.type import TensorType


def variables(arrays, known=False):
    """One variable per array."""
    return [
        TensorType(a.dtype, a.shape if known else [None] * a.ndim)(f"x{i}")
        for i, a in enumerate(arrays)
    ]


@st.composite
def pieces(draw):
    """Arrays that can be joined along an axis, of mixed dtypes."""
    ndim = draw(st.integers(1, 3))
    axis = draw(st.integers(-ndim, ndim - 1))
    shape = draw(st.lists(st.integers(0, 3), min_size=ndim, max_size=ndim))
    arrays = []
    for n in draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)):
        shape[axis] = n
        dtype = draw(st.sampled_from(["float64", "float32", "int8", "int64", "bool"]))
        arrays.append(np.arange(np.prod(shape)).reshape(shape).astype(dtype))
    return axis, arrays


@given(pieces())
def test_join_agrees_with_numpy(case):
    axis, arrays = case
    want = np.concatenate(arrays, axis=axis)
    for known in (False, True):
        xs = variables(arrays, known)
        out = pt.join(axis, *xs)
        (got,) = evaluate([out], dict(zip(xs, arrays, strict=True)))
        np.testing.assert_array_equal(got, want)
        assert out.type.dtype == got.dtype == want.dtype
    assert out.type.shape == want.shape


@given(pieces())
def test_split_undoes_join(case):
    axis, arrays = case
    xs = variables(arrays)
    parts = pt.split(pt.join(axis, *xs), [pt.shape_tuple(x)[axis] for x in xs], axis=axis)
    got = evaluate(parts, dict(zip(xs, arrays, strict=True)))
    for a, b in zip(got, arrays, strict=True):
        np.testing.assert_array_equal(a, b)


@given(pieces())
def test_infer_shape(case):
    axis, arrays = case
    xs = variables(arrays)
    node = Join(axis % arrays[0].ndim).make_node(*xs)
    (shape,) = node.op.infer_shape(None, node, [pt.shape_tuple(x) for x in xs])
    got = evaluate(list(shape), dict(zip(xs, arrays, strict=True)))
    assert tuple(map(int, got)) == np.concatenate(arrays, axis).shape


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_stack(axis):
    arrays = [np.arange(3.0), np.ones(3)]
    xs = variables(arrays)
    got = evaluate([pt.stack(xs, axis)], dict(zip(xs, arrays, strict=True)))[0]
    np.testing.assert_array_equal(got, np.stack(arrays, axis))
    verify_grad(lambda *v: pt.stack(v, axis) ** 2, arrays)


def test_stack_of_scalars_is_one_node():
    x, n = pt.dscalar("x"), pt.lscalar("n")
    out = pt.stack([x, n, 2])
    assert out.owner.op is MakeVector("float64")
    assert out.type.shape == (3,)
    assert evaluate([out], {x: 0.5, n: 4})[0].tolist() == [0.5, 4, 2]
    verify_grad(lambda a, b: pt.stack([a, b, a]) ** 2, [np.array(0.5), np.array(2.0)])


def test_a_list_with_variables_becomes_a_tensor():
    x = pt.dscalar("x")
    assert evaluate([pt.as_tensor_variable([x, 1, x + 1])], {x: 2.0})[0].tolist() == [2, 1, 3]


def test_other_names():
    arrays = [np.ones((1, 2)), np.zeros((3, 2))]
    xs = variables(arrays)
    givens = dict(zip(xs, arrays, strict=True))
    want = np.concatenate(arrays)
    for out in (pt.concatenate(xs), pt.vstack(xs), pt.vertical_stack(*xs), pt.join(0, xs)):
        np.testing.assert_array_equal(evaluate([out], givens)[0], want)
    flat = evaluate([pt.concatenate(xs, axis=None)], givens)[0]
    np.testing.assert_array_equal(flat, np.concatenate(arrays, axis=None))
    v = [np.ones(2), np.zeros(3)]
    vs = variables(v)
    got = evaluate([pt.hstack(vs)], dict(zip(vs, v, strict=True)))[0]
    np.testing.assert_array_equal(got, np.hstack(v))
    assert pt.horizontal_stack(pt.dmatrix(), pt.dmatrix()).owner.op is Join(1)


def test_one_array_is_returned_as_it_is():
    x = pt.dvector()
    assert pt.join(0, x) is x


@pytest.mark.parametrize("axis", [0, 1])
def test_gradients(axis):
    rng = np.random.default_rng(0)
    shapes = [(2, 3), (2, 3), (4, 3)] if axis == 0 else [(2, 3), (2, 1), (2, 2)]
    arrays = [rng.normal(size=s) for s in shapes]
    verify_grad(lambda *xs: pt.join(axis, *xs) ** 2, arrays)
    verify_grad(lambda x: pt.split(x, [1, 1], axis=axis)[0] ** 2, [np.ones((2, 2))])
    verify_grad(lambda x: pt.mul(*pt.split(x, [1, 1], axis=axis)), [rng.normal(size=(2, 2))])


def test_gradient_of_many_pieces_is_one_split():
    xs = [pt.dvector() for _ in range(5)]
    gs = grad((pt.concatenate(xs) ** 2).sum(), xs)
    assert len({g.owner for g in gs}) == 1
    assert isinstance(gs[0].owner.op, Split)


def test_split_forms():
    x, s = pt.dvector("x"), pt.lvector("s")
    a, b = pt.split(x, s, n_splits=2)
    got = evaluate([a, b], {x: np.arange(5.0), s: [2, 3]})
    assert [v.tolist() for v in got] == [[0, 1], [2, 3, 4]]
    fixed = pt.split(TensorType("float64", (5, 2))(), [2, 3])
    assert [v.type.shape for v in fixed] == [(2, 2), (3, 2)]
    with pytest.raises(ShapeError, match=r"has length 5, it must be 4[\s\S]*test_joins.py"):
        evaluate([a, b], {x: np.arange(5.0), s: [2, 2]})


def test_errors():
    a, b = TensorType("float64", (2, 3))(), TensorType("float64", (2, 4))()
    with pytest.raises(
        ShapeError,
        match=r"dimension 1 .* 3, dimension 1 .* 4\n[\s\S]*test_joins.py",
    ):
        pt.join(0, a, b)
    assert pt.join(1, a, b).type.shape == (2, 7)
    with pytest.raises(NDimError, match="wrong numbers of dimensions"):
        pt.join(0, a, pt.dvector())
    with pytest.raises(NDimError, match=r"0-d arrays cannot be joined[\s\S]*stack"):
        pt.join(0, pt.dscalar(), pt.dscalar())
    with pytest.raises(AxisError, match="out of range"):
        pt.join(2, a, b)
    with pytest.raises(ShapeError, match="join: takes at least one array"):
        pt.concatenate([])
    with pytest.raises(ShapeError, match="stack: takes at least one array"):
        pt.stack([])
    with pytest.raises(NDimError, match="numbers of dimensions differ"):
        pt.stack([pt.dscalar(), pt.dvector()])
    with pytest.raises(ShapeError, match="do not add up"):
        pt.split(a, [1, 2])
    with pytest.raises(ShapeError, match="3 lengths, but 2 pieces"):
        pt.split(a, [1, 1, 0], n_splits=2)
    with pytest.raises(DTypeError, match="does not fit into a vector of dtype int64"):
        MakeVector("int64")(pt.dscalar())
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    with pytest.raises(ShapeError, match=r"Join[\s\S]*\(2, 3\)[\s\S]*test_joins.py"):
        evaluate([pt.join(0, x, y)], {x: np.ones((2, 3)), y: np.ones((2, 4))})
