"""Indexing with arrays: integers (gather, scatter) and boolean masks, by NumPy's rules.

The arrays among the indices are inputs of the ops; everything else is in the template
(`tensor/index/template.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import AxisError, BroadcastError, DTypeError, ShapeError, dimensions
from rewrite_engine.graph.node import Apply, Constant, Variable, build_node
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import user_origin
from rewrite_engine.tensor.constant import all_differ, have_ranks, is_plain
from rewrite_engine.tensor.index.subtensor import BaseInc, IncSubtensor, Take
from rewrite_engine.tensor.index.template import (
    APART,
    INPUT,
    NEWAXIS,
    Slice,
    Template,
    check_range,
    inputs_of,
    pair,
    slice_length,
)
from rewrite_engine.tensor.op import Computed, Shapes, Value, is_dimension
from rewrite_engine.tensor.reduce import sum as total
from rewrite_engine.tensor.type import TensorType

__all__ = ["AdvancedIncSubtensor", "AdvancedSubtensor"]


def is_advanced(index: Any) -> bool:
    """Return whether an index is an array (of one dimension or more), or a mask."""
    type_: Any = getattr(index, "type", None)
    if not isinstance(type_, TensorType) and (is_plain(index) or not have_ranks([index])):
        return False
    return bool(type_.ndim > 0 or getattr(type_, "kind", None) == "b")


def part_lengths(
    template: Template, x: TensorType, indices: Sequence[TensorType], first: int
) -> list[Any]:
    """Return the shape rule of `x[...]` with arrays among the indices. first: position of the first
    index among the inputs.

    NumPy's rule: the arrays (and integers) are broadcast together; the result takes their place if
    they are adjacent, and comes first otherwise. Raises `DTypeError` unless all are integers (0-d
    in slices) or masks; `AxisError`, `ShapeError`.
    """
    check_array_indices(template, indices)
    numbers = iter(range(first, first + len(indices)))
    result: list[Any] = []
    arrays: list[list[Any]] = []
    places: list[int] = []
    start = axis = 0
    for k, (e, array) in enumerate(pair(template, indices)):
        if e in (NEWAXIS, APART):
            result += [1] * (e == NEWAXIS)
            continue
        if isinstance(e, Slice):
            result.append(slice_length(e, axis, map(Value, numbers)))
            axis += 1
            continue
        if not places:
            start = len(result)
        places.append(k)
        if array is None:
            check_range(e, x.shape[axis] if axis < x.ndim else None, axis)
            axis += 1
            continue
        number = next(numbers)
        chosen = Computed(_trues, [Value(number)])
        arrays.append([chosen] if array.kind == "b" else [(number, i) for i in range(array.ndim)])
        axis += _width(array, x, axis)
    if axis > x.ndim:
        raise AxisError(f"too many indices: {axis} for {dimensions(x.ndim)} of type {x}")
    at = start if is_together(places) else 0
    ends = [(0, i) for i in range(axis, x.ndim)]
    return [*result[:at], *_broadcast(arrays, indices, first), *result[at:], *ends]


def is_together(places: Sequence[int]) -> bool:
    """Return whether these positions are adjacent."""
    return not places or places[-1] - places[0] + 1 == len(places)


def without_apart(template: Template) -> Template:
    """Return a template without `APART`, unless it moves the index arrays to the front."""
    if APART not in template:
        return template
    places = [k for k, e in enumerate(template) if e == INPUT or isinstance(e, int)]
    rest = tuple([e for e in template if e != APART])
    inside = places[0] < template.index(APART) < places[-1]
    others = [k for k, e in enumerate(rest) if e == INPUT or isinstance(e, int)]
    return template if inside and places[0] and is_together(others) else rest


def check_array_indices(template: Template, types: Sequence[Any]) -> None:
    """Raise `DTypeError` unless all indices are integers (0-d in slices) or masks."""
    if len(types) != inputs_of(template):
        raise DTypeError(f"takes {inputs_of(template)} indices, not {len(types)}")
    for e, given in pair(template, types):
        for t in given if isinstance(e, Slice) else [given] if e == INPUT else []:
            is_mask = t.kind == "b" and e == INPUT
            if is_mask or (t.kind in "iu" and (t.ndim == 0 or e == INPUT)):
                continue
            raise DTypeError(f"an index must be an array of integers or booleans, not type {t}")


def _width(array: TensorType, x: TensorType, axis: int) -> int:
    """Return how many dimensions an index array consumes. Raise `ShapeError` for a mask that does
    not fit.
    """
    if array.kind != "b":
        return 1
    for want, got in zip(x.shape[axis : axis + array.ndim], array.shape, strict=False):
        if want is not None and got is not None and want != got:
            what = f"a mask of shape {array.shape} does not fit type {x} at dimension {axis}"
            raise ShapeError(what)
    return array.ndim


def _broadcast(arrays: list[list[Any]], types: Sequence[TensorType], first: int) -> list[Any]:
    """Broadcast the lengths of arrays; an unknown length may be 1 at run time."""

    def known(length: Any) -> int | None:
        return types[length[0] - first].shape[length[1]] if is_dimension(length) else None

    ndim = max(map(len, arrays), default=0)
    result: list[Any] = []
    for axis in range(-ndim, 0):
        lengths = [s[axis] for s in arrays if len(s) >= -axis]
        long = {n for n in map(known, lengths) if n not in (None, 1)}
        if len(long) > 1:
            raise BroadcastError("the index arrays cannot be broadcast together")
        maybe = [n for n in lengths if known(n) is None]
        if long:
            result.append(long.pop())
        else:
            result.append(
                maybe[0] if len(maybe) == 1 else Computed(_stretched, maybe) if maybe else 1
            )
    return result


def _stretched(*lengths: Any) -> Any:
    """Return the length to which lengths broadcast; None if unknown."""
    if any([isinstance(n, Variable) for n in lengths]):
        return None
    return next((n for n in lengths if n != 1), 1)


def _number(v: Any) -> int | None:
    """Return how many elements a constant mask selects; None for other indices."""
    return _trues(v.data) if isinstance(v, Constant) and v.type.kind == "b" else None


def _trues(mask: Any) -> Any:
    """Return how many elements a mask selects; a number is returned unchanged."""
    if isinstance(mask, Variable):
        return total(mask, dtype="int64")
    return mask if isinstance(mask, int) else int(np.count_nonzero(mask))


def _masks_fit(f: Any, x: Any, *masks: Any) -> Any:
    """Return evidence that masks have the lengths of an array, as NumPy requires. (It lets an empty
    mask pass.)
    """
    if any([mask.type.kind != "b" for mask in masks]):
        return f.unknown("an index may be outside", blame=x)
    have = [f.length(mask, d).value for mask in masks for d in range(mask.type.ndim)]
    if have == [f.length(x, axis).value for axis in range(len(have))]:
        return f.because("the masks have the lengths of the array")
    return f.unknown("the lengths of a mask may differ from those of the array", blame=x)


class AdvancedSubtensor(Take):
    """Op `x[...]` with arrays of integers or booleans among the indices; always a copy.

    idx_list: the template. Inputs: the array, then the array of indices for each `INPUT`.
    """

    def __init__(self, idx_list: Template) -> None:
        super().__init__(idx_list)
        if set(self.idx_list) == {INPUT}:
            self.implied = {"fits": _masks_fit}

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op; constant masks give static lengths."""
        variables = self.convert_inputs(inputs)
        numbers = (None, *map(_number, variables[1:]))
        if not any([n is not None for n in numbers]):
            return super().make_node(*variables)
        types = self.output_types(tuple([v.type for v in variables]), numbers)
        return build_node(self, variables, types, user_origin())

    samples: Sequence[Any] = (
        ({"idx_list": (INPUT, Slice(1))}, (3, 4), [2, 0, 2, -1]),
        ({"idx_list": (INPUT, Slice(), INPUT)}, (3, 2, 4), [0, 1], [1, 3]),
        ({"idx_list": (INPUT, INPUT)}, (3, 4), [[0], [2]], [3, 0, 0]),
        ({"idx_list": (INPUT,)}, (3, 2), [True, False, True]),
        ({"idx_list": (Slice(), INPUT)}, (0, 2), [1]),
    )

    def shapes(self, *types: TensorType) -> Shapes:
        return Shapes([part_lengths(self.idx_list, types[0], types[1:], 1)])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        try:
            output_storage[0][0] = np.asarray(inputs[0][self.index(inputs)])
        except IndexError as error:
            self.fail(node, str(error), AxisError)

    def increment(self) -> Op:
        return AdvancedIncSubtensor(self.idx_list)


class AdvancedIncSubtensor(BaseInc):
    """Copy of `x` with `y` added to `x[...]`, or set there, with arrays among the indices.

    An element that is indexed several times is increased several times (`numpy.add.at`). If it is
    set several times, the last value remains, and only that one has a gradient. ignore_duplicates:
    an addition also uses only the last value.
    """

    __props__ = (*BaseInc.__props__, "ignore_duplicates")

    samples: Sequence[Any] = (
        ({"idx_list": (INPUT,)}, (3, 2), (4, 2), [2, 0, 2, -1]),
        ({"idx_list": (INPUT,), "set_instead_of_inc": True}, (3, 2), (2,), [2, 0]),
        ({"idx_list": (INPUT,), "set_instead_of_inc": True}, (3, 2), (3, 2), [2, 0, 2]),
    )

    def __init__(
        self,
        idx_list: Template,
        set_instead_of_inc: bool = False,
        inplace: bool = False,
        broadcasts: bool = False,
        ignore_duplicates: bool = False,
    ) -> None:
        super().__init__(idx_list, set_instead_of_inc, inplace, broadcasts)
        self.ignore_duplicates = ignore_duplicates

    def part(self, x: TensorType, indices: Sequence[TensorType]) -> list[Any]:
        return part_lengths(self.idx_list, x, indices, 2)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        x, y = inputs[:2]
        out = x if self.inplace and isinstance(x, np.ndarray) else np.array(x)
        index = self.index(inputs)
        try:
            if not self.broadcasts and node.inputs[1].type.shape.count(1) != np.shape(y).count(1):
                self.check_part(node, y, out[index].shape)
            if self.set_instead_of_inc:
                out[index] = y
            elif self.ignore_duplicates:
                out[index] += y
            else:
                if out.ndim == 1 and 0 < np.ndim(y) < np.ndim(index[0]):
                    part = np.shape(index[0]) if len(index) == 1 else out[index].shape
                    y = np.broadcast_to(y, part)  # NumPy 2.4 reads behind its end
                np.add.at(out, index, y)
        except IndexError as error:
            self.fail(node, str(error), AxisError)
        except ValueError:
            self.fail(node, self.misfit_of(inputs), BroadcastError)
        output_storage[0][0] = out

    def check_part(self, node: Apply, y: Any, part: tuple[int, ...]) -> None:
        """Raise unless the lengths of `y` fit those of the part, which may depend on values."""
        shape = np.shape(y)
        for (_, axis), _ in self.shapes_of(node).equal:
            if shape[axis] != part[axis - len(shape)]:
                self.fail(node, self.does_not_fit(shape, part), BroadcastError)

    def take(self, g: Any, indices: Sequence[Variable]) -> Any:
        return AdvancedSubtensor(self.idx_list)(g, *indices)

    def remaining(self, gy: Any, x: Any, indices: Sequence[Variable]) -> Any:
        """Return the gradient of the values that remained: each value writes its number, and
        remains if that number is read back.
        """
        from rewrite_engine.tensor.creation import arange, zeros_like
        from rewrite_engine.tensor.math import eq, switch
        from rewrite_engine.tensor.reshape import reshape_like
        from rewrite_engine.tensor.statistics.moments import size

        if not _may_repeat(indices):
            return gy
        numbers = reshape_like(arange(size(gy)), gy)
        written = type(self)(self.idx_list, True)(zeros_like(x, dtype="int64"), numbers, *indices)
        return switch(eq(self.take(written, indices), numbers), gy, 0.0)


def _may_repeat(indices: Sequence[Any]) -> bool:
    """Return whether index arrays may select an element more than once: not if all are masks."""
    arrays = [i for i in indices if i.type.ndim > 0]
    if all([i.type.kind == "b" for i in arrays]):
        return False
    if len(arrays) != 1 or not isinstance(arrays[0], Constant):
        return True
    data = arrays[0].data
    return not all_differ(data) or bool((data < 0).any() and (data >= 0).any())


def increments(v: Variable, most: int) -> tuple[list[tuple[BaseInc, Any, Sequence[Any]]], Variable]:
    """Return the chain of at most `most` additions at indices that ends in `v`, the last one first,
    as (op, added value, index), and the variable at its start.
    """
    found: list[tuple[BaseInc, Any, Sequence[Any]]] = []
    while len(found) < most and v.owner is not None:
        op = v.owner.op
        if not isinstance(op, IncSubtensor | AdvancedIncSubtensor) or op.set_instead_of_inc:
            break
        v, value, *index = v.owner.inputs
        found.append((op, value, index))
    return found, v
