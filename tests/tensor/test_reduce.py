"""Reductions: types, values, gradients, positions, running sums."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine.tensor as pt
from rewrite_engine.errors import AxisError, DTypeError, ShapeError
from rewrite_engine.graph.null import disconnected, is_disconnected
from rewrite_engine.scalar import DTYPES, ops
from tests.tensor.evaluate import evaluate, numeric_gradient

NUMPY = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "all": np.all, "any": np.any}
POSITIONS = {"argmax": np.argmax, "argmin": np.argmin}


@st.composite
def arrays_and_axes(draw):
    shape = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    axes = st.lists(st.integers(0, len(shape) - 1), unique=True) if shape else st.just([])
    axis = draw(st.none() | axes.map(tuple))
    signs = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    if axis is not None:
        axis = tuple(a - len(shape) if signs[a] else a for a in axis)
    static = tuple(None if draw(st.booleans()) else n for n in shape)
    return shape, static, axis


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(NUMPY)),
    st.sampled_from(DTYPES),
    arrays_and_axes(),
    st.booleans(),
    st.integers(0, 2**31),
)
def test_static_types_and_values_agree_with_numpy(name, dtype, where, keepdims, seed):
    shape, static, axis = where
    a = np.random.default_rng(seed).integers(0, 3, size=shape).astype(dtype)
    x = pt.TensorType(dtype, static)("x")
    out = getattr(pt, name)(x, axis=axis, keepdims=keepdims)
    wanted = np.asarray(NUMPY[name](a, axis=axis, keepdims=keepdims))
    got = evaluate(out, {x: a})
    assert out.type.dtype == wanted.dtype.name
    np.testing.assert_allclose(got, wanted)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(POSITIONS)), arrays_and_axes(), st.integers(0, 2**31))
def test_positions_agree_with_numpy(name, where, seed):
    shape, static, axis = where
    a = np.random.default_rng(seed).integers(0, 3, size=shape).astype("float32")
    x = pt.TensorType("float32", static)("x")
    out = getattr(pt, name)(x, axis=axis)
    got = evaluate(out, {x: a})
    if axis is None:
        wanted = POSITIONS[name](a)
    else:
        axes = sorted(i % len(shape) for i in axis)
        kept = [i for i in range(len(shape)) if i not in axes]
        flat = a.transpose(*kept, *axes).reshape([shape[i] for i in kept] + [-1])
        wanted = POSITIONS[name](flat, axis=-1)
    np.testing.assert_array_equal(got, wanted)
    assert getattr(pt, name)(x, axis=axis, keepdims=True).type.ndim == len(shape)


def test_ops_compare_by_value_and_normalise_axes():
    x = pt.matrix("x")
    assert pt.Sum(axis=0) is pt.Sum(axis=(0,))
    assert pt.Sum(axis=(1, 0)) is pt.Sum(axis=[0, 1])
    assert pt.Sum(axis=0)(x).owner.op is pt.sum(x, axis=-2).owner.op
    assert pt.sum(x, axis=(0, 1)).owner.op is pt.Sum()
    assert pt.sum(pt.vector(), axis=0).owner.op is pt.Sum()
    assert pt.sum(x).owner.op is pt.Sum()
    assert pickle.loads(pickle.dumps(pt.Sum(axis=0))) is pt.Sum(axis=0)
    assert pt.Max(axis=0) is not pt.Min(axis=0)
    assert pt.CAReduce(ops.add, axis=0) is pt.CAReduce(ops.add, axis=(0,))


def test_an_op_may_come_from_another_process():
    code = (
        "import pickle, sys, rewrite_engine.tensor as pt\n"
        "op = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "print(op(pt.matrix()).type, op(pt.matrix()).type)"
    )
    data = pickle.dumps(pt.Sum(axis=-2)).hex()
    out = subprocess.check_output([sys.executable, "-c", code, data], text=True)
    assert out.strip() == "TensorType(float64, (None,)) TensorType(float64, (None,))"


def test_printing():
    assert str(pt.Sum()) == "Sum"
    assert str(pt.Sum(axis=0)) == "Sum{axis=0}"
    assert str(pt.Max(axis=(0, 1), keepdims=True)) == "Max{axis=(0, 1), keepdims}"
    assert str(pt.Sum(dtype="float64")) == "Sum{dtype=float64}"
    assert str(pt.Any_()) == "Any"
    assert str(pt.CAReduce(ops.xor, axis=0)) == "CAReduce{xor}{axis=0}"


def test_dtypes_can_be_chosen():
    x = pt.fvector("x")
    a = np.array([1e8, 1, -1e8], "float32")
    assert pt.sum(x, dtype="float64").dtype == "float64"
    assert evaluate(pt.sum(x, dtype="float64"), {x: a}) == 1.0
    inner = pt.sum(x, dtype="float32", acc_dtype="float64")
    assert inner.dtype == "float32"
    assert evaluate(inner, {x: a}) == 1.0
    assert pt.sum(pt.bvector()).dtype == "int64"
    assert pt.sum(pt.tensor(dtype="uint8", shape=(None,))).dtype == "uint64"


def test_other_scalar_ops():
    x = pt.lmatrix("x")
    a = np.array([[1, 2], [3, 5]])
    got = evaluate(pt.CAReduce(ops.xor, axis=1)(x), {x: a})
    np.testing.assert_array_equal(got, [3, 6])
    with pytest.raises(DTypeError, match="sub"):
        pt.CAReduce(ops.sub)(x)


def test_bad_axes():
    x = pt.matrix("x")
    for axis in (2, -3, (0, 2)):
        with pytest.raises(AxisError, match="out of range for 2 dimensions"):
            pt.sum(x, axis=axis)
    with pytest.raises(AxisError, match="twice"):
        pt.sum(x, axis=(0, 0))
    with pytest.raises(AxisError, match="twice"):
        pt.sum(x, axis=(0, -2))
    with pytest.raises(AxisError, match="must be None or integers"):
        pt.sum(x, axis=0.5)
    with pytest.raises(AxisError):
        pt.argmax(x, axis=5)


def test_nothing_to_reduce():
    x = pt.vector("x")
    assert evaluate(pt.sum(x), {x: []}) == 0
    for f in (pt.max, pt.argmax):
        with pytest.raises(ShapeError, match="length is 0"):
            f(pt.vector(shape=(0,)))
        with pytest.raises(ShapeError):
            evaluate(f(x), {x: []})
    assert pt.max(pt.matrix(shape=(0, 3)), axis=1).type.shape == (0,)


def test_nan_and_first_of_equals():
    x = pt.vector("x")
    assert np.isnan(evaluate(pt.max(x), {x: [1, np.nan, 2]}))
    assert evaluate(pt.argmax(x), {x: [1, np.nan, 2]}) == 1
    assert evaluate(pt.argmax(x), {x: [3, 1, 3]}) == 0
    assert evaluate(pt.argmin(pt.as_tensor(np.array([1, 0], "uint8")))) == 1


def test_complex_and_bool():
    with pytest.raises(DTypeError):
        pt.CAReduce(ops.and_)(pt.vector())
    assert pt.sum(pt.zvector()).dtype == "complex128"
    assert pt.all(pt.vector()).dtype == "bool"


# --- gradients --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_gradients(name, axis, keepdims):
    rng = np.random.default_rng(3)
    x = pt.tensor3("x")
    a = rng.normal(size=(2, 3, 2))
    out = getattr(pt, name)(x, axis=axis, keepdims=keepdims)
    weights = rng.normal(size=evaluate(out, {x: a}).shape)
    got = evaluate(backwards(out, weights, x), {x: a})
    (want,) = numeric_gradient(lambda v: evaluate(out, {x: v}), [a], weights)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def backwards(out, weights, x):
    """The gradient of sum(out * weights), by the ops' own `L_op`."""
    from rewrite_engine.graph.traverse import toposort

    grads = {out: pt.cast(pt.as_tensor(weights), out.dtype)}
    for node in reversed(toposort([out], [x])):
        g = grads.get(node.outputs[0])
        if g is None:
            continue
        for v, part in zip(node.inputs, node.op.L_op(node.inputs, node.outputs, [g]), strict=True):
            if not is_disconnected(part):
                assert part.type.ndim == v.type.ndim
                grads[v] = part if v not in grads else grads[v] + part
    return grads[x]


@pytest.mark.parametrize("row", [[2.0, 3.0, 4.0], [0.0, 3.0, 4.0], [0.0, 0.0, 4.0], [0.0] * 3])
@pytest.mark.parametrize("axis", [None, 1])
def test_product_gradient_beside_zeros(row, axis):
    x = pt.matrix("x")
    out = pt.prod(x, axis=axis)
    (dx,) = out.owner.op.L_op([x], [out], [pt.ones_like(out)])
    r = np.array(row)
    wanted = [np.prod(np.delete(r, i)) for i in range(3)]
    np.testing.assert_allclose(evaluate(dx, {x: [row]}), [wanted])


def test_ties_share_the_gradient():
    x = pt.vector("x")
    out = pt.max(x)
    (dx,) = out.owner.op.L_op([x], [out], [pt.constant(2.0)])
    assert evaluate(dx, {x: [3.0, 1.0, 3.0]}).tolist() == [1, 0, 1]


def test_gradients_of_integers_and_booleans():
    n = pt.lvector("n")
    for out in (pt.sum(n), pt.all(n), pt.argmax(n)):
        (dn,) = out.owner.op.L_op([n], [out], [pt.constant(1.0)])
        assert dn.dtype == "float64"
        assert evaluate(dn, {n: [1, 2]}).tolist() == [0, 0]
    out = pt.sum(n, dtype="float64")
    (dn,) = out.owner.op.L_op([n], [out], [pt.constant(1.0)])
    assert evaluate(dn, {n: [1, 2]}).tolist() == [1, 1]
    (dn,) = out.owner.op.L_op([n], [out], [disconnected()])
    assert is_disconnected(dn)


# --- running sums -----------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_sums(name, axis):
    x = pt.matrix("x")
    a = np.random.default_rng(0).normal(size=(2, 3))
    out = getattr(pt, name)(x, axis=axis)
    np.testing.assert_allclose(evaluate(out, {x: a}), getattr(np, name)(a, axis=axis))
    weights = np.random.default_rng(1).normal(size=evaluate(out, {x: a}).shape)
    (want,) = numeric_gradient(lambda v: evaluate(out, {x: v}), [a], weights)
    np.testing.assert_allclose(evaluate(backwards(out, weights, x), {x: a}), want, atol=1e-6)


def test_running_sums_check_the_axis():
    with pytest.raises(AxisError):
        pt.cumsum(pt.matrix(), axis=2)
    assert pt.cumsum(pt.bvector()).dtype == "int64"


@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (2, 3)])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extrema_with_an_initial_number(name, shape, axis):
    at = np.arange(float(np.prod(shape))).reshape(shape) - 1.5
    for static in ((None, None), shape):
        x = pt.tensor(dtype="float64", shape=static)
        y = getattr(x, name)(axis=axis, keepdims=True, initial=-1)
        wanted = NUMPY[name](at, axis=axis, keepdims=True, initial=-1)
        np.testing.assert_array_equal(y.eval({x: at}), wanted)
        slope = (at == wanted).astype(float)
        np.testing.assert_array_equal(pt.grad(y.sum(), x).eval({x: at}), slope)


def test_the_lowest_integer_of_none():
    x, b = pt.ivector("x"), pt.vector("b", dtype="bool")
    nothing = np.zeros(0)
    assert pt.max(x, initial=-np.inf).eval({x: nothing.astype("int32")}) == np.iinfo("int32").min
    assert pt.min(x, initial=np.inf).eval({x: nothing.astype("int32")}) == np.iinfo("int32").max
    assert pt.max(b, initial=-np.inf).eval({b: nothing.astype(bool)}) == False  # noqa: E712
    assert pt.max(x, initial=2.5).eval({x: nothing.astype("int32")}) == 2
    assert pt.max(pt.dscalar(), initial=3).type.ndim == 0
