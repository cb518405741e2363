"""Indices of nodes in PyTensor's form: from a node's inputs and `op.idx_list`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rewrite_engine import facts
from rewrite_engine import tensor as m
from rewrite_engine.errors import AxisError, NotConstantError, describe
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.graph.type import NoneType
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.index.template import APART, INPUT, NEWAXIS, Slice, pair
from rewrite_engine.tensor.shape import shape_tuple

__all__ = [
    "as_index_literal",
    "get_canonical_form_slice",
    "get_idx_list",
    "indexed_result_shape",
    "indices_from_subtensor",
]


def indices_from_subtensor(op_indices: Sequence[Any], idx_list: Sequence[Any]) -> tuple[Any, ...]:
    """Return the entries between the brackets: numbers, slices, variables. op_indices: the inputs
    of a node after the array. idx_list: the template of its op. As in PyTensor, numbers next to
    arrays are variables, which broadcast with the arrays.
    """
    entries = [_entry(e, found) for e, found in pair(tuple(idx_list), op_indices)]
    if any([getattr(getattr(v, "type", None), "ndim", 0) for v in op_indices]):
        entries = [m.constant(e) if type(e) is int else e for e in entries]
    return tuple(entries)


def get_idx_list(inputs: Sequence[Any], idx_list: Sequence[Any]) -> tuple[Any, ...]:
    """Return the entries between the brackets, given all inputs of a node."""
    return indices_from_subtensor(inputs[1:], idx_list)


def _entry(entry: Any, found: Any) -> Any:
    """Return an entry of a template with its inputs filled in."""
    if isinstance(entry, Slice):
        values = iter(found)
        return slice(*[next(values) if part == INPUT else part for part in entry])
    if entry in (NEWAXIS, APART):
        return None if entry == NEWAXIS else ...
    return found if entry == INPUT else entry


def as_index_literal(idx: Any) -> Any:
    """Convert a constant index, or a slice of constants, to Python numbers. Raises
    `NotConstantError`.
    """
    if isinstance(idx, slice):
        return slice(*[as_index_literal(part) for part in (idx.start, idx.stop, idx.step)])
    if isinstance(idx, Variable) and not isinstance(idx, Constant):
        raise NotConstantError(f"the index {idx!r} is not a constant")
    return idx.data.item() if isinstance(idx, Constant) else idx


def get_canonical_form_slice(theslice: Any, length: Any) -> tuple[Any, Any]:
    """Return the elements of a dimension that an index selects, as an index from the front, or as a
    slice with ordered, nonnegative ends; and -1 if they are taken from the back, else 1.

    length: length of the dimension. A variable step returns a variable direction. Raises
    `AxisError` for a step of 0, and for an index that is neither a slice nor a number.
    """
    if not isinstance(theslice, slice):
        if isinstance(theslice, Constant) and isinstance(theslice.type, NoneType):
            theslice = None
        return _from_front(theslice, length), 1
    step, length = _number(1 if theslice.step is None else theslice.step), _number(length)
    if isinstance(step, Variable):
        return _either_way(theslice, length, step)
    if step == 0:
        raise AxisError(located("the step of a slice cannot be 0"))
    low, high = (0, length) if step > 0 else (-1, length - 1)
    start, stop = _ends(theslice, length, low, high, step > 0)
    return (_forward if step > 0 else _backward)(start, stop, step), 1 if step > 0 else -1


def _from_front(index: Any, length: Any) -> Any:
    """An index that counts from the front."""
    if index is None or getattr(index, "ndim", 0) > 0:
        raise AxisError(located(f"{describe(index)} is not a supported slice, nor an index"))
    own = m.as_tensor_variable(index) if isinstance(index, Variable) else index
    known = _number(index)
    if isinstance(known, Variable):
        return m.switch(m.lt(own, 0), own + length, own)
    if known < 0:
        return own + length
    return known if isinstance(getattr(index, "type", None), ScalarType) else own


def _number(x: Any) -> Any:
    """A length or step as a number, or as a tensor."""
    if isinstance(x, Constant):
        return x.data.item()
    return m.as_tensor_variable(x) if isinstance(x, Variable) else x


def _ends(theslice: slice, length: Any, low: Any, high: Any, rising: bool) -> tuple[Any, Any]:
    """Return where a slice starts and stops, from the front."""
    first, last = (low, high) if rising else (high, low)
    start = first if theslice.start is None else _bounded(theslice.start, length, low, high)
    stop = last if theslice.stop is None else _bounded(theslice.stop, length, low, high)
    return start, stop


def _forward(start: Any, stop: Any, step: Any) -> slice:
    """The slice, with ends in order."""
    return slice(start, m.maximum(start, stop), step)


def _backward(start: Any, stop: Any, step: Any) -> slice:
    """The slice that has the same elements in the other order."""
    count = m.maximum(0, (start - stop - step - 1) // -step)
    return slice(start + (count - 1) * step, start + 1, -step)


def _either_way(theslice: slice, length: Any, step: Any) -> tuple[slice, Any]:
    """The slice with ends in order, and the direction, where the sign of the step is computed."""
    size = m.maximum(1, m.abs(step))
    up = _forward(*_ends(theslice, length, 0, length, True), size)
    down = _backward(*_ends(theslice, length, -1, length - 1, False), -size)
    rising = m.gt(step, 0)
    start = m.switch(rising, up.start, down.start)
    return slice(start, m.switch(rising, up.stop, down.stop), size), m.switch(rising, 1, -1)


def indexed_result_shape(
    array_shape: Sequence[Any], indices: Sequence[Any], indices_are_shapes: bool = False
) -> tuple[Any, ...]:
    """Return the lengths of `a[indices]` for an array of some shape. indices_are_shapes: a tuple
    stands for an array of integers of that shape.
    """
    arrays = [
        m.zeros(i, dtype="int64") if indices_are_shapes and isinstance(i, tuple) else i
        for i in indices
    ]
    return tuple(shape_tuple(m.alloc(np.int8(0), *array_shape)[tuple(arrays)]))


def _is_provably_positive(var: Any, strict: bool = True) -> bool:
    """Return whether all elements are known to be above 0; strict=False: or 0."""
    return bool((facts.positive if strict else facts.nonneg)(m.as_tensor_variable(var)))


def _is_provably_non_negative(var: Any) -> bool:
    """Return whether all elements are known to be 0 or more."""
    return _is_provably_positive(var, strict=False)


def _bounded(end: Any, length: Any, low: Any, high: Any) -> Any:
    """Return an end of a slice, counted from the front and inside the dimension."""
    return m.clip(m.switch(m.lt(end, 0), end + length, end), low, high)
