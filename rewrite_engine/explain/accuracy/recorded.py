"""Records of functions that a report compiles itself: other recorders do not see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rewrite_engine.compile import observe
from rewrite_engine.explain.record import FunctionRecord, recording


def record_alone(compile_function: Callable[[], Any]) -> FunctionRecord:
    """Compile a function, hidden from observers, and return its record."""
    others = list(observe)
    observe.clear()
    try:
        with recording() as recorder:
            compile_function()
    finally:
        observe[:] = others
    return recorder.records[-1]
