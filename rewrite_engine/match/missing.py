"""Operands that may be missing: with `a: Const = 1`, a pattern `a * x` also matches `x`.

A rule with such operands stands for several rules, one for each set of missing operands
(`Lowered.others`). In each of them, a number takes the place of the variable, and is left out where
it changes nothing. Matchers, goals and the e-graph see rules without optional operands only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import PatternError
from rewrite_engine.match.ac import spliced
from rewrite_engine.match.pattern import (
    Hole,
    Literal,
    OpClass,
    OpNode,
    Pattern,
    subpatterns,
)

if TYPE_CHECKING:
    from rewrite_engine.match.lower import Lowered

Numbers = Mapping[str, Any]  # by the names of the variables that they take the place of


def with_missing(rule: Lowered, backward: bool = False) -> Lowered:
    """Return a rule with the rules for missing operands, fewest first. backward: the author wrote
    the right side first.
    """
    defaults = rule.defaults
    if not defaults:
        return rule
    sides = [(rule.left, not backward), *[(side, backward) for side in _patterns_of(rule.right)]]
    places = [find_optional(side, defaults, trusting) for side, trusting in sides]
    effective = {a.name for _, a in chain.from_iterable(places)}
    names = [name for name in defaults if name in effective]
    sets = chain.from_iterable(combinations(names, n + 1) for n in range(len(names)))
    ways = [_leave_out(rule, {name: defaults[name] for name in gone}, backward) for gone in sets]
    return rule._replace(others=tuple(way for way in ways if isinstance(way.left, OpNode)))


def check_defaults(left: OpNode, defaults: Numbers) -> None:
    """Raise `PatternError` for an operand with a default that can be missing nowhere."""
    effective = {a.name for _, a in find_optional(left, defaults, trusting=True)}
    for p, _ in subpatterns(left):
        for a in p.args if isinstance(p, OpNode) else ():
            if not isinstance(a, Hole) or a.name not in defaults or a.name in effective:
                continue
            why = "an operand with a default needs one other operand beside it"
            if len(p.args) == 2:
                why = f"{a.name} cannot be missing: its identity is {p.op.identity}"
            raise PatternError(f"{p.op}: {why}")


def find_optional(side: Any, defaults: Numbers, trusting: bool) -> Iterator[tuple[OpNode, Hole]]:
    """Yield the operands of a side that can be missing, each with its op."""
    for p, _ in subpatterns(side):
        for a in p.args if isinstance(p, OpNode) else ():
            if can_be_missing(p, a, defaults, trusting):
                yield p, a


def can_be_missing(p: OpNode, a: Any, defaults: Numbers, trusting: bool) -> bool:
    """Return whether an operand can be missing: it is one of two, and its default is the identity
    of the op. trusting: also if the op declares none, since the author asserts it.
    """
    if not isinstance(a, Hole) or a.name not in defaults or len(p.args) != 2:
        return False
    identity = getattr(p.op, "identity", None)
    return trusting if identity is None else bool(defaults[a.name] == identity)


def _leave_out(rule: Lowered, numbers: Numbers, backward: bool) -> Lowered:
    """Return the rule for some missing operands. The op at the root of the left side stays."""

    def number_at(a: Any) -> Any:
        return numbers.get(a.name, a) if isinstance(a, Hole) else a

    left, right = rule.left, rule.right
    if isinstance(right, tuple):
        right = tuple([_fill(side, numbers, backward) for side in right])
    elif isinstance(right, Pattern):
        right = _fill(right, numbers, backward)
    elif right is not None:
        right = right.given(numbers)
    return rule._replace(
        left=_apply(left, [_fill(a, numbers, not backward) for a in left.args]),
        right=right,
        guards=tuple([replace(g, args=tuple(map(number_at, g.args))) for g in rule.guards]),
        defaults={},
    )


def _fill(p: Any, numbers: Numbers, trusting: bool) -> Any:
    """Return a pattern with numbers in place of variables, without those that can be missing."""
    if isinstance(p, Hole):
        return Literal(numbers[p.name]) if p.name in numbers else p
    if not isinstance(p, OpNode):
        return p
    missing = [i for i, a in enumerate(p.args) if can_be_missing(p, a, numbers, trusting)]
    if missing:
        return _fill(p.args[1 - missing[0]], numbers, trusting)
    return _apply(p, [_fill(a, numbers, trusting) for a in p.args])


def _apply(p: OpNode, args: list[Any]) -> Any:
    """Return the op of a pattern on other operands; of numbers alone, the number."""
    if isinstance(p.op, OpClass):
        return p.of(*args)
    if args and all(isinstance(a, Literal) for a in args) and hasattr(p.op, "on_numbers"):
        return Literal(p.op.on_numbers(*[a.value for a in args]))
    return p.of(*spliced(p.op, tuple(args)))


def _patterns_of(right: Any) -> tuple[Any, ...]:
    """Return the patterns of a right side; none of a computed one."""
    if isinstance(right, tuple):
        return right
    return (right,) if isinstance(right, Pattern) else ()


def each_way(rule: Lowered, change: Callable[[Lowered], Lowered]) -> Lowered:
    """Return a rule changed by a function, and the rules for missing operands, too."""
    return change(rule)._replace(others=tuple(map(change, rule.others)))
