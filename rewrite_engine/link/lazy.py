"""Which nodes run only where a branch is taken (`Op.read_if`).

A node that every way to an output leads through one branch of a condition need not run where that
branch is not taken. This is known of a graph in running order, so that nothing has to be moved, and
a linker only skips.
"""

from __future__ import annotations

from collections.abc import Sequence

from rewrite_engine.graph.node import Apply, Constant, Variable

#: variables, and whether they are other than 0: all have to be so. In an order in which each one is
#: known where those in front of it are as they have to be
Conditions = tuple[tuple[Variable, bool], ...]
MOST = 50  # conditions of one node; what is nested deeper runs where the outer ones hold


def conditions(nodes: Sequence[Apply], outputs: Sequence[Variable]) -> dict[Apply, Conditions]:
    """Where nodes have to run, of those that need not always. nodes: in the order in which they
    run. Linear.
    """
    if not any([node.op.read_if is not None for node in nodes]):
        return {}
    place = {v: i for i, node in enumerate(nodes) for v in node.outputs}
    seen: dict[Variable, int] = {}
    found: dict[Apply, Conditions] = {}
    always: frozenset[tuple[Variable, bool]] = frozenset()
    needed = dict.fromkeys(outputs, always)
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        uses = [needed[v] for v in node.outputs if v in needed]
        own = frozenset.intersection(*uses) if uses else always
        if own:  # what has to come early, for what is overwritten, may not know its condition yet
            own = frozenset([(c, holds) for c, holds in own if place.get(c, -1) < i])
            found[node] = tuple(sorted(own, key=lambda one: (place.get(one[0], -1), seen[one[0]])))
        reads = None if node.op.read_if is None else node.op.read_if(node)
        for k, v in enumerate(node.inputs):
            here = own
            if reads is not None and reads[k] is not None and len(own) < MOST:
                c = node.inputs[reads[k][0]]
                if not isinstance(c, Constant):
                    seen.setdefault(c, len(seen))
                    here = own | {(c, reads[k][1])}
            before = needed.get(v)
            needed[v] = here if before is None else before & here
    return {node: only_if for node, only_if in found.items() if only_if}
