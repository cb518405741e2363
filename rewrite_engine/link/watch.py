"""Linkers that look at every value while a graph runs, node by node, inside ops that hold graphs as
well: `NanGuardLinker` refuses values, `MonitorLinker` shows them to functions of the user.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from rewrite_engine.errors import BadValueError
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.plan import schedule
from rewrite_engine.link.py import PyLinker

BIG = 1e10


class NanGuardLinker(PyLinker):
    """Raises `BadValueError` for an input or a computed value with a NaN, an infinity, or a number
    beyond 1e10, whichever are asked for.
    """

    name = "nanguardmode"

    def __init__(self, nan: bool = True, inf: bool = True, big: bool = True) -> None:
        self.nan, self.inf, self.big = nan, inf, big

    def checked(self, v: Variable, value: Any) -> Any:
        value = super().checked(v, value)
        self.look(v, value)
        return value

    def look(self, v: Variable, value: Any) -> None:
        """Raise the error, if there is a reason."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or not value.size:
            return
        asked = ((self.nan, "NaN", np.isnan), (self.inf, "an infinity", np.isinf),
                 (self.big, f"a number beyond {BIG:g}", _is_big))  # fmt: skip
        with np.errstate(all="ignore"):
            found = [what for on, what, test in asked if on and np.any(test(value))]
        if found:
            raise BadValueError(f"{' and '.join(found)} in {v!r} of type {v.type}")

    def compile(self, fgraph: FunctionGraph) -> Callable[..., Sequence[Any]]:
        run = super().compile(fgraph)

        def guarded(*values: Any) -> Sequence[Any]:
            for v, value in zip(fgraph.inputs, values, strict=True):
                self.look(v, value)
            return run(*values)

        return guarded


def _is_big(value: Any) -> Any:
    return np.isfinite(value) & (abs(value) > BIG)


class MonitorLinker(PyLinker):
    """Calls `before(fgraph, i, node, fn)` and `after(…)` around the node that runs as the i-th of
    its graph. fn.inputs and fn.outputs are the values, each in a list of one (`fn.inputs[0][0]`);
    of outputs that are not computed yet, None.
    """

    name = "monitormode"

    def __init__(self, before: Any = None, after: Any = None) -> None:
        self.before, self.after = before, after

    def compile(self, fgraph: FunctionGraph) -> Callable[..., Sequence[Any]]:
        return _Monitored(self, fgraph).run


class _Monitored(PyLinker):
    """The nodes of one graph. linker: of the graphs inside of it."""

    def __init__(self, linker: MonitorLinker, fgraph: FunctionGraph) -> None:
        self.linker, self.fgraph, self.profile = linker, fgraph, linker.profile
        self.place = {node: i for i, node in enumerate(schedule(fgraph))}
        self.run = self.compile(fgraph)

    def body(self, op: Any) -> Callable[..., Any]:
        return self.linker.body(op)

    def runner(self, node: Apply) -> Callable[..., Any]:
        run, fgraph, i = super().runner(node), self.fgraph, self.place[node]
        before, after = self.linker.before, self.linker.after
        nothing = [None] * len(node.outputs)

        def monitored(*values: Any) -> Any:
            fn = SimpleNamespace(inputs=[[x] for x in values], outputs=[[x] for x in nothing])
            if before is not None:
                before(fgraph, i, node, fn)
            found = run(*values)
            if after is not None:
                results = (found,) if len(nothing) == 1 else found
                fn.outputs = [[x] for x in results]
                after(fgraph, i, node, fn)
            return found

        return monitored


LINKER = NanGuardLinker()
