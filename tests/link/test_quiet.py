"""Floating-point settings: found with public means, and a way without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.link.vm import function, quiet
from tests.link.reference import link


def test_the_context_variable_is_found() -> None:
    assert quiet.QUIET is not None
    token = quiet.enter(quiet.QUIET)
    assert np.geterr()["divide"] == "ignore"
    quiet.leave(token)
    assert np.geterr()["divide"] == "warn"


def test_the_way_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "copy_context", dict)
    enter, leave, state = quiet._find()
    monkeypatch.setattr(function, "enter", enter)
    monkeypatch.setattr(function, "leave", leave)
    monkeypatch.setattr(function, "QUIET", state)
    x = pt.vector("x")
    with np.errstate(all="raise"):
        assert link([x], 1 / x).call(np.zeros(1))[0] == np.inf
    assert np.geterr()["divide"] == "warn"


def test_what_cannot_warn_leaves_it_out() -> None:
    x, y = pt.vector("x"), pt.vector("y")
    assert "QUIET" not in link([x, y], pt.maximum(x, y)[::-1]).source
    assert "QUIET" in link([x, y], x + y).source


def test_without_a_global_lock_states_are_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    from rewrite_engine.compile import Mode, shared
    from rewrite_engine.compile import function as compiled

    monkeypatch.setattr(function, "_FREE_THREADED", True)
    w: Any = shared(np.zeros(1), "w")
    f = compiled([], w * 1, updates={w: w + 1}, mode=Mode(optimizer=None))
    assert f.source.count("with state_lock:") == 2
    f()
    assert w.get_value() == 1
