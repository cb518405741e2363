"""What the plan lets the VM overwrite, and what it must not; buffers kept between calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link.program import schedule
from rewrite_engine.link.vm.dims import Dims
from rewrite_engine.link.vm.plan import Plan
from rewrite_engine.link.vm.workspace import LARGE, Shelf, fit
from tests.link.reference import link

x, y = pt.vector("x"), pt.vector("y")
m = pt.matrix("m")


def plan(inputs: list[Any], outputs: list[Any]) -> Plan:
    fgraph = FunctionGraph(inputs, outputs)
    return Plan(fgraph.inputs, fgraph.outputs, schedule(fgraph))


def overwritten(inputs: list[Any], outputs: list[Any]) -> list[int | None]:
    return [step.into for step in plan(inputs, outputs).steps]


def test_only_own_memory_is_overwritten() -> None:
    assert overwritten([x], [pt.sin(x)]) == [None]
    assert overwritten([x], [pt.sin(pt.cos(x))]) == [None, 0]


def test_a_value_that_is_read_later_is_not() -> None:
    a = pt.sin(x)
    assert overwritten([x], [pt.exp(a) + a]) == [None, None, 0]
    assert overwritten([x], [a, pt.exp(a)]) == [None, None]


def test_neither_is_one_of_which_a_view_is_read_later() -> None:
    a = pt.sin(m)
    out = pt.exp(a)[0] + a[0]
    assert None in overwritten([m], [out])[:3]
    value = np.arange(4.0).reshape(2, 2)
    want = np.exp(np.sin(value))[0] + np.sin(value)[0]
    np.testing.assert_allclose(link([m], out).call(value), want)


def test_nor_views_of_arguments() -> None:
    assert overwritten([m], [pt.sin(m[0])]) == [None, None]
    assert overwritten([m], [pt.sin(m.T)]) == [None, None]


def test_nor_one_of_another_dtype_or_shape() -> None:
    a = pt.sin(x)
    assert overwritten([x, y], [pt.lt(a, 0.5)]) == [None, None]
    assert overwritten([x], [pt.sin(x).dimshuffle("x", 0) + pt.zeros((3, 1))])[-1] is None
    row = pt.tensor(dtype="float64", shape=(1, None))
    assert overwritten([row, m], [pt.sin(row) + m]) == [None, None]


def test_after_the_check_shapes_are_known_to_be_equal() -> None:
    assert overwritten([x, y], [x + pt.sin(y)]) == [None, 1]


def test_dims() -> None:
    dims = Dims()
    a, b, three, four = dims.new(), dims.new(), dims.new(3), dims.new(4)
    assert dims.new(3) == three
    assert dims.join(a, b)
    assert not dims.join(b, a)
    assert dims.join(a, three)
    assert dims.length_of(b) == 3
    assert dims.join(three, four)  # they stay apart
    assert dims.length_of(three) == 3
    assert dims.length_of(four) == 4


# --- kept buffers -------------------------------------------------------------------------------


def weighted() -> Any:
    return link([x, y], (pt.sqr(x - y) * y).sum())


def test_small_arrays_keep_nothing() -> None:
    f = weighted()
    f.call(np.ones(3), np.ones(3))
    assert f.call.__globals__["large"].__name__ == "large"  # a stub: never written


def shelf_of(f: Any) -> Shelf:
    return f.free.__self__.shelf  # type: ignore[no-any-return]


def test_large_temporaries_are_kept_and_freed() -> None:
    f = weighted()
    n = LARGE // 8 + 2
    a, b = np.linspace(0, 1, n), np.ones(n)
    first = f.call(a, b)
    assert f.call(a, b) == first
    (workspace,) = shelf_of(f).free
    buffer = workspace[0]
    f.call(a, b)
    assert shelf_of(f).free[0][0] is buffer
    np.testing.assert_allclose(f.call(a[:-1], b[:-1]), first, rtol=0.01)
    assert shelf_of(f).free[0][0] is not buffer
    f.free()
    assert not shelf_of(f).free
    assert f.call(a, b) == first


def test_a_failed_call_drops_its_buffers() -> None:
    z = pt.vector("z")
    f = link([x, z], (pt.exp(x * 2) + z).sum())
    n = LARGE // 8 + 1
    f.call(np.ones(n), np.ones(n))
    with pytest.raises(ValueError):
        f.call(np.ones(n), np.ones(n - 1))
    assert not shelf_of(f).free
    assert f.call(np.zeros(n), np.zeros(n)) == n


def test_results_never_come_from_the_workspace() -> None:
    f = link([x], [pt.exp(x * 2).sum(), pt.exp(x * 2)])
    n = LARGE // 8 + 1
    _, first = f.call(np.zeros(n))
    f.call(np.ones(n))
    assert (first == 1).all()


def test_fit() -> None:
    workspace: list[Any] = [None]
    a = fit(workspace, 0, (2, 3), np.dtype("float32"))
    assert (a.shape, a.dtype) == ((2, 3), np.float32)
    assert fit(workspace, 0, (2, 3), np.dtype("float32")) is a
    assert fit(workspace, 0, (3, 2), np.dtype("float32")) is not a


def test_shapes_of_kept_buffers_that_no_operand_has() -> None:
    n = pt.matrix("n")
    outer = m.sum(axis=1, keepdims=True) * n.sum(axis=0, keepdims=True)
    f = link([m, n], (pt.dot(m, n) * 2 + outer).sum())
    a, b = np.ones((200, 150)), np.ones((150, 250))
    for _ in range(2):
        assert f.call(a, b) == (150 * 2 + 150**2) * 200 * 250
    (workspace,) = shelf_of(f).free
    assert {buffer.shape for buffer in workspace} == {(200, 250)}
