"""The matcher, interpreted: the plain meaning of a pattern on graph nodes, and what `why not` asks.

Slow and short. Compiled matchers (`match/emit.py`) must give the same bindings in the same order;
tests compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode

Bindings = dict[str, Any]


def matches(pattern: Any, v: Any, bound: Bindings | None = None) -> Iterator[Bindings]:
    """Yield every way in which `pattern` matches the variable `v`, extending `bound`."""
    bound = {} if bound is None else bound
    if isinstance(pattern, Hole):
        yield from _bind(pattern, v, bound)
    elif isinstance(pattern, Literal):
        if pattern.holds(v):
            yield bound
    else:
        node = v.owner
        if node is None or len(node.outputs) != 1 or not pattern.fits(node.op):
            return
        for inner in _props(pattern, node.op, bound):
            yield from match_node(pattern, node, inner)


def match_node(pattern: OpNode, node: Any, bound: Bindings | None = None) -> Iterator[Bindings]:
    """Yield every way in which the operands of `pattern` match the inputs of `node` (whose op
    fits).
    """
    bound = {} if bound is None else bound
    if pattern.swaps:
        if len(node.inputs) == 2:
            yield from _sequence(pattern.args, node.inputs, bound)
            yield from _sequence(pattern.args, node.inputs[::-1], bound)
    else:
        yield from _sequence(pattern.args, node.inputs, bound)


def match_root(pattern: OpNode, node: Any) -> Iterator[Bindings]:
    """Yield every way in which a left side matches a node."""
    if len(node.outputs) == 1:
        yield from matches(pattern, node.outputs[0])


def _bind(hole: Hole, v: Any, bound: Bindings) -> Iterator[Bindings]:
    if hole.name in bound:
        if bound[hole.name] is v:
            yield bound
    elif hole.sort(v):
        yield bound | {hole.name: v}


def _props(pattern: OpNode, op: Any, bound: Bindings) -> Iterator[Bindings]:
    if isinstance(pattern.op, OpClass):
        for name, wanted in pattern.op.props:
            value = getattr(op, name)
            if isinstance(wanted, Hole):
                if wanted.name in bound and bound[wanted.name] != value:
                    return
                bound = bound | {wanted.name: value}
            elif value != wanted:
                return
    yield bound


def _sequence(
    patterns: Sequence[Any], values: Sequence[Any], bound: Bindings
) -> Iterator[Bindings]:
    """Match operands in order; a rest hole takes any number of them, few before many."""
    if not patterns:
        if not values:
            yield bound
        return
    first, others = patterns[0], patterns[1:]
    if isinstance(first, Hole) and first.rest:
        needed = sum(not (isinstance(p, Hole) and p.rest) for p in others)
        only = needed == len(others)
        start = len(values) - needed if only else 0
        for n in range(max(start, 0), len(values) - needed + 1):
            taken = tuple(values[:n])
            if bound.get(first.name, taken) == taken:
                yield from _sequence(others, values[n:], bound | {first.name: taken})
    elif values:
        for inner in matches(first, values[0], bound):
            yield from _sequence(others, values[1:], inner)
