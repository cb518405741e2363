"""A limit of time for what is compiled."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLong(BaseException):
    """Something takes too long. Not an `Exception`: nothing on the way may take it for one."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in what takes more seconds of the processor. Limits are not nested."""
    before = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # again, if it was lost
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _too_long(signum: int, frame: FrameType | None) -> None:
    raise TooLong
