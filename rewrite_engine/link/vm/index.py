"""Indexing on the VM: `x[...]` as Python writes it, and writing into a part."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.failure import mismatch
from rewrite_engine.link.plan import FRESH, VIEW, Traits
from rewrite_engine.link.vm.lower import Context, call_op, lower, traits
from rewrite_engine.tensor.index.diagonals import IncDiagonal
from rewrite_engine.tensor.index.subtensor import IncSubtensor, Subtensor
from rewrite_engine.tensor.index.template import INPUT, NEWAXIS, Slice, Template


@traits.register(Subtensor)
def _(op: Subtensor, node: Apply) -> Traits:
    return VIEW


@lower.register(Subtensor)
def _(op: Subtensor, node: Apply, ctx: Context) -> str:
    ctx.form = "scalar"
    if not op.idx_list:
        ctx.form = "any"
        return ctx.array(0)
    return f"{ctx.array(0)}[{index_text(op.idx_list, ctx, 1)}]"


def index_text(template: Template, ctx: Context, first: int) -> str:
    """Return the text between the brackets; a static index is one constant."""
    if all(not isinstance(e, str) or e == NEWAXIS for e in template) and all(
        e.is_static for e in template if isinstance(e, Slice)
    ):
        return ctx.name(_static_index(template), "index")
    number = first
    parts = []
    for e in template:
        if e == NEWAXIS:
            parts.append("None")
        elif isinstance(e, Slice):
            members = []
            for part in e:
                members.append(
                    ctx.scalar(number) if part == INPUT else "" if part is None else str(part)
                )
                number += part == INPUT
            parts.append(":".join(members if members[2] else members[:2]))
        elif e == INPUT:
            parts.append(ctx.scalar(number))
            number += 1
        else:
            parts.append(str(e))
    return ", ".join(parts)


@lru_cache
def _static_index(template: Template) -> Any:
    """Return the index for NumPy; one object for equal templates."""
    key = tuple(
        [slice(*e) if isinstance(e, Slice) else None if e == NEWAXIS else e for e in template]
    )
    return key[0] if len(key) == 1 else key


@traits.register(IncSubtensor)
def _(op: IncSubtensor, node: Apply) -> Traits:
    return FRESH if _is_plain(op, node) else Traits()


def _is_plain(op: IncSubtensor, node: Apply) -> bool:
    """Return whether the value has exactly the shape of the part, or is a number."""
    y = node.inputs[1].type
    part = node.inputs[0].type.ndim - sum(
        not isinstance(e, Slice) and e != NEWAXIS for e in op.idx_list
    )
    if any(e == NEWAXIS for e in op.idx_list) or not node.inputs[0].type.ndim:
        return False
    return _fits_plainly(y, part)


def _fits_plainly(y: Any, part: int) -> bool:
    """Return whether nothing but a number is broadcast to a part with this many dimensions."""
    return y.ndim == 0 or (y.ndim == part and 1 not in y.shape)


def check_broadcast(part: Any, y: Any) -> None:
    """Raise an error unless lengths of `y` that differ from those of the part are 1."""
    if any([n not in (1, m) for n, m in zip(y.shape, part.shape, strict=True)]):
        mismatch()


@lower.register(IncSubtensor)
def _(op: IncSubtensor, node: Apply, ctx: Context) -> str | None:
    if not _is_plain(op, node):
        return call_op(op, node, ctx)
    x, y, out = ctx.array(0), ctx.value(1), ctx.out()
    index = index_text(op.idx_list, ctx, 2) or "()"
    part = f"{out}[{index}]"
    ctx.line(f"{out} = {x}" if op.inplace else f"{out} = {x}.copy()")
    if node.inputs[1].type.ndim:
        if op.broadcasts:
            refuse = f"{ctx.name(check_broadcast, 'check_broadcast')}({part}, {y})"
        else:
            refuse = f"{ctx.name(mismatch, 'mismatch')}()"
        ctx.line(f"if {part}.shape != {y}.shape: {refuse}")
    ctx.line(f"{part} {'=' if op.set_instead_of_inc else '+='} {y}")
    return None


@traits.register(IncDiagonal)
def _(op: IncDiagonal, node: Apply) -> Traits:
    return FRESH if _fits_plainly(node.inputs[1].type, node.inputs[0].type.ndim - 1) else Traits()


@lower.register(IncDiagonal)
def _(op: IncDiagonal, node: Apply, ctx: Context) -> str | None:
    if not _fits_plainly(node.inputs[1].type, node.inputs[0].type.ndim - 1):
        return call_op(op, node, ctx)
    x, y = ctx.array(0), ctx.value(1)
    exactly = ", True" if node.inputs[1].type.ndim else ""
    x = x if op.inplace else f"{x}.copy()"
    return f"{ctx.name(op.write, 'write_diagonal')}({x}, {y}{exactly})"
