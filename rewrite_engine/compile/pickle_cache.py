"""Unpickled functions that a process keeps, by the digest of their pickles.

Workers of a cluster unpickle the function of every task. The first time, it is made of its graph
and linked; later it is found here, so that a task costs the call.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, local
from typing import Any

from rewrite_engine.config import config
from rewrite_engine.fork import free_after_fork

MAX_FUNCTIONS = 64  # functions; the one that was used longest ago goes first

_functions: OrderedDict[tuple[bytes, str], Any] = OrderedDict()
_lock = free_after_fork(Lock())


class _Writing(local):
    """Whether this thread pickles functions together with all they are made of."""

    in_one_piece = False


_writing = _Writing()


@contextmanager
def in_one_piece() -> Iterator[None]:
    """Pickle functions so that the pickle tells all modules that it needs."""
    before, _writing.in_one_piece = _writing.in_one_piece, True
    try:
        yield
    finally:
        _writing.in_one_piece = before


def reduce_function(make: Callable[..., Any], parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what `__reduce__` returns for a function that `make(*parts)` makes again: a call of
    `load_function` with a pickle of its own. Parts that only the pickler at work can pickle (as
    cloudpickle does classes defined in `__main__`) stay in its pickle.
    """
    if _writing.in_one_piece:
        return make, parts
    try:
        content = pickle.dumps((make, parts), protocol=5)
    except Exception:
        return make, parts
    return (make, parts) if b"__main__" in content else (load_function, (content,))


def load_function(content: bytes) -> Any:
    """Return the function of a pickle: the same one for the same bytes, and one setting of the
    linker (`config.linker`).
    """
    from hashlib import sha256  # (few programs unpickle a function)

    key = sha256(content).digest(), config.linker
    with _lock:
        if key in _functions:
            _functions.move_to_end(key)
            return _functions[key]
    make, parts = pickle.loads(content)
    found = make(*parts)
    with _lock:
        _functions.setdefault(key, found)
        while len(_functions) > MAX_FUNCTIONS:
            _functions.popitem(last=False)
        return _functions.get(key, found)
