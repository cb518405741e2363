"""Graphs with some of their variables replaced, and comparison of graphs.

The originals are never changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.traverse import ancestors, toposort

#: replacements of a node's inputs still to be made, oldest first; (None, None) replaces nothing
Pending = list[tuple[Variable | None, Variable | None]]

Pairs = Mapping[Variable, Any] | Iterable[tuple[Variable, Any]]


def as_pairs(replace: Pairs | None) -> dict[Variable, Any]:
    """Read replacements given as a mapping, as pairs, or not at all."""
    if replace is None:
        return {}
    return dict(replace.items() if isinstance(replace, Mapping) else replace)


def clone_replace(output: Any, replace: Pairs | None = None, *, rebuild_strict: bool = True) -> Any:
    """Copy the graph of `output` (a variable, or a list or dict of them) with subgraphs replaced.

    replace: {variable: what to put in its place}. The new variables are converted to the type of
    the old ones (`TypeMismatchError` if that cannot be); rebuild_strict=False takes them as they
    are and types the nodes above anew. All replacements happen at once: what is put in is not
    searched again.
    """
    pairs = as_pairs(replace)
    if rebuild_strict:
        pairs = _fitted(pairs)
    if isinstance(output, Mapping):
        return dict(
            zip(output, _rebuild(list(output.values()), pairs, rebuild_strict), strict=True)
        )
    if isinstance(output, Variable):
        return _rebuild([output], pairs, rebuild_strict)[0]
    return _rebuild(list(output), pairs, rebuild_strict)


def _fitted(pairs: dict[Variable, Any]) -> dict[Variable, Variable]:
    return {old: old.type.filter_variable(new) for old, new in pairs.items()}


def graph_replace(
    outputs: Variable | Sequence[Variable], replace: Pairs | None = None, *, strict: bool = True
) -> Any:
    """Return `outputs` with variables replaced; only nodes above a replaced variable are copied.

    strict: raise `ValueError` if a variable to be replaced is not in the graph. Raises
    `TypeMismatchError` where types do not fit.
    """
    pairs = as_pairs(replace)
    single = isinstance(outputs, Variable)
    roots: list[Variable] = [outputs] if isinstance(outputs, Variable) else list(outputs)
    if strict:
        found = set(ancestors(roots))
        missing = [v for v in pairs if v not in found]
        if missing:
            raise ValueError(f"{missing[0]!r} is not in the graph, so it cannot be replaced")
    result = _rebuild(roots, _fitted(pairs), True)
    return result[0] if single else result


def _rebuild(
    roots: Sequence[Variable], pairs: Mapping[Variable, Variable], strict: bool
) -> list[Variable]:
    """Copy what is above a replaced variable. strict: the nodes' inputs must keep their types."""
    memo: dict[Variable, Variable] = dict(pairs)
    for node in toposort(roots, memo.keys()):
        inputs = [memo.get(v, v) for v in node.inputs]
        if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
            continue
        copy = node.clone_with_new_inputs(inputs, strict)
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            memo.setdefault(old, new)
    return [memo.get(v, v) for v in roots]


def equal_computations(
    xs: Sequence[Any],
    ys: Sequence[Any],
    in_xs: Sequence[Variable] = (),
    in_ys: Sequence[Variable] = (),
) -> bool:
    """Whether two lists of graphs compute the same: equal ops on equal inputs, down to the roots.

    in_xs and in_ys are matched with each other by position; any other root must be the very same
    variable, or an equal constant. Linear in the graphs' sizes: equal terms get the same number.
    """
    if len(xs) != len(ys) or len(in_xs) != len(in_ys):
        return False
    if any(a.type != b.type for a, b in zip(in_xs, in_ys, strict=True)):
        return False
    table: dict[Any, int] = {}
    numbers: list[list[int]] = []
    for graphs, inputs in ((xs, in_xs), (ys, in_ys)):
        number = {v: table.setdefault(("input", i), len(table)) for i, v in enumerate(inputs)}
        numbers.append([_number(x, number, table) for x in graphs])
    return numbers[0] == numbers[1]


def _number(x: Any, number: dict[Variable, int], table: dict[Any, int]) -> int:
    """Number a graph bottom-up, so that two variables get the same number iff they are equal
    terms.
    """
    if not isinstance(x, Variable):
        return table.setdefault(("value", repr(x)), len(table))
    for node in toposort([x], number):
        inputs = tuple([_root_number(v, number, table) for v in node.inputs])
        for i, out in enumerate(node.outputs):
            number.setdefault(out, table.setdefault((node.op, i, inputs), len(table)))
    return _root_number(x, number, table)


def _root_number(v: Variable, number: dict[Variable, int], table: dict[Any, int]) -> int:
    found = number.get(v)
    if found is None:
        key = v.signature() if isinstance(v, Constant) else v
        found = number[v] = table.setdefault(("root", key), len(table))
    return found


def substitute(inputs: tuple[Variable, ...], pending: Pending) -> tuple[Variable, ...]:
    """Apply replacements, in the order in which they were made."""
    if len(pending) == 1:
        old, new = pending[0]
        if old is None:
            return inputs
        return tuple([new if v is old else v for v in inputs])  # type: ignore[misc]
    mapping: dict[Variable, Variable] = {}
    for old, new in reversed(pending):  # the last one first: what `old` becomes is then final
        if old is not None and new is not None:
            mapping[old] = mapping.get(new, new)
    return tuple([mapping.get(v, v) for v in inputs])
