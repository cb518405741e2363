"""Indexing along a batch: templates that read, or write, for the whole batch at once.

If only the array has a batch, whole slices index the batch dimensions. If indices have one, integer
arrays that broadcast with the other index arrays index them. The dimensions of NumPy's result are
then in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.tensor.batch import batch_ranks, batch_shape, stretched
from rewrite_engine.tensor.creation import arange
from rewrite_engine.tensor.dimshuffle import shape_padleft
from rewrite_engine.tensor.index.gather import AdvancedIncSubtensor, AdvancedSubtensor, is_together
from rewrite_engine.tensor.index.subtensor import BaseInc, IndexOp, Take
from rewrite_engine.tensor.index.template import APART, INPUT, NEWAXIS, WHOLE, Slice, Template, pair
from rewrite_engine.tensor.op import behind_batch, with_parameters
from rewrite_engine.tensor.shape import shape_i


@dataclass(frozen=True)
class Lifted:
    """Index along a batch. order: for each dimension of NumPy's result, its position among the
    batch dimensions and then those of the part.
    """

    template: Template
    indices: list[Any]
    order: list[int]


def take_along(op: Take, node: Apply, inputs: Sequence[Any]) -> list[Any] | None:
    """Return the part read along a batch; None if its shape may differ along the batch."""
    ranks = batch_ranks(node, inputs)
    lifted = lift(op, node, inputs, max(ranks), node.outputs[0].type.ndim)
    if lifted is None:
        return None
    kind = AdvancedSubtensor if any(ranks[1:]) else type(op)
    found = kind(lifted.template)(inputs[0], *lifted.indices)
    return [found.dimshuffle(*[lifted.order.index(i) for i in range(len(lifted.order))])]


def write_along(op: BaseInc, node: Apply, inputs: Sequence[Any]) -> list[Any] | None:
    """Return the whole batch of arrays, written along the batch; None if the shape of the written
    part may differ along it.
    """
    ranks = batch_ranks(node, inputs)
    batch = batch_shape(inputs, ranks)
    x, y, *indices = stretched(inputs[0], ranks[0], batch), *inputs[1:]
    types = [v.type for v in node.inputs]
    n, ndim = len(batch), len(op.part(types[0], types[2:]))
    lifted = lift(op, node, [x, y, *indices], n, ndim)
    if lifted is None:
        return None
    (y,) = behind_batch(node.inputs[1:2], [y], [ndim - types[1].ndim])
    y = shape_padleft(y, n - ranks[1])
    if any(ranks[2:]) and not isinstance(op, AdvancedIncSubtensor):
        op = AdvancedIncSubtensor(op.idx_list, op.set_instead_of_inc, False, op.broadcasts)
    wide = with_parameters(op, idx_list=lifted.template, inplace=False)
    return [wide(x, y.dimshuffle(*lifted.order), *lifted.indices)]


def lift(op: IndexOp, node: Apply, inputs: Sequence[Any], n: int, ndim: int) -> Lifted | None:
    """Return the index for a batch of n dimensions, with a part of `ndim` dimensions; None if
    slices or masks have a batch.
    """
    template, own = op.idx_list, node.inputs[op.first_index :]
    indices, ranks = list(inputs[op.first_index :]), batch_ranks(node, inputs)
    places = [k for k, e in enumerate(template) if e == INPUT or isinstance(e, int)]
    before = sum(e == NEWAXIS or isinstance(e, Slice) for e in template[: (places or [0])[0]])
    width = max([1 if v.type.kind == "b" else v.type.ndim for v in own], default=0)
    start = n + (before if is_together(places) else 0)
    batch, arrays = [*range(n)], [*range(start, start + width)]
    rest = [i for i in range(n, n + ndim) if i not in arrays]
    if APART in template:
        return None
    if not any(ranks[op.first_index :]):
        more: Template = (WHOLE,) * n
        first = n + before
        rest = batch + rest
    elif _vary(template, own, indices):
        return None
    else:
        more, first = (INPUT,) * ranks[0], 0 if ranks[0] else before
        varying = zip(own, ranks[op.first_index :], strict=True)
        missing = [width - v.type.ndim if rank else 0 for v, rank in varying]
        indices = [*_numbers(inputs[0], ranks[0], width), *behind_batch(own, indices, missing)]
        arrays = batch + arrays
    places = [*range(len(more) * (more[:1] == (INPUT,))), *[len(more) + k for k in places]]
    at = first if is_together(places) else 0
    return Lifted((*more, *template), indices, [*rest[:at], *arrays, *rest[at:]])


def _vary(template: Template, own: Sequence[Any], indices: Sequence[Any]) -> bool:
    """Return whether slices or masks differ along a batch."""
    pairs = iter(zip(own, indices, strict=True))
    for e, given in pair(template, pairs):
        for v, i in given if isinstance(e, Slice) else [] if given is None else [given]:
            fixed = isinstance(e, Slice) or v.type.kind == "b"
            if fixed and i.type.ndim > v.type.ndim:
                return True
    return False


def _numbers(x: Any, rank: int, width: int) -> list[Any]:
    """Return, for each batch dimension of an array, its positions 0, 1, …, shaped to broadcast
    before `width` index dimensions.
    """
    each = [arange(shape_i(x, k)) for k in range(rank)]
    return [a.dimshuffle(0, *["x"] * (rank - 1 - k + width)) for k, a in enumerate(each)]
