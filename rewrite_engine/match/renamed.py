"""Warnings about a sort whose name means less than in the last release (decision 74): a rule that
loses a match by that warns. Old names, which still work, are in `pattern.py`. The next release
drops this file, `Sort.formerly` and `Sort.now`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from typing import Any

from rewrite_engine.graph.node import Apply
from rewrite_engine.match.interpret import interpreted
from rewrite_engine.match.pattern import Graph, Hole, OpNode, holes, warn_at
from rewrite_engine.terms.print import brief

Match = Callable[[Graph, Apply], Any]


def widened(pattern: Any) -> Any:
    """Return a pattern whose sorts have the previous meanings of their names."""
    if isinstance(pattern, Hole):
        sort = pattern.sort
        return pattern if sort.formerly is None else replace(pattern, sort=sort.formerly)
    return pattern.of(*map(widened, pattern.args)) if isinstance(pattern, OpNode) else pattern


def warn_of_lost_matches(rule: Any, match: Match) -> Match:
    """Return a matcher that warns once if the rule would have matched before its sorts became
    narrower.
    """
    before = rule.lowered._replace(left=widened(rule.left))
    if before.left == rule.left:
        return match
    warned: list[Apply] = []

    @wraps(match)
    def apply(fgraph: Graph, node: Apply) -> Any:
        new = match(fgraph, node)
        if new is None and not warned and has_complex(node, rule.depth):
            with suppress(Exception):  # a rule's own functions may refuse complex numbers
                matched_before = interpreted(before, fgraph, node) is not None
                warned.extend([node] * matched_before)
            if warned:
                warn(rule, node)
        return new

    return apply


def warn(rule: Any, node: Apply) -> None:
    """Warn, at the rule's line, that a sort of its left side no longer includes complex numbers."""
    known = [hole.sort for hole in holes(rule.left).values() if hole.sort.formerly is not None]
    sort = min(known, key=lambda s: len(s.name))
    text = (
        f"rule {rule.name} does not apply to {brief(node.outputs[0], 9)}: {sort} means real "
        f"floats now; for real and complex floats, which {sort} meant before, write {sort.formerly}"
    )
    warn_at(rule.fn, rule.where, text)


def has_complex(node: Apply, depth: int) -> bool:
    """Return whether a node, or one up to `depth` levels below it, has a complex operand."""
    level = list(node.inputs)
    for _ in range(depth + 1):
        if any(getattr(v.type, "kind", "") == "c" for v in level):
            return True
        level = [u for v in level if v.owner is not None for u in v.owner.inputs]
    return False
