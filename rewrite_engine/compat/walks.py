"""Walks over graphs that only programs for other libraries use (the engine's own:
`graph/traverse.py`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from rewrite_engine.graph import traverse
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.postorder import postorder
from rewrite_engine.graph.traverse import ancestors, apply_ancestors, toposort


def walk(
    nodes: Iterable[Any],
    expand: Callable[[Any], Iterable[Any] | None],
    bfs: bool = True,
    return_children: bool = False,
) -> Iterator[Any]:
    """Yield nodes, the results of `expand` for each, and so on; each once. bfs: those nearest to
    the first ones first; otherwise the last found first. return_children: yield
    pairs of a node and the result of `expand`.
    """
    seen, todo = set[Any](), deque(nodes)
    while todo:
        found = todo.popleft() if bfs else todo.pop()
        if found not in seen:
            seen.add(found)
            children = expand(found)
            yield (found, children) if return_children else found
            todo.extend(children or ())


def variables_below(
    graphs: Iterable[Variable], blockers: Collection[Variable] = ()
) -> Iterator[Variable]:
    """Yield variables and what they are computed from, the last inputs first. The walk does not go
    past a variable in `blockers`.
    """

    def inputs(v: Variable) -> Iterable[Variable]:
        return () if v.owner is None or v in blockers else v.owner.inputs

    return walk(graphs, inputs, bfs=False)


def truncated_graph_inputs(
    outputs: Iterable[Variable], ancestors_to_include: Iterable[Variable] = ()
) -> list[Variable]:
    """`traverse.truncated_graph_inputs`, in the order of `variables_below`."""
    outputs, included = list(outputs), list(ancestors_to_include)
    found = frozenset(traverse.truncated_graph_inputs(outputs, included))
    return [v for v in variables_below(outputs, found - {*included}) if v in found]


def get_var_by_name(graphs: Iterable[Variable], target_var_id: str) -> tuple[Variable, ...]:
    """Return the variables with this name (or `auto_name`, if it has been assigned) among graphs
    and the variables they are computed from.
    """
    names = lambda v: (v.name, getattr(v, "_auto_name", None))
    return tuple([v for v in ancestors(graphs) if target_var_id in names(v)])


def last_first(
    graphs: Iterable[Variable], blockers: Collection[Variable] | None = None
) -> list[Apply]:
    """Return the nodes below variables, each after those it needs; the nodes below the last input
    come first, as in PyTensor. The walk does not go past a variable in `blockers`.
    """
    stop = frozenset(blockers or ())

    def owners(variables: Iterable[Variable]) -> list[Apply]:
        return [v.owner for v in variables if v.owner is not None and v not in stop]

    return list(postorder(owners(graphs), lambda node: owners(reversed(node.inputs))))


def io_toposort(inputs: Collection[Variable], outputs: Iterable[Variable]) -> list[Apply]:
    """Return `last_first(outputs, inputs)`, with the arguments in PyTensor's order."""
    return last_first(outputs, inputs)


def applys_between(inputs: Collection[Variable], outputs: Iterable[Variable]) -> Iterator[Apply]:
    """Yield the nodes between inputs and outputs, those of the last inputs first."""
    between = [v.owner for v in vars_between(inputs, outputs) if v not in inputs]
    return iter(dict.fromkeys([node for node in between if node is not None]))


def vars_between(inputs: Collection[Variable], outputs: Iterable[Variable]) -> Iterator[Variable]:
    """Yield the variables between inputs and outputs, both ends included, the last inputs first."""
    return variables_below(outputs, frozenset(inputs))


def orphans_between(
    inputs: Collection[Variable], outputs: Iterable[Variable]
) -> Iterator[Variable]:
    """Yield the roots between inputs and outputs that are not inputs; constants are some."""
    return (v for v in vars_between(inputs, outputs) if v.owner is None and v not in inputs)


def depends_on(variable: Variable, on: Variable | Collection[Variable]) -> bool:
    """Return whether the variable is computed from (or is) one of `on`."""
    wanted = frozenset([on] if isinstance(on, Variable) else on)
    return any(v in wanted for v in ancestors([variable]))


def apply_depends_on(apply: Apply, depends_on: Apply | Collection[Apply]) -> bool:
    """Return whether the node needs (or is) one of these."""
    wanted = frozenset([depends_on] if isinstance(depends_on, Apply) else depends_on)
    return apply in wanted or any(n in wanted for n in apply_ancestors(apply.inputs))


def list_of_nodes(inputs: Collection[Variable], outputs: Iterable[Variable]) -> list[Apply]:
    """Return the nodes between inputs and outputs."""
    return toposort(outputs, inputs)


def is_in_ancestors(l_apply: Apply, f_node: Apply) -> bool:
    """Return whether a node needs (or is) another one."""
    return apply_depends_on(l_apply, f_node)
