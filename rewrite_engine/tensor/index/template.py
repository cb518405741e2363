"""Index templates: the index of `x[...]` as an immutable part of an op.

A template has one entry per index: an integer, a `Slice`, `NEWAXIS`, or `INPUT` if the index is the
next input of the op. An Ellipsis is expanded, and whole slices at the end are dropped, so equal
indexings have equal templates. An Ellipsis without dimensions is `APART` between index arrays that
it separates, as in NumPy; otherwise it is dropped. The ops are in `tensor/index/subtensor.py` and
`tensor/index/gather.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.errors import AxisError, DTypeError, dimensions
from rewrite_engine.graph.node import Constant, Variable
from rewrite_engine.graph.op import LOWEST
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.constant import TRUTH, as_tensor_variable
from rewrite_engine.tensor.math import cast, lt, maximum, minimum, switch
from rewrite_engine.tensor.op import Computed, Value
from rewrite_engine.tensor.shape import larger, smaller
from rewrite_engine.tensor.type import TensorType

INPUT = "i"
NEWAXIS = "x"
APART = "..."


class Slice(NamedTuple):
    """Hashable `slice(start, stop, step)`; its members are integers, None or `INPUT`."""

    start: Any = None
    stop: Any = None
    step: Any = None

    @property
    def is_static(self) -> bool:
        """Whether no member is an input."""
        return INPUT not in self

    def __str__(self) -> str:
        parts = ["" if part is None else str(part) for part in self]
        return ":".join(parts if parts[2] else parts[:2])


WHOLE = Slice()
REVERSED = Slice(step=-1)
Entry = Any  # int | Slice | INPUT | NEWAXIS | APART
Template = tuple[Entry, ...]


def show(template: Template) -> str:
    """Return a template in the notation of Python, with `i` for an input: `i, :3, x, ::-1`."""
    names = {NEWAXIS: "newaxis"}
    return ", ".join(names.get(e, str(e)) if isinstance(e, str) else str(e) for e in template)


def tokens_of(template: Template, inputs: Sequence[Any]) -> list[Any]:
    """Return the index of a formula as a list: texts, and inputs with the precedence around
    them.
    """
    given, out = iter(inputs), list[Any]()
    for e in template:
        parts = [e] if not isinstance(e, Slice) else e[:2] if e.step is None else e
        for k, part in enumerate(parts):
            out += [":" if k else ", "] if out else []
            fixed = {None: "", NEWAXIS: "None"}.get(part, str(part))
            out.append((next(given), LOWEST) if part == INPUT else fixed)
    return out


def consumed(template: Template) -> int:
    """Return how many dimensions the entries consume."""
    return sum(e not in (NEWAXIS, APART) for e in template)


def inputs_of(template: Template) -> int:
    """Return how many inputs the template takes."""
    return sum(list(e).count(INPUT) if isinstance(e, Slice) else e == INPUT for e in template)


def fill(template: Template, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Return the index for NumPy, with values for the inputs."""
    values = iter(inputs)
    return tuple([_fill_entry(e, values) for e in template])


def pair(template: Template, inputs: Iterable[Any]) -> list[tuple[Entry, Any]]:
    """Return each entry with its input (None if it has none, a list for a slice)."""
    values = iter(inputs)
    result: list[tuple[Entry, Any]] = []
    for e in template:
        if isinstance(e, Slice):
            result.append((e, [next(values) for part in e if part == INPUT]))
        else:
            result.append((e, next(values) if e == INPUT else None))
    return result


def _fill_entry(e: Entry, values: Iterator[Any]) -> Any:
    if isinstance(e, Slice):
        return slice(*[int(next(values)) if part == INPUT else part for part in e])
    if e in (NEWAXIS, APART):
        return None if e == NEWAXIS else ...
    if e != INPUT:
        return e
    value = next(values)
    if getattr(value, "ndim", 0):
        return value
    if _is_truth(value):
        return np.asarray(value)
    return int(value)  # NumPy copies where an index is a 0-d array


# --- reading an index -----------------------------------------------------------------------


def parse(index: Any, ndim: int | None) -> tuple[Template, list[Any]]:
    """Split an index into a template and its inputs.

    ndim: number of dimensions of the array; None if unknown (in a pattern; then an Ellipsis can
    only be the last entry). Raises `AxisError` for too many indices or a second Ellipsis,
    `DTypeError` for an index that is not an integer.
    """
    items = [as_indices(item) if isinstance(item, (list, tuple, range)) else item
             for item in (index if isinstance(index, tuple) else (index,))]  # fmt: skip
    if sum(item is Ellipsis for item in items) > 1:
        raise AxisError(located("an index can have only one Ellipsis (...)"))
    used = sum(_width(item) for item in items)
    if ndim is not None and used > ndim:
        raise AxisError(located(f"too many indices: {used} for {dimensions(ndim)}"))
    template: list[Entry] = []
    inputs: list[Any] = []
    for k, item in enumerate(items):
        if item is not Ellipsis:
            template.append(_parse_item(item, inputs))
        elif k < len(items) - 1:
            if ndim is None:
                raise AxisError("in a pattern an Ellipsis can only be the last index")
            template += [WHOLE] * (ndim - used) or [APART]
    while template and template[-1] == WHOLE:
        template.pop()
    return tuple(template), inputs


def as_indices(x: Any) -> Any:
    """Return integers, or a mask, as a tensor variable. An empty list counts as integers. Raise
    `ForeignObjectError`.
    """
    inner = x
    while isinstance(inner, (list, tuple)) and len(inner):
        inner = inner[0]
    if isinstance(inner, (list, tuple)):
        x = np.zeros(np.shape(x), "int64")
    return as_tensor_variable(x)


def _width(item: Any) -> int:
    """Return how many dimensions an index consumes."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return getattr(item, "ndim", 0) if _is_truth(item) else 1


def _is_truth(item: Any) -> bool:
    """Return whether an index is a mask, possibly a single truth value.

    A single truth value consumes no dimension, and selects one index or none. (Python's own are
    refused: `x == y` of variables returns one.)
    """
    dtype = getattr(item, "dtype", None)
    return dtype is not None and str(dtype) == "bool"


def _parse_item(item: Any, inputs: list[Any]) -> Entry:
    if item is None:
        return NEWAXIS
    if isinstance(item, slice):
        return _parse_slice(item, inputs)
    number = None if _is_truth(item) else static_integer(item)
    if number is not None:
        return number
    inputs.append(item)
    return INPUT


def _parse_slice(item: slice, inputs: list[Any]) -> Slice:
    parts: list[Any] = []
    for part in (item.start, item.stop, item.step):
        if part is None or (isinstance(part, Constant) and part.data is None):
            parts.append(None)
            continue
        number = static_integer(part)
        if number is None:
            inputs.append(part)
        parts.append(INPUT if number is None else number)
    start, stop, step = parts
    if step == 0 and step is not None:
        raise AxisError(located("the step of a slice cannot be 0"))
    if step == 1:
        step = None
    if start == 0 and start is not INPUT and step != INPUT and (step is None or step > 0):
        start = None
    return Slice(start, stop, step)


def static_integer(item: Any) -> int | None:
    """Return an index as a Python integer; None for a variable, an array or a pattern.

    Raises `DTypeError` for anything else (floats, booleans, strings).
    """
    if hasattr(type(item), "__apply_op__"):
        return None
    if isinstance(item, Constant):
        item = item.data
    if isinstance(item, Variable):
        _check_index_variable(item)
        return None
    if isinstance(item, np.ndarray) and item.ndim == 0 and item.dtype.kind in "iu":
        return int(item)
    if isinstance(item, np.ndarray):
        return None
    if isinstance(item, (bool, np.bool_)) or not hasattr(item, "__index__"):
        what = f"an index must be an integer, a slice, None, ... or an array, not {item!r}"
        hint = None
        if item.__class__ is bool:
            hint = f"NumPy's x[{item}] is x[None]{'' if item else '[:0]'}; {TRUTH}"
        raise DTypeError(located(what, hint=hint))
    return int(item.__index__())


def _check_index_variable(item: Variable) -> None:
    type_ = item.type
    if (
        not isinstance(type_, TensorType | ScalarType)
        or type_.kind not in "iub"
        or (type_.kind == "b" and not type_.ndim)
    ):
        what = f"an index must be an integer or an array of integers or booleans, not type {type_}"
        raise DTypeError(located(what, inputs=[item]))


# --- shapes ---------------------------------------------------------------------------------


def lengths_of(template: Template, type_: TensorType, first: int = 1) -> list[Any]:
    """Return the shape rule (`tensor/op.py`) of an array of `type_` indexed by integers, slices and
    newaxis.

    first: position of the template's first input. Raises `AxisError` for too many indices, and for
    an integer that is out of range.
    """
    if consumed(template) > type_.ndim:
        what = (
            f"too many indices: {consumed(template)} for {dimensions(type_.ndim)} of type {type_}"
        )
        raise AxisError(what)
    inputs = map(Value, itertools.count(first))
    result: list[Any] = []
    axis = 0
    for e in template:
        if e == NEWAXIS:
            result.append(1)
            continue
        if isinstance(e, Slice):
            result.append(slice_length(e, axis, inputs))
        elif e == INPUT:
            next(inputs)
        else:
            check_range(e, type_.shape[axis], axis)
        axis += 1
    return result + [(0, i) for i in range(axis, type_.ndim)]


def check_range(i: int, length: int | None, axis: int) -> None:
    """Raise `AxisError` if an integer index is out of range of a known length."""
    if length is not None and not -length <= i < length:
        raise AxisError(f"index {i} is out of range for dimension {axis} of length {length}")


def is_in_range(template: Template, type_: TensorType) -> bool:
    """Return whether integers and slices are in range for every array of a type."""
    axis = 0
    for e in template:
        if e == NEWAXIS:
            continue
        if e == INPUT or (isinstance(e, Slice) and e.step == INPUT):
            return False
        if not isinstance(e, Slice) and type_.shape[axis] is None:
            return False
        axis += 1
    return True


def slice_length(e: Slice, axis: int, inputs: Iterator[Any]) -> Any:
    """Return the length of a sliced dimension."""
    if e in (WHOLE, REVERSED):
        return (0, axis)
    given = [next(inputs) if part == INPUT else part for part in e]
    return Computed(partial(_count, e), [(0, axis), *[part for part in given if part is not None]])


def _count(e: Slice, n: Any, *given: Any) -> Any:
    """Return how many of n elements `start:stop:step` selects: max(0, ceil((stop - start) / step))
    after clipping; None if the step is a variable.
    """
    members = iter(given)
    start, stop, step = [None if part is None else next(members) for part in e]
    step = 1 if step is None else step
    if isinstance(step, Variable):
        return None
    if start is None and stop is None:
        return (n + (abs(step) - 1)) // abs(step)
    a, b = _clip(start, n, step, is_stop=False), _clip(stop, n, step, is_stop=True)
    span = (b if isinstance(a, int) and a == 0 else b - a) if step > 0 else a - b
    if abs(step) != 1:
        span = (span + (abs(step) - 1)) // abs(step)
    if start is None and step > 0:
        return span
    return larger(span, 0)


def _clip(i: Any, n: Any, step: int, is_stop: bool) -> Any:
    """Clip a start or stop as NumPy does."""
    low, high = (0, n) if step > 0 else (-1, n - 1)
    if i is None:
        return high if is_stop == (step > 0) else low
    if isinstance(i, Variable):
        i = cast(i, "int64")
        return switch(lt(i, 0), maximum(i + n, low), minimum(i, high))
    return larger(i + n, low) if i < 0 else smaller(i, high)
