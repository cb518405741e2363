"""The shapes of what no step gives: those that the first step would have given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.tensor.inference import ShapeInference

if TYPE_CHECKING:
    from rewrite_engine.loops.op import Scan


class ShapesOfNoSteps:
    """What the graph of a loop's step tells of the lengths of results: those that follow from what
    the loop is given. (Nothing is computed for them but integers.)
    """

    def __init__(self, op: Scan) -> None:
        rules, a = ShapeInference(op), op.sequences
        absent = set(op.inner_inputs[:a])
        rows = [rules.told(op.inner_outputs[j], absent) for j in op.results]
        self.takes = list(rules.takes.values())
        self.told = [[n is not None for n in row] for row in rows]
        self.known = [n for row in rows for n in row if n is not None]
        given = [*op.inner_inputs[a:], *rules.takes]
        self.step = type(op)(given, self.known, 0, 0) if self.known else None

    def lengths(self, sequences: Sequence[Any], values: Sequence[Any]) -> list[list[int]]:
        """Of each result; 0 where nothing tells. values: what the first step is given besides."""
        found = iter(self._computed(sequences, values))
        return [[next(found) if told else 0 for told in row] for row in self.told]

    def _computed(self, sequences: Sequence[Any], values: Sequence[Any]) -> list[int]:
        if self.step is None:
            return []
        shapes = [*[np.shape(x)[1:] for x in sequences], *map(np.shape, values)]
        given = [np.array(shapes[i][k]) for i, k in self.takes]
        try:
            found = self.step.fn(1, *values, *given)
        except Exception:  # an error of a step that is not run is none
            return [0] * len(self.known)
        return [int(n[0]) for n in ([found] if len(self.known) == 1 else found)]


def lengths_of_none(op: Scan, inputs: Sequence[Any], outputs: Sequence[int]) -> list[list[Any]]:
    """The lengths of what a step gives (the outputs of these numbers) as variables, of the inputs
    of a loop: where they follow from the lengths of those, and from integers whose computation
    cannot fail; else 0.
    """
    rules, a = ShapeInference(op), op.sequences
    failing = [n for n in op.fgraph.apply_nodes if n.op.equal_lengths(n) is None]
    absent = {*op.inner_inputs[:a], *[v for n in failing for v in n.outputs]}
    given = dict(zip(op.inner_inputs[a:], inputs[a:], strict=True))
    for n, (i, k) in rules.takes.items():
        given[n] = pt.shape_tuple(inputs[i])[k + (i < a)]
    zero = pt.constant(0, dtype="int64")
    found = []
    for j in outputs:
        told = [zero if n is None else n for n in rules.told(op.inner_outputs[j], absent)]
        found.append(graph_replace(told, given, strict=False) if told else [])
    return found
