"""What a generated function accepts, and what it says of what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import (
    DTypeError,
    MissingInputError,
    NDimError,
    NoTensorError,
    ShapeError,
)
from tests.link.reference import link

x = pt.matrix("x")
f = link([x], x * 2).call


@pytest.mark.parametrize(
    "value",
    [
        [[1.0, 2.0]],
        [[1, 2]],
        ((1.0, 2.0),),
        np.array([[1, 2]]),
        np.array([[1.0, 2.0]], ">f8"),
        np.array([[1.0, 2.0]], np.float32),
        np.array([[1.0], [2.0]]).T,
        np.asfortranarray([[1.0, 2.0]]),
        np.array([[1.0, 0.0, 2.0, 0.0]])[:, ::2],
        np.ma.array([[1.0, 2.0]]),
    ],
    ids=repr,
)
def test_what_is_converted(value: Any) -> None:
    result = f(value)
    assert type(result) is np.ndarray
    assert result.dtype == np.dtype(float)
    assert result.tolist() == [[2.0, 4.0]]


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (np.ones(3), NDimError, r"f: argument 0 \('x'\).*\(None, None\)\).*shape \(3,\)"),
        (1.0, NDimError, "argument 0"),
        (np.ones((1, 1), complex), DTypeError, "complex128"),
        ("text", NoTensorError, "str"),  # (a `ValueError`, too)
        ({}, NoTensorError, "dict"),
        (None, NoTensorError, "NoneType"),
        (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), DTypeError, "masked"),
        ([np.ma.array([1.0, 2.0], mask=[False, True])], DTypeError, "masked"),
        ([[1.0, np.ma.masked]], DTypeError, "masked"),
        (x, TypeError, "variable"),
    ],
)
def test_what_is_refused(value: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        f(value)


def test_static_shapes_are_checked() -> None:
    y = pt.tensor(dtype="float64", shape=(2, None), name="y")
    z = pt.tensor(dtype="float64", shape=(2, 3), name="z")
    g = link([y, z], y.sum() + z).call
    assert g(np.ones((2, 5)), np.ones((2, 3))).shape == (2, 3)
    with pytest.raises(ShapeError, match="argument 0"):
        g(np.ones((3, 5)), np.ones((2, 3)))
    with pytest.raises(ShapeError, match="argument 1"):
        g(np.ones((2, 5)), np.ones((3, 2)))


def test_missing_and_surplus() -> None:
    with pytest.raises(MissingInputError, match=r"argument 0 \('x'\)"):
        f()
    with pytest.raises(TypeError, match="positional"):
        f([[1.0]], [[1.0]])
    with pytest.raises(TypeError, match="multiple values"):
        f([[1.0]], x=[[1.0]])
    with pytest.raises(TypeError, match="unexpected keyword"):
        f(y=1)
    assert f(x=[[1.0]]) == 2


def test_names_that_python_has_not() -> None:
    a, b = pt.dscalar("sub::a"), pt.dscalar("lambda")
    f = link([a, b], 2 * a + b).call
    assert f(**{"sub::a": 1.0, "lambda": 3.0}) == f(1.0, 3.0) == f(1.0, **{"lambda": 3.0}) == 5
    with pytest.raises(TypeError, match=r"f\(\) got an unexpected keyword argument 'q'"):
        f(1.0, 2.0, q=1)
    with pytest.raises(MissingInputError, match="'lambda'"):
        f(1.0)


def test_scalars() -> None:
    s, k = pt.scalar("s"), pt.lscalar("k")
    g = link([s, k], s * k + 1).call
    for given in (2.0, np.float64(2), np.array(2.0), 2, np.int8(2)):
        result = g(given, 3)
        assert type(result) is np.ndarray
        assert result.shape == ()
        assert result == 7
    with pytest.raises(DTypeError):
        g(1.0, 2.5)
