"""Floating-point warnings are off while a generated function runs; the user's settings stay the
same.

`np.errstate` costs 1 µs a call. Its effect is the value of one context variable, which two C calls
set and restore (0.14 µs); the variable is found by public means only. See docs/decisions for other
measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any

import numpy as np


def _find() -> tuple[Callable[[Any], Any], Callable[[Any], Any], Any, Callable[[], Any]]:
    """Return (enter, leave, state, now): `token = enter(state)` switches warnings off,
    `leave(token)` undoes it; now() is the present state.
    """
    with np.errstate(all="ignore"):
        context = copy_context()
    for variable, state in context.items():
        if variable.name == "numpy.ufunc.extobj":
            return variable.set, variable.reset, state, variable.get
    return _enter, _leave, None, _none


def _enter(state: Any) -> Any:
    manager = np.errstate(all="ignore")
    manager.__enter__()
    return manager


def _leave(manager: Any) -> None:
    manager.__exit__(None, None, None)


def _none() -> None:
    """Return None, for an unknown state."""


enter, leave, QUIET, now = _find()


def undo(token: Any) -> None:
    """Leave after an error. token: None if `enter` was interrupted just before it returned: the
    previous state is then unknown, but the state of a new thread is not.
    """
    if token is not None:
        leave(token)
    elif QUIET is not None and now() is QUIET:
        enter(Context().run(now))
