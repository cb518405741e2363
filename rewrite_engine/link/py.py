"""The reference: each node's `perform`, one node after the other, and nothing else. It is what the
other linkers are compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.link.failure import failed
from rewrite_engine.link.lazy import Conditions, conditions
from rewrite_engine.link.linker import Linker
from rewrite_engine.link.program import schedule
from rewrite_engine.tensor.type import TensorType


class PyLinker(Linker):
    """Runs a graph node by node; every value must be of the type that its variable has.

    A subclass may say what runs for a node (`runner`), and what values are like (`checked`).
    """

    name = "py"

    def checked(self, v: Variable, value: Any) -> Any:
        """A value, if it is of a variable's type (as a tensor a NumPy scalar is a 0-d array)."""
        if isinstance(value, np.generic) and isinstance(v.type, TensorType):
            value = np.asarray(value)
        return v.type.filter(value, strict=True)

    def compile(self, fgraph: FunctionGraph) -> Callable[..., Sequence[Any]]:
        nodes = schedule(fgraph)
        where = conditions(nodes, fgraph.outputs)
        runners = [self.runner(node) for node in nodes]
        ticks = self.ticks(fgraph, nodes)
        if ticks is not None:
            runners = [ticks.around(i, run) for i, run in enumerate(runners)]
        steps = [(n, run, where.get(n)) for n, run in zip(nodes, runners, strict=True)]
        read = [*[v for node in nodes for v in node.inputs], *fgraph.outputs]
        constants = {v: v.data for v in read if isinstance(v, Constant)}
        last = {v: i for i, node in enumerate(nodes) for v in (*node.inputs, *node.outputs)}
        dead: list[list[Variable]] = [[] for _ in steps]
        for v in last.keys() - set(fgraph.outputs):
            dead[last[v]].append(v)

        def run(*values: Any) -> list[Any]:
            known = constants | dict(zip(fgraph.inputs, values, strict=True))
            for (node, function, only_if), unread in zip(steps, dead, strict=True):
                if only_if is not None and not _hold(only_if, known):
                    continue
                given = [known.get(v) for v in node.inputs]
                try:
                    found = function(*given)
                    results = (found,) if len(node.outputs) == 1 else found
                    for v, value in zip(node.outputs, results, strict=True):
                        known[v] = self.checked(v, value)
                except Exception as error:
                    failed(error, node, given)
                    raise
                for v in unread:
                    known.pop(v, None)
            return [known[v] for v in fgraph.outputs]

        return run


def _hold(only_if: Conditions, known: dict[Variable, Any]) -> bool:
    return any(all(bool(known[c]) is holds for c, holds in way) for way in only_if)


LINKER = PyLinker()
