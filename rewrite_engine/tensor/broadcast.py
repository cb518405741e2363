"""Broadcasting: what is known of the result's shape while building, and the check while running.

A dimension broadcasts only if it is *statically* 1. One that merely turns out to be 1 when the
graph runs is refused beside a longer one: the gradient was built in the belief that they are
equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rewrite_engine.errors import BroadcastError, message
from rewrite_engine.graph.origin import origin_line, user_origin

Shape = tuple[int | None, ...]


def build_site() -> tuple[str, int] | None:
    """The user's (file, line) that builds something right now."""
    return origin_line(user_origin())


def broadcast_dims(dims: Iterable[int | None]) -> int | None:
    """Join what is known of one dimension: n wins over 1 and None, None wins over 1.

    Raises `ValueError` if two known lengths differ and none is 1.
    """
    result: int | None = 1
    for dim in dims:
        if dim == 1 or dim == result:
            continue
        if result == 1 or result is None:
            result = dim
        elif dim is not None:
            raise ValueError(f"lengths {result} and {dim}")
    return result


def broadcast_static(shapes: Sequence[Shape]) -> Shape:
    """Join static shapes, padded with 1 on the left. Raises `ValueError`."""
    ndim = max([len(s) for s in shapes])
    padded = [(1,) * (ndim - len(s)) + tuple(s) for s in shapes]
    return tuple([broadcast_dims(column) for column in zip(*padded)])


def broadcast_types(op: Any, types: Sequence[Any]) -> Shape:
    """The static shape of an elementwise result. Raises `BroadcastError` naming op and types."""
    try:
        return broadcast_static([t.shape for t in types])
    except ValueError as error:
        what = f"cannot broadcast shapes {' and '.join(str(t.shape) for t in types)}: {error}"
        raise BroadcastError(message(what, op=op, inputs=types, where=build_site())) from None


def check_shapes(node: Any, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that the inputs of an elementwise node broadcast to, when it runs.

    Raises `BroadcastError` where lengths differ and the 1 is not static.
    """
    first = shapes[0]
    if all(s == first for s in shapes):
        return first
    ndim = max([len(s) for s in shapes])
    result = []
    for axis in range(-ndim, 0):
        lengths = {
            s[axis]
            for s, x in zip(shapes, node.inputs)
            if len(s) >= -axis and not x.type.broadcastable[axis]
        }
        if len(lengths) > 1:
            raise BroadcastError(_run_time_message(node, shapes, ndim + axis, lengths))
        result.append(lengths.pop() if lengths else 1)
    return tuple(result)


def _run_time_message(node: Any, shapes: Sequence[Any], axis: int, lengths: set[int]) -> str:
    what = f"cannot broadcast shapes {', '.join(map(str, shapes))}: "
    what += f"lengths {sorted(lengths)} in dimension {axis}"
    hint = None
    if 1 in lengths:
        hint = (
            "a dimension broadcasts only if its type says that it is 1: declare it, as in "
            "matrix(shape=(1, None)), or use specify_shape or specify_broadcastable"
        )
    return message(what, op=node.op, inputs=node.inputs, where=node.where(), hint=hint)
