"""Indexing with arrays: integers (gather, scatter) and boolean masks, by NumPy's rules.

The indices that are arrays are inputs of the ops; everything else is in the template
(`tensor/index_template.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rewrite_engine.errors import (
    AxisError,
    BroadcastError,
    DTypeError,
    MethodNotDefined,
    ShapeError,
    message,
)
from rewrite_engine.graph.node import Apply, Constant, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.tensor.broadcast import build_site
from rewrite_engine.tensor.constant import have_ranks, is_plain, weak_constant
from rewrite_engine.tensor.index import BaseInc, Take
from rewrite_engine.tensor.index_template import (
    INPUT,
    NEWAXIS,
    Slice,
    Template,
    check_range,
    inputs_of,
    pair,
    static_shape,
)
from rewrite_engine.tensor.type import TensorType

__all__ = ["AdvancedIncSubtensor", "AdvancedSubtensor"]


def is_advanced(index: Any) -> bool:
    """Whether an index is an array (of one dimension or more), or a mask."""
    type_: Any = getattr(index, "type", None)
    if not isinstance(type_, TensorType) and (is_plain(index) or not have_ranks([index])):
        return False
    return bool(type_.ndim > 0 or getattr(type_, "kind", None) == "b")


def check_array_indices(op: Any, types: Sequence[Any]) -> None:
    """Raise `DTypeError` unless all are integers (0-d in slices), or masks of one dimension or
    more.
    """
    if len(types) != inputs_of(op.idx_list):
        what = f"takes {inputs_of(op.idx_list)} indices, not {len(types)}"
        raise DTypeError(message(what, op=op, where=build_site()))
    for e, given in pair(op.idx_list, types):
        for t in given if isinstance(e, Slice) else [given] if e == INPUT else []:
            is_mask = t.kind == "b" and t.ndim > 0 and e == INPUT
            if is_mask or (t.kind in "iu" and (t.ndim == 0 or e == INPUT)):
                continue
            what = f"an index must be an array of integers or booleans, not a {t}"
            raise DTypeError(message(what, op=op, where=build_site()))


def array_shape(
    op: Any, template: Template, x: TensorType, indices: Sequence[TensorType]
) -> list[int | None]:
    """The static shape of `x[...]` with arrays among the indices.

    NumPy's rule: the arrays (and integers) are broadcast together; the result takes their place
    if they stand side by side, and comes first otherwise.
    """
    result: list[int | None] = []
    shapes: list[tuple[int | None, ...]] = []
    places: list[int] = []
    start = axis = 0
    for k, (e, array) in enumerate(pair(template, indices)):
        if e == NEWAXIS:
            result.append(1)
            continue
        if isinstance(e, Slice):
            result += static_shape((e,), x.clone(shape=x.shape[axis : axis + 1]), op)
            axis += 1
            continue
        if not places:
            start = len(result)
        places.append(k)
        axis += _consume(op, e, array, x, axis, shapes)
    if axis > x.ndim:
        what = f"too many indices: {axis} for {x.ndim} dimensions of a {x}"
        raise AxisError(message(what, op=op, where=build_site()))
    together = places[-1] - places[0] + 1 == len(places)
    at = start if together else 0
    return [*result[:at], *_broadcast(op, shapes), *result[at:], *x.shape[axis:]]


def _consume(
    op: Any,
    e: Any,
    array: TensorType | None,
    x: TensorType,
    axis: int,
    shapes: list[tuple[int | None, ...]],
) -> int:
    """Check one array (or integer) against the dimensions it stands for; return how many these
    are.
    """
    if array is None:
        if axis < x.ndim:
            check_range(e, x.shape[axis], axis, op)
        shapes.append(())
        return 1
    if array.kind != "b":
        shapes.append(array.shape)
        return 1
    shapes.append((None,))
    for want, got in zip(x.shape[axis : axis + array.ndim], array.shape, strict=False):
        if want is not None and got is not None and want != got:
            what = f"a mask of shape {array.shape} does not fit a {x} at dimension {axis}"
            raise ShapeError(message(what, op=op, where=build_site()))
    return array.ndim


def _broadcast(op: Any, shapes: Sequence[tuple[int | None, ...]]) -> list[int | None]:
    """Broadcast static shapes; here a length that is not known may turn out to be 1."""
    ndim = max(map(len, shapes))
    result: list[int | None] = []
    for axis in range(-ndim, 0):
        sizes = [s[axis] for s in shapes if len(s) >= -axis]
        known = {s for s in sizes if s is not None and s != 1}
        if len(known) > 1:
            what = f"indices of shapes {', '.join(map(str, shapes))} cannot be broadcast together"
            raise BroadcastError(message(what, op=op, where=build_site()))
        if known:
            result.append(known.pop())
        else:
            result.append(None if None in sizes else 1)
    return result


class AdvancedSubtensor(Take):
    """`x[...]` with arrays of integers or booleans among the indices; always a copy.

    idx_list: the template. Inputs: the array, then the array of indices for each `INPUT`.
    """

    def infer_types(self, types: tuple[Any, ...]) -> list[TensorType]:
        x, *indices = types
        check_array_indices(self, indices)
        return [x.clone(shape=array_shape(self, self.idx_list, x, indices))]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        try:
            output_storage[0][0] = np.asarray(inputs[0][self.index(inputs)])
        except IndexError as error:
            raise self.failed(node, inputs, error) from error

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[tuple[Any, ...]]) -> list[Any]:
        known = node.outputs[0].type.shape
        only_first = self.idx_list == (INPUT,) and node.inputs[1].type.kind != "b"
        if only_first:
            return [(*shapes[1], *shapes[0][1:])]
        if None in known:
            raise MethodNotDefined(f"{self}: the shape depends on the values of the indices")
        return [tuple([weak_constant(s, "int64") for s in known])]

    def increment(self) -> Op:
        return AdvancedIncSubtensor(self.idx_list)


class AdvancedIncSubtensor(BaseInc):
    """A copy of `x` with `y` added to `x[...]`, or put there, with arrays among the indices.

    An element that is indexed several times is increased several times (`numpy.add.at`); of
    several values that it is set to, the last one remains, which alone has a gradient.
    """

    def infer_types(self, types: tuple[Any, ...]) -> list[TensorType]:
        x, y, *indices = types
        check_array_indices(self, indices)
        self.check_value(x, y, array_shape(self, self.idx_list, x, indices))
        return [x]

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        x, y = inputs[:2]
        out = x if self.inplace and isinstance(x, np.ndarray) else np.array(x)
        index = self.index(inputs)
        try:
            if node.inputs[1].type.shape.count(1) != np.shape(y).count(1):
                self.check_broadcast(node, y, out[index].shape)
            if self.set_instead_of_inc:
                out[index] = y
            else:
                np.add.at(out, index, y)
        except IndexError as error:
            raise self.failed(node, inputs, error) from error
        except ValueError as error:
            text = message(str(error), op=self, inputs=inputs, where=node.where())
            raise BroadcastError(text) from error
        output_storage[0][0] = out

    def take(self, g: Any, indices: Sequence[Variable]) -> Any:
        return AdvancedSubtensor(self.idx_list)(g, *indices)

    def remaining(self, gy: Any, x: Any, indices: Sequence[Variable]) -> Any:
        """Each value writes its number in place of itself: it remains where that is read again."""
        from rewrite_engine.tensor.creation import arange, zeros_like
        from rewrite_engine.tensor.math import eq, switch
        from rewrite_engine.tensor.reshape import reshape_like
        from rewrite_engine.tensor.statistics import size

        if not _may_repeat(indices):
            return gy
        numbers = reshape_like(arange(size(gy)), gy)
        written = type(self)(self.idx_list, True)(zeros_like(x, dtype="int64"), numbers, *indices)
        return switch(eq(self.take(written, indices), numbers), gy, 0.0)


def _may_repeat(indices: Sequence[Any]) -> bool:
    """Whether arrays of indices can name an element more than once: not if one is a mask."""
    arrays = [i for i in indices if i.type.ndim > 0]
    if any(i.type.kind == "b" for i in arrays):
        return False
    if len(arrays) != 1 or not isinstance(arrays[0], Constant):
        return True
    data = arrays[0].data
    return np.unique(data).size < data.size or bool((data < 0).any() and (data >= 0).any())
