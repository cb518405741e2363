"""`jax_funcify`: functions of JAX arrays for nodes, by op.

An op without a registration runs on the host (`on_host`): JAX calls its `perform`, if the shapes of
its results follow from shapes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, singledispatch
from importlib import import_module
from threading import local
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from rewrite_engine.errors import UntraceableError, message
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.perform import runner
from rewrite_engine.tensor.op import TensorOp


@singledispatch
def jax_funcify(op: Any, node: Any = None, **options: Any) -> Callable[..., Any]:
    """Return a function of the values of a node's inputs: the output's value, or several of them.

    Register one for your own op by `@jax_funcify.register(MyOp)`; it is called as `function(op,
    node=node)`. Values are arrays of JAX, or arrays of NumPy if they are known while tracing.
    """
    home = "rewrite_engine.link.jax.sparse"
    if is_of_sparse(op) and home not in sys.modules:
        import_module(home)  # (few graphs have a sparse matrix)
        return jax_funcify(op, node=node)  # type: ignore[no-any-return]
    return on_host(op, node)


def is_of_sparse(op: Any) -> bool:
    """Return whether an op is one of sparse matrices."""
    return type(op).__module__.startswith("rewrite_engine.sparse")


HOST = jax_funcify.dispatch(object)  # the function of ops without a registration


def register(*classes: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register `f(op, node, *values)` for ops of these classes."""

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        for cls in classes:
            jax_funcify.register(cls)(lambda op, node=None, **_: partial(f, op, node))
        return f

    return decorate


def is_known(x: Any) -> bool:
    """Return whether a value is known while tracing."""
    return not isinstance(x, jax.Array) and not isinstance(getattr(x, "data", None), jax.Array)


def known_value(node: Apply, i: int, x: Any) -> Any:
    """Return an input that has to be known while tracing, as an array of NumPy. Raises
    `UntraceableError`.
    """
    if not is_known(x):
        raise untraceable_error(
            node, f"lengths depend on the value of its input {node.inputs[i]!r}"
        )
    return np.asarray(x)


def untraceable_error(node: Apply, why: str, hint: str | None = None) -> UntraceableError:
    """Return the error for a node that JAX cannot trace."""
    what = f"JAX cannot run this: {why}"
    text = message(what, op=node.op, inputs=node.inputs, where=node.where(), hint=hint)
    return UntraceableError(text)


def run_known(node: Apply, run: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Run a node on values that are known."""
    return run(*[x if hasattr(x, "indptr") else np.asarray(x) for x in values])


def on_host(op: Any, node: Apply) -> Callable[..., Any]:
    """Return a function that calls `perform` in the process that runs Python, also from compiled
    code. Raises `UntraceableError` if shapes of results depend on values.
    """
    run, types = runner(node), [v.type for v in node.outputs]
    known_shapes = [getattr(t, "shape", (None,)) for t in types]
    if not isinstance(op, TensorOp) and any([None in shape for shape in known_shapes]):
        raise untraceable_error(
            node, "it is no TensorOp, which tells shapes, and nothing is registered"
        )

    def call(*values: Any) -> Any:
        if all(map(is_known, values)):
            return run_known(node, run, values)
        shapes = known_shapes
        if isinstance(op, TensorOp):
            shapes = op.checked(node, values, is_known)
        if any([None in shape for shape in shapes]):
            raise untraceable_error(node, "the lengths of its result depend on values")
        return call_host(op, run, list(zip(types, shapes, strict=True)), values)

    return call


class _Calls(local):
    """Ops for which code that is traced now calls the host; None: nobody asks."""

    ops: list[str] | None = None


_calls = _Calls()


@contextmanager
def recording_host_calls() -> Iterator[list[str]]:
    """Collect the ops for which code that is traced inside calls the host."""
    before, found = _calls.ops, list[str]()
    _calls.ops = found
    try:
        yield found
    finally:
        _calls.ops = before


def record_host_call(op: Any) -> None:
    """Note that traced code calls the host for an op."""
    if _calls.ops is not None:
        _calls.ops.append(str(op))


def call_host(
    op: Any, run: Callable[..., Any], results: Sequence[Any], values: Sequence[Any],
    each: bool = False,
) -> Any:  # fmt: skip
    """Return the results of an op whose function of arrays of NumPy is called from compiled code.

    results: (type, shape) of each. each: whether it works on each element alone, so that it takes
    a whole batch at once.
    """
    record_host_call(op)
    dtypes = [np.asarray(x).dtype if is_known(x) else x.dtype for x in values]
    made = [t.numpy_dtype for t, _ in results]
    shapes = [tuple(map(int, shape)) for _, shape in results]

    def host(*words: Any) -> Any:
        found = run(*[from_words(x, d) for x, d in zip(words, dtypes, strict=True)])
        found = (found,) if len(made) == 1 else found
        return [to_words(np.asarray(x, d)) for x, d in zip(found, made, strict=True)]

    wanted = [_as_words(shape, d) for shape, d in zip(shapes, made, strict=True)]
    how = "legacy_vectorized" if each else "sequential"
    found = jax.pure_callback(host, wanted, *map(words_in, values), vmap_method=how)
    back = [words_out(x, d) for x, d in zip(found, made, strict=True)]
    return back[0] if len(back) == 1 else back


# Calls of the host may run in a thread where JAX is in single precision, and converts numbers of 64
# bits on their way. They travel as words of 32 bits.


def _as_words(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return the type of the words of an array."""
    if dtype.itemsize < 8:
        return jax.ShapeDtypeStruct(shape, dtype)
    return jax.ShapeDtypeStruct((*shape, dtype.itemsize // 4), np.uint32)


def words_in(x: Any) -> Any:
    """Return an array of JAX as words."""
    x = jnp.asarray(x)
    if x.dtype.itemsize < 8:
        return x
    if x.dtype.kind == "c":
        x = jnp.stack([x.real, x.imag], -1)
        words = x if x.dtype.itemsize < 8 else lax.bitcast_convert_type(x, jnp.uint32)
        words = lax.bitcast_convert_type(words, jnp.uint32)
        return words.reshape(*x.shape[:-1], -1)
    return lax.bitcast_convert_type(x, jnp.uint32)


def words_out(x: Any, dtype: Any) -> Any:
    """Return an array of JAX from words."""
    if dtype.itemsize < 8:
        return x
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        pairs = x.reshape(*x.shape[:-1], 2, -1)
        pairs = pairs[..., 0] if part.itemsize == 4 else pairs
        both = lax.bitcast_convert_type(pairs, part)
        return lax.complex(both[..., 0], both[..., 1])
    return lax.bitcast_convert_type(x, dtype)


def to_words(x: Any) -> Any:
    """Return an array of NumPy as words."""
    if x.dtype.itemsize < 8:
        return x
    flat = np.ascontiguousarray(x).reshape(-1).view(np.uint32)
    return flat.reshape(*x.shape, x.dtype.itemsize // 4)


def from_words(words: Any, dtype: Any) -> Any:
    """Return a new array of NumPy from words."""
    words = np.array(words)
    if dtype.itemsize < 8:
        return words
    return words.reshape(-1).view(dtype).reshape(words.shape[:-1])


def as_output(node: Apply, x: Any, i: int = 0) -> Any:
    """Return a value as an array of JAX in the dtype of an output."""
    return jnp.asarray(x, node.outputs[i].type.dtype)


def dtype_of(v: Variable) -> Any:
    """Return the dtype of a tensor."""
    return v.type.numpy_dtype
