"""`NativeLinker`: regions of the graph as machine code; a VM runs the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from rewrite_engine.errors import plural
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.linker import Linker
from rewrite_engine.link.native.inline import reason
from rewrite_engine.link.native.op import NativeRegion
from rewrite_engine.link.native.optimised import optimiser
from rewrite_engine.link.native.partition import regions
from rewrite_engine.link.native.runtime import PACK_LIST, PACK_SINGLE
from rewrite_engine.link.native.target import Machine, host
from rewrite_engine.link.program import Argument, Linked, Program
from rewrite_engine.link.vm.linker import VMCode, VMLinker, is_loop, linked_loop


class NativeLinker(Linker):
    """Linker that compiles regions of a graph to machine code and runs the rest on the VM. machine:
    the target of the code; by default the host processor. Raises `NoCompilerError` without
    llvmlite.
    """

    name = "native"

    def __init__(self, machine: Machine | None = None) -> None:
        self._machine = machine

    @property
    def machine(self) -> Machine:
        return host() if self._machine is None else self._machine

    def code(self, fgraph: FunctionGraph, borrowed: Collection[Variable]) -> VMCode:
        cut = regions(fgraph, self.machine, self.profile is not None)
        for node in cut.apply_nodes if self.profile is not None else ():
            if isinstance(node.op, NativeRegion):
                node.op.watch(self.profile)
        given = {new for v, new in zip(fgraph.inputs, cut.inputs, strict=True) if v in borrowed}
        vm = VMLinker()
        vm.profile, vm.inside = self.profile, self
        return vm.code(cut, given)

    def linked_body(self, op: Any) -> Linked:
        return linked_loop(op, self.code) if is_loop(op) else super().linked_body(op)

    def told(self, nodes: Sequence[Apply]) -> str:
        """Describe the regions, and the nodes on the VM with the reasons."""
        own = [node.op.nodes for node in nodes if isinstance(node.op, NativeRegion)]
        inside = f"{plural(len(own), 'region')} of {plural(sum(map(len, own)), 'node')}"
        found = [f"machine code, {inside}"] if own else []
        reasons: dict[str, list[str]] = {}
        for node in nodes:
            if not isinstance(node.op, NativeRegion):
                why = reason(node) or "it needs a run-time length, or is alone"
                reasons.setdefault(why, []).append(str(node.op))
        for why, names in reasons.items():
            times = [f"{n} × {name}" if n > 1 else name for name, n in Counter(names).items()]
            found.append(f"on the VM {', '.join(times)} ({why})")
        return "; ".join(found)

    def settle(self) -> None:
        optimiser.settle()

    def link(self, program: Program, *, trust: bool = False) -> Linked:
        linked = super().link(program, trust=trust)
        region = _all_of(linked.nodes, program)
        if region is None or self.profile is not None:
            return linked
        packing = PACK_SINGLE if program.packing == "single" else PACK_LIST
        return linked._replace(call=region.function(linked.call, packing), python=linked.call)


def _all_of(nodes: list[Apply], program: Program) -> NativeRegion | None:
    """The region that is all of a program, so that it can be called without anything around it."""
    if len(nodes) != 1 or not isinstance(nodes[0].op, NativeRegion) or program.updates:
        return None
    (node,) = nodes
    simple = all([isinstance(a, Argument) and not a.mutable for a in program.inputs])
    packed = program.packing in ("single", "list")
    n = len(program.fgraph.outputs)
    if not simple or not packed or program.n_results != n or len(node.outputs) != n:
        return None
    region = node.op
    same = list(region.takes) == list(program.fgraph.inputs)
    return region if same and list(region.gives) == list(program.fgraph.outputs) else None
