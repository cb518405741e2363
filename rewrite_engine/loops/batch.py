"""Loops along a batch: one loop whose steps compute the whole batch; or, if the numbers of steps
differ, a loop over the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewrite_engine.errors import BatchError, message
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.graph.traverse import graph_inputs
from rewrite_engine.tensor.batch import batch_shape, stretched
from rewrite_engine.tensor.blockwise import along_batch
from rewrite_engine.tensor.shape import shape_tuple
from rewrite_engine.tensor.type import TensorType


class Along:
    """Call of a loop whose inputs have batch dimensions.

    ranks: number of batch dimensions of each input (without the number of steps); batch: their
    lengths.
    """

    def __init__(self, node: Apply, inputs: Sequence[Any]) -> None:
        self.op: Any = node.op
        types = [(x.type, v.type) for x, v in zip(inputs, node.inputs, strict=True)]
        ranks = [t.ndim - own.ndim if isinstance(own, TensorType) else 0 for t, own in types]
        if ranks[0]:
            self.refuse(inputs)
        self.steps, self.inputs, self.ranks = inputs[0], list(inputs[1:]), ranks[1:]
        self.batch = batch_shape(self.inputs, self.ranks)

    def refuse(self, inputs: Sequence[Any]) -> None:
        what = "the number of steps, and the condition that ends a loop, must not vary in a batch"
        raise BatchError(message(what, op=self.op, inputs=inputs))

    def outputs(self) -> list[Any]:
        """Return the outputs of the loop; those that do not depend on the batch have no batch
        dimensions.
        """
        op, a = self.op, self.op.sequences
        wide = {i for i in range(a, a + op.carried) if self.ranks[i]}
        while True:
            own, new = self.step(wide)
            more = {
                a + k
                for k, (v, was) in enumerate(zip(new[: op.carried], op.inner_outputs))
                if v.type is not was.type and v.type.ndim > was.type.ndim
            }
            if more <= wide:
                return self.built(own, new, wide)
            wide |= more

    def step(self, wide: set[int]) -> tuple[list[Any], list[Any]]:
        """Return the inputs and outputs of a step if the carried values `wide` have a batch."""
        op, n = self.op, len(self.batch)
        own = []
        for i, v in enumerate(op.inner_inputs):
            rank = n if i in wide else self.ranks[i]
            if not rank:
                own.append(v)
                continue
            lengths = [None] * n if i in wide else self.inputs[i].type.shape[:rank]
            own.append(v.type.clone(shape=(*lengths, *v.type.shape))(v.name))
        return own, along_batch(op.inner_outputs, dict(zip(op.inner_inputs, own, strict=True)))

    def built(self, own: list[Any], new: list[Any], wide: set[int]) -> list[Any]:
        op, a, n = self.op, self.op.sequences, len(self.batch)
        if op.until and new[-1].type.ndim:
            self.refuse([self.steps, *self.inputs])
        given = []
        for i, (x, rank) in enumerate(zip(self.inputs, self.ranks, strict=True)):
            if i in wide:
                given.append(stretched(x, rank, self.batch))
            elif i < a and rank:
                given.append(x.dimshuffle(rank, *range(rank), *range(rank + 1, x.type.ndim)))
            else:
                given.append(x)
        for k in range(op.carried):
            if a + k in wide:
                rank = new[k].type.ndim - op.inner_outputs[k].type.ndim
                new[k] = stretched(new[k], rank, shape_tuple(own[a + k])[:n])
        loop = type(op)(own, new, a, op.carried, op.until, op.truncate, op.name, op.mode,
                        op.derived)  # fmt: skip
        found = loop(self.steps, *given, return_list=True)
        for j in op.results:
            v = found[j]
            rank = new[j].type.ndim - op.inner_outputs[j].type.ndim
            if rank:
                found[j] = v.dimshuffle(*range(1, rank + 1), 0, *range(rank + 1, v.type.ndim))
        return list(found)


def one_by_one(outputs: Sequence[Any], given: Mapping[Any, Any], error: BatchError) -> list[Any]:
    """Return the outputs for a batch, by a loop over each batch dimension. Raise `error` if there
    are states that are not tensors.
    """
    if not all([isinstance(v.type, TensorType) for v in (*outputs, *graph_inputs(outputs, given))]):
        raise error
    given = {v: x for v, x in given.items() if isinstance(v.type, TensorType)}
    ranks = {v: x.type.ndim - v.type.ndim for v, x in given.items()}
    batch = batch_shape(list(given.values()), list(ranks.values()))
    wide = {v: stretched(x, ranks[v], batch) for v, x in given.items() if ranks[v]}
    return _each(outputs, given, wide, len(batch))


def _each(
    outputs: Sequence[Any], given: Mapping[Any, Any], wide: Mapping[Any, Any], n: int
) -> list[Any]:
    """Return outputs for n loop steps that compute the variables with values along the batch."""
    if not n:
        return graph_replace(outputs, {**given, **wide}, strict=False)
    from rewrite_engine.loops.step import scan

    step = lambda *values: _each(outputs, given, dict(zip(wide, values, strict=True)), n - 1)
    return scan(step, list(wide.values()), name="batch", return_list=True, return_updates=False)
