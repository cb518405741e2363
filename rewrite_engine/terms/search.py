"""miniKanren goals run within a budget. `run` here is `kanren.run` that comes to an end.

A stream of states that never yields cannot be stopped from outside. But every goal looks at its
state when it unifies or reifies something, so it gets a state that looks at the clock (`State`):
wherever a goal diverges, this ends it, in any thread and without signals. A goal that loops without
ever looking at its state is beyond reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import unification.core
from kanren.constraints import ConstrainedState
from kanren.core import lall
from unification import Var, reify

from rewrite_engine.errors import SearchBudgetError
from rewrite_engine.terms.budget import Budget, OnBudget, OutOfBudget, Watch, bounded
from rewrite_engine.terms.unify import walk

Goal = Any


class State(ConstrainedState):  # type: ignore[misc]
    """A state of a search that is being watched. It may have constraints (`neq`, `isinstanceo`)."""

    __slots__ = ("watch",)

    def __init__(self, watch: Watch, data: Any = (), constraints: Any = None) -> None:
        super().__init__(dict(data), constraints=constraints)
        self.watch = watch

    def copy(self, data: Any = None) -> State:
        """A state like this one; data: with other substitutions."""
        constraints = {k: v.copy() for k, v in self.constraints.items()}
        return State(self.watch, self.data if data is None else data, constraints)

    def pre_unify_checks(self, lvar: Any, value: Any) -> bool:
        """Whether constraints allow it. Unification begins here, so the time is looked at here."""
        self.watch.tick()
        return bool(super().pre_unify_checks(lvar, value))

    def __len__(self) -> int:
        self.watch.tick()  # reification begins here
        return len(self.data)


def _reify(x: Any, state: State) -> Iterator[Any]:
    """A variable that stands for nothing is itself. (`kanren` would put another in its place, to
    show its constraints, which a `LogicVariable` is not equal to.)"""
    found = walk(x, state.data)
    if found is x:
        yield found
    else:
        yield unification.core._reify(found, state)


unification.core._reify.add((Var, State), _reify)


def search(q: Any, goals: tuple[Goal, ...], watch: Watch) -> Iterator[Any]:
    """Yield what `q` stands for in each state in which all goals hold."""
    try:
        for state in lall(*goals)(State(watch)):
            yield reify(q, state)
    except RecursionError:
        raise OutOfBudget("Python's stack: a goal calls itself again and again") from None


def run(
    n: int | None,
    q: Any,
    *goals: Goal,
    answers: int | None = None,
    seconds: float | None = 10.0,
    on_budget: OnBudget = "raise",
) -> Any:
    """Return n answers: what `q` stands for where all goals hold. n=0: all of them; None: an
    iterator.

    answers: how many may be found (n of them are asked for, that is no excess). seconds: of
    searching. Raises `SearchBudgetError` when one of these is used up; with on_budget="stop" there
    is just no more.

    >>> from kanren import eq, membero, var
    >>> q = var()
    >>> run(2, q, membero(q, [1, 2, 3]))
    (1, 2)
    """
    watch = Watch(Budget(answers, seconds, on_budget))
    found = bounded(search(q, goals, watch), watch, _error)
    if n is None:
        return found
    return tuple(found) if n == 0 else tuple([answer for _, answer in zip(range(n), found)])


def _error(what: str) -> SearchBudgetError:
    return SearchBudgetError(f"the search {what}")
