"""Root variables by kind and dtype."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.config import config
from rewrite_engine.errors import DTypeError, ForeignObjectError, NDimError, OptionError, ShapeError

NDIM = {"scalar": 0, "vector": 1, "row": 2, "col": 2, "matrix": 2, "tensor3": 3, "tensor7": 7}
PREFIX = {"b": "int8", "w": "int16", "i": "int32", "l": "int64", "f": "float32", "d": "float64"}
PREFIX |= {"c": "complex64", "z": "complex128"}


@pytest.mark.parametrize("kind", NDIM)
def test_kinds_and_prefixes(kind):
    assert getattr(pt, kind)().type.ndim == NDIM[kind]
    assert getattr(pt, kind)().dtype == config.floatX
    assert getattr(pt, kind)(dtype="bool").dtype == "bool"
    for prefix, dtype in PREFIX.items():
        x = getattr(pt, prefix + kind)("x")
        assert (x.name, x.dtype, x.ndim) == ("x", dtype, NDIM[kind])


def test_broadcastable_kinds():
    assert pt.row().type.shape == (1, None)
    assert pt.dcol().type.shape == (None, 1)
    assert pt.row(shape=(1, 3)).type.shape == (1, 3)
    with pytest.raises(ShapeError):
        pt.row(shape=(2, 3))


def test_floatx(monkeypatch):
    monkeypatch.setattr(config, "floatX", "float32")
    assert pt.vector().dtype == "float32"
    assert pt.tensor(shape=(None,)).dtype == "float32"


def test_shapes():
    assert pt.matrix("m", shape=(2, None)).type.shape == (2, None)
    with pytest.raises(NDimError, match="expected 2 dimensions, got shape"):
        pt.matrix(shape=(2,))
    with pytest.raises(TypeError, match="dtype"):
        pt.dvector(dtype="int8")


def test_plurals():
    x, y = pt.vectors("x y")
    assert (x.name, y.name) == ("x", "y")
    a, _, c = pt.dmatrices("a", "b", "c")
    assert (a.type.ndim, c.name) == (2, "c")
    assert len(pt.scalars(4)) == 4
    assert [v.dtype for v in pt.matrices("a b", dtype="int8")] == ["int8", "int8"]
    assert pt.fcols("u v")[1].type.broadcastable == (False, True)


def test_tensor():
    assert pt.tensor("x", dtype="int8", shape=(None, 3)).type is pt.TensorType("int8", (None, 3))
    assert pt.tensor(dtype="float32", shape=(), name="s").name == "s"
    old = pt.tensor("float32", (None, 2))
    assert old.type is pt.TensorType("float32", (None, 2))
    assert pt.tensor("float32", shape=(2,)).type is pt.TensorType("float32", (2,))
    assert pt.tensor(dtype="float64", broadcastable=(True,)).type.shape == (1,)
    with pytest.raises(DTypeError):
        pt.tensor("x", dtype="strange", shape=())
    with pytest.raises(OptionError):
        pt.tensor("x", dtype="int8")


def test_prefixed_constructors_are_types():
    assert pt.dmatrix is pt.TensorType("float64", (None, None))
    assert pt.dmatrix("m", shape=(2, None)).type.shape == (2, None)


def test_names_are_strings() -> None:
    for bad in (lambda: pt.vector(3), lambda: pt.dscalar(["x"])):
        with pytest.raises(ForeignObjectError, match="a name must be a string, not"):
            bad()


def test_a_dtype_in_the_place_of_the_name() -> None:
    for dtype in (np.float32, int, bool, "int8"):
        assert pt.tensor(dtype, shape=(2, None)).type == pt.TensorType(dtype, (2, None))
