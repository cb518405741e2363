"""How the time that something takes grows with its size."""

from __future__ import annotations

import gc
from collections.abc import Callable
from math import log
from time import process_time
from typing import Any


def exponent(prepare: Callable[[int], Callable[[], Any]], few: int, many: int) -> float:
    """The time grows as n to the power of this: about 1 where it is linear. prepare: makes what is
    timed, for a size.

    Other work on the machine and garbage of other tests do not count: it is time of this process,
    without the collector, the least of several, taken in turns.
    """
    least = dict.fromkeys((few, many), float("inf"))
    prepare(few)()  # what is loaded or compiled once
    for _ in range(4):
        for n in least:
            run = prepare(n)
            gc.collect()
            gc.disable()
            try:
                start = process_time()
                run()
                least[n] = min(least[n], process_time() - start)
            finally:
                gc.enable()
    return log(least[many] / least[few]) / log(many / few)
