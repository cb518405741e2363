"""`rule.goal`: a data rule as a miniKanren relation over etuples. This is what the rule means.

`goal(in_term, out_term)` holds where the left side is `in_term` and the right side `out_term` under
the same bindings. A term that is known is matched with its side as rewriting matches it, in any
order where the op says so; where both have free variables the sides are unified with them. So it
runs forwards, backwards (`match/backward.py`), and as a check. Guards and sorts are asked as soon
as their variables are known; a variable that stays unknown does not refuse.

What has no way back: a right side that needs Python (`compute`), and numbers that were put together
on the right (the 3 of 2 * x + x). A variable that only the left side has stays free in backward
answers; a rest that only the left side has is empty in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import kanren
from unification import reify

import rewrite_engine.terms.dispatch  # noqa: F401  (importing it registers)
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.replace import Shared
from rewrite_engine.match.ac import is_associative
from rewrite_engine.match.backward import (
    as_one_term,
    backward,
    may_be,
    opened,
    orders,
    repeats,
    to_term,
)
from rewrite_engine.match.build import Bindings, guards_hold, instantiate, views
from rewrite_engine.match.interpret import every_result
from rewrite_engine.match.lower import Compute, Lowered
from rewrite_engine.match.pattern import Hole, OpNode, subpatterns
from rewrite_engine.terms.unification import IMPOSSIBLE, UNKNOWN, evaluated

Goal = Any


def rule_goal(*rules: Any) -> Callable[[Any, Any], Goal]:
    """The relation of `DataRule`s: that of any of them. It relates terms of single outputs."""
    goals = [_one_goal(part) for rule in rules for part in rule.lowered.parts]
    if len(goals) == 1:
        return goals[0]
    return lambda term, result: kanren.conde(*[[goal(term, result)] for goal in goals])


def _one_goal(rule: Lowered) -> Callable[[Any, Any], Goal]:
    parts = [p for p, _ in subpatterns(rule.left) if not isinstance(p, Hole)]
    if not any(map(_needs_matcher, parts)):
        return lambda term, result: _both_ways(rule, [(rule.left, rule.right)], term, result)

    def goal(term: Any, result: Any) -> Goal:
        def search(state: Any) -> Iterator[Any]:
            value, made = known(term, state), known(result, state)
            if value is not UNKNOWN:
                for answer in distinct(_results(rule, value, state)):
                    yield from kanren.eq(answer, result)(state)
            elif made is not UNKNOWN:
                if made is not IMPOSSIBLE:
                    yield from backward(rule, made, term, state)
            else:
                yield from _both_ways(rule, opened(rule, reify(term, state)), term, result)(state)

        return search

    return goal


def _needs_matcher(part: Any) -> bool:
    """Whether unification alone does not say what a part matches: rests, and filled arrays."""
    if not isinstance(part, OpNode):
        return True
    return bool(part.rests) or part.default is not None or is_associative(part)


def known(x: Any, state: Any) -> Any:
    """What a term makes in a state, as far as that is known."""
    return evaluated(reify(x, state))


def distinct(answers: Iterable[Any]) -> Iterator[Any]:
    """Yield terms as they come, equal ones once."""
    shared, seen = Shared(), set[Any]()
    for answer in answers:
        one = as_one_term(answer, shared)
        if one not in seen:
            seen.add(one)
            yield answer


def _results(rule: Any, value: Any, state: Any) -> Iterator[Any]:
    """What a rule makes of a term, by every way in which it matches."""
    if not isinstance(value, Variable) or isinstance(value, Constant):
        return
    if repeats(rule.left):
        value = Shared()(value)
    if value.owner is None or rule.left.target(value.owner) is not value:
        return
    seen = chain([(value.owner, None)], views(rule.left, rule.exact, None, value.owner))
    for node, whole in seen:
        for answer in every_result(rule, None, node, state.__len__):  # (it may look at the clock)
            yield answer if whole is None else whole(answer)


# --- by unification -------------------------------------------------------------------------------


def _both_ways(rule: Any, sides: Iterable[tuple[Any, Any]], term: Any, result: Any) -> Goal:
    goals = (
        _variant(rule, ordered, right, term, result)
        for left, right in sides
        for ordered in orders(left)
    )
    return kanren.conde(goals)


def _variant(rule: Any, left: OpNode, right: Any, term: Any, result: Any) -> list[Goal]:
    terms: Bindings = {}
    goals = [kanren.eq(to_term(left, terms), term)]
    allowed = _allowed(rule, terms, [p for p, _ in subpatterns(left) if isinstance(p, Hole)])
    if isinstance(right, Compute):
        return [*goals, allowed, _computed(right, terms, result), allowed]
    return [*goals, allowed, kanren.eq(to_term(right, terms), result), allowed]


def _allowed(rule: Lowered, terms: Bindings, asked: list[Hole]) -> Goal:
    """Sorts and guards hold, as far as their variables are known."""

    def goal(state: Any) -> Iterator[Any]:
        values = {name: known(term, state) for name, term in terms.items()}
        bound = {name: value for name, value in values.items() if value is not UNKNOWN}
        if all(may_be(hole, bound[hole.name]) for hole in asked if hole.name in bound):
            if guards_hold(rule.guards, bound):
                yield state

    return goal


def _computed(right: Compute, terms: Bindings, result: Any) -> Goal:
    def goal(state: Any) -> Iterator[Any]:
        bound = {name: known(terms[name], state) for name in right.names if name in terms}
        if len(bound) < len(right.names) or UNKNOWN in bound.values():
            return
        value = instantiate(right, bound, None)  # type: ignore[arg-type]
        if value is not None:
            yield from kanren.eq(value, result)(state)

    return goal
