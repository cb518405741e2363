"""Reductions on the VM (`ufunc.reduce` and `argmax`, called directly), and ops along an axis:
softmax, cumsum.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.plan import FRESH, Traits
from rewrite_engine.link.vm.lower import Context, call_op, lower, traits
from rewrite_engine.tensor.reduce import CAReduce
from rewrite_engine.tensor.reduction import Reduction
from rewrite_engine.tensor.running import CumOp
from rewrite_engine.tensor.special import (
    LogSoftmax,
    ScaledExp,
    Softmax,
    SoftmaxAndLog,
    log_softmax_array,
    softmax_and_log_array,
    softmax_array,
)
from rewrite_engine.tensor.statistics.moments import Argmax

NOT_FRESH_TRAITS = Traits(inline=True)  # a number, or the operand itself


@traits.register(Reduction)
def _(op: Reduction, node: Apply) -> Traits:
    fresh = node.outputs[0].type.ndim > 0 and bool(op.axes(node.inputs[0].type.ndim))
    return FRESH if fresh else NOT_FRESH_TRAITS


@lower.register(CAReduce)
def _(op: CAReduce, node: Apply, ctx: Context) -> str:
    """Write `add.reduce(x, axis, dtype, None, keepdims)`, without unneeded arguments."""
    ufunc, out = op.reducer(), node.outputs[0].type
    inner = op.accumulator(out.dtype)
    parts = [ctx.array(0), str(op.axis)]
    if inner != out.dtype or op.dtype is not None:
        parts.append(f"dtype={ctx.name(np.dtype(inner), inner)}")
    if op.keepdims:
        parts.append("keepdims=True")
    ctx.form = "scalar"
    text = f"{ctx.name(reducing(ufunc), ufunc.__name__ + '_reduce')}({', '.join(parts)})"
    if inner == out.dtype:
        return text
    if not out.ndim and np.can_cast(inner, out.dtype, "same_kind"):
        return f"{ctx.name(out.numpy_dtype.type, 'to_' + out.dtype)}({text})"
    return f"{text}.astype({ctx.name(out.numpy_dtype, out.dtype)})"


@cache
def reducing(ufunc: np.ufunc) -> Any:
    """Return `ufunc.reduce`, always the same object, so that it has one name."""
    return ufunc.reduce


@lower.register(Argmax)
def _(op: Argmax, node: Apply, ctx: Context) -> str:
    """Call the method of the array, for one axis or all of them."""
    name = op.find.__name__
    if (op.axis is not None and len(op.axis) != 1) or not node.inputs[0].type.ndim:
        return call_op(op, node, ctx)
    axis = None if op.axis is None else op.axis[0]
    ctx.form = "scalar"
    return f"{ctx.array(0)}.{name}({axis}{', keepdims=True' if op.keepdims else ''})"


# --- along an axis, keeping the shape ---------------------------------------------------------


@traits.register(Softmax)
@traits.register(LogSoftmax)
@traits.register(SoftmaxAndLog)
@traits.register(ScaledExp)
@traits.register(CumOp)
def _(op: Any, node: Apply) -> Traits:
    return FRESH


@lower.register(Softmax)
def _(op: Softmax, node: Apply, ctx: Context) -> str:
    return f"{ctx.name(softmax_array, 'softmax')}({ctx.array(0)}, {op.axis})"


@lower.register(LogSoftmax)
def _(op: LogSoftmax, node: Apply, ctx: Context) -> str:
    return f"{ctx.name(log_softmax_array, 'log_softmax')}({ctx.array(0)}, {op.axis})"


@lower.register(SoftmaxAndLog)
def _(op: SoftmaxAndLog, node: Apply, ctx: Context) -> str:
    name = ctx.name(softmax_and_log_array, "softmax_and_log")
    return f"{name}({ctx.array(0)}, {op.axis}, {op.whole})"
