"""`NativeRegion`: op for nodes of a graph that run as one native function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from rewrite_engine.graph.destroyhandler import DestroyHandler
from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable, copied
from rewrite_engine.graph.op import Op
from rewrite_engine.link.failure import ErrorReporter, failed
from rewrite_engine.link.native.lower import lower
from rewrite_engine.link.native.region import NotNative, RegionPlan
from rewrite_engine.link.native.runtime import HEADER_INDEX, MIN_ORDERED_BYTES, builtin
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.native.timing import Kernels, names_of
from rewrite_engine.link.plan import ByClass, Traits
from rewrite_engine.link.plan.dims import Dims, LengthCheck, axes
from rewrite_engine.link.program import Argument, Program
from rewrite_engine.link.shell import Shell
from rewrite_engine.link.vm.context import Context
from rewrite_engine.link.vm.linker import LINKER as VM
from rewrite_engine.link.vm.lower import lower as vm_lower
from rewrite_engine.link.vm.lower import traits


class NativeRegion(Op):
    """Nodes that run as machine code.

    nodes: in running order. takes: the variables they read and do not compute. gives: those that
    are read elsewhere. fortran: which of `takes` lie in Fortran's order. donated: those of `takes`
    that may be overwritten. timed: whether `watch` will be called. exported: whether its kernels
    are kept as texts (`plan.texts`), and do not run here. Two regions are never equal.
    """

    is_region = True  # its nodes have no times of their own

    def __init__(
        self, nodes: Sequence[Apply], takes: Sequence[Variable], gives: Sequence[Variable],
        machine: Machine, fortran: Sequence[bool] = (), donated: Collection[Variable] = (),
        timed: bool = False, exported: bool = False,
    ) -> None:  # fmt: skip
        self.nodes, self.takes, self.gives = tuple(nodes), tuple(takes), tuple(gives)
        self.plan = RegionPlan(nodes, machine, timed)
        self.plan.texts = [] if exported else None
        fortran = fortran or [False] * len(takes)
        arguments = [self.plan.argument(v, c) for v, c in zip(takes, fortran, strict=True)]
        rules = ByClass(lower)
        for node in nodes:
            self.plan.node = node
            try:
                rules[type(node.op)](node.op, node, self.plan)
            except NotNative as error:
                error.node = node
                raise
        self.plan.node = None
        places = {v: j for j, v in enumerate(takes) if v in donated}
        self.table = np.array(self.plan.finish(gives, arguments, places), np.int64)
        self.destroy_map = {k: [j] for k, j in self.plan.donations.items()}

    kernels: Kernels | None = None  # of a region that a profile watches
    profile: Any = None

    def watch(self, profile: Any, holder: NativeRegion | None = None) -> None:
        """Register the kernels of the region in a profile (see `Linker.profile`). holder: the
        region that this one is a variant of.
        """
        assert self.plan.timing is not None
        self.profile, self.kernels = profile, Kernels(holder or self, self.plan.timing)
        self.plan.timing.ticks = profile(self.kernels, self.kernels.apply_nodes)

    def infer_types(self, types: tuple[Any, ...]) -> Sequence[Any]:
        return [v.type for v in self.gives]

    def __str__(self) -> str:
        return f"Native{{{names_of(self.nodes)}}}"

    def function(self, slow: Any = None, packing: int | None = None) -> Any:
        """Return the function of the values of `takes`. slow: the fallback for refused calls; by
        default the VM's function of the nodes. packing: of the results, if it differs from a node's
        (see `runtime.py`).
        """
        table = self.table.copy()
        if packing is not None:
            table[HEADER_INDEX["packing"]] = packing
        self.plan.connect(table)
        call = builtin(table, slow or self._by_order(table), self.plan.alive)
        return call if self.plan.timing is None else self.plan.timing.around(call)

    def _by_order(self, table: Any) -> Callable[..., Any]:
        """Return code made for large arrays in Fortran order, if there are some, else `slow`."""
        slow, variants = self.slow(), dict[tuple[bool, ...], Any]()
        packing = int(table[HEADER_INDEX["packing"]])

        def run(*values: Any) -> Any:
            fortran = tuple([_is_fortran(v) for v in values])
            if not any(fortran) or len(values) != len(self.takes):
                return slow(*values)
            if fortran not in variants:
                variants[fortran] = self._variant(fortran, slow, packing)
            return variants[fortran](*values)

        return run

    def _variant(self, fortran: tuple[bool, ...], slow: Any, packing: int) -> Any:
        """Return the function for arrays some of which are in Fortran order."""
        try:
            machine, timed = self.plan.machine, self.plan.timed
            other = NativeRegion(self.nodes, self.takes, self.gives, machine, fortran, timed=timed)
        except NotNative:
            return slow
        if timed:
            other.watch(self.profile, self)
        return other.function(slow, packing)

    def slow(self) -> Callable[..., Any]:
        """Return the VM's function of the nodes, built on its first call; errors name the node."""
        linked: list[Any] = []  # the function, once it is built
        overwrites = any([node.op.destroy_map for node in self.nodes])
        convert = np.array if overwrites else np.asarray  # native code overwrites no argument

        def run(*values: Any) -> Any:
            if not linked:
                linked.append(self._on_vm())
            found = linked[0](*map(convert, values))[: len(self.gives)]
            return found[0] if len(found) == 1 else tuple(found)

        return run

    def _on_vm(self) -> Callable[..., Any]:
        fgraph = self.graph()
        arguments = tuple([Argument(v.type) for v in fgraph.inputs])
        program = Program(fgraph, arguments, "native", len(fgraph.outputs), "list")
        return _NotingShell(program, VM.code(fgraph, ()), True).link().call

    def graph(self) -> FunctionGraph:
        """Return the nodes as a separate graph. Values that nobody reads are outputs, too."""
        known: dict[Variable, Variable] = {}
        for v in self.takes:
            known[v] = v.type.make_variable(v.name or str(v))
        for node in self.nodes:
            copy = copied(node, tuple([known.get(v, v) for v in node.inputs]))
            known.update(zip(node.outputs, copy.outputs, strict=True))
        read = {v for node in self.nodes for v in node.inputs}
        ends = [v for node in self.nodes for v in node.outputs if v not in read]
        gives = dict.fromkeys([*self.gives, *ends])  # (of what nobody reads errors are raised, too)
        inputs, outputs = [known[v] for v in self.takes], [known[v] for v in gives]
        overwrites = any([node.op.destroy_map for node in self.nodes])
        features = [DestroyHandler(inputs)] if overwrites else []
        return FunctionGraph(inputs, outputs, features, clone=False, merging=False)


def _is_fortran(value: Any) -> bool:
    """Return whether a value is a large array in Fortran order, and not in C order."""
    if type(value) is not np.ndarray or value.nbytes < MIN_ORDERED_BYTES:
        return False
    return value.flags.f_contiguous and not value.flags.c_contiguous


class _Notes(ErrorReporter):
    """Reporter that records on errors at which node they were raised; the outer function explains
    them.
    """

    def __call__(self, error: BaseException) -> None:
        found = self._by_line(error) if isinstance(error, Exception) else None
        if found is not None and isinstance(error, Exception):
            failed(error, *found)


class _NotingShell(Shell):
    reporter = _Notes


@axes.register(NativeRegion)
def _(op: NativeRegion, node: Apply, dims: Dims) -> list[LengthCheck]:
    """The axes of results are those of arguments, as far as they are equal inside."""
    inner, known = op.plan.dims, dict[int, int]()
    for v, x in zip(op.takes, node.inputs, strict=True):
        for a, b in zip(inner.roots(v), dims.of(x), strict=True):
            if a in known:
                dims.join(known[a], b)
            known.setdefault(a, b)
    for v, out in zip(op.gives, node.outputs, strict=True):
        dims.set(out, [known.get(a) for a in inner.roots(v)])
    return []


@traits.register(NativeRegion)
def _(op: NativeRegion, node: Apply) -> Traits:
    return Traits(fresh=True, inline=True, warns=False)


@vm_lower.register(NativeRegion)
def _(op: NativeRegion, node: Apply, ctx: Context) -> str:
    ctx.form = "array"
    return f"{ctx.name(op.function(), 'native')}({', '.join(ctx.inputs)})"
