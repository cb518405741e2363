"""Shared variables: making them, reading and changing their values, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile import (
    Mode,
    SharedVariable,
    TensorSharedVariable,
    function,
    shared,
    shared_constructor,
)
from rewrite_engine.config import config
from rewrite_engine.errors import (
    DTypeError,
    ForeignObjectError,
    NDimError,
    ShapeError,
    UpdateTypeError,
)
from rewrite_engine.graph.type import generic
from rewrite_engine.tensor.type import TensorType

pytestmark = pytest.mark.usefixtures("linker")

PLAIN = Mode(optimizer=None)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (np.zeros((2, 3)), TensorType("float64", (None, None))),
        (np.zeros(2, np.float32), TensorType("float32", (None,))),
        (np.array(1), TensorType("int64", ())),
        (1, TensorType("int64", ())),
        (1.5, TensorType("float64", ())),
        (True, TensorType("bool", ())),
        (1j, TensorType("complex128", ())),
        (np.float32(1), TensorType("float32", ())),
    ],
)
def test_types(value: Any, type_: Any) -> None:
    s = shared(value, "s")
    assert type(s) is TensorSharedVariable
    assert s.type is type_
    got = s.get_value()
    assert type(got) is np.ndarray
    assert got.dtype == type_.dtype
    np.testing.assert_array_equal(got, value)
    assert s.name == s.container.name == "s"


def test_numbers_keep_their_digits_whatever_floatX_is() -> None:
    config.floatX = "float32"
    s = shared(1.5)
    assert s.type.dtype == "float64"
    s.set_value(0.1)
    assert s.get_value() == 0.1
    assert shared(np.float16(1)).type.dtype == "float16"


def test_it_is_a_tensor() -> None:
    s = shared(np.arange(3.0), "s")
    z = (s + 1)[1:].sum()
    assert function([], z, mode=PLAIN)() == 5


def test_values_are_copied_unless_borrowed() -> None:
    value = np.zeros(2)
    kept, copied = shared(value, borrow=True), shared(value)
    value[0] = 1
    assert kept.get_value().tolist() == [1, 0]
    assert copied.get_value().tolist() == [0, 0]
    assert kept.get_value(borrow=True) is value
    assert kept.get_value() is not value
    new = np.ones(2)
    kept.set_value(new, borrow=True)
    copied.set_value(new)
    new[0] = 5
    assert kept.get_value()[0] == 5
    assert copied.get_value()[0] == 1


def test_set_value_checks() -> None:
    s = shared(np.zeros(2), "s", shape=(2,))
    s.set_value([3, 4])
    assert s.get_value().dtype == "float64"
    for bad, error in [
        (np.zeros((2, 2)), NDimError),
        (np.zeros(3), ShapeError),
        (np.zeros(2, complex), DTypeError),
        ("text", DTypeError),
        (pt.vector("x"), ForeignObjectError),
    ]:
        with pytest.raises(error):
            s.set_value(bad)
    assert s.get_value().tolist() == [3, 4]
    strict = shared(np.zeros(2), strict=True)
    with pytest.raises(DTypeError):
        strict.set_value([1.0, 2.0])
    narrow = shared(np.zeros(2, np.float32), allow_downcast=True)
    narrow.set_value(np.array([0.1, 0.2]))
    assert narrow.get_value().dtype == "float32"


def test_set_value_is_seen_by_functions() -> None:
    s = shared(np.zeros(2), "s")
    f = function([], s + 1, mode=PLAIN)
    assert f().tolist() == [1, 1]
    s.set_value(np.ones(3))
    assert f().tolist() == [2, 2, 2]
    s.zero()
    assert f().tolist() == [1, 1, 1]
    borrowed = s.get_value(borrow=True)
    s.set_value(np.ones(3), borrow=True)
    s.zero(borrow=True)
    assert s.get_value(borrow=True) is not borrowed
    assert f().tolist() == [1, 1, 1]


def test_static_shapes() -> None:
    assert shared(np.zeros((2, 3)), shape=(2, None)).type.shape == (2, None)
    assert shared(np.zeros((1, 3)), broadcastable=(True, False)).type.shape == (1, None)
    with pytest.raises(ShapeError):
        shared(np.zeros(2), shape=(3,))


def test_what_is_refused() -> None:
    with pytest.raises(ForeignObjectError, match="needs a value"):
        shared(pt.vector("x"))
    with pytest.raises(ForeignObjectError, match="constant"):
        shared(pt.constant(1.0))
    with pytest.raises(DTypeError):
        shared(np.array(["a"]))


@pytest.mark.parametrize("value", [[1, 2], (1.0,), None, {"a": 1}, [np.zeros(2)]], ids=repr)
def test_other_objects_are_kept_as_they_are(value: Any) -> None:
    state = shared(value, "state")
    assert type(state) is SharedVariable
    assert state.type is generic
    assert type(state.get_value()) is type(value)
    assert repr(function([], [state])()[0]) == repr(value)
    state.set_value("another")
    assert state.get_value() == "another"
    assert not hasattr(state, "zero")


def test_a_list_is_no_tensor_and_what_is_one_is_said() -> None:
    kept = shared([1.0, 2.0])
    operators = (
        lambda w: w + 1, lambda w: 1 - w, lambda w: w * w, lambda w: np.ones(2) * w,
        lambda w: pt.vector("v") / w, lambda w: w @ [1.0, 2.0], lambda w: -w, lambda w: 2.0**w,
    )  # fmt: skip
    for wrong in (pt.exp, pt.as_tensor_variable, *operators):
        with pytest.raises(ForeignObjectError, match=r"Generic; shared\(numpy.array"):
            wrong(kept)


def test_operators_of_shared_values_are_those_of_their_type() -> None:
    w = shared(np.array([1.0, 2.0]), "w")
    for made, expected in ((w + 1, [2, 3]), (1 - w, [0, -1]), (-w, [-1, -2]), (w @ w, 5.0)):
        assert made.eval().tolist() == expected
    s = shared(csr_array(np.eye(2)), "s")
    assert (s @ w).eval().tolist() == [1, 2]

    class Other:
        def __radd__(self, other: Any) -> str:
            return "mine"

    assert shared([1.0]) + Other() == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        shared([1.0]) + object()


def test_other_objects_and_other_constructors() -> None:
    state = shared({"a": 1}, "state")
    assert type(state) is SharedVariable
    assert state.get_value() == {"a": 1}
    assert state.get_value() is not state.get_value(borrow=True)

    class Money:
        def __init__(self, amount: float) -> None:
            self.amount = amount

    @shared_constructor.register(Money)
    def _(value: Money, name: str | None = None, **options: Any) -> Any:
        return shared(value.amount, name)

    assert shared(Money(3.0), "m").get_value() == 3


def test_default_update_is_checked() -> None:
    s = shared(np.zeros(2), "s")
    with pytest.raises(UpdateTypeError, match="update of s"):
        s.default_update = pt.matrix("m")
    s.default_update = s + 1
    assert s.default_update.owner is not None
    s.default_update = None
    assert s.default_update is None


def test_clones_share_the_value() -> None:
    s = shared(np.zeros(2), "s")
    c = s.clone("c")
    c.set_value(np.ones(2))
    assert s.get_value().tolist() == [1, 1]
    assert (c.name, s.name) == ("c", "s")


def test_pickling() -> None:
    s = shared(np.arange(2.0), "s")
    t = pickle.loads(pickle.dumps(s))
    assert t.get_value().tolist() == [0, 1]
    assert t.type is s.type
    t.set_value(np.zeros(2))
    assert s.get_value().tolist() == [0, 1]
    a, b = pickle.loads(pickle.dumps([s, s]))
    assert a is b


def test_subclasses_of_arrays_become_arrays() -> None:
    class Own(np.ndarray):
        """A subclass with nothing of its own."""

    value = np.array([[1.0, 2.0]]).view(Own)
    s = shared(value, "s")
    assert type(s.get_value(borrow=True)) is np.ndarray
    s.set_value(value)
    assert type(s.get_value(borrow=True)) is np.ndarray
    value[0, 0] = 5
    assert s.get_value().tolist() == [[1, 2]]
    with pytest.raises(DTypeError, match="masked"):
        s.set_value(np.ma.array([[1.0, 2.0]], mask=[[True, False]]))


def test_the_cell_knows_how_values_are_converted() -> None:
    strict = shared(np.zeros(2), strict=True, allow_downcast=False)
    assert (strict.container.strict, strict.container.allow_downcast) == (True, False)
    assert (shared(0.0).container.strict, shared(0.0).container.allow_downcast) == (False, None)


def test_without_a_name_it_prints_as_what_it_was_assigned_to() -> None:
    weights = shared(np.zeros(2))
    named = shared(np.zeros(2), "b")
    two = [shared(np.zeros(2)) for _ in range(2)]
    assert (str(weights), repr(weights), weights.name) == ("weights", "weights", None)
    assert (str(named), named.assigned) == ("b", None)
    assert {str(v) for v in two} == {"<TensorType(float64, (None,))>"}
    x = pt.dvector("x")
    f = function([x], x * weights + named + two[0] * two[1])
    assert rw.printing.pp(f) == "b + a * c + x * weights"
    assert r"\mathrm{weights}" in rw.printing.latex(f)
    assert str(weights.clone()) == "weights"
    assert str(pickle.loads(pickle.dumps(weights))) == "<TensorType(float64, (None,))>"


def test_those_of_one_line_that_ran_twice_are_numbered() -> None:
    def layer() -> Any:
        w = shared(np.zeros(2))
        return w * 2.0

    x = pt.dvector("x")
    assert rw.printing.pp(layer() * x + layer()) == "w * 2.0 * x + w_2 * 2.0"
    assert repr(layer() * x + layer()) == "w * 2.0 * x + w_2 * 2.0"
