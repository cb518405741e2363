"""Compiled functions as StableHLO, which JAX, and other programs, run without this library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from rewrite_engine.errors import UntraceableError, message
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.link.jax import ops as _  # noqa: F401  (registers them)
from rewrite_engine.link.jax.funcify import recording_host_calls
from rewrite_engine.link.jax.state import is_state
from rewrite_engine.link.jax.trace import TracedGraph

PLATFORMS = ("cpu", "cuda", "tpu")


def stablehlo(
    fgraph: FunctionGraph, given: dict[int, Any], shapes: Sequence[Any], single: bool,
    platforms: Sequence[str] = PLATFORMS, name: str = "function",
) -> bytes:  # fmt: skip
    """Return a graph as bytes that `jax.export.deserialize` reads.

    given: {position of an input: its value}, for the inputs that are constants there. shapes: of
    the others, in order. single: whether the function returns one array, not a list. Raises
    `UntraceableError` for generators, for ops that run on the host, and for lengths that depend on
    values.
    """
    if any(map(is_state, [*fgraph.inputs, *fgraph.outputs])):
        raise UntraceableError("a function that draws cannot be exported: its numbers are NumPy's")
    run = _of_others(TracedGraph(fgraph).run, len(fgraph.inputs), given, single)
    run.__name__ = name
    rest = [v for i, v in enumerate(fgraph.inputs) if i not in given]
    wanted = [
        jax.ShapeDtypeStruct(shape, v.type.numpy_dtype)
        for v, shape in zip(rest, shapes, strict=True)
    ]
    with jax.enable_x64(True), recording_host_calls() as called:
        lowered = jax.export.export(jax.jit(run), platforms=list(platforms))
        try:
            content = bytes(lowered(*wanted).serialize())
        except Exception:
            if not called:
                raise
            content = b""
    if called:
        ops = ", ".join(dict.fromkeys(called))
        what = f"these ops run in Python, which an exported function does not have: {ops}"
        raise UntraceableError(message(what, hint="export from native code, as a library"))
    return content


def _of_others(
    run: Callable[..., list[Any]], count: int, given: dict[int, Any], single: bool
) -> Callable[..., Any]:
    """Return the function of the inputs that are not given."""

    def function(*values: Any) -> Any:
        rest = iter(values)
        found = run(*[np.asarray(given[i]) if i in given else next(rest) for i in range(count)])
        return found[0] if single else found

    return function
