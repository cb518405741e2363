"""Chunks of work in several processes, few of them waiting at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Any


def outcomes(
    work: Callable[..., Any], wanted: Iterable[tuple[Any, ...]], processes: int
) -> Iterator[Any]:
    """Yield what `work` returns for each tuple of arguments, as it comes."""
    with ProcessPoolExecutor(processes) as pool:
        running: set[Future[Any]] = set()
        for given in wanted:
            running.add(pool.submit(work, *given))
            while len(running) >= 2 * processes:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from [future.result() for future in done]
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from [future.result() for future in done]
