"""Indices of nodes in PyTensor's form: from a node's inputs and `op.idx_list`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine import tensor as m
from rewrite_engine.errors import AxisError, NotConstantError
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.index.template import APART, INPUT, NEWAXIS, Slice, pair

__all__ = [
    "as_index_literal",
    "get_canonical_form_slice",
    "get_idx_list",
    "indices_from_subtensor",
    "unflatten_index_variables",
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


unflatten_index_variables = indices_from_subtensor


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


def get_canonical_form_slice(theslice: Any, length: Any) -> tuple[Any, int]:
    """Return the elements of a dimension that an index selects, as an index from the front, or as a
    slice with ordered, nonnegative ends; and -1 if they are taken from the back, else 1.

    length: length of the dimension. The step must be a number other than 0 (`AxisError`).
    """
    if not isinstance(theslice, slice):
        return m.switch(m.lt(theslice, 0), theslice + length, theslice), 1
    step = 1 if theslice.step is None else as_index_literal(theslice.step)
    if step == 0:
        raise AxisError(located("the step of a slice cannot be 0"))
    low, high = (0, length) if step > 0 else (-1, length - 1)
    first, last = (low, high) if step > 0 else (high, low)
    start = first if theslice.start is None else _bounded(theslice.start, length, low, high)
    stop = last if theslice.stop is None else _bounded(theslice.stop, length, low, high)
    if step > 0:
        return slice(start, m.maximum(start, stop), step), 1
    count = m.maximum(0, (start - stop - step - 1) // -step)
    return slice(start + (count - 1) * step, start + 1, -step), -1


def _bounded(end: Any, length: Any, low: Any, high: Any) -> Any:
    """Return an end of a slice, counted from the front and inside the dimension."""
    return m.clip(m.switch(m.lt(end, 0), end + length, end), low, high)
