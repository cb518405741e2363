"""Batches: leading dimensions along which an op is applied (`Op.vectorize`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.tensor.dimshuffle import broadcast_to
from rewrite_engine.tensor.shape import shape_tuple


def batch_ranks(node: Apply, inputs: Sequence[Any]) -> list[int]:
    """Return, for each input, the number of leading dimensions beyond those of the node's input."""
    return [x.type.ndim - v.type.ndim for x, v in zip(inputs, node.inputs, strict=True)]


def batch_shape(inputs: Sequence[Any], ranks: Sequence[int]) -> list[Any]:
    """Return the lengths of the batch dimensions: for each, a length that is not known to be 1."""
    lengths: list[Any] = []
    for k in range(max(ranks, default=0), 0, -1):
        places = [(x, n - k) for x, n in zip(inputs, ranks, strict=True) if n >= k]
        long = [(x, axis) for x, axis in places if x.type.shape[axis] != 1]
        x, axis = (long or places)[0]
        lengths.append(shape_tuple(x)[axis])
    return lengths


def stretched(x: Any, rank: int, batch: Sequence[Any]) -> Any:
    """Return an operand whose `rank` batch dimensions are broadcast to the whole batch."""
    have = x.type.shape[:rank]
    if len(have) == len(batch) and all(n != 1 or m == 1 for n, m in zip(have, batch, strict=True)):
        return x
    one = x.dimshuffle(*["x"] * (len(batch) - rank), *range(x.type.ndim))
    return broadcast_to(one, [*batch, *shape_tuple(x)[rank:]])


def all_stretched(node: Apply, inputs: Sequence[Any]) -> tuple[int, list[Any]]:
    """Return the number of batch dimensions, and all operands broadcast to the whole batch."""
    ranks = batch_ranks(node, inputs)
    batch = batch_shape(inputs, ranks)
    return len(batch), [stretched(x, n, batch) for x, n in zip(inputs, ranks, strict=True)]
