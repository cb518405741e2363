"""Registration of native code: `native(op, node)` returns why a node has none (None: it has), and
`lower` adds the statements of a node to a `RegionPlan`.

Both are `functools.singledispatch` on the op, as on the VM; the files are named after families of
ops. Ops without a registration run on the VM. Families that few graphs use are loaded on first use
(`LAZY_FAMILIES`).
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
    """Return why there is no native code for a node; None if there is."""
    return "it has no native code"


@singledispatch
def lower(op: Any, node: Apply, plan: RegionPlan) -> None:
    """Add the statements of a node, and set `plan.of` of its outputs."""
    raise NotImplementedError


@singledispatch
def expanded(op: Any, node: Apply) -> list[Apply]:
    """Return native nodes that together compute the same as a native node."""
    return [node]


def why_not(node: Apply) -> str | None:
    """Return why a node runs on the VM, because of its dtypes or its op; None if it is native."""
    for v in (*node.inputs, *node.outputs):
        if not isinstance(v.type, TensorType):
            return f"a value of type {v.type}"
        if v.type.dtype not in KINDS:
            return f"dtype {v.type.dtype}"
        if v.type.ndim > MAX_DIMENSIONS:
            return f"more than {MAX_DIMENSIONS} dimensions"
        if isinstance(v, Constant) and not v.data.dtype.isnative:
            return "a constant in another byte order"
    for op in (node.op, getattr(node.op, "core_op", None)):
        home = type(op).__module__.rpartition(".")[0]
        if home in LAZY_FAMILIES:
            _load(LAZY_FAMILIES[home])
    return native(node.op, node)


@cache
def _load(name: str) -> None:
    import_module(name)


MAX_DIMENSIONS = 16
#: where ops are → the module with their code, which is loaded with the first of them
LAZY_FAMILIES = {
    "rewrite_engine.tensor.linalg": "rewrite_engine.link.native.factors",
    "rewrite_engine.loops": "rewrite_engine.link.native.scans",
}
