"""`postorder`: a walk that yields what is below first, over terms, origins or nested ops.

(For the nodes of a graph there is `traverse.toposort`, which detects cycles.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

READY = object()  # on the stack: what is below the thing before it was yielded


def postorder(
    roots: Iterable[T], below: Callable[[T], Sequence[T]], key: Callable[[T], Any] = id
) -> Iterator[T]:
    """Yield objects after those below them, each once, without recursion.

    below(x): the objects that must come before x; called once. key: distinguishes objects (by
    default by `id`; use values for numbers or tuples).
    """
    seen: dict[Any, T] = {}
    stack: list[Any] = [*roots][::-1]
    while stack:
        x = stack.pop()
        if x is READY:
            yield stack.pop()
            continue
        k = key(x)
        if k not in seen:
            seen[k] = x  # (an id is only good while its object lives)
            stack += (x, READY)
            stack += reversed(below(x))


def same(x: T) -> T:
    """Return the object itself, as the key of objects compared by equality."""
    return x
