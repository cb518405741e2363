"""Keeping Python's cyclic collector still while a graph is rewritten.

Graphs are reference cycles that live: scanning them again and again makes rewriting superlinear.
The guard is counted, so nested and concurrent runs work, and restores what it found.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_depth = 0
_was_enabled = False


@contextmanager
def paused_collector() -> Iterator[None]:
    """Switch the collector off, if it is on, until the outermost such block ends."""
    global _depth, _was_enabled
    with _lock:
        if _depth == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0 and _was_enabled:
                gc.enable()
