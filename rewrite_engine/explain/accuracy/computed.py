"""Values of a graph in floats, node by node: all, or again with some replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.judge.values import REFERENCE, NoValue, TermValues
from rewrite_engine.link.perform import runner

Values = dict[Variable, Any]


class Floats:
    """Runs nodes by `perform`, as `TermValues` asks: each node's function is made once, and only
    inputs that a node overwrites are copied.
    """

    def __init__(self) -> None:
        self.runners: dict[Apply, Callable[..., Any]] = {}

    def run(self, node: Apply, given: Sequence[Any]) -> list[Any]:
        """Return the outputs of a node."""
        run = self.runners.get(node)
        if run is None:
            run = self.runners[node] = runner(node, reference=True)
        inputs = list(given)
        for i in {i for some in node.op.destroy_map.values() for i in some}:
            inputs[i] = (
                np.array(inputs[i]) if type(inputs[i]) is np.ndarray else deepcopy(inputs[i])
            )
        with np.errstate(all="ignore"):
            found = run(*inputs)
        results = [found] if len(node.outputs) == 1 else found
        return [np.asarray(a) if isinstance(a, np.generic) else a for a in results]

    plain = run

    def body(self, op: Any) -> Callable[..., Any]:
        """Return the function of the graph inside an op."""
        return REFERENCE.body(op)

    def evaluate(self, outputs: Sequence[Variable], given: Mapping[Variable, Any]) -> Values:
        """Return the values of all variables that outputs are computed from; of branches that are
        not taken, none. Raises the errors of nodes.
        """
        terms = TermValues(self, given)
        for v in outputs:
            try:
                terms.values[v] = terms.value(v)
            except NoValue as missing:
                raise missing.__cause__ or missing from None
        return terms.values

    def again(
        self, outputs: Sequence[Variable], values: Values, changed: Mapping[Variable, Any]
    ) -> list[Any]:
        """Return the outputs where some variables have other values."""
        new: Values = dict(changed)
        for node in toposort(list(outputs)):
            if all(v in changed for v in node.outputs) or not any(v in new for v in node.inputs):
                continue
            if any(v not in values for v in node.outputs):  # of a branch that is not taken
                continue
            inputs = [value_of(v, new if v in new else values) for v in node.inputs]
            found = zip(node.outputs, self.run(node, inputs), strict=True)
            new.update({v: a for v, a in found if v not in changed})
        return [new[v] if v in new else value_of(v, values) for v in outputs]


def value_of(v: Variable, values: Mapping[Variable, Any]) -> Any:
    """Return the value of a variable or constant; None for one that was not computed."""
    return v.data if isinstance(v, Constant) else values.get(v)
