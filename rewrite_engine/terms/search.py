"""Searches of miniKanren goals within a budget. `run` here is a `kanren.run` that always ends.

A stream of states that never yields cannot be stopped from outside. But every goal reads its state
when it unifies or reifies something, so it gets a state that checks the clock (`WatchedState`):
wherever a goal diverges, this ends it, in any thread and without signals. A goal that loops without
reading its state is interrupted a little later (`terms/budget.py`). A goal that recurses without
end, lazily or eagerly, uses up Python's stack, which counts as running out of budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import unification.core
from kanren.constraints import ConstrainedState, unify_ConstrainedState
from kanren.core import lall
from unification import reify
from unification.core import stream_eval

import rewrite_engine.terms.dispatch  # noqa: F401  (importing it registers)
from rewrite_engine.terms.budget import Budget, OnBudget, OutOfBudget, Watch, bounded
from rewrite_engine.terms.logic import LogicVariable
from rewrite_engine.terms.unification import walk

WATCH = object()  # under this key a state carries its watch, so that every copy has it


class WatchedState(dict[Any, Any]):
    """State of a watched search: substitutions, and the watch."""

    __slots__ = ()

    def copy(self) -> WatchedState:
        """Return a state with the same substitutions."""
        return WatchedState(self)

    def __len__(self) -> int:
        self[WATCH].tick()  # reification begins here
        return super().__len__()


def _unify(u: Any, v: Any, state: WatchedState) -> Any:
    state[WATCH].tick()
    return state if u is v else stream_eval(unification.core._unify(u, v, state))


def _unify_constrained(u: Any, v: Any, state: Any) -> Any:
    """Unify in the state class that `neq` and similar goals make, keeping the watch."""
    if WATCH in state.data:
        state.data[WATCH].tick()
    return unify_ConstrainedState(u, v, state)


def _reify_constrained(x: LogicVariable, state: Any) -> Iterator[Any]:
    """Return an unbound variable unchanged. (`kanren` would replace it to show its constraints, and
    a `LogicVariable` would not equal that.)
    """
    found = walk(x, state.data)
    yield found if found is x else unification.core._reify(found, state)


unification.unify.add((object, object, WatchedState), _unify)
unification.unify.add((object, object, ConstrainedState), _unify_constrained)
unification.core._reify.add((LogicVariable, ConstrainedState), _reify_constrained)


def search(q: Any, goals: tuple[Any, ...], watch: Watch) -> Iterator[Any]:
    """Yield the value of `q` in each state in which all goals hold."""
    try:
        for state in lall(*goals)(WatchedState({WATCH: watch})):
            yield reify(q, state)
    except RecursionError:
        raise OutOfBudget("Python's stack: its goals are nested too deep") from None


def run(
    n: int | None,
    q: Any,
    *goals: Any,
    answers: int | None = None,
    seconds: float | None = 10.0,
    on_budget: OnBudget = "raise",
) -> Any:
    """Return n answers: values of `q` for which all goals hold. n=0: all of them; None: an
    iterator.

    answers: the limit of answers (a limit of n is not exceeded by requesting n). seconds: search
    time. Raises `SearchBudgetError` when a limit is reached; with on_budget="stop" the answers just
    end.

    >>> from kanren import eq, membero, var
    >>> q = var()
    >>> run(2, q, membero(q, [1, 2, 3]))
    (1, 2)
    """
    watch = Watch(Budget(answers, seconds, on_budget))
    found = bounded(search(q, goals, watch), watch)
    if n is None:
        return found
    return tuple(found) if n == 0 else tuple([answer for _, answer in zip(range(n), found)])
