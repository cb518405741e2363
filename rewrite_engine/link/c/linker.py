"""Linker "c" (`Mode(linker="c")`): every node runs by its C code, or the function is not compiled.

`Mode()` and `Mode(linker="c|py")` run C code where it exists, and otherwise `perform` or the VM's
code; use this linker to ensure that nothing else runs.
"""

from __future__ import annotations

from collections.abc import Collection

from rewrite_engine.errors import NoCCodeError, message
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.c.compiler import compiler
from rewrite_engine.link.c.source import c_source_of
from rewrite_engine.link.code import Code
from rewrite_engine.link.linker import Linker, get_linker


class CLinker(Linker):
    """Linker that requires C code; the VM's code calls it. Raises `NoCCodeError` for a node
    without, `NoCompilerError` and `CompileError`.
    """

    name = "c"
    phases = (*Linker.phases, "inplace")

    def code(self, fgraph: FunctionGraph, borrowed: Collection[Variable]) -> Code:
        nodes = fgraph.toposort()
        for node in nodes:
            _insist(node)
        if nodes:
            compiler()
        linker = get_linker("vm")
        linker = linker if self.profile is None else linker.profiled(self.profile)
        return linker.code(fgraph, borrowed)


def _insist(node: Apply) -> None:
    why = c_source_of(node)
    if isinstance(why, str):
        hint = 'Mode(linker="c|py") runs such nodes in Python'
        text = message(why, op=node.op, inputs=node.inputs, where=node.where(), hint=hint)
        raise NoCCodeError(text)


LINKER = CLinker()
