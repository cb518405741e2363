"""Reference linker: runs each node's `perform`, one after the other, and checks its results against
the op's declared types and lengths. The other linkers are compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.link.failure import failed
from rewrite_engine.link.linker import Linker
from rewrite_engine.link.perform import of_type
from rewrite_engine.link.plan import Conditions, conditions, dying, last_reads, schedule
from rewrite_engine.tensor.op import Computed, Shapes, TensorOp, Value


class PyLinker(Linker):
    """Linker that runs a graph node by node; every value must be of its variable's type, with the
    lengths of the op's shape rule.

    A subclass may define how a node runs (`runner`), and how values are checked (`checked`).
    """

    name = "py"
    reference = True

    def checked(self, v: Variable, value: Any) -> Any:
        """Return a value if it is of a variable's type; else raise an error."""
        return of_type(v.type, value)

    def runner(self, node: Apply) -> Callable[..., Any]:
        """Return the function of a node, checked against the op's shape rule if it has one."""
        run = super().runner(node)
        return _by_rule(node, node.op, run) if isinstance(node.op, TensorOp) else run

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
        dead = dying(nodes, last_reads(nodes, fgraph.outputs))

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


def _by_rule(node: Apply, op: TensorOp, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a node's function with checks of lengths that must be equal and of the shapes that
    follow for its results.
    """
    by_shapes = not any([isinstance(n, Value) for n in _lengths(op.shapes_of(node))])
    last: tuple[Any, Any] = (None, ())  # the shapes of the inputs, and those of the results: a loop
    # has the same ones in each step

    def held(*values: Any) -> Any:
        nonlocal last
        shapes = [np.shape(x) for x in values] if by_shapes else None
        known, expected = last
        if shapes is None or shapes != known:
            expected = op.checked(node, values)
            last = shapes, expected
        found = run(*values)
        results = (found,) if len(node.outputs) == 1 else found
        for i, (result, shape) in enumerate(zip(results, expected, strict=True)):
            pairs = zip(np.shape(result), shape, strict=False)
            if any(n is not None and k != n for k, n in pairs):
                reason = f"by its shape rule it has {shape}".replace("None", "?")
                op.fail(node, f"output {i} has shape {np.shape(result)}; {reason}")
        return found

    return held


def _lengths(rule: Shapes) -> Iterator[Any]:
    """Yield all that the lengths of a shape rule are computed from."""
    todo = [n for some in (*rule.outputs, *rule.equal) for n in some]
    while todo:
        length = todo.pop()
        yield length
        if isinstance(length, Computed):
            todo += length.of


def _hold(only_if: Conditions, known: dict[Variable, Any]) -> bool:
    return any(all(bool(known[c]) is holds for c, holds in way) for way in only_if)


LINKER = PyLinker()
