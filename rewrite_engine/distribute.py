"""Compiled functions on a Dask cluster: `sweep` calls one at many arguments, and `SumOverChunks`
adds up its results over chunks of data that stay on the workers.

Dask does the work: it schedules, moves data, and computes again what a lost worker had. `docs/
clusters.md` shows both, and what needs neither. Needs `dask.distributed`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any
from uuid import uuid4

import numpy as np

from rewrite_engine.compile.callable import Function
from rewrite_engine.errors import (
    ForeignObjectError,
    MissingPackageError,
    RewriteEngineError,
    ShapeError,
    describe,
)
from rewrite_engine.graph.weak import WeakKeys

try:
    import dask
    import distributed
    from dask.tokenize import normalize_token
except ImportError as _error:
    hint = 'pip install "dask[array,distributed]"'
    raise MissingPackageError(f"rewrite_engine.distribute needs Dask: {hint}") from _error

__all__ = ["ChunkError", "SumOverChunks", "sweep"]

#: what tells a compiled function from others in the names of tasks (Dask looks into a `partial`,
#: from which the class derives, and finds generated code)
_tokens: WeakKeys[Function[Any], str] = WeakKeys()


@normalize_token.register(Function)  # type: ignore[untyped-decorator]
def _(f: Function[Any]) -> str:
    return _tokens.setdefault(f, uuid4().hex)


TASKS_PER_THREAD = 4  # of a sweep: enough that no worker is idle at the end


class ChunkError(RewriteEngineError, RuntimeError):
    """A function failed on a chunk of data, or at some of the arguments of a sweep; `__cause__` is
    its error.
    """


def sweep(
    client: Any, function: Callable[..., Any], *columns: Sequence[Any], batch: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Any]:  # fmt: skip
    """Return `[function(*args) for args in zip(*columns)]`, computed by the workers of a cluster.

    client: a `distributed.Client`. columns: a sequence of values for each parameter, of equal
    lengths. batch: how many calls are a task; by default, four tasks for each thread of the
    cluster. progress: called as `progress(calls done, all calls)` after each task. Raises
    `ShapeError` for columns of other lengths, and `ChunkError` if a call fails.
    """
    count = len(columns[0]) if columns else 0
    lengths = [len(column) for column in columns]
    if not columns or lengths != [count] * len(columns):
        raise ShapeError(f"sweep takes columns of equal lengths, not {lengths}")
    threads = sum(client.nthreads().values())
    batch = batch or max(1, -(-count // (TASKS_PER_THREAD * max(threads, 1))))
    starts = range(0, count, batch)
    parts = [[column[i : i + batch] for column in columns] for i in starts]
    names = [f"calls {i} to {min(i + batch, count) - 1}" for i in starts]
    run = _Named(_calls, function)
    futures = [client.submit(run, name, part, pure=False) for name, part in zip(names, parts)]
    tell = None if progress is None else lambda done: progress(min(done * batch, count), count)
    return [x for part in _gathered(client, futures, tell) for x in part]


class SumOverChunks:
    """Function of parameters: the sums, over the chunks of arrays, of the results of a function.

    `total = SumOverChunks(client, f, X, y)`, then `total(*parameters)` returns the sum of
    `f(X_chunk, y_chunk, *parameters)` for each result of `f`: a log density and its gradient, for
    example. `scipy.optimize.minimize(total, start, jac=True)` takes it. The data stay on the
    workers; a call sends the parameters there, and gets back one result for each chunk. They are
    added in the order of the chunks, so the sums do not depend on the cluster.

    client: a `distributed.Client`. function: a compiled function (or any that can be pickled) of
    NumPy arrays and the parameters. arrays: `dask.array` arrays, or `xarray.DataArray` on them,
    that have equal chunks along their first dimension; other dimensions become one chunk. If a
    worker is lost, Dask computes its chunks again. Raises `ForeignObjectError`, `ShapeError`, and
    in calls `ChunkError`.
    """

    def __init__(self, client: Any, function: Callable[..., Any], *arrays: Any) -> None:
        self.client, self.function = client, function
        parts = [_in_rows(x) for x in arrays]
        chunks = [x.chunks[0] for x in parts]
        if not parts or chunks != [chunks[0]] * len(chunks):
            raise ShapeError(
                f"the arrays must have equal chunks along the first axis, not {chunks}"
            )
        ends = np.cumsum([0, *chunks[0]]).tolist()
        self.names = [f"rows {a} to {b - 1}" for a, b in pairwise(ends)]
        self.data = self._persist(parts)

    def _persist(self, parts: Sequence[Any]) -> list[Any]:
        """Return the chunks, one future for each, on the workers."""
        together = dask.delayed(_together)
        rows = zip(*[x.to_delayed().ravel() for x in parts], strict=True)
        kept = self.client.persist([together(*row) for row in rows])
        futures = [distributed.futures_of(x)[0] for x in kept]
        distributed.wait(futures)
        return futures

    def with_function(self, function: Callable[..., Any]) -> SumOverChunks:
        """Return the sums of another function over the same chunks, which are not moved."""
        new = SumOverChunks.__new__(SumOverChunks)
        new.__dict__ = self.__dict__ | {"function": function}
        return new

    def __call__(self, *parameters: Any) -> Any:
        """Return the sums: one array, or a list if the function returns several."""
        run = _Named(_on_chunk, self.function)
        pairs = zip(self.names, self.data, strict=True)
        futures = [self.client.submit(run, name, x, parameters, pure=False) for name, x in pairs]
        found = _gathered(self.client, futures, None)
        if not isinstance(found[0], list):
            return _sum(found)
        return [_sum(xs) for xs in zip(*found, strict=True)]


class _Named:
    """Function of a task, with the function that it calls. Its errors say where it failed."""

    def __init__(self, run: Callable[..., Any], function: Callable[..., Any]) -> None:
        self.run, self.function = run, function
        self.__name__ = str(getattr(function, "name", None) or "function")

    def __call__(self, name: str, *args: Any) -> Any:
        """Run it. name: of the part that it works on."""
        try:
            return self.run(self.function, *args)
        except Exception as error:
            raise ChunkError(f"{name}: {type(error).__name__}: {error}") from error


def _calls(function: Callable[..., Any], columns: Sequence[Sequence[Any]]) -> list[Any]:
    return [function(*args) for args in zip(*columns, strict=True)]


def _on_chunk(function: Callable[..., Any], arrays: Sequence[Any], parameters: Any) -> Any:
    return function(*arrays, *parameters)


def _sum(xs: Sequence[Any]) -> Any:
    """Return the sum of arrays, in their order."""
    found = np.array(xs[0])
    for x in xs[1:]:
        found = found + x
    return found


def _gathered(
    client: Any, futures: Sequence[Any], tell: Callable[[int], None] | None
) -> Sequence[Any]:
    """Return the results of futures, in their order; the first error ends all of them."""
    try:
        for done, future in enumerate(distributed.as_completed(futures), 1):
            if future.status == "error":
                future.result()
            if tell is not None:
                tell(done)
        return client.gather(list(futures))  # type: ignore[no-any-return]
    except BaseException:
        client.cancel(list(futures), force=True)
        raise


def _in_rows(x: Any) -> Any:
    """Return a Dask array that is one chunk in all dimensions but the first."""
    x = x.data if hasattr(x, "dims") and hasattr(x, "data") else x
    if not hasattr(x, "to_delayed") or not hasattr(x, "rechunk"):
        hint = "make one by dask.array.from_array(x, chunks=…)"
        raise ForeignObjectError(f"takes arrays of dask.array, not {describe(x)}: {hint}")
    if not x.ndim:
        raise ShapeError("takes arrays with a first dimension, along which they have chunks")
    return x.rechunk(dict.fromkeys(range(1, x.ndim), -1))


def _together(*arrays: Any) -> tuple[Any, ...]:
    return arrays
