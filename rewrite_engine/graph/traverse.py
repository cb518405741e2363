"""Walks over a graph from its outputs towards its inputs.

All are iterative, and linear in the part they visit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import is_not
from typing import Any

from rewrite_engine.errors import CycleError
from rewrite_engine.graph.node import Apply, Constant, Variable


def ancestors(
    graphs: Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Iterator[Variable]:
    """Yield the variables and everything they are computed from, each once, outputs first.

    The walk does not go past a variable in `blockers`, but yields it.
    """
    stop = frozenset(blockers or ())
    seen: set[Variable] = set()
    stack = list(graphs)[::-1]
    while stack:
        v = stack.pop()
        if v in seen:
            continue
        seen.add(v)
        yield v
        owner = v.owner
        if owner is not None and v not in stop:
            stack += owner.inputs[::-1]


def apply_ancestors(
    variables: Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Iterator[Apply]:
    """Yield the nodes that compute the variables and their inputs, each once; not those of
    `blockers`.
    """
    stop = frozenset(blockers or ())
    found = [v.owner for v in ancestors(variables, stop) if v.owner is not None and v not in stop]
    return iter(dict.fromkeys(found))


def graph_inputs(
    graphs: Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Iterator[Variable]:
    """Yield the roots (inputs and constants) that the variables depend on."""
    return (v for v in ancestors(graphs, blockers) if v.owner is None)


def explicit_graph_inputs(variables: Variable | Iterable[Variable]) -> Iterator[Variable]:
    """Yield the roots that are not constants (shared variables are included)."""
    several = [variables] if isinstance(variables, Variable) else variables
    return (v for v in graph_inputs(several) if not isinstance(v, Constant))


def truncated_graph_inputs(
    outputs: Iterable[Variable], ancestors_to_include: Iterable[Variable] = ()
) -> list[Variable]:
    """Return variables from which `outputs` can be computed: the needed ones among
    `ancestors_to_include`, and otherwise the variables closest to the outputs that do not depend on
    any of these.
    """
    outputs, included = list(outputs), frozenset(ancestors_to_include)
    dependent: set[Variable] = set()
    for node in toposort(outputs):
        if any([v in included or v in dependent for v in node.inputs]):
            dependent.update(node.outputs)
    walk = ancestors(outputs, {v for v in ancestors(outputs) if v not in dependent})
    return [v for v in walk if v in included or v not in dependent]


def toposort(
    outputs: Iterable[Variable],
    inputs: Collection[Variable] = (),
    operands: Mapping[Apply, Sequence[Variable]] | None = None,
) -> list[Apply]:
    """Return the nodes that compute `outputs` from `inputs`, each after those it needs.

    The walk stops at `inputs`. operands: replacements for the inputs of nodes (None: their own).
    The order depends only on the graph's structure. Raises `CycleError`.
    """
    stop = inputs if isinstance(inputs, dict | set | frozenset) else frozenset(inputs)
    done: set[Apply] = set()
    open_: set[Apply] = set()
    order: list[Apply] = []
    for output in outputs:
        if output.owner is None or output in stop or output.owner in done:
            continue
        stack = [output.owner]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
            elif node in open_:
                stack.pop()
                open_.discard(node)
                done.add(node)
                order.append(node)
            else:
                open_.add(node)
                for v in reversed(node.inputs if operands is None else operands[node]):
                    below = v.owner
                    if below is None or below in done or v in stop:
                        continue
                    if below in open_:
                        raise CycleError(f"{below.op}: the graph has a cycle through {v!r}")
                    stack.append(below)
    return order


def clone_get_equiv(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    copy_inputs: bool = True,
    copy_orphans: bool = False,
    memo: dict[Any, Any] | None = None,
) -> dict[Any, Any]:
    """Copy the graph between inputs and outputs; return {original: copy} for variables and nodes.

    copy_inputs, copy_orphans: whether inputs, and roots that are not inputs, are copied or kept.
    memo: existing copies.
    """
    memo = {} if memo is None else memo
    for v in inputs:
        memo.setdefault(v, v.clone() if copy_inputs else v)
    for v in graph_inputs(outputs, memo):
        memo.setdefault(v, v.clone() if copy_orphans and v not in memo else v)
    copy_nodes(outputs, memo)
    return memo


def copy_nodes(
    roots: Iterable[Variable], memo: dict[Any, Any], strict: bool = True, anew: bool = True
) -> None:
    """Copy the nodes above the variables in `memo`, which gets {original: copy} for variables and
    nodes (anew: all nodes, so that nothing is shared). strict: the nodes' inputs must keep their
    types.
    """
    for node in toposort(roots, memo):
        inputs = [memo.get(v, v) for v in node.inputs]
        if node in memo or not (anew or any(map(is_not, inputs, node.inputs))):
            continue
        memo[node] = copy = node.clone_with_new_inputs(inputs, strict)
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            memo.setdefault(old, new)


def clone(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    copy_inputs: bool = True,
    copy_orphans: bool = False,
) -> tuple[list[Variable], list[Variable]]:
    """Copy the graph between inputs and outputs; return the new (inputs, outputs)."""
    memo = clone_get_equiv(inputs, outputs, copy_inputs, copy_orphans)
    return [memo[v] for v in inputs], [memo[v] for v in outputs]
