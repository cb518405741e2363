"""Creation of arrays on the VM."""

from __future__ import annotations

from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.link.plan import FRESH, Traits
from rewrite_engine.link.vm.lower import Context, call_op, lower, traits
from rewrite_engine.tensor.creation import Alloc, AllocEmpty, ARange, Eye, Tri, triangle


@traits.register(Alloc)
@traits.register(AllocEmpty)
@traits.register(ARange)
@traits.register(Eye)
@traits.register(Tri)
def _(op: Any, node: Apply) -> Traits:
    return FRESH


def lengths_text(node: Apply, first: int, ctx: Context) -> str:
    """Return the shape in the inputs from `first` on, as a tuple."""
    parts = [
        str(int(x.data)) if isinstance(x, Constant) else ctx.scalar(i)
        for i, x in enumerate(node.inputs[first:], first)
    ]
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


@lower.register(Alloc)
def _(op: Alloc, node: Apply, ctx: Context) -> str | None:
    value, out = node.inputs[0], node.outputs[0].type
    if value.type.ndim or not out.ndim:
        return call_op(op, node, ctx)
    shape, dtype = lengths_text(node, 1, ctx), ctx.name(out.numpy_dtype, out.dtype)
    if isinstance(value, Constant) and not np.any(value.data) and not np.signbit(value.data.real):
        return f"{ctx.name(np.zeros, 'zeros')}({shape}, {dtype})"
    ctx.line(
        f"{ctx.out()} = {ctx.name(np.empty, 'empty')}({shape}, {dtype}); "
        f"{ctx.out()}.fill({ctx.value(0)})"
    )
    return None


@lower.register(AllocEmpty)
def _(op: AllocEmpty, node: Apply, ctx: Context) -> str:
    out = node.outputs[0].type
    if not out.ndim:
        return call_op(op, node, ctx)
    dtype = ctx.name(out.numpy_dtype, out.dtype)
    return f"{ctx.name(np.empty, 'empty')}({lengths_text(node, 0, ctx)}, {dtype})"


@lower.register(Eye)
def _(op: Eye, node: Apply, ctx: Context) -> str:
    dtype = ctx.name(node.outputs[0].type.numpy_dtype, op.dtype)
    return f"{ctx.name(np.eye, 'eye')}(*{lengths_text(node, 0, ctx)}, {dtype})"


@lower.register(Tri)
def _(op: Tri, node: Apply, ctx: Context) -> str:
    return f"{ctx.name(triangle, 'triangle')}{lengths_text(node, 0, ctx)}"
