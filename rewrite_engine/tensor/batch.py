"""Batches: dimensions in front, along which an op is applied (`Op.vectorize`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.tensor.dimshuffle import broadcast_to
from rewrite_engine.tensor.shape import shape_tuple


def batch_ranks(node: Apply, inputs: Sequence[Any]) -> list[int]:
    """How many dimensions each input has in front of those of a node's."""
    return [x.type.ndim - v.type.ndim for x, v in zip(inputs, node.inputs, strict=True)]


def batch_shape(inputs: Sequence[Any], ranks: Sequence[int]) -> list[Any]:
    """The lengths of the batch: where operands broadcast, one that is not known to be 1."""
    lengths: list[Any] = []
    for k in range(max(ranks, default=0), 0, -1):
        places = [(x, n - k) for x, n in zip(inputs, ranks, strict=True) if n >= k]
        long = [(x, axis) for x, axis in places if x.type.shape[axis] != 1]
        x, axis = (long or places)[0]
        lengths.append(shape_tuple(x)[axis])
    return lengths


def stretched(x: Any, rank: int, batch: Sequence[Any]) -> Any:
    """An operand with `rank` dimensions of a batch, with all of it."""
    have = x.type.shape[:rank]
    if len(have) == len(batch) and all(n != 1 or m == 1 for n, m in zip(have, batch, strict=True)):
        return x
    one = x.dimshuffle(*["x"] * (len(batch) - rank), *range(x.type.ndim))
    return broadcast_to(one, [*batch, *shape_tuple(x)[rank:]])


def all_stretched(node: Apply, inputs: Sequence[Any]) -> tuple[int, list[Any]]:
    """How many dimensions the batch has, and all operands with all of it."""
    ranks = batch_ranks(node, inputs)
    batch = batch_shape(inputs, ranks)
    return len(batch), [stretched(x, n, batch) for x, n in zip(inputs, ranks, strict=True)]
