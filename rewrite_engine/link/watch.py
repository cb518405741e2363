"""Linkers that inspect every value while a graph runs node by node, also inside ops that hold
graphs: `NanGuardLinker` refuses values, `MonitorLinker` passes them to functions of the user.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from rewrite_engine.errors import BadValueError, plural
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.plan import schedule
from rewrite_engine.link.py import PyLinker

MAX_MAGNITUDE = 1e10
MAX_SHOWN = 3  # elements of each kind that an error lists


class NanGuardLinker(PyLinker):
    """Raise `BadValueError` for an input or a computed value with a NaN, an infinity or a number
    beyond 1e10. Loops stay loops, so that the error can name the step.

    nan, inf, big: which of the three kinds are errors.
    """

    name = "nanguardmode"
    phases = tuple([name for name in PyLinker.phases if name != "loops"])

    def __init__(self, nan: bool = True, inf: bool = True, big: bool = True) -> None:
        self.nan, self.inf, self.big = nan, inf, big

    def checked(self, v: Variable, value: Any) -> Any:
        value = super().checked(v, value)
        self.look(v, value)
        return value

    def look(self, v: Variable, value: Any) -> None:
        """Raise `BadValueError` if a value has an element of a refused kind."""
        if hasattr(value, "indptr"):  # a sparse matrix: the stored elements count
            stored = value.tocoo()
            elements, places = stored.data, np.stack([stored.row, stored.col], axis=-1)
        else:
            elements, places = value, None
        if not isinstance(elements, np.ndarray | np.generic | float | complex):
            return
        elements = np.asarray(elements)
        if elements.dtype.kind not in "fc" or not elements.size:
            return
        kinds = ((self.nan, "NaN", np.isnan), (self.inf, "an infinity", np.isinf),
                 (self.big, f"a number beyond {MAX_MAGNITUDE:g}", _is_big))  # fmt: skip
        with np.errstate(all="ignore"):
            masks = {kind: test(elements) for on, kind, test in kinds if on}
        found = {kind: mask for kind, mask in masks.items() if np.any(mask)}
        if not found:
            return
        lines = [f"{' and '.join(found)} in {v!r} of type {v.type}"]
        lines += [f"    {_listed(elements, mask, places)}" for mask in found.values()]
        raise BadValueError("\n".join(lines))

    def compile(self, fgraph: FunctionGraph) -> Callable[..., Sequence[Any]]:
        """Return a function that also checks the values of the graph's inputs."""
        run = super().compile(fgraph)

        def guarded(*values: Any) -> Sequence[Any]:
            for v, value in zip(fgraph.inputs, values, strict=True):
                self.look(v, value)
            return run(*values)

        return guarded


def _is_big(value: Any) -> Any:
    return np.isfinite(value) & (abs(value) > MAX_MAGNITUDE)


def _listed(elements: Any, mask: Any, places: Any) -> str:
    """Return how many elements a mask selects, and the indices and values of the first ones.

    places: the index of each element, if it is not the one in the array.
    """
    if not elements.ndim:
        return f"value: {elements[()]}"
    at = np.argwhere(mask)
    shown = [
        f"{list(map(int, i if places is None else places[i[0]]))}: {elements[tuple(i)]}"
        for i in at[:MAX_SHOWN]
    ]
    shown += ["…"] if len(at) > MAX_SHOWN else []
    return f"{len(at)} of {plural(elements.size, 'element')}, at {', '.join(shown)}"


class MonitorLinker(PyLinker):
    """Call `before(fgraph, i, node, fn)` and `after(…)` around the i-th node that runs of a graph.

    fn.inputs and fn.outputs hold the values, each in a list of one (`fn.inputs[0][0]`). Outputs
    that are not computed yet are None.
    """

    name = "monitormode"

    def __init__(self, before: Any = None, after: Any = None) -> None:
        self.before, self.after = before, after

    def compile(self, fgraph: FunctionGraph) -> Callable[..., Sequence[Any]]:
        return _Monitored(self, fgraph).run


class _Monitored(PyLinker):
    """Linker of one graph. linker: the linker of the graphs inside it."""

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
