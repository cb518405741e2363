"""Single numbers (`ScalarType`) among tensors, and between both."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.scalar as ps
import rewrite_engine.tensor as pt
from rewrite_engine.errors import DTypeError, ForeignObjectError, NDimError
from rewrite_engine.gradient import Rop

x, m = pt.vector("x"), pt.matrix("m")
s, t, i = ps.float64("s"), ps.float64("t"), ps.int64("i")
VALUES = {s: 2.0, t: 3.0, i: 1, x: np.array([0.5, 1.0]), m: np.array([[1.0, 2.0], [3.0, 4.0]])}


@pytest.mark.parametrize("mode", ["fast_run", "py"])
@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (lambda: pt.exp(s), np.exp(2.0)),
        (lambda: x + s, [2.5, 3.0]),
        (lambda: pt.add(s, 1) * pt.add(t, 1), 12.0),
        (lambda: pt.exp(s * t + 1), np.exp(7.0)),
        (lambda: pt.dot(x, s), [1.0, 2.0]),
        (lambda: pt.stack([s, t]), [2.0, 3.0]),
        (lambda: pt.as_tensor([s, 5.0]), [2.0, 5.0]),
        (lambda: x[i], 1.0),
        (lambda: x[i:], [1.0]),
        (lambda: m[[0, 1], i], [2.0, 4.0]),
        (lambda: x[i].set(s), [0.5, 2.0]),
        (lambda: x[:].inc(s), [2.5, 3.0]),
        (lambda: pt.zeros((i, 2)), [[0.0, 0.0]]),
        (lambda: pt.ones(i), [1.0]),
        (lambda: x.reshape((i, -1)), [[0.5, 1.0]]),
        (lambda: pt.switch(i, x, s), [0.5, 1.0]),
        (lambda: pt.exp(ps.constant(0.0)), 1.0),
    ],
)
def test_tensor_ops_take_numbers(build, wanted, mode):
    found = rw.function(list(VALUES), build(), mode=mode, on_unused_input="ignore")(
        *VALUES.values()
    )
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, wanted)


def test_types():
    assert pt.as_tensor_variable(ps.float32()).type is pt.TensorType("float32", ())
    assert pt.tensor_from_scalar(i).type is pt.TensorType("int64", ())
    assert pt.scalar_from_tensor(x[0]).type is ps.float64
    assert pt.as_tensor_variable(s, ndim=2).type.shape == (1, 1)
    assert pt.as_tensor_variable(s, dtype="float32").dtype == "float32"


def test_there_and_back():
    y = pt.tensor_from_scalar(ps.exp(pt.scalar_from_tensor(x.sum())))
    f = rw.function([x], y)
    np.testing.assert_allclose(f([1.0, 2.0]), np.exp(3.0))
    assert rw.function([x], pt.scalar_from_tensor(x[0]))([2.0]) == 2.0


def test_gradients():
    y = (x * pt.exp(s)).sum()
    of_x, of_s = rw.grad(y, [x, s])
    assert of_s.type is s.type
    f = rw.function([x, s], [of_x, of_s])
    np.testing.assert_allclose(f([1.0, 2.0], 0.0)[0], [1.0, 1.0])
    np.testing.assert_allclose(f([1.0, 2.0], 0.0)[1], 3.0)
    z = pt.sqr(pt.tensor_from_scalar(pt.scalar_from_tensor(x[1])))
    np.testing.assert_allclose(rw.function([x], rw.grad(z, x))([1.0, 3.0]), [0.0, 6.0])


@pytest.mark.parametrize(
    "make",
    [
        lambda lib, a, b: lib.exp(a) * a + b,
        lambda lib, a, b: lib.pow(a, b) + lib.arctan2(a, b),
        lambda lib, a, b: lib.switch(lib.gt(a, b), lib.sqr(a), a / b),
        lambda lib, a, b: lib.maximum(a, b) - lib.log1p(lib.sigmoid(b)),
        lambda lib, a, b: lib.cast(lib.floor(a), "float64") + lib.erf(a * b),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_derivatives_of_scalar_graphs(make, dtype):
    a, b = ps.float64("a"), ps.ScalarType(dtype)("b")
    c, d = pt.scalar("c", dtype="float64"), pt.scalar("d", dtype=dtype)
    inner, outer = pt.tensor_from_scalar(make(ps, a, b)), make(pt, c, d)
    found = rw.function([a, b], [*rw.grad(inner, [a, b]), Rop(inner, a, ps.constant(2.0))])
    wanted = rw.function([c, d], [*rw.grad(outer, [c, d]), Rop(outer, c, pt.constant(2.0))])
    np.testing.assert_allclose(found(1.5, 3), wanted(1.5, 3), rtol=1e-12)


def test_forward_through_a_number():
    y = pt.tensor_from_scalar(ps.exp(pt.scalar_from_tensor(x.sum())))
    pushed = Rop(y, x, pt.constant([1.0, 0.5]))
    np.testing.assert_allclose(rw.function([x], pushed)([1.0, 2.0]), 1.5 * np.exp(3.0))


def test_what_is_remembered_of_types_is_not_taken_for_another_number():
    first, second = pt.add(s, 1), pt.add(t, 1)
    assert list(first.owner.inputs[0].owner.inputs) == [s]
    np.testing.assert_allclose(rw.function([t], second)(3.0), 4.0)


def test_errors():
    with pytest.raises(NDimError, match="0-d"):
        pt.scalar_from_tensor(x)
    with pytest.raises(ForeignObjectError, match="ScalarType"):
        pt.tensor_from_scalar(x)
    with pytest.raises(DTypeError, match="an index must be"):
        x[s]
    with pytest.raises(DTypeError, match="a shape must have an integer dtype"):
        pt.zeros(s)
    with pytest.raises(ForeignObjectError, match="apply the op of the same name in `tensor`"):
        s + x
