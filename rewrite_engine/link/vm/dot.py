"""Products of vectors and matrices on the VM."""

from __future__ import annotations

import numpy as np

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.vm.lower import Context, Traits, lower, traits
from rewrite_engine.tensor.dots import Dot


@traits.register(Dot)
def _(op: Dot, node: Apply) -> Traits:
    same = all(x.type.dtype == node.outputs[0].type.dtype for x in node.inputs)
    many = node.outputs[0].type.ndim > 0
    return Traits(fresh=many, keep=many and same, inline=True)


@lower.register(Dot)
def _(op: Dot, node: Apply, ctx: Context) -> str:
    a, b = ctx.array(0), ctx.array(1)
    ctx.form = "scalar"
    if ctx.target is None:
        return f"{a}.dot({b})"
    return f"{ctx.name(np.dot, 'dot')}({a}, {b}, {ctx.target})"
