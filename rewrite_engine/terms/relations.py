"""Relations `walko` and `reduceo` on graphs: one step somewhere, and steps until there are no more.

miniKanren's own versions recurse over the depth of a term, and end at some fifty levels; these do
not recurse. They behave the same if one of the two terms is known (a term of a graph, without logic
variables); if both are open, the original versions run. A part that occurs in several places is one
term, as in a graph, and is replaced in all of them. Equal answers are returned once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import kanren.graph
from kanren import eq
from unification import reify, var

import rewrite_engine.terms.dispatch  # noqa: F401  (importing it registers)
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.replace import Shared, put
from rewrite_engine.graph.traverse import ancestors
from rewrite_engine.terms.convert import etuplize, etuplize_all
from rewrite_engine.terms.unification import evaluated, logic_variables

Goal = Callable[[Any], Iterator[Any]]
Relation = Callable[[Any, Any], Goal]


def walko(relation: Relation, a: Any, b: Any) -> Goal:
    """Relate two terms if one becomes the other when a part of it, or all of it, is replaced by a
    term that `relation(part, new)` relates it to. Outer places come first.

    >>> from kanren import run, var
    >>> from tests.match.language import make
    >>> from tests.toy import exp, log, num, sin
    >>> q, x, rule = var(), num("x"), make(lambda a: log(exp(a)) >> a)
    >>> [t.owner for t in run(0, q, walko(rule.goal, sin(log(exp(x))), q))]
    [sin(x)]
    """

    def goal(state: Any) -> Iterator[Any]:
        shared = Shared()
        for known, other, backward in ((a, b, False), (b, a, True)):
            whole = ground(known, state, shared)
            if whole is not None:
                for new, found in _places(relation, whole, state, shared, backward):
                    yield from eq(new, other)(found)
                return
        yield from kanren.graph.walko(relation, a, b)(state)

    return goal


def reduceo(relation: Relation, a: Any, b: Any) -> Goal:
    """Relate a term to the results of one or more steps of a relation: those without further steps
    come first. From b alone, yield the terms that lead to it, those with fewer steps first. Terms
    with logic variables are not reduced further.

    >>> from functools import partial
    >>> from kanren import run, var
    >>> from tests.match.language import make
    >>> from tests.toy import exp, log, num, sin
    >>> q, x, rule = var(), num("x"), make(lambda a: log(exp(a)) >> a)
    >>> [t] = run(1, q, reduceo(partial(walko, rule.goal), sin(log(exp(log(exp(x))))), q))
    >>> t.owner
    sin(x)
    """

    def goal(state: Any) -> Iterator[Any]:
        shared = Shared()
        start, end = ground(a, state, shared), ground(b, state, shared)
        if start is not None:
            yield from _forward(relation, start, b, state, shared)
        elif end is not None:
            yield from _backward(relation, end, a, state, shared)
        else:
            yield from kanren.graph.reduceo(relation, a, b)(state)

    return goal


def ground(x: Any, state: Any, shared: Shared) -> Variable | None:
    """Return the variable that a term is, each of equal ones once; None if it is open, or not a
    graph.
    """
    value = evaluated(reify(x, state))
    return shared(value) if isinstance(value, Variable) else None


def _answers(
    relation: Relation, term: Any, state: Any, shared: Shared, backward: bool = False
) -> Iterator[tuple[Any, Variable | None, Any]]:
    """Yield the terms related to a term, or (backward) the terms it is made from: the answer, its
    variable if ground, the state.
    """
    q = var()
    for found in (relation(q, term) if backward else relation(term, q))(state):
        new = ground(q, found, shared)
        if new is not None or logic_variables(reify(q, found)):
            yield q, new, found


def _places(
    relation: Relation, whole: Variable, state: Any, shared: Shared, backward: bool
) -> Iterator[tuple[Any, Any]]:
    """Yield terms with one part replaced, and their states. backward: the terms from which that
    makes `whole`.
    """
    seen: set[Variable] = set()
    parts = list(ancestors([whole]))
    for part, term in zip(parts, etuplize_all(parts), strict=True):
        for q, new, found in _answers(relation, term, state, shared, backward):
            if new is None:  # with logic variables in it: a term, and no graph
                yield etuplize(whole, holes={part: q}), found
                continue
            made = put(shared, whole, part, new)
            if made is None or made in seen:
                continue
            if not backward or put(shared, made, new, part) is whole:
                seen.add(made)
                yield made, found


def _forward(
    relation: Relation, start: Variable, end: Any, state: Any, shared: Shared
) -> Iterator[Any]:
    seen = {start}
    #: what is being reduced: its answers, and what it is, to be yielded after all that it leads to
    stack: list[tuple[Iterator[Any], Any, Any]] = [
        (_answers(relation, etuplize(start), state, shared), None, None)
    ]
    while stack:
        answers, term, reached = stack[-1]
        q, new, found = next(answers, (None, None, None))
        if q is None:
            stack.pop()
            if term is not None:
                yield from eq(term, end)(reached)
        elif new is None:
            yield from eq(q, end)(found)
        elif new not in seen:
            seen.add(new)
            stack.append((_answers(relation, etuplize(new), found, shared), new, found))


def _backward(
    relation: Relation, end: Variable, start: Any, state: Any, shared: Shared
) -> Iterator[Any]:
    seen = {end}
    todo = deque([(end, state)])
    while todo:
        term, reached = todo.popleft()
        for q, new, found in _answers(relation, etuplize(term), reached, shared, backward=True):
            if new is not None and new in seen:
                continue
            yield from eq(q, start)(found)
            if new is not None:
                seen.add(new)
                todo.append((new, found))
