"""Buffers that the VM keeps between calls for large temporaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.link.vm.workspace import LARGE_BYTES, WorkspacePool, fit
from tests.link.reference import link

x, y = pt.vector("x"), pt.vector("y")
m = pt.matrix("m")


def weighted() -> Any:
    return link([x, y], (pt.sqr(x - y) * y).sum())


def test_small_arrays_keep_nothing() -> None:
    f = weighted()
    f.call(np.ones(3), np.ones(3))
    assert f.call.__globals__["large"].__name__ == "large"  # a stub: never written


def pool_of(f: Any) -> WorkspacePool:
    return f.free.__self__.pool  # type: ignore[no-any-return]


def test_large_temporaries_are_kept_and_freed() -> None:
    f = weighted()
    n = LARGE_BYTES // 8 + 2
    a, b = np.linspace(0, 1, n), np.ones(n)
    first = f.call(a, b)
    assert f.call(a, b) == first
    (workspace,) = pool_of(f).free
    buffer = workspace[0]
    f.call(a, b)
    assert pool_of(f).free[0][0] is buffer
    np.testing.assert_allclose(f.call(a[:-1], b[:-1]), first, rtol=0.01)
    assert pool_of(f).free[0][0] is not buffer
    f.free()
    assert not pool_of(f).free
    assert f.call(a, b) == first


def test_a_failed_call_drops_its_buffers() -> None:
    z = pt.vector("z")
    f = link([x, z], (pt.exp(x * 2) + z).sum())
    n = LARGE_BYTES // 8 + 1
    f.call(np.ones(n), np.ones(n))
    with pytest.raises(ValueError):
        f.call(np.ones(n), np.ones(n - 1))
    assert not pool_of(f).free
    assert f.call(np.zeros(n), np.zeros(n)) == n


def test_results_never_come_from_the_workspace() -> None:
    f = link([x], [pt.exp(x * 2).sum(), pt.exp(x * 2)])
    n = LARGE_BYTES // 8 + 1
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
    (workspace,) = pool_of(f).free
    assert {buffer.shape for buffer in workspace} == {(200, 250)}
