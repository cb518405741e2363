"""`plan_of`: from a graph to its plan, in passes over its nodes in running order.

The result of a node may be written into an input whose storage is ours, is whole (not a view), has
no later reader, and has exactly the result's dtype and shape. Correctness comes first: in uncertain
cases new memory is allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from rewrite_engine.graph.fgraph import FunctionGraph
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.link.plan.buffers import find_buffers, shape_source
from rewrite_engine.link.plan.conditions import Conditions, conditions
from rewrite_engine.link.plan.dims import Dims, LengthCheck, axes
from rewrite_engine.link.plan.expand import expand
from rewrite_engine.link.plan.layout import find_copies
from rewrite_engine.link.plan.plan import ExecutionPlan, NodePlan, Source
from rewrite_engine.link.plan.schedule import dying, last_reads, schedule
from rewrite_engine.link.plan.storage import Storages
from rewrite_engine.link.plan.traits import FRESH, ByClass, Traits, nothing_known


def plan_of(
    fgraph: FunctionGraph,
    traits: Callable[..., Traits] = nothing_known,
    borrowed: Collection[Variable] = (),
) -> ExecutionPlan:
    """Return the plan of a graph, for a linker to write code from. Takes linear time; the graph
    stays unchanged.

    traits: a `functools.singledispatch` function of the op and the node that describes the linker's
    code for it; by default, memory is shared and overwritten only as ops declare. borrowed: the
    inputs whose memory results may share. Raises `InconsistencyError` if something would be
    overwritten that must not be.
    """
    nodes = expand(schedule(fgraph))
    by_class = ByClass(traits)
    known = [by_class[node.op.__class__](node.op, node) for node in nodes]
    copied = [False] * len(nodes)
    for i in find_copies(nodes, known):
        copied[i], known[i] = True, FRESH
    storages = Storages(nodes, borrowed, {node for node, copies in zip(nodes, copied) if copies})
    last = last_reads(nodes, fgraph.outputs)
    storages.end(last)
    where = conditions(nodes, fgraph.outputs)
    results = _Results(storages)
    results.decide(known, where)
    buffers, slots = find_buffers(known, results.like, storages, results.dims)
    columns = known, results.checks, results.into, buffers, copied, dying(nodes, last)
    steps = list(map(NodePlan, nodes, *columns))
    ends = tuple(fgraph.inputs), tuple(fgraph.outputs)
    return ExecutionPlan(*ends, steps, where, storages, results.dims, slots)


class _Results:
    """Places of the results of nodes, decided in running order: by then, the lengths that earlier
    nodes compared are known to be equal.

    checks: for each node the lengths it compares. into: the input whose memory output 0 takes.
    like: where its shape is read, if it can be in a buffer. whole: variables that are whole arrays
    of this call.
    """

    def __init__(self, storages: Storages) -> None:
        self.storages, self.dims = storages, Dims()
        self.checks: list[Sequence[LengthCheck]] = []
        self.into: list[int | None] = [None] * len(storages.nodes)
        self.like: list[Source | None] = [None] * len(storages.nodes)
        self.whole: set[Variable] = set()

    def decide(self, traits: Sequence[Traits], where: Mapping[Apply, Conditions]) -> None:
        """Decide for all nodes. where: conditions of those that need not always run."""
        rules, dims = ByClass(axes), self.dims
        for i, (node, known) in enumerate(zip(self.storages.nodes, traits, strict=True)):
            if where:
                dims.lazy = node in where
            self.checks.append(rules[node.op.__class__](node.op, node, dims))
            self._choose(i, node, known)

    def _choose(self, i: int, node: Apply, known: Traits) -> None:
        """Decide where the result of node `i` is stored."""
        if node.op.destroy_map:
            self._overwrite(i, node, node.op.destroy_map)
        if not known.fresh or self.into[i] is not None:
            return
        for out in node.outputs[1:]:
            if out.type.ndim:
                self.whole.add(out)
        out = node.outputs[0]
        if not out.type.ndim:
            return
        self.whole.add(out)
        for k in known.into:
            if node.inputs[k] in self.whole and self._reusable(i, node, k):
                self.into[i] = k
                self.storages.join(out, node.inputs[k])
                return
        if known.keep:
            self.like[i] = shape_source(node, self.dims)

    def _overwrite(self, i: int, node: Apply, destroyed: dict[int | None, list[int]]) -> None:
        """Record which outputs are in whole arrays, because the op declares that it overwrites
        them.
        """
        for o, places in destroyed.items():
            if o is not None and places:
                first = places[0]
                if o == 0:
                    self.into[i] = first
                if node.inputs[first] in self.whole:
                    self.whole.add(node.outputs[o])

    def _reusable(self, i: int, node: Apply, k: int) -> bool:
        """Return whether the memory of input `k`, which is whole, may take the result of node
        `i`.
        """
        v, out = node.inputs[k], node.outputs[0]
        storage = self.storages.of(v)
        if storage.last != i or not storage.ours:
            return False
        if v.type.dtype != out.type.dtype or not self.dims.same(v, out):
            return False
        return all([w is v or self.storages.of(w) is not storage for w in node.inputs])
