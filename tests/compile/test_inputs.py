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
    for state in ("shared", "implicit"):
        with pytest.raises(InputError, match="needs a value"):
            In(n, update=n + 1, **{state: True})  # type: ignore[arg-type]
    with pytest.raises(UpdateTypeError):
        In(n, value=0, update=x)


def test_an_update_without_a_value() -> None:
    f = function([In(x, update=x + 1, mutable=True)], x * 2, mode=PLAIN)
    with pytest.raises(TypeError, match="is missing"):
        f()
    assert f(np.ones(1)).tolist() == [2]
    assert f().tolist() == [4]


def test_implicit_is_shared() -> None:
    n = pt.lscalar("n")
    f = function([In(n, value=shared(3), update=n + 1, implicit=True)], n, mode=PLAIN)
    assert [int(f()), int(f())] == [3, 4]
    with pytest.raises(TypeError):
        f(1)


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


@pytest.mark.on_vm
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
    lent, borrowed = In(x, borrow=True), Out(x, borrow=True)
    assert function([lent], borrowed, mode=PLAIN)(value) is value
    for arguments, results in (
        ([x], x),
        ([x], borrowed),
        ([lent], x),
        ([In(x, mutable=True)], x),
        ([In(x, mutable=True)], x[::-1]),
        ([lent], x[1:]),
        ([x], Out(x[::-1], borrow=True)),
    ):
        for mode in (PLAIN, None):
            result = function(arguments, results, mode=mode)(value)
            assert not np.may_share_memory(result, value)


def test_a_view_of_a_result_is_that_result_only_if_both_are_borrowed() -> None:
    z, mode = x + 1, Mode("vm", optimizer=None)
    plain = function([x], [z, Out(z[::-1], borrow=True)], mode=mode)(np.zeros(2))
    assert not np.may_share_memory(*plain)
    both = [Out(z, borrow=True), Out(z[::-1], borrow=True)]
    assert np.may_share_memory(*function([x], both, mode=mode)(np.zeros(2)))


def test_a_state_never_shows_an_argument() -> None:
    state = shared(np.zeros(2), "state")
    for argument in (In(x, borrow=True), In(x, mutable=True), x):
        for new, options in ((x, {}), (x[::-1], {}), (x + 1, {}), (pt.exp(x) * 2, {})):
            value = np.ones(2)
            results = [Out(new, borrow=True), Out(x, borrow=True)]
            f = function([argument], results, updates={state: new}, **options)
            f(value)
            own = state.get_value(borrow=True)
            before = own.copy()
            assert not np.may_share_memory(own, value)
            value[:] = 7
            assert own.tolist() == before.tolist()


def test_a_constant_is_not_given_away() -> None:
    c = pt.constant([1.0, 2.0])
    result = function([], Out(c, borrow=True), mode=PLAIN)()
    assert result.flags.writeable
    result[:] = 0
    assert c.data.tolist() == [1, 2]


SIX = np.arange(6.0)
STEP = SIX.itemsize


@pytest.mark.on_vm
@pytest.mark.parametrize(
    "value",
    [
        np.lib.stride_tricks.as_strided(SIX.copy(), (2, 3), (0, STEP)),
        np.lib.stride_tricks.as_strided(SIX.copy(), (3, 3), (STEP, STEP)),
        np.lib.stride_tricks.as_strided(SIX[::-1].copy()[::-1], (2, 3), (-STEP, STEP))[::-1],
        np.lib.stride_tricks.sliding_window_view(SIX.copy(), 3, writeable=True),
        np.broadcast_to(SIX[:3].copy(), (2, 3)),
        SIX.copy().reshape(2, 3),
        SIX.copy().reshape(3, 2).T,
        np.zeros((4, 9))[::-2, ::3],
    ],
    ids=lambda v: f"{v.shape}{v.strides}",
)
def test_memory_that_overlaps_itself_is_copied(value: np.ndarray) -> None:
    m = pt.matrix("m")
    f = function([In(m, mutable=True)], pt.exp(m) * 2)
    assert [n for n in f.fgraph.apply_nodes if n.op.destroy_map]
    given, wanted = value.copy(), np.exp(value) * 2
    overlaps = len({v.__array_interface__["data"][0] for v in np.nditer(value)}) < value.size
    np.testing.assert_array_equal(f(value), wanted)
    if overlaps:
        np.testing.assert_array_equal(value, given)
    else:
        assert not np.array_equal(value, given) or not value.flags.writeable


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
