"""Differences in sums: how a left side like `a - b + rest` matches a nest.

It matches any sum in which `a` is added and `b` subtracted, anywhere in a nest of sums and
differences. The nest is viewed with `b` moved next to `a`; everything else stays in place, so the
rest is what is added next to `a` (`views`). Quotients in products work alike. A rule without
differences in its left side is matched without this module (`with_views`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from rewrite_engine.graph.node import Apply, build_variable
from rewrite_engine.match.ac import is_ac, is_joined_to, joined, may_regroup
from rewrite_engine.match.outline import may_match, outline
from rewrite_engine.match.pattern import Graph, OpNode

if TYPE_CHECKING:
    from rewrite_engine.match.emit import Function

MAX_NEST_LEVELS = 4  # levels of a nest in which a change makes a rule be tried again

MAX_OPENED_NODES = 32  # nodes of a nest that are read
MAX_PAIRS = 200  # pairs of an added and a subtracted operand that are tried

Path = tuple[int, ...]
View = tuple[Apply, Callable[[Any], Any]]


def differences(left: OpNode) -> list[OpNode]:
    """Return the operands of a left side that are differences in a sum with a rest."""
    undone_by = getattr(left.op, "undone_by", None)
    if undone_by is None or not left.rests or not is_ac(left):
        return []
    return [a for a in left.args if isinstance(a, OpNode) and a.op is undone_by[0]]


def levels(left: OpNode) -> int:
    """Return how many levels of nests a left side looks into."""
    return MAX_NEST_LEVELS if differences(left) else 0


def with_views(left: OpNode, exact: bool, match: Function) -> Function:
    """Return a matcher that also matches the sums of `views`, if the left side needs it."""
    if not differences(left):
        return match

    def apply(fgraph: Graph, node: Any) -> Any:
        new = match(fgraph, node) if node.op is left.op else None
        if new is not None:
            return new
        for view, whole in views(left, exact, fgraph, node):
            new = match(fgraph, view)
            if new is not None:
                return whole(new)
        return None

    return apply


def views(left: OpNode, exact: bool, fgraph: Graph, node: Apply) -> Iterator[View]:
    """Yield sums that a left side may match because a nest is equal to one with such a sum in it,
    each with a function that builds the whole from the replacement. exact: see `ac.may_regroup`.
    """
    wanted, whole = differences(left), node.outputs[0]
    ops = (left.op, *left.op.undone_by) if wanted else ()
    if node.op not in ops or not may_regroup(exact, whole):
        return
    result = _collect_leaves(fgraph, node, ops)
    added = [(path, v) for path, v, sign in result if sign > 0]
    taken = [(path, v) for path, v, sign in result if sign < 0]
    pairs = (
        (p, q, part)
        for part in wanted
        for p in added
        if may_match(part.args[0], outline(p[1], 0))
        for q in taken
        if may_match(part.args[1], outline(q[1], 0))
    )
    for (here, v), (there, u), part in islice(pairs, MAX_PAIRS):
        pair = part.op(v, u)
        if pair.type.computes_like(whole.type):
            yield _make_view(node, ops, pair, here, there)


def _collect_leaves(
    fgraph: Graph, node: Apply, ops: tuple[Any, ...]
) -> list[tuple[Path, Any, int]]:
    """Return the operands of a nest of sums and differences, with their places and signs."""
    type_, room = node.outputs[0].type, MAX_OPENED_NODES
    results: list[tuple[Path, Any, int]] = []
    todo: list[tuple[Path, Apply, int]] = [((), node, 1)]
    for path, inner, sign in todo:
        for i, v in enumerate(inner.inputs):
            own = sign if inner.op is ops[0] or (inner.op is ops[1] and i == 0) else -sign
            if room and any(is_joined_to(fgraph, v, op, type_) for op in ops):
                room -= 1
                todo.append(((*path, i), v.owner, own))
            else:
                results.append(((*path, i), v, own))
    return results


def _make_view(node: Apply, ops: tuple[Any, ...], pair: Any, here: Path, there: Path) -> View:
    """Return the sum of a pair and of the terms added next to it, and the function that puts a term
    in its place.
    """
    parent = node
    for i in here[:-1]:
        parent = parent.inputs[i].owner
    place = here[:-1] if parent.op is ops[0] else here
    out = _leave_out(node, ops, place, {there: None, here: pair})
    if out is pair:
        out = build_variable(ops[0], (pair,), pair.type)
    return out.owner, lambda term: _leave_out(node, ops, (), {there: None, place: term})


def _leave_out(node: Apply, ops: tuple[Any, ...], path: Path, changes: dict[Path, Any]) -> Any:
    """Return the term at a place of a nest, with other terms (None: nothing) at some places."""
    if path in changes:
        return changes[path]
    v = node.outputs[0]
    for i in path:
        v = v.owner.inputs[i]
    if not any(place[: len(path)] == path for place in changes):
        return v
    inner = v.owner
    operands = [_leave_out(node, ops, (*path, i), changes) for i in range(len(inner.inputs))]
    terms = [x for x in operands if x is not None]
    if not terms or (
        inner.op is not ops[0] and operands[0] is not None and len(terms) < len(operands)
    ):
        return terms[0] if terms else None
    if len(terms) == len(operands):
        return inner.op(*terms)
    return joined(ops[0], terms) if inner.op is ops[0] else ops[2](*terms)
