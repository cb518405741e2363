"""`In` and `Out`: defaults, states of a function's own, borrowing, overwriting."""

from __future__ import annotations

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.compile import In, Mode, Out, function, shared
from rewrite_engine.errors import DTypeError, ForeignObjectError, InputError, UpdateTypeError
from rewrite_engine.tensor.elemwise import Elemwise

PLAIN = Mode(optimizer=None)
x, y = pt.vector("x"), pt.vector("y")


def test_defaults() -> None:
    f = function([x, In(y, value=[1.0, 2.0])], x + y, mode=PLAIN)
    assert f([1.0, 1.0]).tolist() == [2, 3]
    assert f([1.0, 1.0], [5.0, 5.0]).tolist() == [6, 6]
    assert f([1.0, 1.0], y=[0.0, 0.0]).tolist() == [1, 1]
    assert f([1.0, 1.0]).tolist() == [2, 3]


def test_a_default_is_not_the_callers_array_nor_given_away() -> None:
    value = np.array([1.0])
    f = function([In(x, value=value)], x, mode=PLAIN)
    value[0] = 5
    result = f()
    result[0] = 7
    assert f().tolist() == [1]


def test_names() -> None:
    f = function([In(x, name="first"), In(y, autoname=False)], x - y, mode=PLAIN)
    assert f(first=[2.0], arg1=[1.0]).tolist() == [1]


def test_an_input_with_an_update_is_a_state() -> None:
    n = pt.lscalar("n")
    f = function([In(n, value=0, update=n + 2)], n * 10, mode=PLAIN)
    assert [int(f()) for _ in range(3)] == [0, 20, 40]
    assert int(f(1)) == 10
    assert int(f()) == 30
    with pytest.raises(InputError, match="needs a value"):
        In(n, update=n + 1)
    with pytest.raises(UpdateTypeError):
        In(n, value=0, update=x)


def test_downcast_and_strict() -> None:
    v = pt.fvector("v")
    double = np.array([0.1])
    with pytest.raises(DTypeError, match="allow_input_downcast"):
        function([v], v, mode=PLAIN)(double)
    for f in (
        function([v], v, mode=PLAIN, allow_input_downcast=True),
        function([In(v, allow_downcast=True)], v, mode=PLAIN),
    ):
        assert f(double).dtype == "float32"
    with pytest.raises(DTypeError):
        function([In(x, strict=True)], x, mode=PLAIN)([1.0])


def test_mutable_inputs_may_be_overwritten_others_never() -> None:
    safe = function([x], pt.exp(x) + 1)
    value = np.zeros(3)
    safe(value)
    assert value.tolist() == [0, 0, 0]
    inplace = Elemwise(pt.exp.scalar_op, ((0, 0),))
    f = function([In(x, mutable=True)], inplace(x), mode=PLAIN, accept_inplace=True)
    result = f(value)
    assert result.tolist() == value.tolist() == [1, 1, 1]
    g = function([In(x, mutable=True)], pt.exp(x), mode=Mode("fast_run"))
    value = np.zeros(3)
    assert g(value).tolist() == [1, 1, 1]
    assert value.tolist() == [1, 1, 1]


def test_borrowed_results_may_be_the_argument() -> None:
    value = np.zeros(2)
    assert function([x], x, mode=PLAIN)(value) is not value
    assert function([x], Out(x, borrow=True), mode=PLAIN)(value) is value
    assert function([In(x, borrow=True)], x, mode=PLAIN)(value) is value


def test_borrowed_states() -> None:
    w = shared(np.zeros(2), "w")
    f = function([], [w, Out(w, borrow=True)], mode=PLAIN)
    copy, own = f()
    assert copy is not w.get_value(borrow=True)
    assert own is w.get_value(borrow=True)


def test_wrong_things() -> None:
    with pytest.raises(ForeignObjectError):
        In(3)  # type: ignore[arg-type]
    with pytest.raises(ForeignObjectError):
        Out("x")  # type: ignore[arg-type]
    assert repr(In(x)) == "In(x)"
    assert repr(Out(x)) == "Out(x)"
