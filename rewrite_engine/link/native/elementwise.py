"""Lowering of elementwise ops."""

from __future__ import annotations

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.native.kernel_text import is_inline
from rewrite_engine.link.native.lower import lower, native
from rewrite_engine.link.native.own_code import missing_compiler
from rewrite_engine.link.native.region import RegionPlan
from rewrite_engine.link.native.scalars import (
    calls_function,
    kind_of,
    numbers_that_count,
    write_converted,
)
from rewrite_engine.link.native.text import KINDS
from rewrite_engine.link.native.values import ElementWriter, Number
from rewrite_engine.scalar import ops as scalars
from rewrite_engine.tensor.elemwise import Elemwise


@native.register(Elemwise)
def _(op: Elemwise, node: Apply) -> str | None:
    if len(node.outputs) > 1:
        return "several outputs"
    dtypes, result = [x.type.dtype for x in node.inputs], node.outputs[0].type.dtype
    kind = kind_of(op.scalar_op, dtypes, result)
    if kind is not None:
        return None
    if missing_compiler(op.scalar_op):
        return "its C code needs a compiler, and there is none"
    return f"no loop for dtypes {', '.join(dtypes)}"


@lower.register(Elemwise)
def _(op: Elemwise, node: Apply, plan: RegionPlan) -> None:
    scalar, out = op.scalar_op, node.outputs[0]
    result = KINDS[out.type.dtype]
    kind = kind_of(scalar, [x.type.dtype for x in node.inputs], out.type.dtype)
    assert kind is not None
    inputs = node.inputs
    if scalar.listed and scalar.name == "second":  # its shape is known already
        inputs = inputs[1:]
    kinds = [KINDS[x.type.dtype] for x in inputs]
    operands = [plan.get(x) for x in inputs]
    if scalar == scalars.pow and operands[1] in (Number(0.5, "d"), Number(0.5, "f")):
        inputs, operands = inputs[:1], operands[:1]  # as NumPy does: -inf is no pole
        kinds, scalar = kinds[:1], scalars.sqrt
    numbers = [x.value if isinstance(x, Number) and is_inline(x) else None for x in operands]
    known = numbers_that_count(scalar, numbers, kinds, kind)
    write_it = ElementWriter(write_converted, (scalar, kind, tuple(kinds), known))
    plan.of[out] = plan.elementwise(operands, plan.shape(out), result, write_it,
                                    calls_function=calls_function(scalar, kind))  # fmt: skip
