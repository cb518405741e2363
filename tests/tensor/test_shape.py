"""Shapes as values, and claims about shapes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    AxisError,
    BroadcastError,
    DisconnectedInputError,
    DTypeError,
    NDimError,
    ShapeError,
)
from rewrite_engine.gradient import grad, verify_grad
from rewrite_engine.gradient.verify import evaluate
from rewrite_engine.graph.node import Constant
from rewrite_engine.graph.replace import clone_replace
from rewrite_engine.tensor.shape import Shape, Shape_i, SpecifyShape, shape_i, shape_tuple
from rewrite_engine.tensor.type import TensorType


def test_shape_is_an_int64_vector():
    x = pt.tensor3("x")
    assert pt.shape(x).type == TensorType("int64", (3,))
    got = evaluate([x.shape, x.shape[1]], {x: np.zeros((2, 0, 4))})
    assert got[0].dtype == np.int64
    assert got[0].tolist() == [2, 0, 4]
    assert got[1] == 0


def test_shape_of_a_scalar():
    x = pt.dscalar("x")
    assert evaluate([x.shape], {x: 1.0})[0].tolist() == []


def test_shape_i():
    x = pt.tensor(dtype="float64", shape=(None, 3))
    assert shape_i(x, 0).owner.op is Shape_i(0)
    assert shape_i(x, -2).owner.op is Shape_i(0)
    assert isinstance(shape_i(x, 1), Constant)
    assert [evaluate([n], {x: np.ones((2, 3))})[0] for n in shape_tuple(x)] == [2, 3]
    with pytest.raises(AxisError, match="out of range"):
        shape_i(x, 2)
    with pytest.raises(AxisError, match="no dimension 2"):
        Shape_i(2)(x)


def test_shapes_are_disconnected_from_elements():
    x = pt.dvector("x")
    for n in (x.shape[0], shape_i(x, 0)):
        with pytest.raises(DisconnectedInputError):
            grad(pt.cast(n, "float64"), x)
    assert Shape().connection_pattern(x.shape.owner) == [[False]]


def test_specify_shape_refines_the_type():
    x = pt.dmatrix("x")
    y = pt.specify_shape(x, (2, None))
    assert y.type == TensorType("float64", (2, None))
    assert y.owner.op is SpecifyShape((2, None))
    assert str(y).startswith("SpecifyShape")
    array = np.ones((2, 5))
    assert evaluate([y], {x: array})[0] is array


def test_specify_shape_with_a_variable():
    x, n = pt.dmatrix("x"), pt.lscalar("n")
    y = pt.specify_shape(x, (n, 3))
    assert y.type.shape == (None, 3)
    assert evaluate([y], {x: np.ones((2, 3)), n: 2})[0].shape == (2, 3)
    with pytest.raises(ShapeError, match=r"shape \(2, 3\) .* has length 2, it must be 5"):
        evaluate([y], {x: np.ones((2, 3)), n: 5})


def test_specify_shape_says_nothing_new():
    x = pt.tensor(dtype="float64", shape=(2, None))
    assert pt.specify_shape(x, (2, None)) is x
    assert pt.specify_shape(x, (None, None)) is x


def test_specify_shape_is_checked():
    x = pt.tensor(dtype="float64", shape=(2, None))
    with pytest.raises(ShapeError, match=r"dimension 0 of a TensorType\(float64, \(2, None\)\)"):
        pt.specify_shape(x, (3, None))
    with pytest.raises(NDimError, match="it has 2 dimensions"):
        pt.specify_shape(x, (3,))
    with pytest.raises(DTypeError, match="must be an integer"):
        pt.specify_shape(x, (2, 1.5))
    with pytest.raises(DTypeError, match="0-d integer"):
        pt.specify_shape(x, (2, pt.dscalar()))
    y = pt.specify_shape(x, (2, 4))
    with pytest.raises(ShapeError, match=r"\(2, 5\) .* length 5, it must be 4[\s\S]*test_shape.py"):
        evaluate([y], {x: np.ones((2, 5))})


def test_specify_shape_from_a_vector():
    x = pt.dmatrix("x")
    s = TensorType("int64", (2,))("s")
    y = pt.specify_shape(x, s)
    assert evaluate([y], {x: np.ones((2, 5)), s: [2, 5]})[0].shape == (2, 5)
    assert pt.specify_shape(x, np.array([2, 5])).type.shape == (2, 5)
    assert pt.specify_shape(x, pt.constant([2, 5])).type.shape == (2, 5)
    with pytest.raises(NDimError, match="known length"):
        pt.specify_shape(x, pt.lvector())


def test_specify_broadcastable():
    x = pt.dmatrix("x")
    assert pt.specify_broadcastable(x, -1).type.shape == (None, 1)
    for axes in [(2,), (-3,), (0, -2)]:
        with pytest.raises(AxisError):
            pt.specify_broadcastable(x, *axes)
    with pytest.raises(AxisError):
        pt.specify_broadcastable(pt.dscalar(), 0)


def test_gradient_of_specify_shape():
    verify_grad(lambda x: pt.specify_shape(x, (2, None)) ** 2, [np.ones((2, 3))])
    x = pt.dvector("x")
    g = grad(pt.specify_shape(x, (3,)).sum(), x)
    assert evaluate([g], {x: np.zeros(3)})[0].tolist() == [1, 1, 1]


def test_convert_variable_joins_what_both_types_know():
    v1 = TensorType("float64", (2, None))()
    v2 = TensorType("float64", (None, 1))
    assert v2.filter_variable(v1).type == TensorType("float64", (2, 1))


def test_dimensions_that_are_not_stretched():
    x, v = pt.row("x"), pt.vector("v")
    y = pt.unbroadcast(x, 0)
    assert y.type.shape == (None, None)
    assert pt.unbroadcast(v, 0) is v
    assert pt.unbroadcast(x, 1) is x
    f = rw.function([x, v], y + v[:, None])
    assert f([[1.0, 2.0]], [1.0]).tolist() == [[2, 3]]
    with pytest.raises(BroadcastError):
        f([[1.0, 2.0]], [1.0, 2.0])
    slope = rw.grad((y * v[:, None]).sum(), x)
    assert slope.type.shape == (1, None)
    assert rw.function([x, v], slope)([[1.0, 2.0]], [3.0]).tolist() == [[3, 3]]
    with pytest.raises(AxisError):
        pt.unbroadcast(x, 2)


def test_patterns_of_lengths_that_are_1():
    x = pt.tensor("x", shape=(1, None))
    y = pt.patternbroadcast(x, (False, True))
    assert y.type.shape == (None, 1)
    assert rw.function([x], y)([[2.0]]).tolist() == [[2]]
    assert pt.patternbroadcast(x, (True, False)) is x
    with pytest.raises(NDimError, match="one bool for each of 2"):
        pt.patternbroadcast(x, (True,))
    with pytest.raises(AssertionError):
        rw.function([x], y)([[2.0, 3.0]])


def test_lengths_that_were_read_stay_with_a_warning() -> None:
    x, longer = pt.tensor("x", shape=(5,)), pt.tensor("longer", shape=(20,))
    with pytest.warns(UserWarning, match=r"lengths \(5,\) of x .*\(20,\).*\n.*\n.*test_shape.py"):
        total = clone_replace(x.sum(), {x: longer}, rebuild_strict=False)
    assert total.eval({longer: np.ones(20)}) == 20.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone_replace(x.sum(), {x: pt.vector("y")}, rebuild_strict=False)
        clone_replace(pt.vector("z").sum(), {pt.vector("y"): longer}, rebuild_strict=False)
