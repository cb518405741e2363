"""`postorder`: what is below comes first, over anything: terms, origins, ops inside of ops.

(The nodes of a graph have `traverse.toposort`, which tells of cycles.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

READY = object()  # on the stack: what is below the thing before it was yielded


def postorder(
    roots: Iterable[T], below: Callable[[T], Sequence[T]], key: Callable[[T], Any] = id
) -> Iterator[T]:
    """Yield things after those below them, each once, without recursion.

    below(x): what has to come before x; asked once. key: what tells one thing from another (of
    numbers and tuples, say, not their `id`).
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
    """The key of what is told by equality."""
    return x
