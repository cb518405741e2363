"""Floating-point settings: found with public means, and a way without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.errors import BroadcastError
from rewrite_engine.link import quiet, shell
from tests.link.reference import link


def test_the_context_variable_is_found() -> None:
    assert quiet.QUIET is not None
    token = quiet.enter(quiet.QUIET)
    assert np.geterr()["divide"] == "ignore"
    quiet.leave(token)
    assert np.geterr()["divide"] == "warn"


def test_the_way_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "copy_context", dict)
    enter, leave, state, now = quiet._find()
    assert now() is None
    monkeypatch.setattr(shell, "enter", enter)
    monkeypatch.setattr(shell, "leave", leave)
    monkeypatch.setattr(quiet, "leave", leave)
    monkeypatch.setattr(shell, "QUIET", state)
    x, y = pt.vectors("x y")
    with np.errstate(all="raise"):
        assert link([x], 1 / x).call(np.zeros(1))[0] == np.inf
        with pytest.raises(BroadcastError):
            link([x, y], x + y).call(np.zeros(2), np.zeros(3))
        assert np.geterr()["divide"] == "raise"
    assert np.geterr()["divide"] == "warn"


def test_an_interrupt_while_warnings_are_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(state: Any) -> None:
        quiet.enter(state)
        raise KeyboardInterrupt

    monkeypatch.setattr(shell, "enter", interrupted)
    x = pt.vector("x")
    f = link([x], 1 / x).call
    with pytest.raises(KeyboardInterrupt):
        f(np.zeros(1))
    assert np.geterr()["divide"] == "warn"
    with np.errstate(divide="raise"), pytest.raises(KeyboardInterrupt):
        f(np.zeros(1))
    assert np.geterr()["divide"] == "warn"


def test_what_cannot_warn_leaves_it_out() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    assert "QUIET" not in link([x, y], pt.maximum(x, y)[::-1]).source
    assert "QUIET" in link([x, y], x + y).source


def test_without_a_global_lock_states_are_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    from rewrite_engine.compile import Mode, shared
    from rewrite_engine.compile import function as compiled

    monkeypatch.setattr(shell, "_FREE_THREADED", True)
    w: Any = shared(np.zeros(1), "w")
    f = compiled([], w * 1, updates={w: w + 1}, mode=Mode(optimizer=None))
    assert f.source.count("with state_lock:") == 2
    f()
    assert w.get_value() == 1
