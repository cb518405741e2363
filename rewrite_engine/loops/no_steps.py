"""Shapes of the results of a loop without steps: those of its first step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.fork import cached_property
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import graph_replace
from rewrite_engine.tensor.inference import ShapeInference

if TYPE_CHECKING:
    from rewrite_engine.loops.op import Scan


class ShapesOfNoSteps:
    """Lengths of results that follow from the inputs of a loop, as its step's graph shows.

    (Only integers are computed for them.)
    """

    def __init__(self, op: Scan) -> None:
        self.op, self.rules = op, ShapeInference(op)
        self.slices = set(op.inner_inputs[: op.sequences])
        self.takes = self.rules.takes
        rows = [self.rules.told(op.inner_outputs[j], self.slices) for j in op.results]
        self.told = [[n is not None for n in row] for row in rows]
        self.known = [n for row in rows for n in row if n is not None]

    # --- as numbers ---------------------------------------------------------------------------

    def lengths(self, sequences: Sequence[Any], values: Sequence[Any]) -> list[list[int]]:
        """Return the lengths of each result; 0 if unknown. values: the other inputs of the first
        step.
        """
        found = iter(self._computed(sequences, values) if self.known else ())
        return [[next(found) if told else 0 for told in row] for row in self.told]

    def _computed(self, sequences: Sequence[Any], values: Sequence[Any]) -> list[int]:
        shapes = [*[np.shape(x)[1:] for x in sequences], *map(np.shape, values)]
        given = [np.array(shapes[i][k]) for i, k in self.takes.values()]
        try:
            found = self.step.fn(1, *values, *given)
        except Exception:  # an error of a step that is not run is none
            return [0] * len(self.known)
        return [int(n[0]) for n in ([found] if len(self.known) == 1 else found)]

    @cached_property
    def step(self) -> Any:
        """The loop that computes the lengths in its one step."""
        given = [*self.op.inner_inputs[len(self.slices) :], *self.takes]
        return type(self.op)(given, self.known, 0, 0)

    # --- as variables -------------------------------------------------------------------------

    def symbolic(
        self, inputs: Sequence[Any], shapes: Sequence[Any], outputs: Sequence[int] | None = None
    ) -> list[list[Variable | None]]:
        """Return the lengths of these outputs (by default of the results) in terms of the inputs of
        a call (without the number of steps) and their lengths.

        None for a length that is unknown, or that requires computing something that can fail.
        """
        a = len(self.slices)
        rows = self._of_results if outputs is None else self._sure(outputs)
        given = dict(zip(self.op.inner_inputs[a:], inputs[a:], strict=True))
        given |= {n: shapes[i][k + (i < a)] for n, (i, k) in self.takes.items()}
        known = [n for row in rows for n in row if n is not None]
        made = iter(graph_replace(known, given, strict=False) if known else ())
        return [[None if n is None else next(made) for n in row] for row in rows]

    @cached_property
    def _of_results(self) -> list[list[Variable | None]]:
        return self._sure(self.op.results)

    def _sure(self, outputs: Sequence[int]) -> list[list[Variable | None]]:
        """Return the lengths of a carried result that no step changes. (Without steps it has those
        of its first value.)
        """
        op, of = self.op, self.rules.lengths
        nodes, states = op.fgraph.apply_nodes, op.inner_outputs[: op.carried]
        failing = [v for n in nodes if n.op.equal_lengths(n) is None for v in n.outputs]
        absent = self.slices.union(failing)
        rows: list[list[Variable | None]] = []
        for j in outputs:
            v = op.inner_outputs[j]
            row = self.rules.told(v, absent)
            if j >= op.carried and v in states:
                before = of[op.inner_inputs[op.sequences + states.index(v)]]
                row = [n if n is m else None for n, m in zip(row, before, strict=True)]
            rows.append(row)
        return rows


def lengths_of_none(op: Scan, inputs: Sequence[Any], outputs: Sequence[int]) -> list[list[Any]]:
    """Return the lengths of these outputs of a step as variables; 0 if unknown."""
    shapes = [pt.shape_tuple(x) if x.type.ndim else () for x in inputs]
    zero = pt.constant(0, dtype="int64")
    told = ShapesOfNoSteps(op).symbolic(inputs, shapes, outputs)
    return [[zero if n is None else n for n in row] for row in told]
