"""Native code of a single node as one of its forms, for `DebugMode` to compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.link.forms import Form, Run, linked_alone, register_form
from rewrite_engine.link.linker import get_linker, has_llvmlite
from rewrite_engine.link.native.inline import inline_graphs
from rewrite_engine.link.native.lower import why_not

_made: dict[Any, Run] = {}  # for nodes of one op that have the same types
MAX_RUNS = 1000


@register_form
def native_code(node: Apply) -> Form | None:
    """Return the native code of a node, compiled on its first run; None if it has none."""
    if node.op.read_if is not None or not has_llvmlite():
        return None
    if any(map(why_not, inline_graphs([node]))):
        return None

    def run(inputs: Sequence[Any], cells: Sequence[list[Any]]) -> None:
        own = [v.signature() if isinstance(v, Constant) else v.type for v in node.inputs]
        key = node.op, tuple(own), tuple([v.type for v in node.outputs])
        if key not in _made:
            if len(_made) >= MAX_RUNS:
                _made.clear()
            _made[key] = linked_alone(node, get_linker("native"))
        _made[key](inputs, cells)

    return Form("native", run, written=True)
