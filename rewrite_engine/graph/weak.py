"""Weak references whose callbacks are C code, and the dictionaries made of them.

Python prints and drops an exception raised in a finalizer (`__del__`) or in a callback of a weak
reference. Ctrl-C raises `KeyboardInterrupt` in whatever Python code is running, so it is lost in
such code. The callbacks of `weakref.finalize`, `WeakKeyDictionary` and `WeakValueDictionary` are
Python code; those here are not. The package defines no `__del__` for the same reason.
"""

from __future__ import annotations

from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]
from collections.abc import Callable, Iterator, MutableMapping
from functools import partial
from typing import Any, Generic, TypeVar
from weakref import ref

K = TypeVar("K")
V = TypeVar("V")


def on_death(thing: Any, action: Callable[..., Any], *arguments: Any) -> ref[Any]:
    """Return a weak reference that calls `action(*arguments)` when the object dies.

    The action must be C code (a built-in function, a method of a built-in type). Keep the reference
    as long as you want the call. (`next(iter(f, …), default)` calls `f()` and ignores the default,
    here the dead reference: a callback that takes one argument, without a line of Python.)
    """
    return ref(thing, partial(next, iter(partial(action, *arguments), on_death)))


class WeakValues(Generic[K, V]):
    """Dictionary that drops an entry when its value dies. Each method is one atomic step, so
    threads need no lock, and an interrupt leaves nothing half done.
    """

    __slots__ = ("refs",)

    def __init__(self) -> None:
        self.refs: dict[K, ref[V]] = {}

    def get(self, key: K) -> V | None:
        """Return the living value of a key, or None."""
        found = self.refs.get(key)
        return None if found is None else found()

    def __setitem__(self, key: K, value: V) -> None:
        self.refs[key] = on_death(value, _remove_dead_weakref, self.refs, key)

    def setdefault(self, key: K, value: V) -> V:
        """Return the living value of a key; insert this one if there is none."""
        known = self.get(key)
        if known is None:
            mine = on_death(value, _remove_dead_weakref, self.refs, key)
            while (known := self.refs.setdefault(key, mine)()) is None:
                _remove_dead_weakref(self.refs, key)  # its callback has not been called yet
        return known

    def __len__(self) -> int:
        return len(self.refs)


class WeakKeys(MutableMapping[K, V]):
    """Dictionary that drops an entry when its key dies."""

    __slots__ = ("__weakref__", "refs")

    def __init__(self) -> None:
        self.refs: dict[ref[K], V] = {}

    def __getitem__(self, key: K) -> V:
        return self.refs[ref(key)]

    def __setitem__(self, key: K, value: V) -> None:
        self.refs[ref(key, self.refs.pop)] = value

    def __delitem__(self, key: K) -> None:
        del self.refs[ref(key)]

    def __iter__(self) -> Iterator[K]:
        for one in self.refs.copy():
            key = one()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.refs)

    def setdefault(self, key: K, default: V) -> V:
        """Return the value of a key; insert this one if there is none."""
        return self.refs.setdefault(ref(key, self.refs.pop), default)
