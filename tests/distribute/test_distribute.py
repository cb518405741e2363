"""Compiled functions on a Dask cluster of two processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rewrite_engine as rw
import rewrite_engine.tensor as pt
from rewrite_engine.errors import ForeignObjectError, ShapeError

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from rewrite_engine.distribute import ChunkError, SumOverChunks, sweep

ROWS, CHUNK = 800, 100
X = np.random.default_rng(0).normal(size=(ROWS, 3))
Y = (np.random.default_rng(1).random(ROWS) < 0.4).astype(float)
B = np.array([0.1, -0.2, 0.3])


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as found:
        yield found


def loss() -> Any:
    """The loss of a logistic regression, its gradient, and a product with its Hessian."""
    x, y, b, v = pt.dmatrix("x"), pt.dvector("y"), pt.dvector("b"), pt.dvector("v")
    nll = pt.softplus((1 - 2 * y) * pt.dot(x, b)).sum()
    slope = rw.grad(nll, b)
    f = rw.function([x, y, b], [nll, slope], name="loss")
    return f, rw.function([x, y, b, v], rw.Rop(slope, b, v), name="hessian")


def total(client: Any, f: Any) -> SumOverChunks:
    chunked = [da.from_array(a, chunks=(CHUNK, *a.shape[1:])) for a in (X, Y)]
    return SumOverChunks(client, f, *chunked)


def test_sums_over_chunks_are_those_of_the_whole(client: Any) -> None:
    f, hessian = loss()
    sums = total(client, f)
    value, slope = sums(B)
    parts = [f(X[i : i + CHUNK], Y[i : i + CHUNK], B) for i in range(0, ROWS, CHUNK)]
    assert value == sum(p[0] for p in parts)  # (in the order of the chunks)
    np.testing.assert_allclose(slope, f(X, Y, B)[1], rtol=1e-12)
    v = np.array([1.0, 0.0, -1.0])
    found = sums.with_function(hessian)(B, v)
    np.testing.assert_allclose(found, hessian(X, Y, B, v), rtol=1e-12)


def test_optimisers_of_scipy_take_a_sum(client: Any) -> None:
    from scipy.optimize import minimize

    f, _ = loss()
    found = minimize(total(client, f), np.zeros(3), jac=True)
    here = minimize(lambda b: f(X, Y, b), np.zeros(3), jac=True)
    np.testing.assert_allclose(found.x, here.x, atol=1e-6)


def test_arrays_of_xarray(client: Any) -> None:
    xarray = pytest.importorskip("xarray")
    x, y = pt.dmatrix("x"), pt.dvector("y")
    data = xarray.DataArray(X, dims=("row", "column")).chunk({"row": CHUNK})
    seen = xarray.DataArray(Y, dims="row").chunk({"row": CHUNK})
    f = rw.function([x, y], (x * y[:, None]).sum(axis=0))
    np.testing.assert_allclose(SumOverChunks(client, f, data, seen)(), (X * Y[:, None]).sum(0))


def test_a_sweep_keeps_the_order_and_tells_how_far_it_is(client: Any) -> None:
    x, y = pt.dscalars("x", "y")
    f = rw.function([x, y], pt.exp(x) * y)
    xs, ys, told = np.linspace(0, 1, 11), np.arange(11.0), list[tuple[int, int]]()
    found = sweep(client, f, xs, ys, batch=3, progress=lambda *done: told.append(done))
    np.testing.assert_allclose(found, np.exp(xs) * ys, rtol=1e-14)
    assert told == [(3, 11), (6, 11), (9, 11), (11, 11)]


def test_an_error_says_where_it_was(client: Any) -> None:
    x = pt.dvector("x")
    f = rw.function([x], x[1])
    with pytest.raises(ChunkError, match="calls 2 to 2: AxisError"):
        sweep(client, f, [[1.0, 2.0], [3.0, 4.0], [5.0]], batch=1)
    with pytest.raises(ChunkError, match="rows 20 to 29: IndexError"):
        SumOverChunks(client, _fails, da.arange(40, chunks=10))()


def _fails(chunk: Any) -> Any:
    if 25 in chunk:
        raise IndexError("25")
    return chunk.sum()


def test_arguments_that_do_not_fit(client: Any) -> None:
    with pytest.raises(ShapeError, match="equal lengths"):
        sweep(client, _fails, [1, 2], [1])
    with pytest.raises(ForeignObjectError, match=r"dask\.array"):
        SumOverChunks(client, _fails, X)
    with pytest.raises(ShapeError, match="equal chunks"):
        SumOverChunks(client, _fails, da.zeros(4, chunks=2), da.zeros(4, chunks=4))


def test_each_worker_links_a_function_once(client: Any) -> None:
    x = pt.dscalar("x")
    f = rw.function([x], pt.exp(x), name="once")
    client.gather(client.map(f, list(range(12)), pure=False))
    assert set(client.run(_count_of_kept).values()) <= {0, 1}
    assert sum(client.run(_count_of_kept).values()) >= 1


def _count_of_kept() -> int:
    from rewrite_engine.compile import pickle_cache

    return sum([f.name == "once" for f in pickle_cache._functions.values()])


def test_the_chunks_of_a_lost_worker_are_computed_again(client: Any) -> None:
    f, _ = loss()
    sums = total(client, f)
    before = sums(B)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    after = sums(B)
    assert before[0] == after[0]
    np.testing.assert_array_equal(before[1], after[1])
