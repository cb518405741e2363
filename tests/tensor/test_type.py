"""TensorType: accepting values, comparing types, printing, making variables."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewrite_engine as rw
from rewrite_engine.config import config
from rewrite_engine.errors import (
    DTypeError,
    ForeignObjectError,
    NDimError,
    OptionError,
    ShapeError,
    TypeMismatchError,
)
from rewrite_engine.graph.type import Generic
from rewrite_engine.tensor.type import TensorType, common_shape
from rewrite_engine.tensor.variable import TensorConstant, TensorVariable

dims = st.none() | st.integers(0, 4)
shapes = st.lists(dims, max_size=3).map(tuple)


def test_equal_types_are_one_object():
    t = TensorType("float64", (2, None))
    assert TensorType(np.float64, [2, None]) is t
    assert TensorType(np.dtype("f8"), (np.int64(2), None)) is t
    assert TensorType("float64", (2, None), "named") is t
    assert TensorType("float64", name="named", broadcastable=(True, False)).shape == (1, None)
    assert pickle.loads(pickle.dumps(t)) is t
    assert copy.deepcopy(t) is t
    assert TensorType("float32", (2, None)) is not t


def test_prints_as_in_the_document():
    v1 = TensorType("float64", (2, None))()
    assert str(v1.type) == "TensorType(float64, (2, None))"
    assert str(v1) == "<TensorType(float64, (2, None))>"
    assert str(TensorType("bool", ())) == "TensorType(bool, ())"
    assert str(TensorType("int8", (3,))) == "TensorType(int8, (3,))"


def test_legacy_broadcastable():
    assert TensorType("float64", broadcastable=(True, False)) is TensorType("float64", (1, None))
    assert TensorType("float64", (True, False)).broadcastable == (True, False)
    with pytest.raises(OptionError, match="shape or broadcastable, not both"):
        TensorType("float64", (2,), broadcastable=(True,))


@pytest.mark.parametrize(
    "dtype", ["object", "str", "datetime64[s]", "float256", "longdouble", None]
)
def test_refuses_dtypes_that_are_not_numbers(dtype):
    with pytest.raises(DTypeError, match="no tensor can have dtype"):
        TensorType(dtype, ())


@pytest.mark.parametrize("shape", [(-1,), (1.5,), ("a",), None])
def test_refuses_wrong_shapes(shape):
    with pytest.raises((ShapeError, OptionError)):
        TensorType("float64", shape)


def test_floatx_and_attributes():
    t = TensorType("floatX", (1, None, 3))
    assert (t.dtype, t.ndim, t.kind) == (config.floatX, 3, "f")
    assert t.broadcastable == (True, False, False)
    assert t.numpy_dtype == np.dtype("float64")


def test_the_documents_examples():
    v1 = TensorType("float64", (2, None))()
    v2 = TensorType("float64", (2, 1))()
    assert v1.type.in_same_class(v2.type) is False
    assert v1.type.is_super(v2.type) is True
    assert v2.type.is_super(v1.type) is False
    assert v1.type.filter_variable(v2) is v2
    v3 = v2.type.filter_variable(v1)
    assert v3.type is TensorType("float64", (2, 1))
    assert v3.owner.inputs[0] is v1


def test_filter_variable_joins_what_is_known():
    wanted, have = TensorType("float64", (None, 3)), TensorType("float64", (2, None))
    assert wanted.filter_variable(have()).type.shape == (2, 3)
    with pytest.raises(TypeMismatchError, match="float32"):
        wanted.filter_variable(TensorType("float32", (None, 3))())
    with pytest.raises(TypeMismatchError):
        wanted.filter_variable(TensorType("float64", (2, 4))())
    with pytest.raises(TypeMismatchError):
        wanted.filter_variable(TensorType("float64", (3,))())
    with pytest.raises(TypeMismatchError):
        TensorType("float64", (2, 3)).filter_variable(have(), allow_convert=False)
    assert wanted.filter_variable(np.ones((2, 3))).data.shape == (2, 3)


def test_is_super_cannot_tell_about_other_classes():
    assert TensorType("float64", ()).is_super(Generic()) is None


@given(shapes, shapes)
def test_is_super_means_inclusion(a, b):
    s, t = TensorType("float32", a), TensorType("float32", b)
    samples = [tuple(2 if d is None else d for d in b), tuple(0 if d is None else d for d in b)]
    accepted = [s.is_valid_value(np.zeros(shape, "float32")) for shape in samples]
    if s.is_super(t):
        assert all(accepted)
    else:
        assert s.is_super(t) is False
        assert not all(accepted)


# --- filter -----------------------------------------------------------------------------------


def test_the_same_array_passes():
    a = np.zeros((2, 3))
    assert TensorType("float64", (2, None)).filter(a) is a
    assert TensorType("float64", (2, None)).filter(a, strict=True) is a


@pytest.mark.parametrize(
    "array",
    [
        pickle.loads(pickle.dumps(np.ones(3))),
        np.ones(3, "longlong"),
        np.ones(3, np.dtype("f8", metadata={"of": 1})),
    ],
    ids=["unpickled", "longlong", "metadata"],
)
def test_a_dtype_that_is_another_object(array):
    t = TensorType(str(array.dtype), (3,))
    assert array.dtype is not t.numpy_dtype
    assert array.dtype == t.numpy_dtype
    assert t.filter(array, strict=True) is array
    assert t.filter(array) is array
    x = t("x")
    shared = rw.shared(array)
    total = rw.function([rw.In(x, strict=True)], x + shared)(array)
    np.testing.assert_array_equal(total, 2 * array)


def test_strict_takes_nothing_else():
    t = TensorType("float64", ())
    for value in (1.0, np.float64(1), np.zeros((), "float32"), [1.0]):
        with pytest.raises(DTypeError, match="expected an array of dtype float64"):
            t.filter(value, strict=True)
        assert not t.is_valid_value(value)
    assert "float64" in t.value_validity_msg(1.0)
    assert t.value_validity_msg(np.zeros(())) == "value is valid"


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float64", 3),
        ("float64", True),
        ("float32", 2**20),
        ("float32", 0.5),
        ("int8", 5),
        ("uint8", 255),
        ("int8", np.int64(5)),
        ("float32", np.float64(0.25)),
        ("complex64", 1j),
        ("bool", True),
        ("int64", np.array(3, "int8")),
        ("float32", np.array(3, "int64")),
        ("float64", np.array(1.5, ">f8")),
        ("float32", float("nan")),
        ("float32", float("inf")),
    ],
)
def test_conversions_without_loss(dtype, value):
    got = TensorType(dtype, ()).filter(value)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(got, value)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float32", np.float64(0.1)),
        ("float32", np.array(0.5)),
        ("float32", 2**24 + 1),
        ("float32", np.array(2**24 + 1)),
        ("int8", 300),
        ("uint8", -1),
        ("int64", 1.5),
        ("int32", np.array(3)),
        ("bool", 2),
        ("float64", 1j),
        ("uint64", np.array(-1)),
    ],
)
def test_a_loss_is_refused_and_named(dtype, value):
    with pytest.raises(DTypeError, match=f"expected dtype {dtype}"):
        TensorType(dtype, ()).filter(value)


def test_python_floats_become_floatx_scalars(monkeypatch):
    with pytest.raises(DTypeError):
        TensorType("float32", ()).filter(0.1)
    monkeypatch.setattr(config, "floatX", "float32")
    assert TensorType("float32", ()).filter(0.1) == np.float32(0.1)
    with pytest.raises(DTypeError):
        TensorType("float32", ()).filter(0.1, allow_downcast=False)
    with pytest.raises(DTypeError):
        TensorType("float32", (1,)).filter([0.1])


def test_allow_downcast():
    t = TensorType("float32", (None,))
    np.testing.assert_array_equal(t.filter([0.1], allow_downcast=True), np.float32([0.1]))
    assert TensorType("int8", ()).filter(1.9, allow_downcast=True) == 1
    with pytest.raises(DTypeError):
        t.filter([1j], allow_downcast=True)


@pytest.mark.parametrize("value", ["abc", None, object(), [[1], [2, 3]], {}])
def test_refuses_what_is_no_array_of_numbers(value):
    with pytest.raises(DTypeError):
        TensorType("float64", (None,)).filter(value)


def test_refuses_variables_as_values():
    t = TensorType("float64", ())
    with pytest.raises(ForeignObjectError, match="got a variable"):
        t.filter(t("x"))


def test_wrong_shapes_are_named():
    t = TensorType("float64", (2, None))
    with pytest.raises(NDimError, match=r"expected 2 dimensions .* got 1: shape \(3,\)"):
        t.filter(np.zeros(3))
    with pytest.raises(
        ShapeError, match=r"expected shape \(2, None\) .* got \(3, 2\): dimension 0"
    ):
        t.filter(np.zeros((3, 2)))
    with pytest.raises(TypeError):  # as the contract of `filter` says
        t.filter(np.zeros((3, 2)))
    assert TensorType("float64", (None,)).filter([]).shape == (0,)
    assert TensorType("int64", (None,)).filter([]).dtype == "int64"


def test_filter_inplace_reuses_the_storage():
    t = TensorType("float64", (None,))
    storage = np.zeros(2)
    assert t.filter_inplace([1, 2], storage) is storage
    np.testing.assert_array_equal(storage, [1, 2])
    other = np.ones(3)
    assert t.filter_inplace(other, storage) is other
    assert t.filter_inplace(other, None) is other


# --- comparing values -------------------------------------------------------------------------


def test_values_eq():
    t = TensorType("float64", (None,))
    assert t.values_eq(np.array([1.0, np.nan]), np.array([1.0, np.nan]))
    assert not t.values_eq(np.array([1.0]), np.array([1.0], "float32"))
    assert not t.values_eq(np.zeros(1), np.zeros(2))
    assert not t.values_eq(np.zeros(1), np.full(1, 1e-12))


@pytest.mark.parametrize(
    ("dtype", "near", "far"),
    [
        ("float64", 1e-9, 1e-3),
        ("float32", 1e-6, 1e-3),
        ("float16", 1e-3, 0.1),
        ("complex64", 1e-6, 1e-3),
    ],
)
def test_values_eq_approx_knows_the_dtype(dtype, near, far):
    t = TensorType(dtype, (None,))
    a = np.array([1, np.nan, np.inf], dtype)
    b, c = a.copy(), a.copy()
    b[0] += near
    c[0] += far
    assert t.values_eq_approx(a, b)
    assert not t.values_eq_approx(a, c)
    assert t.values_eq_approx(a, c, rtol=1)


def test_values_eq_approx_of_integers_is_exact():
    t = TensorType("int64", (None,))
    assert not t.values_eq_approx(np.array([10**9]), np.array([10**9 + 1]))
    assert t.values_eq_approx(np.array([3]), np.array([3]))


def test_memory():
    t = TensorType("float32", (None, None))
    a = np.zeros((4, 4), "float32")
    assert t.may_share_memory(a, a[1:])
    assert not t.may_share_memory(a, a.copy())
    assert not t.may_share_memory(a, None)
    assert t.get_size(t.get_shape_info(a)) == 64
    assert TensorType("int64", ()).get_size(()) == 8


# --- variables --------------------------------------------------------------------------------


def test_makes_variables_and_constants():
    t = TensorType("float64", (None,))
    x = t("x")
    assert isinstance(x, TensorVariable)
    assert x.name == "x"
    c = t.make_constant([1, 2])
    assert isinstance(c, TensorConstant)
    assert c.type is TensorType("float64", (2,))


def test_clone():
    t = TensorType("float64", (2, None))
    assert t.clone() is t
    assert t.clone(dtype="int8").dtype == "int8"
    assert t.clone(shape=()).ndim == 0
    with pytest.raises(TypeError):
        t.clone(color="red")


def test_common_shape():
    assert common_shape((1, 2, None), (1, 3, None)) == (1, None, None)


def test_clone_keeps_the_class() -> None:
    class Own(TensorType):
        pass

    copy = Own("float64", (None,)).clone(shape=(3,))
    assert (type(copy), copy.dtype, copy.shape) == (Own, "float64", (3,))


def test_older_names() -> None:
    vector = TensorType("float64", (None,))
    assert vector.filter(data=[1.0]).tolist() == [1]
    assert vector.is_valid_value(a=[1.0], strict=False)
    assert vector.Variable is type(vector())
    assert vector.Constant is type(vector.make_constant([1.0]))
