"""Ops with a mode of their own: each node is compiled to a separate function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rewrite_engine.compile.function import function
from rewrite_engine.graph.node import Apply


def apart(node: Apply) -> Callable[..., Any]:
    """Compile a node, in the mode of its op, to a function of the values of its inputs."""
    op: Any = node.op
    plain = op.holding(op.inner_inputs, op.inner_outputs, mode=None)
    inputs = [v.type.make_variable(v.name) for v in node.inputs]
    outputs = plain.make_node(*inputs).outputs
    options: Any = {"name": str(op), "on_unused_input": "ignore", "trust_input": True}
    options["profile"] = False
    found = outputs if len(outputs) > 1 else outputs[0]
    return function(inputs, found, mode=op.mode, check=False, **options)
