"""Outlines of terms, and whether a pattern may match a term with an outline.

The *outline* of a variable, some levels deep, is a hashable value:

    None                      an input
    CONSTANT                  a constant; (CONSTANT, 2.0) if its number is read, too
    op                        computed by an op, nothing known of the operands; for one of several
                              outputs a `Projection`
    (op, (outline, ...))      ... of these operands

`match/dispatch.py` has outlines as keys and tries each rule once for each of them. A rule gets the
outline, not a term, so it can only use information in the key.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any

from rewrite_engine.graph.node import CONSTANT, Projection, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.match.ac import is_associative
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, subpatterns

MAX_OUTLINED_OPERANDS = 6  # an op with more operands has an outline without operands
MAX_UNINDEXED_RULES = 4  # rules that are all tried, without an index

Outline = Any


def outline(v: Any, depth: int) -> Outline:
    """Return the outline of a variable, with this many levels of operands."""
    head = v.head
    if head is CONSTANT:
        number = v.element
        return (CONSTANT, number if number == number else math.nan)
    if depth == 0 or head is None:
        return head
    inputs = v.owner.inputs
    if len(inputs) > MAX_OUTLINED_OPERANDS:
        return head
    return (head, tuple([outline(u, depth - 1) for u in inputs]))


def head_of(seen: Outline) -> Any:
    """Return the head of a variable with this outline."""
    return seen[0] if seen.__class__ is tuple else seen


def may_match(pattern: Any, seen: Outline) -> bool:
    """Return whether a pattern may match a variable with this outline. True may be a false
    alarm.
    """
    head = head_of(seen)
    if isinstance(pattern, Literal):
        if head is not CONSTANT or seen is CONSTANT or pattern.value != pattern.value:
            return head is CONSTANT
        return seen[1] in pattern.marks  # (0.0 and -0.0, 1 and True are distinguished later)
    if not isinstance(pattern, OpNode):
        return not (isinstance(pattern, Hole) and pattern.sort.constant) or head is CONSTANT
    if head is None or head is CONSTANT:
        return False
    if pattern.index is not None:
        if not isinstance(head, Projection) or head.index != pattern.index:
            return False
        head = head.op
    known = seen.__class__ is tuple
    return may_be_op(pattern, head) and (not known or may_match_operands(pattern, seen[1]))


def may_be_op(pattern: OpNode, op: Any) -> bool:
    """Return whether an op may be the one of a pattern, by the parameters that the pattern
    specifies.
    """
    props = pattern.op.props if isinstance(pattern.op, OpClass) else ()
    return pattern.fits(op) and all(
        [isinstance(wanted, Hole) or getattr(op, name) == wanted for name, wanted in props]
    )


def may_match_operands(pattern: OpNode, seen: Sequence[Outline]) -> bool:
    """Return whether the operands of a pattern may match operands with these outlines."""
    args = pattern.args
    if pattern.rests or is_associative(pattern):
        for a in args:
            if isinstance(a, Hole) and (a.rest or (seen and not a.sort.constant)):
                continue
            if not any([may_match(a, s) for s in seen]):
                return False
        return True
    if len(args) != len(seen):
        return False
    if all(map(may_match, args, seen)):
        return True
    return pattern.swaps and all(map(may_match, args[::-1], seen))


def is_twice(left: OpNode) -> bool:
    """Return whether a left side is an op applied twice to one variable."""
    args = left.args
    return len(args) == 2 and isinstance(args[0], Hole) and args[0] == args[1] and not left.rests


def numbers_among(args: Iterable[Any]) -> Iterator[Any]:
    """Yield the numbers that `may_match` distinguishes for these patterns."""
    for p in args:
        if isinstance(p, Literal) and p.value == p.value:
            yield from p.marks


# --- an order by content ------------------------------------------------------------------------


def content(v: Variable, depth: int = 2) -> tuple[Any, ...]:
    """Return a key that sorts operands by their content, some levels deep, in every process
    alike.
    """
    kind = v.type.__dict__.get("_stable_text") or _stable(v.type)
    if v.head is CONSTANT:
        number = v.number  # type: ignore[attr-defined]
        return (0, "" if number is None else str(number), kind)
    if v.owner is None:
        return (1, v.name or "", kind)
    node, inputs = v.owner, v.owner.inputs
    below = tuple([content(u, depth - 1) for u in inputs[:4]]) if depth else ()
    op = node.op.__dict__.get("_stable_text") or _stable(node.op)
    return (2, op, below, len(inputs), v.index, kind)


def _stable(x: Any) -> str:
    """Return the text of an op or type without parts that differ between processes, cached if it is
    stable.
    """
    text = str(x)
    result = text if " at 0x" not in text else type(x).__qualname__
    if getattr(x, "__props__", None) is not None:
        x._stable_text = result
    return result


# --- ops ---------------------------------------------------------------------------------------

ROOTS = (Op, type, FunctionType)  # what roots are


def tracks(roots: Sequence[Any] | None, op: Any) -> bool:
    """Return whether an op is among the roots: ops, classes of ops, predicates on ops; None means
    all.
    """
    return roots is None or any([is_root(root, op) for root in roots])


def is_root(root: Any, op: Any) -> bool:
    """Return whether an op satisfies a root: an op, a class or a predicate."""
    if op is root:
        return True
    if isinstance(root, type):
        return isinstance(op, root)
    return bool(root(op)) if isinstance(root, FunctionType) else op == root


# --- what must be there ------------------------------------------------------------------------


def demands(left: OpNode) -> dict[int, tuple[Any, ...]]:
    """Return {level: marks that must be present}: ops, and numbers as `(CONSTANT, 2.0)`."""
    results: dict[int, list[Any]] = {}
    stack: list[tuple[Any, int]] = [(a, 1) for a in left.args]
    while stack:
        p, level = stack.pop()
        if isinstance(p, Literal):
            if p.value == p.value and len(p.marks) == 1:
                results.setdefault(level, []).append((CONSTANT, p.value))
        elif isinstance(p, OpNode):
            if not isinstance(p.op, OpClass):
                results.setdefault(level, []).append(p.head)
            stack += [(a, level + 1) for a in p.args]
    return {level: tuple(marks) for level, marks in results.items()}


def deepest(left: OpNode) -> int:
    """Return how many levels below its root a left side reads."""
    return max(d for p, d in subpatterns(left) if isinstance(p, OpNode) or d == 0)


def interior(left: OpNode, roots: Sequence[Any], nests: int) -> dict[Any, int]:
    """Return {op below the root: its depth}. nests: levels of nests of the `roots` to look into."""
    results: dict[Any, int] = dict.fromkeys(roots, nests) if nests else {}
    for p, depth in subpatterns(left):
        if depth and isinstance(p, OpNode):
            results[p.operator] = max(depth + nests, results.get(p.operator, 0))
    return results


def marks(seen: Iterable[Outline], level: int) -> set[Any] | None:
    """Return the marks on a level below these outlines; None if not everything there is known."""
    here = list(seen)
    for _ in range(level - 1):
        below: list[Any] = []
        for s in here:
            if s.__class__ is tuple and s[1].__class__ is tuple:
                below += s[1]
            elif s.__class__ is not tuple and s is not None and s is not CONSTANT:
                return None
        here = below
    return {s if head_of(s) is CONSTANT else head_of(s) for s in here}


class RuleIndex:
    """Index of rules by a mark that must be on one level: the one that fewest of them have."""

    def __init__(self, rules: Sequence[Any], level: int) -> None:
        self.rules = rules
        self.level = level
        self.free: list[int] = []  # rules that want nothing particular there
        self.filed: dict[Any, list[int]] = {}
        if len(rules) <= MAX_UNINDEXED_RULES:
            return
        wanted = [rule.demands.get(level, ()) for rule in rules]
        common = Counter([mark for some in wanted for mark in set(some)])
        for i, some in enumerate(wanted):
            if not some:
                self.free.append(i)
                continue
            mark = min(some, key=common.__getitem__)
            self.filed.setdefault(mark, []).append(i)
            if mark.__class__ is tuple:
                self.filed.setdefault(CONSTANT, []).append(i)

    def pick(self, seen: Iterable[Outline]) -> Sequence[Any]:
        """Return the rules whose marks are among these outlines, in order."""
        result = marks(seen, self.level) if self.filed else None
        if result is None:
            return self.rules
        places = set(self.free)
        for mark in result:
            places.update(self.filed.get(mark, ()))
        return [self.rules[i] for i in sorted(places)]
