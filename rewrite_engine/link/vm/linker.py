"""`VMLinker`: what only the VM does with a graph, put together."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Variable
from rewrite_engine.link.code import Body
from rewrite_engine.link.linker import Linker
from rewrite_engine.link.names import Names
from rewrite_engine.link.program import schedule
from rewrite_engine.link.vm.emit import Lines
from rewrite_engine.link.vm.expand import expand
from rewrite_engine.link.vm.plan import ExecutionPlan
from rewrite_engine.link.vm.workspace import LARGE, WorkspacePool


class VMLinker(Linker):
    """One line of Python per node, which calls NumPy."""

    name = "vm"
    phases = (*Linker.phases, "inplace")

    def code(self, fgraph: FunctionGraph, lent: Collection[Variable]) -> VMCode:
        return VMCode(fgraph.inputs, fgraph.outputs, expand(schedule(fgraph)), lent)


class VMCode(ExecutionPlan):
    """A plan with its text. The second function keeps large temporaries between calls; it takes
    over where inputs are large.
    """

    def __init__(self, *graph: Any) -> None:
        super().__init__(*graph)
        self.pool = WorkspacePool(len(self.slots))

    def body(self, names: Names, places: dict[Variable, str], large: bool) -> Body:
        return Lines(self, names, places, self.pool if large else None)

    def large_if(self, places: dict[Variable, str]) -> str:
        sizes = [
            f"{places[v]}.size > {LARGE // v.type.numpy_dtype.itemsize}"
            for v in (self.deciders() if self.slots else ())
        ]
        return " or ".join(sizes)

    def free(self) -> None:
        self.pool.clear()


LINKER = VMLinker()
