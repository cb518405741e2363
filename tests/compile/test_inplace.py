"""Compiled functions with in-place work against the same functions without: equal to the bit.

Inputs that may be overwritten, arguments and states that share memory, updates, writing into parts,
views, reshapes, sums of many operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine import In
from rewrite_engine.compile.mode import get_mode
from rewrite_engine.errors import InconsistencyError

m, n = pt.matrix("m"), pt.matrix("n")
M, N = np.array([[0.5, 1.5], [2.0, -0.75]]), np.array([[3.0, -1.0], [0.25, 1.25]])

#: (Rounded correctly, all of them: the bits of NumPy's `exp` depend on the strides of its arrays.)
ONE = [
    lambda v: pt.sqrt(abs(v)),
    pt.sqr,
    pt.neg,
    lambda v: v.T,
    lambda v: v[::-1],
    lambda v: v[:, ::-1] + 0.0 * v,
    lambda v: v.reshape((-1,)).reshape((2, 2)),
    lambda v: v.T.reshape((4,))[::-1].reshape((2, 2)),
    lambda v: v.sum(axis=0, keepdims=True) + v,
    lambda v: pt.set_subtensor(v[0], 0.5),
    lambda v: pt.inc_subtensor(v[:, 1], 2.0),
    lambda v: pt.cast(v, "float64"),
    lambda v: pt.specify_shape(v, (2, 2)),
]
TWO = [
    pt.add,
    pt.mul,
    pt.maximum,
    pt.second,
    pt.dot,
    lambda a, b: pt.add(a, b, a.T, b[::-1]),
    lambda a, b: pt.mul(a, b, pt.sqr(a)),
    lambda a, b: pt.switch(a > b, a, b),
    lambda a, b: pt.set_subtensor(a[1:], b[:1]),
    lambda a, b: pt.inc_subtensor(a[0], b[:, 0]),
]


@st.composite
def programs(draw: Any, roots: Any) -> list[Any]:
    """Matrices computed from each other; some of them are outputs."""
    pool = list(roots)
    for _ in range(draw(st.integers(2, 10))):
        pick = st.sampled_from(pool)
        if draw(st.booleans()):
            pool.append(draw(st.sampled_from(ONE))(draw(pick)))
        else:
            pool.append(draw(st.sampled_from(TWO))(draw(pick), draw(pick)))
    return [pool[-1], *draw(st.lists(st.sampled_from(pool), max_size=3))]


def bits(values: Any) -> list[Any]:
    return [(v.dtype, v.shape, v.tobytes()) for v in values]


@settings(max_examples=150)
@given(programs([m, n]), st.sampled_from([(), (0,), (1,), (0, 1)]), st.booleans())
def test_mutable_inputs(outputs: Any, mutable: Any, aliased: bool) -> None:
    specs = [In(v, mutable=i in mutable) for i, v in enumerate((m, n))]
    f = rw.function(specs, outputs, on_unused_input="ignore")
    plain = rw.function([m, n], outputs, mode=without(), on_unused_input="ignore")
    for _ in range(2):
        given_ = [M.copy(), N.copy()]
        if aliased:
            given_[1] = given_[0].T
        kept = [a.copy() for a in given_]
        expected = plain(*[a.copy() for a in given_])
        assert bits(f(*given_)) == bits(expected)
        if not aliased:
            for i, (a, before) in enumerate(zip(given_, kept, strict=True)):
                assert i in mutable or bits([a]) == bits([before])


def without() -> Any:
    """The default mode without in-place work."""
    return get_mode(None).excluding("inplace")


@settings(max_examples=100)
@given(st.data())
def test_updates_of_shared_variables(data: Any) -> None:
    results = []
    states = [rw.shared(M, name="s"), rw.shared(N, name="t")]
    outputs = data.draw(programs([m, *states]))
    updates = dict(zip(states, data.draw(programs(states)), strict=False))
    for mode in (None, without()):
        for state, value in zip(states, (M, N), strict=True):
            state.set_value(value)
        f = rw.function([m], outputs, updates=updates, mode=mode, on_unused_input="ignore")
        calls = [bits(f(N.copy())) for _ in range(3)]
        results.append((calls, bits([s.get_value() for s in states])))
    assert results[0] == results[1]


@pytest.mark.on_vm
def test_an_argument_given_twice_is_overwritten_in_a_copy() -> None:
    f = rw.function([In(m, mutable=True), n], [pt.exp(m), pt.cos(n)])
    a = M.copy()
    first, second = f(a, a)
    assert bits([first, second]) == bits([np.exp(M), np.cos(M)])
    np.testing.assert_array_equal(a, M)
    first, second = f(a, a.T)
    assert bits([second]) == bits([np.cos(M.T)])
    b = N.copy()
    result = f(a, b)[0]
    assert np.shares_memory(result, a)
    np.testing.assert_array_equal(b, N)


def test_an_argument_that_a_shared_variable_shows_is_overwritten_in_a_copy() -> None:
    state = rw.shared(M.copy(), name="state", borrow=True)
    f = rw.function([In(m, mutable=True)], [pt.exp(m), pt.cos(state)], updates={state: state + 1})
    results = f(state.get_value(borrow=True))
    assert bits(results) == bits([np.exp(M), np.cos(M)])
    np.testing.assert_array_equal(state.get_value(), M + 1)


def test_what_cannot_be_written_is_copied() -> None:
    f = rw.function([In(m, mutable=True)], [pt.exp(m)])
    a = np.broadcast_to(M[0], (2, 2))
    assert bits(f(a)) == bits([np.exp(a)])


@pytest.mark.on_vm
def test_large_arguments_are_looked_at_too() -> None:
    f = rw.function([In(m, mutable=True), n], [pt.exp(m), pt.cos(n).sum() + pt.sin(n).sum()])
    a = np.linspace(0.0, 1.0, 40_000).reshape(200, 200)
    kept = a.copy()
    assert bits(f(a, a)[:1]) == bits([np.exp(kept)])
    np.testing.assert_array_equal(a, kept)


def test_an_input_that_is_not_given_away_costs_no_test() -> None:
    assert "own" not in rw.function([m, n], pt.exp(m) + n).source
    assert "own" not in rw.function([In(m, mutable=True), n], m.sum() + n).source


def test_outputs_that_alias_each_other_are_apart() -> None:
    value = pt.exp(m)
    f = rw.function([m], [value, value.T, value[0], value.reshape((-1,)), pt.neg(value)])
    results = f(M)
    for i, a in enumerate(results):
        for b in results[:i]:
            assert not np.shares_memory(a, b)
    assert bits(results) == bits(rw.function([m], f_outputs(m), mode=without())(M))


def f_outputs(v: Any) -> list[Any]:
    value = pt.exp(v)
    return [value, value.T, value[0], value.reshape((-1,)), pt.neg(value)]


def test_a_failed_call_leaves_states_as_they_were() -> None:
    state = rw.shared(M.copy(), name="state")
    f = rw.function([m], pt.exp(state) @ m, updates={state: pt.exp(pt.sin(state)) + 1})
    with pytest.raises(ValueError, match=r"(?s)."):
        f(np.ones((3, 3)))
    np.testing.assert_array_equal(state.get_value(), M)


def test_the_users_own_in_place_ops() -> None:
    fast = pt.exp.inplace_on_inputs([0])
    value = pt.sin(m)
    with pytest.raises(InconsistencyError, match=r"accept_inplace=True\) allows it"):
        rw.function([m], fast(value))
    f = rw.function([m], [fast(value), pt.cos(value)], accept_inplace=True)
    assert bits(f(M)) == bits([np.exp(np.sin(M)), np.cos(np.sin(M))])
    with pytest.raises(InconsistencyError, match="must run after it"):
        rw.function([m], fast(value) * value, accept_inplace=True)
