"""Code of ops on the VM: `traits` (what the plan may assume) and `lower` (the code), one function
per op class.

Both are `functools.singledispatch` on the op; the families register theirs in files named after
them. An unregistered op runs by its `perform`, or by its `make_thunk` if it defines one.

To give an op code of its own:

    @lower.register
    def _(op: MyOp, node: Apply, ctx: Context) -> str:
        return f"{ctx.name(np.cumsum, 'cumsum')}({ctx.array(0)})"
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.plan import DEFAULT, Traits
from rewrite_engine.link.vm.context import Context


@singledispatch
def traits(op: Any, node: Apply) -> Traits:
    """Return what the plan may assume about the code of this node."""
    return DEFAULT


@singledispatch
def lower(op: Any, node: Apply, ctx: Context) -> str | None:
    """Return an expression for the node's output (for a tuple of them, if there are several), or
    write whole statements that assign `ctx.out()` and return None."""
    return call_op(op, node, ctx)


def call_op(op: Any, node: Apply, ctx: Context) -> str:
    """Write a call of the linker's function for an op alone (`Linker.runner`), with None for inputs
    that it does not read and that may not exist.
    """
    inputs = [ctx.array(i) for i in range(len(node.inputs))]
    for i, asked in enumerate(op.read_if(node)) if op.read_if is not None else ():
        if asked is not None:
            inputs[i] += f" if {'' if asked[1] else 'not '}{ctx.inputs[asked[0]]} else None"
    return f"{ctx.name(ctx.body.code.runner(node), type(op).__name__)}({', '.join(inputs)})"
