"""Types, variables and constants whose dimensions have names."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
import rewrite_engine.xtensor as px
from rewrite_engine.errors import (
    BroadcastError,
    DimsError,
    DTypeError,
    ForeignObjectError,
    NDimError,
    NotConstantError,
    NoTensorError,
    StaticShapeError,
    TypeMismatchError,
)
from rewrite_engine.xtensor import XTensorType


def test_equal_types_are_one() -> None:
    one = XTensorType("float64", dims=("a", "b"), shape=(2, None))
    assert one is XTensorType(np.float64, dims=["a", "b"], shape=[2, None])
    assert one is not XTensorType("float64", dims=("b", "a"), shape=(2, None))
    assert (one.dtype, one.dims, one.shape, one.ndim) == ("float64", ("a", "b"), (2, None), 2)
    assert pickle.loads(pickle.dumps(one)) is one is copy.deepcopy(one)
    assert one.clone(dims=("c", "d")).dims == ("c", "d")
    assert one.clone(shape=(3, 3), dtype="int8").dtype == "int8"
    assert str(one) == "XTensorType(float64, shape=(2, None), dims=('a', 'b'))"


def test_a_type_is_above_those_that_know_more() -> None:
    loose, tight = [XTensorType("float64", dims="a", shape=s) for s in ([None], [2])]
    assert loose.is_super(tight)
    assert not tight.is_super(loose)
    assert not loose.is_super(XTensorType("float64", dims="b"))
    assert not loose.is_super(pt.vector().type)


@pytest.mark.parametrize(
    ("dims", "shape", "error"),
    [
        (("a", "a"), None, DimsError),
        ((1,), None, DimsError),
        (("a",), (1, 2), NDimError),
        (None, None, DimsError),
    ],
)
def test_wrong_names(dims: Any, shape: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        XTensorType("float64", dims=dims, shape=shape)


def test_values_are_arrays() -> None:
    type_ = XTensorType("float64", dims=("a", "b"), shape=(None, 2))
    found = type_.filter([[1, 2]])
    assert isinstance(found, np.ndarray)
    assert found.dtype == "float64"
    for value, error in [(np.zeros(2), NDimError), (np.zeros((2, 3)), StaticShapeError)]:
        with pytest.raises(error):
            type_.filter(value)
    with pytest.raises(DTypeError):
        type_.filter(np.zeros((1, 2), complex))
    assert type_.values_eq_approx(np.zeros((1, 2)), np.zeros((1, 2)) + 1e-12)


def test_a_constant_is_read_only_and_equal_by_content() -> None:
    one, other = [px.as_xtensor(np.arange(3.0), dims="a") for _ in range(2)]
    assert one.type.shape == (3,)
    assert one.signature() == other.signature()
    assert one.signature() != px.as_xtensor(np.arange(3.0), dims="b").signature()
    with pytest.raises(ValueError, match="read-only"):
        one.data[0] = 1
    assert pickle.loads(pickle.dumps(one)).signature() == one.signature()


def test_what_becomes_a_variable_with_names() -> None:
    x = px.xtensor("x", dims=("a", "b"))
    assert px.as_xtensor(x) is x
    assert px.as_xtensor(x, dims=("a", "b")) is x
    assert px.as_xtensor(pt.scalar()).dims == () == px.as_xtensor(2).dims
    named = px.as_xtensor(pt.matrix("m"), dims=("a", "b"), name="n")
    assert (named.dims, named.name) == (("a", "b"), "n")
    for given in (np.zeros(2), [1.0, 2.0], pt.vector()):
        with pytest.raises(NDimError, match="no names"):
            px.as_xtensor(given)
    with pytest.raises(DimsError, match="transpose or rename"):
        px.as_xtensor(x, dims=("b", "a"))
    with pytest.raises(NDimError, match="2 names"):
        px.as_xtensor(pt.vector(), dims=("a", "b"))
    with pytest.raises(ForeignObjectError):
        px.as_xtensor(pt.random.rng("r"))


def test_names_are_not_lost_unseen() -> None:
    x = px.xtensor("x", dims=("a",))
    with pytest.raises(NoTensorError, match=r"x\.values"):
        pt.exp(x)
    with pytest.raises(NoTensorError):
        pt.as_tensor(x)
    assert pt.as_tensor(x, allow_xtensor_conversion=True).type == pt.vector().type
    assert x.values.type == pt.vector().type
    for use in (bool, int, float, complex, iter):
        with pytest.raises((NotConstantError, TypeError)):
            use(x)


def test_what_replaces_it_is_put_in_order() -> None:
    x, y = px.xtensor("x", dims=("a", "b")), px.xtensor("y", dims=("b", "a"))
    doubled = rw.clone_replace(x * 2.0, {x: y})
    assert doubled.dims == ("a", "b")
    np.testing.assert_array_equal(doubled.eval({y: [[1.0, 2.0]]}), [[2.0], [4.0]])
    assert x.type.filter_variable(pt.matrix("m")).dims == ("a", "b")
    with pytest.raises(TypeMismatchError):
        x.type.filter_variable(px.xtensor("z", dims=("a", "c")))


def test_shared_variables() -> None:
    w = px.xtensor_shared(np.zeros(2), dims="a", name="w")
    f = rw.function([], (w + 1.0).sum(), updates={w: w + 1.0})
    assert [float(f()), float(f())] == [2.0, 4.0]
    w.set_value(np.ones(5))
    assert float(f()) == 10.0
    with pytest.raises(NDimError):
        w.set_value(np.ones((2, 2)))
    other = pickle.loads(pickle.dumps(w))
    np.testing.assert_array_equal(other.get_value(), np.full(5, 2.0))
    assert other.dims == ("a",)


def test_functions_and_their_arguments() -> None:
    x, y = px.xtensor("x", dims=("a", "b")), px.xtensor("y", dims="b")
    f = rw.function([x, rw.In(y, value=np.ones(3))], [x * y, x])
    product, same = f(np.ones((2, 3)))
    assert type(product) is np.ndarray
    assert product.shape == same.shape == (2, 3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(np.ones((2, 3)))[0], product)
    with pytest.raises(BroadcastError):
        f(np.ones((2, 4)))
    assert np.isnan((x / y).eval({x: np.zeros((1, 1)), y: np.zeros(1)}))


def test_printing() -> None:
    x, y = px.xtensor("x", dims=("a", "b")), px.xtensor("y", dims="b")
    tree = (x * y).dprint(file="str")
    assert "XTensorFromTensor{dims=('a', 'b')}" in tree
    assert "mul" in tree
    assert "x" in rw.pp(x * y)
    assert str(px.as_xtensor([1.0, 2.0], dims="a")) == "XTensorConstant{[1. 2.]}"
