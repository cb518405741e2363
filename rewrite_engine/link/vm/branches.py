"""Branches on the VM: one line that chooses. Nodes needed by only one branch are inside an `if`
before it (`emit.py`).
"""

from __future__ import annotations

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.plan import VIEW, Traits
from rewrite_engine.link.vm.lower import Context, lower, traits
from rewrite_engine.tensor.flow.branches import IfElse


@traits.register(IfElse)
def _(op: IfElse, node: Apply) -> Traits:
    return VIEW


@lower.register(IfElse)
def _(op: IfElse, node: Apply, ctx: Context) -> str:
    condition, x, y = ctx.inputs
    return f"{x} if {condition} else {y}"
