"""Views of another shape on the VM: transposing, adding dimensions, reshaping; and shapes as
values.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.plan import DEFAULT, FRESH, VIEW, Traits
from rewrite_engine.link.vm.lower import Context, call_op, lower, traits
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.index.diagonals import Diagonal
from rewrite_engine.tensor.math import mul, sqr
from rewrite_engine.tensor.reshape import Reshape
from rewrite_engine.tensor.shape import (
    CheckedIndex,
    CheckedLength,
    Shape,
    Shape_i,
    SpecifyShape,
)

# --- DimShuffle -------------------------------------------------------------------------------


@traits.register(DimShuffle)
def _(op: DimShuffle, node: Apply) -> Traits:
    return _known(op, node.inputs[0].type)[0]


@lru_cache(maxsize=4096)
def _known(op: DimShuffle, type_: Any) -> tuple[Traits, bool, str, tuple[Any, ...] | None]:
    """Return (traits, whether the input's dimensions are of use, text that reorders them, index
    that adds and drops some). A dropped dimension of unknown length must be checked when the
    function runs: then the traits know nothing.
    """
    drop, order = op.drop, op.shuffle + op.drop
    text, index = "", None
    if order != tuple(range(len(order))):
        is_reversed = order == tuple(range(len(order)))[::-1]
        text = ".T" if is_reversed else f".transpose({', '.join(map(str, order))})"
    if op.augment or drop:
        index = (*[None if o == "x" else slice(None) for o in op.new_order], *[0] * len(drop))
    known = VIEW if index is not None else Traits(inline=True, warns=False, permutes=op.shuffle)
    if any(type_.shape[i] != 1 for i in drop):
        known = DEFAULT
    return known, bool(order), text, index


@lower.register(DimShuffle)
def _(op: DimShuffle, node: Apply, ctx: Context) -> str:
    known, dimensions, text, index = _known(op, node.inputs[0].type)
    if known is DEFAULT:
        return call_op(op, node, ctx)
    # a NumPy scalar can be indexed with None
    text = (ctx.array(0) if dimensions else ctx.value(0)) + text
    if index is not None:
        key = index if len(index) > 1 else index[0] if index else None
        text += f"[{ctx.name(key, 'view')}]" if index else "[()]"
    if not op.new_order:
        ctx.form = "scalar"
    return text + ".copy()" if ctx.copies else text


# --- Reshape, SpecifyShape --------------------------------------------------------------------


def _is_plain(node: Apply) -> bool:
    """Return whether the lengths cannot be negative, which NumPy would interpret as "the remaining
    length".
    """
    return all(map(_is_length, node.inputs[1:]))


def _is_length(x: Variable) -> bool:
    """Return whether a number is the length of a dimension, or a product of such lengths."""
    node = x.owner
    if node is not None and node.op in (mul, sqr):
        return all(map(_is_length, node.inputs))
    return node is not None and isinstance(node.op, Shape_i | CheckedLength)


@traits.register(Reshape)
def _(op: Reshape, node: Apply) -> Traits:
    return VIEW if _is_plain(node) else DEFAULT


@lower.register(Reshape)
def _(op: Reshape, node: Apply, ctx: Context) -> str:
    if not _is_plain(node):
        return call_op(op, node, ctx)
    number = 0
    parts = []
    for s in op.shape:
        number += s == "i"
        parts.append(ctx.scalar(number) if s == "i" else str(s))
    ctx.form = "array"
    return f"{ctx.array(0)}.reshape({', '.join(parts) or '()'})"


@lower.register(SpecifyShape)
def _(op: SpecifyShape, node: Apply, ctx: Context) -> str:
    """Compare lengths that are numbers; call the op if they differ."""
    call = call_op(op, node, ctx)
    x, asked = ctx.array(0), [(i, n) for i, n in enumerate(op.shape) if n is not None]
    if not asked or len(node.inputs) > 1:
        return call
    ctx.form = "array"
    same = " and ".join([f"{x}.shape[{i}] == {n}" for i, n in asked])
    return f"{x} if {same} else {call}"


# --- Diagonal ---------------------------------------------------------------------------------


@traits.register(Diagonal)
def _(op: Diagonal, node: Apply) -> Traits:
    return VIEW


@lower.register(Diagonal)
def _(op: Diagonal, node: Apply, ctx: Context) -> str:
    return f"{ctx.name(op.of, 'diagonal')}({ctx.array(0)})"


# --- shapes as values -------------------------------------------------------------------------

LENGTH_TRAITS = Traits(inline=True, warns=False)


@traits.register(Shape)
def _(op: Shape, node: Apply) -> Traits:
    return FRESH


@lower.register(Shape)
def _(op: Shape, node: Apply, ctx: Context) -> str:
    dtype = ctx.name(np.dtype("int64"), "int64")
    return f"{ctx.name(np.array, 'array')}({ctx.array(0)}.shape, {dtype})"


@traits.register(Shape_i)
def _(op: Shape_i, node: Apply) -> Traits:
    return LENGTH_TRAITS


@lower.register(Shape_i)
def _(op: Shape_i, node: Apply, ctx: Context) -> str:
    ctx.form = "scalar"
    return f"{ctx.name(np.int64, 'to_int64')}({ctx.array(0)}.shape[{op.i}])"


@traits.register(CheckedIndex)
@traits.register(CheckedLength)
def _(op: CheckedIndex | CheckedLength, node: Apply) -> Traits:
    return LENGTH_TRAITS


@lower.register(CheckedLength)
def _(op: CheckedLength, node: Apply, ctx: Context) -> str:
    numbers = [ctx.scalar(i) for i in range(len(node.inputs))]
    test = " or ".join([f"{numbers[i]} != {numbers[j]}" for i, j in op.pairs()])
    if test:
        fail = ctx.name(partial(op.refuse, node), "unequal")
        ctx.line(f"if {test}: {fail}(({', '.join(numbers)}))")
    ctx.form = "scalar"
    return numbers[0]


@lower.register(CheckedIndex)
def _(op: CheckedIndex, node: Apply, ctx: Context) -> str:
    i, n = ctx.scalar(0), ctx.scalar(1)
    fail = ctx.name(partial(op.refuse, node), "out_of_range")
    ctx.line(f"if not -{n} <= {i} < {n}: {fail}(({i}, {n}))")
    ctx.form = "scalar"
    number = getattr(node.inputs[0], "number", None)
    if number is None:
        return f"({i} if {i} >= 0 else {i} + {n})"
    return i if number >= 0 else f"({i} + {n})"
