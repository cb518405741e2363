"""The invariants of a `FunctionGraph`, checked one by one.

Linear; for tests and for hunting bugs.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import InconsistencyError
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort

if TYPE_CHECKING:
    from rewrite_engine.graph.fgraph import FunctionGraph


def check(fgraph: FunctionGraph) -> None:
    """Raise `InconsistencyError` naming the first invariant that does not hold."""
    fgraph.flush()
    live = toposort(fgraph.outputs)
    _same("nodes", set(live), set(fgraph.apply_nodes))
    indexed = {n for n in live if not n.op.destroy_map}
    if fgraph.destroy_handler is None and fgraph.merging:
        _same("table", indexed, set(fgraph.table.values()))
    elif not indexed.issuperset(fgraph.table.values()):
        raise InconsistencyError("a node that has left the graph is in the table")
    for key, node in fgraph.table.items():
        if key != fgraph.key_of(node, node.inputs) or node.key != key:
            raise InconsistencyError(f"{node} is in the table under another key")
    _check_clients(fgraph, live)
    _check_levels(fgraph, live)


def _check_clients(fgraph: FunctionGraph, live: list[Apply]) -> None:
    clients: dict[Variable, set[Apply]] = {v: set() for v in fgraph.inputs}
    for node in live:
        for v in node.outputs:
            clients.setdefault(v, set())
        for v in node.inputs:
            clients.setdefault(v, set()).add(node)
    for v in fgraph.outputs:
        clients.setdefault(v, set())
    _same("variables", set(clients), set(fgraph.users))
    for v, nodes in clients.items():
        _same(f"clients of {v!r}", nodes, set(fgraph.users[v]))
    roots = {v for v in clients if isinstance(v, Constant)}
    _same("constants", roots, set(fgraph.constants.values()))


def _check_levels(fgraph: FunctionGraph, live: list[Apply]) -> None:
    level = fgraph.order.level
    for node in live:
        for v in node.inputs:
            if v.owner is not None and level[v.owner] >= level[node]:
                raise InconsistencyError(f"{node} is not above its input {v!r} in the order")
    for before, afters in fgraph.order.extra.items():
        for after in afters:
            if level[before] >= level[after]:
                raise InconsistencyError(f"{after} must run after {before}, but is not above it")


def _same(what: str, expected: Set[Any], found: Set[Any]) -> None:
    if expected != found:
        extra, missing = found - expected, expected - found
        raise InconsistencyError(
            f"{what}: too many {sorted(map(str, extra))}, missing {sorted(map(str, missing))}"
        )
