"""Values of a graph in floats, node by node, by each op's `perform`: all, or again with some
replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.link.perform import runner
from rewrite_engine.tensor.flow.branches import IfElse

Values = dict[Variable, Any]


class Floats:
    """Evaluates nodes of a graph in floats. Inputs that a node overwrites are copied first."""

    def __init__(self) -> None:
        self.runners: dict[Apply, Callable[..., Any]] = {}

    def results(self, node: Apply, inputs: Sequence[Any]) -> list[Any]:
        """Return the outputs of a node."""
        run = self.runners.get(node)
        if run is None:
            run = self.runners[node] = runner(node, reference=True)
        given = list(inputs)
        for i in {i for some in node.op.destroy_map.values() for i in some}:
            given[i] = np.array(given[i]) if type(given[i]) is np.ndarray else deepcopy(given[i])
        with np.errstate(all="ignore"):
            found = run(*given)
        results = [found] if len(node.outputs) == 1 else found
        return [np.asarray(a) if isinstance(a, np.generic) else a for a in results]

    def evaluate(self, outputs: Sequence[Variable], given: Mapping[Variable, Any]) -> Values:
        """Return the values of all variables that outputs are computed from. A node that fails and
        that no output needs (another branch is taken) has none; raises the error of others.
        """
        values: Values = dict(given)
        failed: dict[Variable, Exception] = {}
        for node in toposort(list(outputs), list(given)):
            self._extend(values, failed, node)
        for v in outputs:
            if v in failed:
                raise failed[v]
            values.setdefault(v, getattr(v, "data", None))
        return values

    def again(
        self, outputs: Sequence[Variable], values: Values, changed: Mapping[Variable, Any]
    ) -> list[Any]:
        """Return the outputs where some variables have other values."""
        new: Values = dict(changed)
        for node in toposort(list(outputs)):
            if all(v in changed for v in node.outputs) or not any(v in new for v in node.inputs):
                continue
            inputs = [value_of(v, new if v in new else values) for v in node.inputs]
            found = zip(node.outputs, self.results(node, inputs), strict=True)
            new.update({v: a for v, a in found if v not in changed})
        return [new[v] if v in new else value_of(v, values) for v in outputs]

    def _extend(self, values: Values, failed: dict[Variable, Exception], node: Apply) -> None:
        error = next((failed[v] for v in read_by(node, values) if v in failed), None)
        try:
            if error is None:
                inputs = [value_of(v, values) for v in node.inputs]
                values.update(zip(node.outputs, self.results(node, inputs), strict=True))
        except Exception as first:
            error = first
        if error is not None:
            failed |= dict.fromkeys(node.outputs, error)


def value_of(v: Variable, values: Mapping[Variable, Any]) -> Any:
    """Return the value of a variable or constant; None for one that was not computed."""
    return v.data if isinstance(v, Constant) else values.get(v)


def read_by(node: Apply, values: Values) -> Sequence[Variable]:
    """Return the inputs that a node looks at: of two branches the one that is taken."""
    if not isinstance(node.op, IfElse) or value_of(node.inputs[0], values) is None:
        return node.inputs
    condition, x, y = node.inputs
    return [condition, x if value_of(condition, values) else y]
