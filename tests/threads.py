"""Work in several threads at once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any


def in_threads(work: Callable[[int], Any], count: int = 4) -> None:
    """Call `work(k)` in a thread of its own for each k, and wait for all."""
    threads = [Thread(target=work, args=(k,)) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
