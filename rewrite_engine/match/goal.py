"""`rule.goal`: a data rule as a miniKanren relation over etuples. This is what the rule means.

`goal(in_term, out_term)` holds where the left side is `in_term` and the right side `out_term` under
the same bindings. It runs both ways. Guards and sorts are asked as soon as their variables are
known; a variable that stays unknown (backward runs) does not refuse. A right side that needs
Python, and operands taken by a rest, work forwards only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations, product
from typing import Any

import kanren
from unification import reify

from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.match.ac import is_ac
from rewrite_engine.match.build import ask, guards_hold, instantiate
from rewrite_engine.match.interpret import match_root
from rewrite_engine.match.lower import Compute
from rewrite_engine.match.pattern import Hole, Literal, OpClass, OpNode, subpatterns
from rewrite_engine.terms.convert import from_term
from rewrite_engine.terms.expression import make
from rewrite_engine.terms.logic import LogicVariable
from rewrite_engine.terms.unify import logic_variables

Goal = Any

UNKNOWN = object()


def rule_goal(rule: Any) -> Callable[[Any, Any], Goal]:
    """The relation of a `DataRule`."""
    parts = [p for p, _ in subpatterns(rule.left) if isinstance(p, OpNode)]
    one_way = any(p.rests or p.default is not None for p in parts)
    if not one_way and not any(is_ac(p) for p in parts):
        return lambda term, result: _both_ways(rule, term, result)

    def goal(term: Any, result: Any) -> Goal:
        def search(state: Any) -> Iterator[Any]:
            if known(term, state) is not UNKNOWN:
                yield from _forward(rule, term, result)(state)
            elif not one_way:
                yield from _both_ways(rule, term, result)(state)

        return search

    return goal


def _both_ways(rule: Any, term: Any, result: Any) -> Goal:
    return kanren.conde(*[_variant(rule, left, term, result) for left in orders(rule.left)])


def orders(pattern: Any) -> Iterator[Any]:
    """Yield a pattern with the operands of commutative ops in every order in which they are
    tried.
    """
    if not isinstance(pattern, OpNode):
        yield pattern
        return
    if is_ac(pattern):
        arranged: Any = permutations(pattern.args)
    else:
        arranged = [pattern.args, pattern.args[::-1]] if pattern.swaps else [pattern.args]
    for args in dict.fromkeys(arranged):
        for choice in product(*[list(orders(a)) for a in args]):
            yield OpNode(pattern.op, tuple(choice))


def _variant(rule: Any, left: OpNode, term: Any, result: Any) -> list[Goal]:
    lvars: dict[str, LogicVariable] = {}
    goals = [kanren.eq(to_term(left, lvars), term)]
    sorts = [(lvars[p.name], p) for p, _ in subpatterns(left) if isinstance(p, Hole)]
    goals.append(_sorts_hold(dict(sorts)))
    if isinstance(rule.right, Compute):
        goals.append(_computed(rule, lvars, result))
    else:
        right = to_term(rule.right, lvars)
        goals.append(kanren.eq(right, result))
    goals.append(_sorts_hold(dict(sorts)))
    goals += [_guard_holds(guard, lvars) for guard in rule.guards]
    return goals


def to_term(pattern: Any, lvars: dict[str, LogicVariable]) -> Any:
    """A pattern as a term on logic variables (made where they are missing)."""
    if isinstance(pattern, Hole):
        return lvars.setdefault(pattern.name, LogicVariable(pattern.name))
    if isinstance(pattern, Literal):
        return pattern.value
    op = pattern.op
    if isinstance(op, OpClass):
        op = make((op.cls, *[to_term(p, lvars) if isinstance(p, Hole) else p for _, p in op.props]))
    return make((op, *[to_term(a, lvars) for a in pattern.args]))


def known(x: Any, state: Any) -> Any:
    """The value of a term in a state: a graph variable or a parameter; `UNKNOWN` while something
    in it is free.
    """
    value = reify(x, state)
    if logic_variables(value):
        return UNKNOWN
    return value if isinstance(value, Variable) else from_term(value)


def _sorts_hold(sorts: dict[LogicVariable, Hole]) -> Goal:
    def goal(state: Any) -> Iterator[Any]:
        for lvar, hole in sorts.items():
            value = known(lvar, state)
            if isinstance(value, Variable) and not hole.sort(value):
                return
            if (
                isinstance(value, int | float | complex)
                and hole.sort.constant is False
                and not _open(hole)
            ):
                return
        yield state

    return goal


def _open(hole: Hole) -> bool:
    """Whether a bare number (a literal met in a backward run) may stand for the hole."""
    return hole.sort.inline == "True" or hole.sort.constant


def _guard_holds(guard: Any, lvars: dict[str, LogicVariable]) -> Goal:
    def goal(state: Any) -> Iterator[Any]:
        names = [a.name for a in guard.args if isinstance(a, Hole)]
        bound = {name: known(lvars[name], state) for name in names}
        if UNKNOWN in bound.values() or ask(guard, bound):
            yield state

    return goal


def _computed(rule: Any, lvars: dict[str, LogicVariable], result: Any) -> Goal:
    def goal(state: Any) -> Iterator[Any]:
        bound = {name: known(lvars[name], state) for name in rule.right.names}
        if UNKNOWN in bound.values():
            return
        value = instantiate(rule.right, bound, None)  # type: ignore[arg-type]
        if value is not None:
            yield from kanren.eq(value, result)(state)

    return goal


def _forward(rule: Any, term: Any, result: Any) -> Goal:
    def goal(state: Any) -> Iterator[Any]:
        value = known(term, state)
        if not isinstance(value, Variable) or isinstance(value, Constant) or value.owner is None:
            return
        for bound in match_root(rule.left, value.owner, rule.lowered.exact):
            if not guards_hold(rule.guards, bound):
                continue
            answer = instantiate(rule.right, bound, value.owner)
            if answer is not None:
                yield from kanren.eq(answer, result)(state)

    return goal
