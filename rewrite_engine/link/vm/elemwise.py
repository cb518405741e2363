"""Elementwise ops on the VM: one ufunc call each, operators between NumPy scalars, Composites step
by step.

The plan decides whether to write into the memory of an input (`Traits.into`), which is a third
argument here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.plan import DEFAULT, Traits
from rewrite_engine.link.vm.lower import Context, call_op, lower, traits
from rewrite_engine.scalar.composite import Composite
from rewrite_engine.scalar.op import Cast, ScalarOp, goes_by_int64, minus_one
from rewrite_engine.tensor.elemwise import Elemwise

#: ufuncs that have the same meaning as an operator between NumPy scalars, where operators are
#: three times faster
PYTHON_OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "bitwise_and": "&",
    "bitwise_or": "|", "bitwise_xor": "^", "equal": "==", "not_equal": "!=", "less": "<",
    "less_equal": "<=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip
QUIET_UFUNCS = frozenset(
    {"maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
     "isnan", "isinf", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "negative", "absolute",
     "sign"}
)  # fmt: skip
_ORDER_TESTS = {np.maximum: ">=", np.minimum: "<="}
KEYWORD_OUT = frozenset({"maximum", "minimum"})  # a positional `out` is deprecated there


# --- what is known beforehand -----------------------------------------------------------------


@traits.register(Elemwise)
def _(op: Elemwise, node: Apply) -> Traits:
    inputs, outputs = node.inputs, node.outputs
    rest = inputs[2:]
    apart = not rest or (inputs[0] not in rest, inputs[1] not in rest)
    return _traits(op.scalar_op, len(inputs), len(outputs), outputs[0].type.ndim == 0, apart)


@lru_cache(maxsize=4096)
def _traits(op: ScalarOp, nin: int, nout: int, number: bool, apart: Any) -> Traits:
    """Return the traits of a node. number: of 0-d values; apart: for the first two of many
    operands, whether they do not occur among the others.
    """
    handler = _handler(op)
    if handler is None or nout > 1:
        return DEFAULT
    warns = op.ufunc is None or op.ufunc.__name__ not in QUIET_UFUNCS
    if number:
        return Traits(inline=True, warns=warns)
    into: tuple[int, ...] = ()
    if handler in (_ufunc, _second, _compute):
        into = tuple(range(nin))
    elif handler in (_fold, _clip):
        into = tuple([k for k in range(min(nin, 2)) if apart is True or apart[k]])
    keep = handler not in (_switch, _identity)
    return Traits(True, into, keep, inline=True, warns=warns, elementwise=True)


Handler = Callable[[ScalarOp, Apply, Any], str | None]


@lru_cache(maxsize=4096)
def _handler(op: ScalarOp) -> Handler | None:
    """Return the writer of this scalar op; None: use `perform`."""
    if op.listed and op.name in _HANDLERS:
        return _HANDLERS[op.name]
    if isinstance(op, Cast):
        return _cast
    if isinstance(op, Composite):
        return None
    if op.compute is not None and not op.shape_only:
        return _compute
    if op.ufunc is not None and op.dtypes is None:
        return _fold if op.nin is None else _ufunc
    return None


@lower.register(Elemwise)
def _(op: Elemwise, node: Apply, ctx: Context) -> str | None:
    handler = _handler(op.scalar_op)
    if handler is None or len(node.outputs) > 1:
        return call_op(op, node, ctx)
    if node.outputs[0].type.ndim == 0:
        return _scalar(op.scalar_op, node, ctx)
    return handler(op.scalar_op, node, ctx)


# --- numbers ----------------------------------------------------------------------------------


def _scalar(op: ScalarOp, node: Apply, ctx: Context) -> str | None:
    """Write an expression between NumPy scalars."""
    handler = _handler(op)
    if handler is _compute:
        return _compute(op, node, ctx)
    xs = _operands(op, node, ctx)
    ctx.form = "scalar"
    operator, out = _operator(op), node.outputs[0].type.numpy_dtype
    if operator is not None and len(xs) > 1:
        if all([x.type.kind != "c" for x in node.inputs]):  # those round and compare otherwise
            return operator.join(xs)
    if isinstance(op, Cast):
        return _convert(xs[0], node.inputs[0], out, ctx)
    if handler is _identity:
        return xs[0]
    if handler is _second:
        return xs[1]
    if handler is _switch:
        yes, no = [_convert(xs[i], node.inputs[i], out, ctx) for i in (1, 2)]
        return f"{yes} if {xs[0]} else {no}"
    if handler is _clip:
        low, high = ctx.name(np.maximum, "maximum"), ctx.name(np.minimum, "minimum")
        return f"{high}({low}({xs[0]}, {xs[1]}), {xs[2]})"
    assert op.ufunc is not None
    if op.ufunc in _ORDER_TESTS and out.kind in "iu" and len(xs) == 2:
        same = all([x.type.numpy_dtype == out for x in node.inputs])
        if same:
            return f"{xs[0]} if {xs[0]} {_ORDER_TESTS[op.ufunc]} {xs[1]} else {xs[1]}"
    return _nest_calls(op.ufunc, xs, ctx) if len(xs) > 1 or op.ufunc.nin == 1 else xs[0]


def _operands(op: ScalarOp, node: Apply, ctx: Context) -> list[str]:
    """Return the inputs as NumPy scalars, converted if the op computes in another dtype."""
    inner = _inner(op, node)
    if inner is None:
        return [ctx.scalar(i) for i in range(len(node.inputs))]
    return [_convert(ctx.scalar(i), x, inner, ctx) for i, x in enumerate(node.inputs)]


def _inner(op: ScalarOp, node: Apply) -> np.dtype[Any] | None:
    """Return the dtype in which the op computes, if the ufunc does not decide: that of the
    result.
    """
    if op.inner is None:
        return None
    out = node.outputs[0].type
    for x in node.inputs:
        if x.type.dtype != out.dtype:
            found = op.inner_dtype([x.type.dtype for x in node.inputs])
            return None if found is None else out.numpy_dtype  # type: ignore[no-any-return]
    return None


def _convert(x: str, v: Any, dtype: np.dtype[Any], ctx: Context) -> str:
    """Return a NumPy scalar in a dtype; its class is twice as fast as `astype`."""
    own = v.type.numpy_dtype
    if own == dtype:
        return x
    if np.can_cast(own, dtype):
        return f"{ctx.name(dtype.type, 'to_' + dtype.name)}({x})"
    if goes_by_int64(own, dtype):
        x = f"{x}.astype({ctx.name(np.dtype(np.int64), 'int64')})"
    return f"{x}.astype({ctx.name(dtype, dtype.name)})"


@lru_cache(maxsize=4096)
def _operator(op: ScalarOp) -> str | None:
    """Return the operator between NumPy scalars with the same meaning, with its spaces."""
    if op.ufunc is None or _handler(op) not in (_ufunc, _fold):
        return None
    symbol = PYTHON_OPERATORS.get(op.ufunc.__name__)
    return None if symbol is None else f" {symbol} "


def _nest_calls(ufunc: np.ufunc, xs: Sequence[str], ctx: Context) -> str:
    """Write f(a, b, c), or f(f(a, b), c) if it takes fewer."""
    name = ctx.name(ufunc, ufunc.__name__)
    if ufunc.nin == len(xs):
        return f"{name}({', '.join(xs)})"
    expression = xs[0]
    for x in xs[1:]:
        expression = f"{name}({expression}, {x})"
    return expression


# --- arrays -----------------------------------------------------------------------------------


def call_ufunc(
    ctx: Context, ufunc: np.ufunc, xs: Sequence[str], out: str | None, dtype: Any = None
) -> str:
    """Return the text of a call of a ufunc."""
    name = ufunc.__name__
    text = f"{ctx.name(ufunc, name)}({', '.join(xs)}"
    if out is not None:
        text += f", out={out}" if name in KEYWORD_OUT else f", {out}"
    if dtype is not None:
        text += f", dtype={ctx.name(dtype, dtype.name)}"
    return text + ")"


def _ufunc(op: ScalarOp, node: Apply, ctx: Context) -> str:
    assert op.ufunc is not None
    if ctx.target is not None and op.ufunc is np.negative:
        factor = minus_one(node.outputs[0].type.numpy_dtype)
        if factor is not None:
            xs = [*ctx.inputs, ctx.name(factor, "minus_one")]
            return call_ufunc(ctx, np.multiply, xs, ctx.target)
    return call_ufunc(ctx, op.ufunc, ctx.inputs, ctx.target, _inner(op, node))


def _fold(op: ScalarOp, node: Apply, ctx: Context) -> str | None:
    """Write a + b + c in steps; each writes into the memory of the one before, once that has the
    final shape.
    """
    ufunc, out = op.ufunc, node.outputs[0]
    assert ufunc is not None
    xs = ctx.inputs
    if len(xs) == 1:
        wanted = ctx.name(out.type.numpy_dtype, out.type.dtype)
        return f"{ctx.name(np.array, 'array')}({xs[0]}, {wanted})"
    dtype = _inner(op, node)
    if len(xs) == 2:
        return call_ufunc(ctx, ufunc, xs, ctx.target, dtype)
    return _steps(node, ctx, [(ufunc, [x], dtype) for x in xs[1:]], xs[0])


def _clip(op: ScalarOp, node: Apply, ctx: Context) -> str | None:
    xs, dtype = ctx.inputs, _inner(op, node)
    return _steps(node, ctx, [(np.maximum, [xs[1]], dtype), (np.minimum, [xs[2]], dtype)], xs[0])


def _steps(
    node: Apply, ctx: Context, calls: Sequence[tuple[np.ufunc, list[str], Any]], first: str
) -> str | None:
    """Write a chain of binary calls, each on the result of the one before."""
    full = _final_from(node, ctx)
    destroyed = node.op.destroy_map.get(0, [0])[0]
    target = ctx.target
    result = ctx.out()
    so_far = first
    for k, (ufunc, rest, dtype) in enumerate(calls):
        out = None
        if k >= full:  # what there is after this step has the final shape
            out = result if k > full else None
            if target is not None and k + 1 >= destroyed:
                out = target if k == max(full, destroyed - 1) else result
        ctx.line(f"{result} = {call_ufunc(ctx, ufunc, [so_far, *rest], out, dtype)}")
        so_far = result
    return None


def _final_from(node: Apply, ctx: Context) -> int:
    """Return the index of the first step after which the result has its final shape."""
    for i in range(len(node.inputs)):
        if ctx.has_result_shape(i):
            return max(i - 1, 0)
    return len(node.inputs) - 2


def _cast(op: ScalarOp, node: Apply, ctx: Context) -> str | None:
    x, dtype = ctx.value(0), node.outputs[0].type.numpy_dtype
    if goes_by_int64(node.inputs[0].type.dtype, dtype):
        x = f"{x}.astype({ctx.name(np.dtype(np.int64), 'int64')})"
    if ctx.target is None:
        return f"{x}.astype({ctx.name(dtype, dtype.name)})"
    ctx.line(
        f"{ctx.out()} = {ctx.target}; {ctx.name(np.copyto, 'copyto')}({ctx.out()}, {x}, 'unsafe')"
    )
    return None


def _switch(op: ScalarOp, node: Apply, ctx: Context) -> str:
    xs = [ctx.value(i) for i in range(3)]
    return f"{ctx.name(np.where, 'where')}({', '.join(xs)})"


def _identity(op: ScalarOp, node: Apply, ctx: Context) -> str:
    return f"{ctx.value(0)}.copy()"


def _second(op: ScalarOp, node: Apply, ctx: Context) -> str | None:
    """Write the value in the shape of the first input."""
    y, out = ctx.value(1), node.outputs[0].type
    if ctx.target is None and not ctx.has_result_shape(0):
        return f"{y}.copy()" if ctx.has_result_shape(1) else call_op(node.op, node, ctx)
    dtype = ctx.name(out.numpy_dtype, out.dtype)
    new = f"{ctx.name(np.empty, 'empty')}({ctx.value(0)}.shape, {dtype})"
    ctx.line(f"{ctx.out()} = {ctx.target or new}; {ctx.out()}[...] = {y}")
    return None


def _compute(op: ScalarOp, node: Apply, ctx: Context) -> str:
    """Write a call of a Python function, which takes `out` like a ufunc."""
    xs = [ctx.array(i) for i in range(len(node.inputs))]
    dtype = _inner(op, node)
    if dtype is not None:
        xs = [f"{x}.astype({ctx.name(dtype, dtype.name)})" for x in xs]
    xs += [f"out={ctx.target}"] if ctx.target is not None else []
    text = f"{ctx.name(op.compute, op.name)}({', '.join(xs)})"
    if op.listed:  # the others may give another dtype than they say
        return text
    wanted = node.outputs[0].type
    return (
        f"{ctx.name(np.asarray, 'asarray')}({text}, {ctx.name(wanted.numpy_dtype, wanted.dtype)})"
    )


_HANDLERS: dict[str, Handler] = {
    "switch": _switch, "clip": _clip, "second": _second, "identity": _identity,
}  # fmt: skip
