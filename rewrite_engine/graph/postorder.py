"""`postorder`: what is below comes first, over anything: terms, origins, ops inside of ops.

(The nodes of a graph have `traverse.toposort`, which tells of cycles.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def postorder(
    roots: Iterable[T], below: Callable[[T], Iterable[T]], key: Callable[[T], Any] = id
) -> Iterator[T]:
    """Yield things after those below them, each once, without recursion.

    below(x): what has to come before x; asked once. key: what tells one thing from another (of
    numbers and tuples, say, not their `id`).
    """
    seen: dict[Any, T] = {}
    stack = [(x, False) for x in roots]
    stack.reverse()
    while stack:
        x, ready = stack.pop()
        if ready:
            yield x
            continue
        k = key(x)
        if k not in seen:
            seen[k] = x  # (an id is only good while its object lives)
            stack.append((x, True))
            stack += [(y, False) for y in below(x)][::-1]


def same(x: T) -> T:
    """The key of what is told by equality."""
    return x
