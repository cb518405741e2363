"""Which nodes a data rule consumes when it fires, as the origin of what it makes.

This runs at every firing, so the common shapes of left sides have functions of their own. Where
operands may stand in any order, an operand whose op the pattern looks for counts as consumed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.origin import Origin, plainly
from rewrite_engine.match.ac import is_ac
from rewrite_engine.match.pattern import OpClass, OpNode, subpatterns

Consumer = Callable[[Apply, Origin | None, Any], Origin | None]


def consumer(left: OpNode) -> Consumer:
    """The function that makes the origin of what takes the place of a node where a rule fires. It
    gets the node, what takes its place already had as its origin (or None), and the rule.
    """
    found = [(p, depth) for p, depth in subpatterns(left) if depth and isinstance(p, OpNode)]
    if not found:
        return plainly
    inner = [i for i, a in enumerate(left.args) if isinstance(a, OpNode)]
    if len(found) == len(inner) == 1 and not (is_ac(left) or left.swaps or left.rests):
        return _one(inner[0])
    heads = {p.op.cls if isinstance(p.op, OpClass) else p.op for p, _ in found}
    return _any(frozenset(heads), max(depth for _, depth in found))


def _one(i: int) -> Consumer:
    """For a left side with one op inside, at a fixed place."""

    def consumed(node: Apply, was: Origin | None, rule: Any) -> Origin:
        origin = node.origin
        own = origin if was is None else was
        place = own if own is None or len(own) == 2 else own[0]
        operand = node.inputs[i].owner
        return place, rule, origin, None if operand is None else operand.origin, was

    return consumed


def _any(heads: frozenset[Any], depth: int) -> Consumer:
    """For any other: operands with these heads, as deep as the left side looks."""

    def consumed(node: Apply, was: Origin | None, rule: Any) -> Origin:
        found: list[Any] = [*plainly(node, was, rule)]  # type: ignore[misc]
        level = [node]
        for _ in range(depth):
            below: list[Apply] = []
            for parent in level:
                for v in parent.inputs:
                    if v.head in heads or type(v.head) in heads:
                        below.append(v.owner)
                        found.append(v.owner.origin)
            level = below
        return tuple(found)

    return consumed
