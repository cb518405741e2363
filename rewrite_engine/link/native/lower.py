"""Lowering of ops to native code: `native(op, node)` explains why a node is not native (None: it
is), and `lower` adds its statements to a `RegionPlan`. Both are `functools.singledispatch` on the
op, as in the VM; the families are in files named after them. Unregistered ops run on the VM.
Families of rare ops are loaded when one is met (`LATER`).
"""

from __future__ import annotations

from functools import cache, singledispatch
from importlib import import_module
from typing import Any

from rewrite_engine.graph.node import Apply, Constant
from rewrite_engine.link.native.region import RegionPlan
from rewrite_engine.link.native.text import KINDS
from rewrite_engine.tensor.type import TensorType


@singledispatch
def native(op: Any, node: Apply) -> str | None:
    """Explain why there is no native code for this node; None if there is."""
    return "no native code is written for it"


@singledispatch
def lower(op: Any, node: Apply, plan: RegionPlan) -> None:
    """Add the statements of a node, and set `plan.of` of its outputs."""
    raise NotImplementedError


@singledispatch
def expanded(op: Any, node: Apply) -> list[Apply]:
    """Return nodes that compute the same values as a native one, and are native, too."""
    return [node]


def why_not(node: Apply) -> str | None:
    """Explain why a node runs on the VM, because of its dtypes or of the op; None if it does
    not.
    """
    for v in (*node.inputs, *node.outputs):
        if not isinstance(v.type, TensorType):
            return f"a value of type {v.type}"
        if v.type.dtype not in KINDS:
            return f"dtype {v.type.dtype}"
        if v.type.ndim > MOST_AXES:
            return f"more than {MOST_AXES} dimensions"
        if isinstance(v, Constant) and not v.data.dtype.isnative:
            return "a constant in another order of bytes"
    for op in (node.op, getattr(node.op, "core_op", None)):
        home = type(op).__module__.rpartition(".")[0]
        if home in LATER:
            _load(LATER[home])
    return native(node.op, node)


@cache
def _load(name: str) -> None:
    import_module(name)


MOST_AXES = 16
#: where ops are → the module with their code, which is loaded with the first of them
LATER = {
    "rewrite_engine.tensor.linalg": "rewrite_engine.link.native.factors",
    "rewrite_engine.loops": "rewrite_engine.link.native.scans",
}
