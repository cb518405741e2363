"""Products of vectors and matrices on the VM."""

from __future__ import annotations

import numpy as np

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.plan import FRESH, Traits
from rewrite_engine.link.vm.lower import Context, lower, traits
from rewrite_engine.tensor.product.dots import Dot

NUMBER_TRAITS = Traits(inline=True)
BUFFER_TRAITS = Traits(fresh=True, keep=True, inline=True)


@traits.register(Dot)
def _(op: Dot, node: Apply) -> Traits:
    out = node.outputs[0].type
    if not out.ndim:
        return NUMBER_TRAITS
    return BUFFER_TRAITS if all([x.type.dtype == out.dtype for x in node.inputs]) else FRESH


@lower.register(Dot)
def _(op: Dot, node: Apply, ctx: Context) -> str:
    a, b = ctx.array(0), ctx.array(1)
    ctx.form = "scalar"
    if ctx.target is None:
        return f"{a}.dot({b})"
    return f"{ctx.name(np.dot, 'dot')}({a}, {b}, {ctx.target})"
