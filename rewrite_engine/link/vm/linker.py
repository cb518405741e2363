"""`VMLinker`: the VM as a linker."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.code import Body, Code
from rewrite_engine.link.linker import Linker
from rewrite_engine.link.names import Names
from rewrite_engine.link.plan import ExecutionPlan, deciders, plan_of
from rewrite_engine.link.program import Linked
from rewrite_engine.link.vm.emit import Lines
from rewrite_engine.link.vm.lower import traits
from rewrite_engine.link.vm.workspace import LARGE_BYTES, WorkspacePool


class VMLinker(Linker):
    """Linker that writes one line of Python per node, which calls NumPy.

    inside: the linker of graphs inside ops; None: this one.
    """

    name = "vm"
    phases = (*Linker.phases, "inplace")
    inside: Linker | None = None

    def code(self, fgraph: FunctionGraph, borrowed: Collection[Variable]) -> VMCode:
        code = VMCode(plan_of(fgraph, traits, borrowed), self.runner)
        code.ticks = self.ticks(fgraph, code.nodes)
        return code

    def runner(self, node: Apply) -> Callable[..., Any]:
        return self.body(node.op) if is_loop(node.op) else super().runner(node)

    def body(self, op: Any) -> Callable[..., Any]:
        return super().body(op) if self.inside is None else self.inside.body(op)

    def linked_body(self, op: Any) -> Linked:
        return linked_loop(op, self.code) if is_loop(op) else super().linked_body(op)


def is_loop(op: Any) -> bool:
    """Return whether an op runs its graph step by step."""
    return getattr(op, "stepwise", False) and op.mode is None


def linked_loop(op: Any, code: Callable[..., VMCode]) -> Linked:
    """Return the function of a loop. code: prepares the graph of a step (`Linker.code`)."""
    from rewrite_engine.link.vm.loop import LoopShell  # few graphs have one

    away = {op.inner_inputs[i] for i in op.given_away}
    return LoopShell(op, code(op.fgraph, away)).link()


class VMCode(Code):
    """Plan with its text. runner: runs a node that has no code (`Linker.runner`). The second
    function keeps large temporaries between calls; it takes over if inputs are large.
    """

    def __init__(self, plan: ExecutionPlan, runner: Callable[[Apply], Callable[..., Any]]) -> None:
        super().__init__(plan.inputs, plan.outputs, plan.storages)
        self.plan, self.runner = plan, runner
        self.pool = WorkspacePool(len(plan.slots))

    def body(self, names: Names, places: dict[Variable, str], large: bool) -> Body:
        return Lines(self, names, places, self.pool if large else None)

    def large_if(self, places: dict[Variable, str]) -> str:
        sizes = [
            f"{places[v]}.size > {LARGE_BYTES // v.type.numpy_dtype.itemsize}"
            for v in (deciders(self.plan) if self.plan.slots else ())
        ]
        return " or ".join(sizes)

    def free(self) -> None:
        self.pool.clear()


LINKER = VMLinker()
