"""Constants, and turning things into variables."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import DTypeError, ForeignObjectError, NDimError, NotConstantError
from rewrite_engine.graph.node import CONSTANT
from rewrite_engine.graph.type import generic
from rewrite_engine.tensor.constant import all_differ, weak_constant
from tests.tensor.evaluate import evaluate


def test_python_values():
    assert pt.constant(2).type is pt.TensorType("int64", ())
    assert pt.constant(2.0).type is pt.TensorType("float64", ())
    assert pt.constant(True).type is pt.TensorType("bool", ())
    assert pt.constant([[1.0, 2.0]]).type is pt.TensorType("float64", (1, 2))
    assert pt.constant(np.float32(1)).dtype == "float32"
    assert pt.constant(1, dtype="int8").dtype == "int8"
    assert pt.constant(2.0).head is CONSTANT


def test_floatx(monkeypatch):
    monkeypatch.setattr(config, "floatX", "float32")
    assert pt.constant(2.0).dtype == "float32"
    assert pt.constant(np.float64(2)).dtype == "float64"
    assert pt.as_tensor_variable([1.5]).dtype == "float32"


def test_the_value_cannot_change():
    a = np.array([1.0, 2.0])
    c = pt.constant(a)
    a[0] = 9
    assert c.data[0] == 1
    assert not c.data.flags.writeable
    assert not pickle.loads(pickle.dumps(c)).data.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        c.data[0] = 3
    assert a.flags.writeable


def test_number():
    assert pt.constant(3).number == 3
    assert type(pt.constant(3.0).number) is float
    assert pt.constant([3]).number is None


def same(a, b):
    return pt.constant(a).signature() == pt.constant(b).signature()


def test_signatures():
    assert same(1.0, np.float64(1))
    assert not same(0.0, -0.0)
    assert same(float("nan"), -np.float64("nan"))
    assert not same(1, 1.0)
    assert not same(np.int32(1), np.int64(1))
    assert same(np.arange(1000), np.arange(1000))
    assert not same(np.arange(1000), np.arange(1000)[::-1])
    assert not same([1, 2], [[1, 2]])
    assert same(np.ones((40, 40)).T, np.ones((40, 40)))
    big = np.arange(1600.0).reshape(40, 40)
    assert same(np.asfortranarray(big), big)
    assert hash(pt.constant([1]).signature()) is not None


@given(st.lists(st.floats(width=32), max_size=40), st.lists(st.floats(width=32), max_size=40))
def test_signatures_compare_bits(a, b):
    bits = [np.array([0.0 if x != x else x for x in v]).tobytes() for v in (a, b)]
    nans = [[x != x for x in v] for v in (a, b)]
    assert same(a, b) == (bits[0] == bits[1] and nans[0] == nans[1])


def test_weak_constants_are_shared():
    assert weak_constant(2.5, "float32") is weak_constant(2.5, "float32")
    assert weak_constant(2.5, "float32") is not weak_constant(2.5, "float64")
    assert weak_constant(1, "float64") is not weak_constant(True, "float64")
    assert np.signbit(weak_constant(-0.0, "float64").data)
    assert not np.signbit(weak_constant(0.0, "float64").data)


@pytest.mark.parametrize("value", ["a", None, {}, object(), [[1], [1, 2]]])
def test_refuses_what_is_no_array(value):
    with pytest.raises(DTypeError, match="cannot make a constant"):
        pt.constant(value)
    with pytest.raises(ForeignObjectError):
        pt.as_tensor_variable(value)


def test_as_tensor_variable_of_variables():
    x = pt.vector("x")
    assert pt.as_tensor_variable(x) is x
    assert pt.as_tensor_variable(pt.exp(x).owner).owner.op is pt.exp
    assert pt.as_tensor_variable(x, ndim=3).type.shape == (1, 1, None)
    assert pt.as_tensor_variable(x, dtype="int8").dtype == "int8"
    with pytest.raises(NDimError):
        pt.as_tensor_variable(x, ndim=0)
    with pytest.raises(ForeignObjectError):
        pt.as_tensor_variable(generic())


def test_lists_with_variables_are_stacked():
    x, y = pt.scalars("x y")
    z = pt.as_tensor_variable([[x, 1.0], [2.0, y]])
    assert z.type.shape == (2, 2)
    np.testing.assert_array_equal(evaluate(z, {x: 5.0, y: 6.0}), [[5, 1], [2, 6]])


def test_ndim_pads_constants():
    assert pt.as_tensor_variable([1, 2], ndim=2).type.shape == (1, 2)
    assert pt.constant([[1, 2]], ndim=1).type.shape == (2,)
    with pytest.raises(NDimError):
        pt.constant([[1], [2]], ndim=1)


def test_a_pattern_is_returned_unchanged():
    class Pattern:
        @staticmethod
        def __apply_op__(op, inputs, kwargs):
            return op, inputs

    p = Pattern()
    assert pt.as_tensor_variable(p) is p
    assert pt.exp(p) == (pt.exp, (p,))
    assert pt.add(1, p) == (pt.add, (1, p))
    assert pt.sum(p, axis=0) == (pt.Sum(axis=0), (p,))
    assert pt.cast(p, "int8")[0].scalar_op.dtype == "int8"


def test_python_conversions():
    x = pt.vector("x")
    for convert in (bool, int, float, len, list):
        with pytest.raises(NotConstantError, match="x"):
            convert(x)
    assert len(pt.vector(shape=(3,))) == 3
    assert len(list(pt.matrix(shape=(2, None)))) == 2
    with pytest.raises(NotConstantError, match="0 dimensions"):
        list(pt.scalar("s"))
    assert int(pt.constant(3)) == 3
    assert float(pt.constant(3)) == 3.0
    assert [1, 2][pt.constant(1)] == 2
    with pytest.raises(NotConstantError):
        [1, 2][pt.constant(1.0)]


def test_printing_and_copies():
    c = pt.constant([1.0, 2.0])
    assert str(c) == "TensorConstant{[1. 2.]}"
    assert str(pt.constant(1, name="one")) == "one"
    assert copy.deepcopy(c).equals(c)
    assert c.clone().equals(c)
    assert pickle.loads(pickle.dumps(c)).equals(c)


@pytest.mark.parametrize("make", [pt.constant, pt.as_tensor, lambda v: pt.dvector() + v, rw.shared])
def test_a_masked_array_is_refused(make):
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    with pytest.raises((DTypeError, ForeignObjectError), match=r"masked elements.*filled"):
        make(masked)
    make(masked.filled(0.0))
    make(np.ma.array([1.0, 2.0]))  # nothing is masked, nothing is lost
    if make is not rw.shared:
        with pytest.raises((DTypeError, ForeignObjectError), match="masked"):
            make([1.0, np.ma.masked])
    with pytest.raises(DTypeError, match="masked"):
        pt.dvector().type.filter(masked)
    state = rw.shared(np.zeros(2))
    with pytest.raises(DTypeError, match="masked"):
        state.set_value(masked)


@pytest.mark.parametrize(
    ("values", "differ"),
    [([], True), ([1], True), ([2, 1, 2], False), ([[3, 1], [2, 0]], True), ([True, True], False),
     ([0.0, -0.0], False), ([np.nan, np.nan], True), ([1j, 2j, 1 + 1j], True), ([1j, 1j], False)],
)  # fmt: skip
def test_all_differ(values: Any, differ: bool) -> None:
    assert all_differ(np.array(values)) is differ
