"""Searches come to an end, whatever their goals do."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import pytest
from kanren import conde, eq, lall, membero, var
from kanren.core import Zzz, fail

from rewrite_engine.errors import RelationBudgetError, SearchBudgetError
from rewrite_engine.match.relation import RelationRule
from rewrite_engine.tensor.reduce import Sum
from rewrite_engine.terms import budget
from rewrite_engine.terms.budget import Budget, Watch, bounded
from rewrite_engine.terms.search import run
from tests.toy import num, sin

ROOT = Path(__file__).resolve().parents[2]

q, x = var(), num("x")
SHORT = 0.1
LONG = 1000.0  # seconds of a search that has answers, on the busiest machine


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "GRACE", 0.1)


def nevero() -> Any:
    """Calls itself lazily, and never looks at its state."""
    return Zzz(nevero)


def by_conde() -> Any:
    return conde([eq(1, 2)], [Zzz(by_conde)])


def eagero(term: Any, result: Any) -> Any:
    """Calls itself while it is made. (With arguments: a call without any, of a function that takes
    any, has no limit of recursion on CPython 3.13.0.)
    """
    return eagero(term, result)


def made_eagerly(state: Any) -> Any:
    return eagero(q, q)(state)


def failing() -> Any:
    """Branches without end, none of which looks at its state."""
    return conde([fail] for _ in count())


def looking(state: Any) -> Iterator[Any]:
    while True:
        len(state)
    yield state


def looping(state: Any) -> Iterator[Any]:
    while True:
        pass
    yield state


def stubborn(state: Any) -> Iterator[Any]:
    while True:
        try:
            while True:
                pass
        except Exception:
            pass
    yield state


def endless(state: Any) -> Iterator[Any]:
    """A stream of nothing."""
    for _ in count():
        yield from ()


TIME = r"budget of 0\.1 seconds, in which it found 0 answers"
STACK = f"Python's stack|{TIME}"  # whichever ends first
GOALS = [
    (nevero(), STACK), (by_conde(), STACK), (made_eagerly, STACK),
    (lall(eq(q, 1), nevero()), STACK),
    (failing(), TIME), (looking, TIME), (looping, TIME), (stubborn, TIME), (endless, TIME),
]  # fmt: skip


@pytest.mark.parametrize(("goal", "used_up"), GOALS)
def test_any_goal_comes_to_an_end(goal: Any, used_up: str) -> None:
    with pytest.raises(SearchBudgetError, match=used_up):
        run(1, q, goal, seconds=SHORT)
    assert run(0, q, goal, seconds=SHORT, on_budget="stop") == ()
    assert run(0, q, membero(q, [1, 2]), seconds=LONG) == (1, 2)


def test_what_was_found_before_counts() -> None:
    def then(state: Any) -> Iterator[Any]:
        yield state
        yield from looping(state)

    assert run(0, q, lall(eq(q, 1), then), seconds=SHORT, on_budget="stop") == (1,)
    with pytest.raises(SearchBudgetError, match="it found 1 answer"):
        run(0, q, lall(eq(q, 1), then), seconds=SHORT)


@pytest.mark.parametrize("fn", [eagero, lambda a, b: nevero(), lambda a, b: looping])
def test_relations_say_which(fn: Any) -> None:
    def named(term: Any, result: Any) -> Any:
        """A test."""
        return fn(term, result)

    rule = RelationRule(named, tracks=[sin], budget=Budget(seconds=SHORT))
    with pytest.raises(RelationBudgetError, match=r"^rule \w+/named .*:\d+"):
        rule.transform(None, sin(x).owner)


def test_a_search_in_a_search_ends_with_the_one_around_it() -> None:
    ended = []

    def inner(state: Any) -> Iterator[Any]:
        try:
            run(1, q, looping, seconds=LONG)
        finally:
            ended.append(True)
        yield state

    with pytest.raises(SearchBudgetError, match=TIME):
        run(1, q, inner, seconds=SHORT)
    assert ended


def test_in_any_thread_and_only_there() -> None:
    said: list[str] = []

    def search() -> None:
        try:
            run(1, q, looping, seconds=SHORT)
        except SearchBudgetError as error:
            said.append(str(error))

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(said) == 3
    assert not budget.watchdog.searches


def test_a_signal_handler_may_search_whatever_its_thread_is_at() -> None:
    with budget.watchdog.lock:
        assert run(0, q, membero(q, [1, 2]), seconds=LONG) == (1, 2)


def test_a_search_that_pauses_long_is_not_interrupted() -> None:
    watch = Watch(Budget(seconds=0.05))
    found = bounded(iter(range(3)), watch)
    assert next(found) == 0
    threading.Event().wait(0.4)  # (the thread looks meanwhile)
    assert list(found) == [1, 2]
    assert not watch.struck


def test_without_seconds_nobody_watches() -> None:
    assert list(bounded(iter(range(3)), Watch(Budget(answers=5)))) == [0, 1, 2]
    assert not budget.watchdog.searches


def test_searches_in_each_other_that_are_overdue_at_once() -> None:
    """One interrupt at a time reaches a thread: the outer search has its own."""

    def outer(state: Any) -> Iterator[Any]:
        run(1, q, looping, seconds=SHORT, on_budget="stop")
        for _ in range(10**10):
            pass
        yield state

    with pytest.raises(SearchBudgetError, match=TIME):
        run(1, q, outer, seconds=SHORT)


def test_who_left_without_a_word_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes when it likes, also when a search is about to say that it has an answer."""

    def leave(watch: Watch) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(budget.watchdog, "leave", leave)
        with pytest.raises(KeyboardInterrupt):
            next(bounded(count(), Watch(Budget(seconds=SHORT))))
    assert budget.watchdog.searches
    for _ in range(10_000):
        if not budget.watchdog.searches:
            break
        threading.Event().wait(0.001)  # (an interrupt would be noticed here)
    assert not budget.watchdog.searches


class Dropped:
    """Something with a finalizer that takes its time."""

    def __del__(self) -> None:
        for _ in range(200):
            pass


@pytest.mark.parametrize("of", ["others", "ops"])
def test_no_interrupt_is_lost_where_python_drops_exceptions(
    monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    """Nearly all the time is spent in finalizers and callbacks of weak references."""
    lost: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)

    def deaf() -> Iterator[Any]:
        known: WeakValueDictionary[int, Any] = WeakValueDictionary()
        for i in count():
            known[i % 3] = Dropped() if of == "others" else Sum(axis=(i,))
        yield None

    for _ in range(4):
        with pytest.raises(SearchBudgetError, match="in which it found 0 answers"):
            list(bounded(deaf(), Watch(Budget(seconds=0.02))))
    assert lost == []


def test_interrupts_leave_no_mark_behind() -> None:
    """An interrupt that is withdrawn before it is raised hangs CPython 3.11 while it traces."""
    code = """if True:
        import ctypes, sys, threading
        from rewrite_engine.terms import budget

        watch = budget.Watch(budget.Budget(seconds=1.0))
        raised = 0
        for struck in range(20):
            try:
                watch.struck = True
                budget.watchdog.searches[watch] = threading.get_ident()
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(threading.get_ident()), ctypes.py_object(budget.Overdue))
                budget.watchdog.leave(watch)
            except budget.Overdue:
                raised += 1
            budget.watchdog.searches[watch] = threading.get_ident()
            budget.watchdog.leave(watch)  # as one does that was interrupted before
        lines = []
        sys.settrace(lambda *event: lines.append(event))
        (lambda: None)()
        sys.settrace(None)
        print(raised, len(lines) > 0)
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
                          timeout=60, check=False)  # fmt: skip
    assert done.stdout == "20 True\n", done.stderr
