"""Invariants of a graph, which can be checked at any time, also between a replacement and its
settling.

`check_store` raises for the first violated invariant. `config.check_graphs` runs it after every
change of every graph (after every few changes of a large one, so that the time stays linear).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from functools import wraps
from typing import TYPE_CHECKING, Any

from rewrite_engine.config import config, on_change
from rewrite_engine.errors import (
    CycleError,
    InconsistencyError,
    MissingInputError,
    TypeMismatchError,
)
from rewrite_engine.graph.memory import NoDestroyHandler
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.traverse import toposort
from rewrite_engine.graph.weak import WeakKeys

if TYPE_CHECKING:
    from rewrite_engine.graph.frozen import FrozenGraph

#: a graph of so many nodes is checked after each change, one of twice as many after every second
NODES_PER_CHANGE = 200
#: methods that change a graph
CHANGES = (
    *("replace", "settle", "exchange", "restore", "change_node_input"),
    *("add_input", "add_output", "remove_input", "remove_output"),
)
#: errors after which a graph is what it was before
REFUSALS = CycleError, MissingInputError, NoDestroyHandler, TypeMismatchError


def check_store(fgraph: FrozenGraph, twins: int = 0) -> int:
    """Raise `InconsistencyError` for the first invariant that does not hold, naming it. Takes
    linear time.

    The nodes of the graph are those that its outputs need; its clients are the uses of variables;
    levels rise along every edge; the table entry under a key has that key; and no two terms are
    equal, unless the graph does not merge, or overwrites something. twins: how many nodes may equal
    others nevertheless because a `MergeOptimizer` has not run yet. Returns how many do.
    """
    inputs = {node: fgraph.present_inputs(node) for node in fgraph.order.level}
    live = toposort(fgraph.outputs, (), _Operands(inputs))
    _same("nodes", set(live), inputs.keys())
    dirty: Mapping[Apply, Any] = getattr(fgraph, "dirty", {})
    _same("nodes to be settled", {n for n in live if n in dirty}, dirty.keys())
    _check_table(fgraph)
    _check_clients(fgraph, inputs)
    _check_levels(fgraph, inputs)
    found = _twins(fgraph, live, dirty)
    if len(found) > twins and fgraph.merging and fgraph.destroy_handler is None:
        raise InconsistencyError(f"equal to another term: {', '.join(map(str, found))}")
    return len(found)


class _Operands(dict[Apply, Any]):
    """Mapping from nodes to their inputs; a node outside the graph maps to its own inputs."""

    def __missing__(self, node: Apply) -> Any:
        return node.inputs


def _check_table(fgraph: FrozenGraph) -> None:
    for key, node in fgraph.table.items():
        if node not in fgraph.order.level:
            raise InconsistencyError(f"{node} is in the table but not in the graph")
        if key != fgraph.key_of(node, node.inputs) or node.op.destroy_map:
            raise InconsistencyError(f"{node} is in the table under another key")
    for key, v in fgraph.constants.items():
        if v not in fgraph.users or v.signature() != key:
            raise InconsistencyError(f"constant {v!r} is in the table but not in the graph")


def _twins(fgraph: FrozenGraph, live: list[Apply], dirty: Mapping[Apply, Any]) -> list[Any]:
    """Return the settled nodes and the constants that the table does not find under their keys,
    because others are there.
    """
    get, key_of, constants = fgraph.table.get, fgraph.key_of, fgraph.constants
    nodes = [node for node in live if node not in dirty and not node.op.destroy_map]
    apart = [node for node in nodes if get(key_of(node, node.inputs)) is not node]
    roots = [v for v in fgraph.users if isinstance(v, Constant)]
    return [*apart, *[v for v in roots if constants.get(v.signature()) is not v]]


def _check_clients(fgraph: FrozenGraph, inputs: Mapping[Apply, tuple[Variable, ...]]) -> None:
    made = [v for node in inputs for v in node.outputs]
    clients: dict[Variable, set[Apply]] = {v: set() for v in (*fgraph.inputs, *made)}
    for node, operands in inputs.items():
        for v in operands:
            clients.setdefault(v, set()).add(node)
    for v in fgraph.outputs:
        clients.setdefault(v, set())
    _same("variables", clients.keys(), fgraph.users.keys())
    for v, nodes in clients.items():
        if nodes != fgraph.users[v].keys():
            _same(f"clients of {v!r}", nodes, fgraph.users[v].keys())
    places = {(v, i) for i, v in enumerate(fgraph.outputs)}
    _same("outputs", places, {(v, i) for v, at in fgraph.out_uses.items() for i in at})


def _check_levels(fgraph: FrozenGraph, inputs: Mapping[Apply, tuple[Variable, ...]]) -> None:
    level = fgraph.order.level
    for node, operands in inputs.items():
        for v in operands:
            if v.owner is not None and level[v.owner] >= level[node]:
                raise InconsistencyError(f"{node} is not above its input {v!r} in the order")
    for before, afters in fgraph.order.extra.items():
        for after in afters:
            if level[before] >= level[after]:
                what = f"{after} must run after {before}, but is not above it"
                raise InconsistencyError(what)


def _same(what: str, expected: Set[Any], found: Set[Any]) -> None:
    if expected != found:
        extra, missing = found - expected, expected - found
        raise InconsistencyError(
            f"{what}: too many {sorted(map(str, extra))}, missing {sorted(map(str, missing))}"
        )


# --- after every change ---------------------------------------------------------------------------


class _Watched:
    """Checks of one graph's changes: the number of changes since the last check, and the number of
    equal terms then. broken: a change was interrupted.
    """

    def __init__(self, fgraph: FrozenGraph) -> None:
        self.changes, self.broken, self.key_of = 0, False, fgraph.key_of
        self.twins = check_store(fgraph, len(fgraph.users))

    def check(self, fgraph: FrozenGraph) -> None:
        self.changes = 0
        same = self.key_of is fgraph.key_of
        self.key_of = fgraph.key_of
        self.twins = check_store(fgraph, self.twins if same else len(fgraph.users))


_watched: WeakKeys[FrozenGraph, _Watched] = WeakKeys()
#: the methods that are replaced while changes are checked
_plain: dict[tuple[type, str], Callable[..., Any]] = {}


def check_changes_of(kind: type) -> None:
    """Install checks of changes for a class of graphs, controlled by `config.check_graphs`."""

    def follow() -> None:
        if config.check_graphs and not _plain:
            for cls, name in _changes(kind):
                method = _plain[cls, name] = vars(cls)[name]
                setattr(cls, name, _checked(method))
        elif not config.check_graphs:
            while _plain:
                (cls, name), method = _plain.popitem()
                setattr(cls, name, method)

    on_change("check_graphs", follow)
    follow()


def _changes(kind: type) -> Iterator[tuple[type, str]]:
    for name in CHANGES:
        yield next(cls for cls in kind.__mro__ if name in vars(cls)), name


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        known = _watched.get(self)
        if known is None and method.__name__ != "restore":
            known = _watched[self] = _Watched(self)
        try:
            result = method(self, *args, **kwargs)
        except REFUSALS:
            if known is not None and not known.broken:
                known.check(self)
            raise
        except BaseException:
            if known is not None:
                known.broken = True
            raise
        if known is None:
            return result
        known.changes += 1
        known.broken = known.broken and method.__name__ != "restore"
        if known.changes * NODES_PER_CHANGE >= len(self) and not known.broken:
            known.check(self)
        return result

    return call
