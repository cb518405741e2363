"""Ops of a user that overwrite: values of the call, and copies of what is still needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import InconsistencyError, OverwritingError
from rewrite_engine.graph.op import Op

x = pt.dvector("x")
MODES = [None, "FAST_COMPILE", "DebugMode", rw.Mode(linker="py"), rw.Mode(optimizer=None)]


class Grow(Op):
    """Adds 1 to a vector, where that is."""

    __props__ = ()
    itypes = otypes = (pt.dvector,)
    destroy_map = {0: [0]}

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = np.add(inputs[0], 1, out=inputs[0])


class Fail(Op):
    __props__ = ()
    itypes = otypes = (pt.dvector,)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        raise ValueError("it fails")


grow = Grow()


def compiled(outputs: Any, inputs: Any = (x,), **options: Any) -> Any:
    return rw.function(list(inputs), outputs, accept_inplace=True, **options)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_copies_are_overwritten(mode: Any) -> None:
    """What is an output, or shown by one, is returned as it was before."""
    z = pt.exp(x)
    for outputs, expected in (
        ([grow(z), z], [[2.0], [1.0]]),
        ([z, grow(z)], [[1.0], [2.0]]),
        ([grow(z[:1]), z], [[2.0], [1.0]]),
        ([grow(z), z[::-1]], [[2.0], [1.0]]),
        ([z * 2, grow(z)], [[2.0], [2.0]]),
    ):
        assert [v.tolist() for v in compiled(outputs, mode=mode)([0.0])] == expected
    once = grow(z)
    found = compiled([once, grow(once), z], mode=mode)([0.0])
    assert [v.tolist() for v in found] == [[2], [3], [1]]
    f = compiled([grow(x), x], [rw.In(x, mutable=True)], mode=mode)
    assert [v.tolist() for v in f(np.array([5.0]))] == [[6], [5]]


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_shared_variables_that_are_updated(mode: Any) -> None:
    """By what overwrites them, or something else; also by default, and states of a function."""
    s, t = rw.shared(np.zeros(1), "s"), rw.shared(np.ones(1), "t")
    f = compiled([s * 2, s], [], updates={s: grow(s)}, mode=mode)
    assert [[v.tolist() for v in f()] for _ in range(2)] == [[[0], [0]], [[2], [1]]]
    g = compiled(grow(s), [], updates={s: s + 5}, mode=mode)
    assert [g().tolist(), g().tolist(), s.get_value().tolist()] == [[3], [8], [12]]
    h = compiled([], [], updates={s: grow(t), t: grow(s)}, mode=mode)
    h()
    assert [s.get_value().tolist(), t.get_value().tolist()] == [[2], [13]]
    t.default_update = grow(t)
    compiled([], [], updates={s: t * 1}, mode=mode)()
    assert [s.get_value().tolist(), t.get_value().tolist()] == [[13], [14]]
    k = compiled(x * 1, [rw.In(x, value=np.zeros(1), update=grow(x))], mode=mode)
    assert [k().tolist(), k().tolist(), k[x].tolist()] == [[0], [1], [2]]


def test_a_failed_call_and_borrowed_memory() -> None:
    """States stay as they were, and arrays that others have seen."""
    s = rw.shared(np.zeros(1), "s")
    seen = s.get_value(borrow=True)
    with pytest.raises(ValueError, match="it fails"):
        compiled(Fail()(grow(s)), [], updates={s: grow(s)})()
    assert s.get_value().tolist() == [0]
    compiled([], [], updates={s: grow(s)})()
    assert [s.get_value().tolist(), seen.tolist()] == [[1], [0]]


def test_what_must_not_be_overwritten() -> None:
    s, z = rw.shared(np.zeros(1), "s"), pt.exp(x)
    for outputs, inputs, text in (
        (grow(x), [x], "x is an input that is not mutable"),
        ([grow(x), x], [x], "x is an input that is not mutable"),
        (grow(s), [], "s is an input that is not mutable"),
        (grow(pt.constant([1.0, 2.0]).astype("float64")), [], "is a constant"),
        ([grow(z), grow(grow(z))], [x], "is already overwritten by"),
    ):
        with pytest.raises(InconsistencyError, match=text):
            compiled(outputs, inputs)
    with pytest.raises(OverwritingError, match="the graph overwrites an input"):
        rw.function([x], grow(pt.exp(x)))
