"""`Assume`: a mark in a graph that declares facts about a term. Facts themselves are defined
elsewhere (`match/fact.py`); users make marks with `assume` (`pipeline/assumptions.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.errors import AssumptionError, describe, source_line
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op

WIDE = 80  # characters of a value, in a message


class Assume(Op):
    """Mark of a term with declared facts. Its value is the value of its operand.

    declared: pairs of a fact and its `Evidence.value` (None if the fact only holds or not), by
    name.
    """

    moves_only = True
    __props__ = ("declared",)
    view_map = {0: [0]}
    must_view_map = {0: 0}

    def __init__(self, declared: tuple[tuple[Any, Any], ...]) -> None:
        self.declared = declared

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        return types

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        output_storage[0][0] = inputs[0]

    def check(self, what: str, type_: Any, where: Any, value: Any) -> None:
        """Raise `AssumptionError` unless the declared facts are true of a value. what: the variable
        in words; where: the line of the declaration.
        """
        for one, more in self.declared:
            if one.of_value(type_, value, more):
                continue
            said = one.name if more is None else f"{one.name}={more!r}"
            at = "" if where is None else f" at {source_line(*where)}"
            text = f"{what} is not {said}, as declared{at}"
            shown = " ".join(str(value).split())
            shown = shown if len(shown) < WIDE else shown[:WIDE] + "…"
            raise AssumptionError(f"{text}\n    its value: {describe(value)}: {shown}")

    def debug_perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        """Compute the value and check the declaration, for `DebugMode`."""
        v = node.inputs[0]
        self.check(str(v), v.type, node.where(), inputs[0])
        self.perform(node, inputs, output_storage)

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> Any:
        return output_gradients

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> Any:
        return eval_points

    def equal_lengths(self, node: Apply) -> Any:
        """Return no requirements: a declaration does not fail. (Checks run outside the graph.)"""
        return []

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> Any:
        return shapes

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Drop the declaration: a fact about one element need not hold for a batch."""
        return inputs

    def __str__(self) -> str:
        return f"Assume{{{', '.join([one.name for one, _ in self.declared])}}}"
