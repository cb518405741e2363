"""Joining of arrays on the VM."""

from __future__ import annotations

import numpy as np

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.plan import FRESH, Traits
from rewrite_engine.link.vm.lower import Context, lower, traits
from rewrite_engine.tensor.shaping.joins import Join, MakeVector


@traits.register(Join)
@traits.register(MakeVector)
def _(op: Join, node: Apply) -> Traits:
    return FRESH


@lower.register(Join)
def _(op: Join, node: Apply, ctx: Context) -> str:
    xs = ", ".join([ctx.array(i) for i in range(len(node.inputs))])
    return f"{ctx.name(np.concatenate, 'concatenate')}(({xs},), {op.axis})"


@lower.register(MakeVector)
def _(op: MakeVector, node: Apply, ctx: Context) -> str:
    xs = ", ".join([ctx.scalar(i) for i in range(len(node.inputs))])
    out = node.outputs[0].type
    return f"{ctx.name(np.array, 'array')}([{xs}], {ctx.name(out.numpy_dtype, out.dtype)})"
