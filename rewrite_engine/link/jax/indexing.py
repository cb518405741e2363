"""Indexing, and writing into parts of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.jax.funcify import is_known, register, untraceable_error
from rewrite_engine.link.jax.runtime_checks import require
from rewrite_engine.tensor.index.diagonals import Diagonal, IncDiagonal
from rewrite_engine.tensor.index.gather import AdvancedIncSubtensor, AdvancedSubtensor
from rewrite_engine.tensor.index.subtensor import IncSubtensor, Subtensor
from rewrite_engine.tensor.index.template import APART, INPUT, NEWAXIS, Slice
from rewrite_engine.tensor.index.windows import length_of

MASKS = "write where(mask, x, 0).sum() for x[mask].sum(), or use another linker"


def index_of(
    op: Any, node: Apply, first: int, values: Sequence[Any], shape: Sequence[int]
) -> tuple[list[Any], dict[int, tuple[Any, int]]]:
    """Return the index of a node for JAX, and {dimension: (start, length)} of the windows that it
    is an index of. Require that it is inside the array. first: the position of its inputs. shape:
    of the array.
    """
    given = iter(enumerate(values, first))
    entries, cut, axis = list[Any](), dict[int, tuple[Any, int]](), 0
    for e in op.idx_list:
        if isinstance(e, Slice):
            parts = [next(given) if part == INPUT else (None, part) for part in e]
            length = length_of(e, [node.inputs[i] for i, _ in parts if i is not None])
            if length is None or is_known(parts[0][1]):
                entries.append(slice(*[_end(node, *part) for part in parts]))
            else:
                entries.append(slice(None))
                cut[axis] = _start(parts[0][1], length, shape[axis]), min(length, shape[axis])
        elif e == INPUT:
            i, x = next(given)
            entries.append(_entry(node, i, x))
            if not _is_mask(x):
                _inside(x, shape[axis])
            axis += np.ndim(x) - 1 if _is_mask(x) else 0
        else:
            entries.append({NEWAXIS: None, APART: ...}.get(e, e) if isinstance(e, str) else e)
        axis += e not in (NEWAXIS, APART)
    return entries, cut


def _is_mask(x: Any) -> bool:
    return bool(x.dtype == bool)


def _end(node: Apply, i: int | None, x: Any) -> int | None:
    """Return an end, or the step, of a slice."""
    if x is None or is_known(x):
        return None if x is None else int(x)
    assert i is not None
    hint = "pass the ends of slices as arguments, or take x[i : i + n] with a fixed n"
    raise untraceable_error(node, f"the end {node.inputs[i]!r} of a slice depends on values", hint)


def _start(start: Any, length: int, n: int) -> Any:
    """Return the start of a window, and require that the window is inside a dimension. (Else it is
    shorter.)
    """
    require(lambda: (start >= 0) & (start + length <= n))
    return jnp.clip(start, 0, max(n - length, 0))


def _window(x: Any, cut: dict[int, tuple[Any, int]]) -> Any:
    """Return the windows of an array."""
    for axis, (start, length) in cut.items():
        x = lax.dynamic_slice_in_dim(x, start, length, axis)
    return x


def _entry(node: Apply, i: int, x: Any) -> Any:
    """Return an index that is not a slice."""
    if _is_mask(x) and not is_known(x):
        why = f"how many elements {node.inputs[i]!r} selects depends on values"
        raise untraceable_error(node, why, MASKS)
    return np.asarray(x) if is_known(x) else x


def _inside(x: Any, n: int) -> None:
    """Require that indices are in the range of a dimension. (JAX would take the nearest one.)"""
    require(lambda: (x >= -n) & (x < n))


def _checked(op: Any, node: Apply, index: Sequence[Any], shape: Any) -> None:
    """Raise `AxisError` for an index that is known, and outside the array: as NumPy finds it."""
    plain = [e if is_known(e) else np.zeros(np.shape(e), np.int64) for e in index]
    try:
        np.broadcast_to(np.empty((), bool), shape)[tuple(plain)]
    except IndexError as error:
        from rewrite_engine.errors import AxisError

        op.fail(node, str(error), AxisError)


@register(Subtensor, AdvancedSubtensor)
def _(op: Any, node: Apply, x: Any, *values: Any) -> Any:
    index, cut = index_of(op, node, 1, values, np.shape(x))
    x = _window(jnp.asarray(x), cut)
    _checked(op, node, index, x.shape)
    return x[tuple(index)]


@register(IncSubtensor, AdvancedIncSubtensor)
def _(op: Any, node: Apply, x: Any, y: Any, *values: Any) -> Any:
    x, y = jnp.asarray(x), jnp.asarray(y, x.dtype)
    if op.idx_list == (INPUT,) and _is_mask(values[0]) and not is_known(values[0]):
        return _where(op, node, x, y, values[0])
    index, cut = index_of(op, node, 2, values, x.shape)
    new = _written(op, node, _window(x, cut), y, index)
    if not cut:
        return new
    starts = [cut[k][0] if k in cut else 0 for k in range(x.ndim)]
    return lax.dynamic_update_slice(x, new, starts)


def _written(op: Any, node: Apply, x: Any, y: Any, index: list[Any]) -> Any:
    """Write into the part of an array that an index selects."""
    _checked(op, node, index, x.shape)
    if isinstance(op, IncSubtensor) and all(isinstance(e, slice | int) or (
        is_known(e) and e is not None and np.ndim(e) == 0) for e in index):  # fmt: skip
        return _padded(op, node, x, y, [e if isinstance(e, slice) else int(e) for e in index])
    part = x.at[tuple(index)]
    if getattr(op, "ignore_duplicates", False) and not op.set_instead_of_inc:
        return part.set(x[tuple(index)] + y)
    return part.set(y) if op.set_instead_of_inc else part.add(y)


def _where(op: Any, node: Apply, x: Any, y: Any, mask: Any) -> Any:
    """Write where a mask is true: numbers, or elements that do not depend on how many there are."""
    if y.ndim > x.ndim - mask.ndim:
        what = "which elements are written depends on values"
        raise untraceable_error(node, what, "write where(mask, y, x) with y of the shape of x")
    mask = mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim))
    return jnp.where(mask, y if op.set_instead_of_inc else x + y, x)


def _padded(op: Any, node: Apply, x: Any, y: Any, index: Sequence[Any]) -> Any:
    """Write into a part given by integers and slices that are known: `y`, with zeros around it.

    (A scatter is slow on CPUs, and XLA ends the process where one that fills the whole array is
    reversed: https://github.com/jax-ml/jax.)
    """
    index = [*index, *[slice(None)] * (x.ndim - len(index))]
    ranges = [range(n)[e if isinstance(e, slice) else slice(e, e + 1 or n)]
              for e, n in zip(index, x.shape, strict=True)]  # fmt: skip
    if not all(map(len, ranges)):
        return x
    part = [len(r) for r, e in zip(ranges, index, strict=True) if isinstance(e, slice)]
    y = jnp.broadcast_to(y, part).reshape([len(r) for r in ranges])
    y = jnp.flip(y, [k for k, r in enumerate(ranges) if r.step < 0])
    around = [(min(r[0], r[-1]), n - 1 - max(r[0], r[-1]), abs(r.step) - 1)
              for r, n in zip(ranges, x.shape, strict=True)]  # fmt: skip
    y = lax.pad(y, jnp.zeros((), y.dtype), around)
    inside = np.zeros(x.shape, bool)
    inside[tuple(index)] = True
    if op.set_instead_of_inc:
        return y if inside.all() else jnp.where(inside, y, x)
    return x + y if x.dtype != bool else x | y


@register(Diagonal)
def _(op: Any, node: Apply, x: Any) -> Any:
    return jnp.diagonal(x, op.offset, op.axis1, op.axis2)


@register(IncDiagonal)
def _(op: Any, node: Apply, x: Any, y: Any) -> Any:
    x = jnp.asarray(x)
    n = len(np.diagonal(np.empty(x.shape[-2:]), op.offset))
    rows = np.arange(n) + max(-op.offset, 0)
    part = x.at[..., rows, rows + op.offset]
    y = jnp.asarray(y, x.dtype)
    return part.set(y) if op.set_instead_of_inc else part.add(y)
