"""Ops that are not what they say: each is found, by the right name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.compile.debug import DebugMode, DebugWarning
from rewrite_engine.errors import (
    BadDestroyMap,
    BadThunkOutput,
    BadViewMap,
    InvalidValueError,
    PropsError,
)
from rewrite_engine.graph.op import Op
from rewrite_engine.link import forms
from rewrite_engine.link.vm import lower
from rewrite_engine.tensor.op import Shapes, TensorOp

x = pt.dvector("x")
VALUE = np.array([3.0, 1.0, 2.0])


class Twice(Op):
    """Two times a vector: right, the base of what is wrong."""

    __props__: Any = ()
    itypes = otypes = [pt.dvector]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = 2 * inputs[0]


class OtherFunction(Twice):
    __props__ = ()

    def make_function(self, node: Any) -> Any:
        return lambda v: 2 * v + 1e-3


class OtherThunk(Twice):
    __props__ = ()

    def make_thunk(self, node: Any, storage_map: Any, *rest: Any, **more: Any) -> Any:
        (v,), (out,) = node.inputs, node.outputs

        def thunk() -> None:
            storage_map[out][0] = 3 * storage_map[v][0]

        return thunk


class OtherDebug(Twice):
    """Fails in all forms but `debug_perform`, which DebugMode runs instead."""

    __props__ = ()

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        raise NotImplementedError

    def make_function(self, node: Any) -> Any:
        return lambda v: 1 / 0

    def debug_perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = 2 * abs(inputs[0]) - 4


class WrongDebug(OtherDebug):
    __props__ = ()

    def debug_perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0].astype("float32")


class Counting(Twice):
    """Not a function of its inputs."""

    __props__ = ()
    calls = 0

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        type(self).calls += 1
        output_storage[0][0] = inputs[0] * type(self).calls


class AddsToOld(Twice):
    """Takes for zeros what is in its storage."""

    __props__ = ()

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        old = output_storage[0][0]
        if old is None or old.shape != inputs[0].shape:
            old = output_storage[0][0] = np.zeros_like(inputs[0])
        old += 2 * inputs[0]


class TooLong(Twice):
    """Does not look how long its storage is."""

    __props__ = ()

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        old, n = output_storage[0][0], len(inputs[0])
        if old is None or len(old) < n:
            old = output_storage[0][0] = np.empty(n)
        old[:n] = 2 * inputs[0]


class NoSteps(Twice):
    """Takes its storage for contiguous."""

    __props__ = ()

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        old, n = output_storage[0][0], len(inputs[0])
        if old is None or len(old) != n or old.strides[0] <= 0:
            old = output_storage[0][0] = np.empty(n)
        flat = np.ndarray(n, old.dtype, old.base if old.base is not None else old)
        flat[:] = 2 * inputs[0]


class WrongCode(Twice):
    __props__ = ()


@lower.register
def _(op: WrongCode, node: Any, ctx: Any) -> str:
    return f"{ctx.array(0)} * 2.5"


class Registered(Twice):
    __props__ = ()


class Sorts(Twice):
    """Sorts its input, and does not say so."""

    __props__ = ()

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        inputs[0].sort()
        output_storage[0][0] = inputs[0].copy()


class Shows(Twice):
    """Shows its input, and does not say so."""

    __props__ = ()

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0][::-1]


class SaysItShows(Twice):
    __props__ = ()
    view_map = {0: [0]}
    must_view_map = {0: 0}


class SharesOutputs(Op):
    __props__ = ()
    itypes = [pt.dvector]
    otypes = [pt.dvector, pt.dvector]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        both = np.exp(inputs[0])
        output_storage[0][0], output_storage[1][0] = both, both[::-1]


class OtherType(Twice):
    __props__ = ()

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = (2 * inputs[0]).astype("float32")


class OtherLength(Twice):
    """Its type promises three elements."""

    __props__ = ()
    otypes = [pt.TensorType("float64", (3,))]

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = 2 * inputs[0][:2]


class WrongInferShape(Twice):
    __props__ = ()

    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Any:
        return [(shapes[0][0] + 1,)]


class WrongShapeRule(TensorOp):
    """The last two, and it says that there are as many as there were."""

    __props__ = ()

    def shapes(self, a: Any) -> Shapes:
        return Shapes([[(0, 0)]])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0][-2:].copy()


WRONG: list[tuple[Any, type[Exception], str]] = [
    (OtherFunction(), BadThunkOutput, "its make_function computes other values than its perform"),
    (OtherThunk(), BadThunkOutput, "its make_thunk computes other values than its perform"),
    (WrongDebug(), InvalidValueError, "not a value of its type .*float64.*: expected an array of"),
    (Counting(), BadThunkOutput, "its perform, run again, gives other values"),
    (AddsToOld(), BadThunkOutput, "its perform, into .* storage, gives other values"),
    (TooLong(), BadThunkOutput, r"into wrong_size\(\+1 along dimension 0\) storage"),
    (NoSteps(), BadThunkOutput, r"into strided\(2,\) storage"),
    (WrongCode(), BadThunkOutput, "its vm computes other values than its perform"),
    (Registered(), BadThunkOutput, "its theirs computes other values than its perform"),
    (Sorts(), BadDestroyMap, "its perform overwrites input 0, but destroy_map does not declare it"),
    (Shows(), BadViewMap, "shares the memory of input 0, but view_map does not declare it"),
    (SaysItShows(), BadViewMap, "does not view input 0, as must_view_map declares"),
    (SharesOutputs(), BadViewMap, "outputs 0 and 1 of its perform share memory"),
    (OtherType(), InvalidValueError, "not a value of its type .*float64.*: expected an array of"),
    (OtherLength(), InvalidValueError, "not a value of its type"),
    (WrongInferShape(), InvalidValueError, r"has shape \(3,\); by its infer_shape it has \(4,\)"),
    (WrongShapeRule(), InvalidValueError, r"has shape \(2,\); by its shape rule it has \(3,\)"),
]


@forms.register_form
def theirs(node: Any) -> Any:
    """Code that somebody registers for an op."""
    if not isinstance(node.op, Registered):
        return None
    return forms.Form("theirs", forms.into_cells(lambda v: 2 * v + 1), written=True)


@pytest.mark.parametrize(("op", "error", "text"), WRONG, ids=lambda x: type(x).__name__)
def test_wrong_ops(op: Any, error: type[Exception], text: str) -> None:
    y = op(pt.exp(pt.log(x)))
    outputs = y if isinstance(y, list) else [y]
    f = rw.function([x], outputs, mode="DebugMode")
    with pytest.raises(error, match=text) as caught:
        f(VALUE)
    assert str(caught.value).startswith(str(op))
    assert "test_wrong_ops.py" in str(caught.value)  # the user's line
    assert caught.value.node.op is op  # type: ignore[attr-defined]
    if error is BadThunkOutput:
        assert caught.value.offending_op() is type(op)  # type: ignore[attr-defined]


def test_the_right_op_passes() -> None:
    f = rw.function([x], Twice()(x) + 1, mode="DebugMode")
    np.testing.assert_array_equal(f(VALUE), 2 * VALUE + 1)


def test_debug_perform_runs_instead_of_all_else() -> None:
    """Also of ops in the steps of a loop, and where the function is compiled as a whole."""
    other = OtherDebug()
    f = rw.function([x], [other(x) + 1, other(pt.exp(x))], mode="DebugMode")
    one, two = f(VALUE)
    np.testing.assert_array_equal(one, 2 * VALUE - 3)
    np.testing.assert_allclose(two, 2 * np.exp(VALUE) - 4)
    steps = rw.scan(lambda v: other(v), outputs_info=[x], n_steps=6, return_updates=False)
    g = rw.function([x], steps[-1], mode="DebugMode")
    expected = VALUE
    for _ in range(6):
        expected = 2 * abs(expected) - 4
    np.testing.assert_array_equal(g(VALUE), expected)


def test_values_that_differ_are_told() -> None:
    with pytest.raises(BadThunkOutput) as caught:
        rw.function([x], OtherFunction()(x), mode="DebugMode")(VALUE)
    assert "output 0: 6.0 and 6.001 at 0, in 3 of 3 elements" in str(caught.value)
    assert "input 0: x of type TensorType(float64, (None,)): float64 of shape (3,)" in str(
        caught.value
    )


def test_each_check_can_be_left_out() -> None:
    wrong = OtherFunction()(x)
    quiet = DebugMode(check_preallocated_output="")
    np.testing.assert_array_equal(rw.function([x], TooLong()(x), mode=quiet)(VALUE), 2 * VALUE)
    sizes = DebugMode(check_preallocated_output=["wrong_size"])
    with pytest.raises(BadThunkOutput):
        rw.function([x], TooLong()(x), mode=sizes)(VALUE)
    assert sizes.check_preallocated_output == ["wrong_size"]
    code = DebugMode(check_c_code=False)
    np.testing.assert_array_equal(rw.function([x], WrongCode()(x), mode=code)(VALUE), 2 * VALUE)
    own = DebugMode(check_py_code=False)
    np.testing.assert_array_equal(rw.function([x], WrongCode()(x), mode=own)(VALUE), 2.5 * VALUE)
    with pytest.raises(BadThunkOutput):
        rw.function([x], wrong, mode=code)(VALUE)


def test_strides_are_compared_if_that_is_asked_for() -> None:
    class OtherOrder(Op):
        """The same in another order in memory."""

        __props__ = ()
        itypes = otypes = [pt.dmatrix]

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = np.array(inputs[0], order="C")

        def make_function(self, node: Any) -> Any:
            return lambda v: np.array(v, order="F")

    m, value = pt.dmatrix("m"), np.arange(6.0).reshape(2, 3)
    y = OtherOrder()(m)
    np.testing.assert_array_equal(rw.function([m], y, mode=DebugMode())(value), value)
    with pytest.warns(DebugWarning, match="strides"):
        rw.function([m], y, mode=DebugMode(require_matching_strides=1))(value)
    with pytest.raises(BadThunkOutput, match="strides"):
        rw.function([m], y, mode=DebugMode(require_matching_strides=2))(value)


def test_memory_that_is_not_reused_is_told() -> None:
    class NotInPlace(Twice):
        """Says that it works in place, and does not."""

        __props__ = ()
        destroy_map = {0: [0]}

    y = NotInPlace()(pt.exp(x))
    with pytest.warns(DebugWarning, match="is in the memory of input 0, but it has its own"):
        rw.function([x], y, mode="DebugMode", accept_inplace=True)(VALUE)


def test_what_is_not_finite() -> None:
    y = pt.log(x) * 2
    with pytest.raises(InvalidValueError, match="an infinity in log") as caught:
        rw.function([x], y, mode=DebugMode())([0.0, 1.0])
    assert np.isinf(caught.value.v).any()
    with pytest.raises(InvalidValueError, match="NaN in x"):
        rw.function([x], y, mode=DebugMode())([np.nan])
    loose = rw.function([x], y, mode=DebugMode(check_isfinite=False))
    np.testing.assert_array_equal(loose([0.0, 1.0]), [-np.inf, 0.0])


def test_errors_of_ops_are_as_in_other_modes() -> None:
    y = pt.dvector("y")
    f = rw.function([x, y], x + y, mode="DebugMode")
    with pytest.raises(ValueError, match="cannot broadcast shapes") as caught:
        f([1.0, 2.0], [1.0, 2.0, 3.0])
    assert not isinstance(caught.value, BadThunkOutput)


# --- parameters that __props__ leave out ----------------------------------------------------------


class Forgets(Twice):
    __props__ = ("n",)

    def __init__(self, n: int, sign: int = 1) -> None:
        self.n, self.sign = n, sign


class Renames(Twice):
    __props__ = ()

    def __init__(self, times: int) -> None:
        self.factor = times
        self.seen = 0


def test_a_twin_with_another_parameter_is_an_error_in_any_mode() -> None:
    kept = Forgets(1)
    assert Forgets(1) is kept is Forgets(1, sign=1)
    with pytest.raises(PropsError, match=r"__props__ \('n',\) leave out 'sign'.* 1 and -1"):
        Forgets(1, sign=-1)
    kept = Renames(300)
    with pytest.raises(PropsError, match="leave out 'times'") as caught:
        Renames(301)
    assert "test_wrong_ops.py" in str(caught.value)


def test_what_changes_later_is_no_parameter() -> None:
    kept = Renames(300)
    kept.seen += 1
    assert Renames(300) is kept
