"""Parts of arrays with names, as `xarray` has them.

A slice keeps the dimension; an integer leaves it out; an array of integers puts its own dimensions
in its place (one without names: that of the place). Arrays under one name go along together, under
different names all combinations are taken. An array of booleans takes where it is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DimsError, DTypeError, ForeignObjectError, NDimError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.dimshuffle import DimShuffle
from rewrite_engine.tensor.index.gather import AdvancedSubtensor
from rewrite_engine.tensor.index.subtensor import Subtensor
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.xtensor.alignment import as_xtensor, in_order, joined
from rewrite_engine.xtensor.shape import known_only
from rewrite_engine.xtensor.type import (
    TensorFromXTensor,
    is_data_array,
    is_named,
    tensor_from_xtensor,
    xtensor_from_tensor,
)

WHOLE = slice(None)


def isel(x: Any, indexers: Mapping[str, Any], missing_dims: str = "raise") -> Any:
    """Return parts of `x` along named dimensions: `{"year": slice(1, None)}`. missing_dims: as of
    `transpose`. Raises as `index`.
    """
    known = known_only(x, list(indexers), missing_dims)
    return index(x, *[indexers[d] if d in known else WHOLE for d in x.type.dims])


def head(x: Any, counts: Mapping[str, Any]) -> Any:
    """The first so many along dimensions."""
    return isel(x, {d: slice(None, n) for d, n in counts.items()})


def tail(x: Any, counts: Mapping[str, Any]) -> Any:
    """The last so many along dimensions, all where there are fewer."""
    starts = {d: pt.maximum(x.sizes[d] - n, 0) for d, n in counts.items() if d in x.type.dims}
    return isel(x, {d: slice(starts.get(d), None) for d in counts})


def thin(x: Any, steps: Mapping[str, Any]) -> Any:
    """Every n-th along dimensions."""
    return isel(x, {d: slice(None, None, n) for d, n in steps.items()})


def index(x: Any, *indices: Any) -> Any:
    """Return parts of `x`, an index for each dimension, in their order; `...` for some in between.

    The dimensions of the result come in the order of the indices. Raises `DimsError` for too many
    indices, or names that do not fit, `NDimError`, `DTypeError`, `BroadcastError`.

    >>> from rewrite_engine.xtensor import as_xtensor, xtensor
    >>> x, rows = xtensor("x", dims=("a", "b")), as_xtensor([0, 2], dims="row")
    >>> index(x, rows, rows).dims, index(x, rows, [0, 1]).dims, index(x, slice(1, None), 0).dims
    (('row',), ('row', 'b'), ('a',))
    """
    x = as_xtensor(x)
    read = [read_index(x, d, i) for d, i in zip(x.type.dims, _all_indices(x, indices))]
    tensor, dims = tensor_from_xtensor(x), list(x.type.dims)
    basic = [i.values if is_named(i) and not i.type.ndim else WHOLE if is_named(i) else i
             for i in read]  # fmt: skip
    if any([i is not WHOLE for i in basic]):
        tensor = tensor[tuple(basic)]
    kept = [k for k, i in enumerate(read) if not is_named(i) or i.type.ndim]
    arrays = {dims[k]: read[k] for k in kept if is_named(read[k])}
    dims = [dims[k] for k in kept]
    found, names = _at_arrays(tensor, dims, arrays) if arrays else (tensor, dims)
    order = dict.fromkeys([d for own in dims for d in _of(arrays, own)])
    if list(order) != names:
        found = found.dimshuffle([names.index(d) for d in order])
    return xtensor_from_tensor(found, list(order))


def _of(arrays: Mapping[str, Any], dim: str) -> Sequence[str]:
    """The dimensions that come in the place of one."""
    return arrays[dim].type.dims if dim in arrays else (dim,)


def _at_arrays(x: Any, dims: Sequence[str], arrays: dict[str, Any]) -> tuple[Any, list[str]]:
    """What arrays take of a tensor with these dimensions; and the dimensions of that.

    A dimension that is called as one of theirs, and has no array, goes along with them.
    """
    theirs = joined(arrays.values())
    for k, d in enumerate(dims):
        if d in theirs and d not in arrays:
            arrays[d] = xtensor_from_tensor(pt.arange(x.shape[k]), [d])
    theirs = joined(arrays.values())
    places = [k for k, d in enumerate(dims) if d in arrays]
    rest = [k for k, d in enumerate(dims) if d not in arrays]
    first = places[0]
    if places != list(range(first, first + len(places))):  # NumPy puts theirs in front
        x, dims, first = x.dimshuffle([*places, *rest]), [dims[k] for k in (*places, *rest)], 0
    at = [in_order(arrays[d], tuple(theirs), theirs) if d in arrays else WHOLE for d in dims]
    before, behind = [[d for d in side if d not in arrays] for side in (dims[:first], dims[first:])]
    return x[tuple(at)], [*before, *theirs, *behind]


def _all_indices(x: Any, indices: Sequence[Any]) -> list[Any]:
    """An index for each dimension."""
    given = list(indices)
    dots = [k for k, i in enumerate(given) if i is ...]
    if len(dots) > 1 or len(given) - len(dots) > x.type.ndim:
        what = f"there are {len(given)} indices for the dimensions {x.type.dims}"
        raise DimsError(located(what, inputs=[x]))
    more = [WHOLE] * (x.type.ndim - len(given) + len(dots))
    return [*given[: dots[0]], *more, *given[dots[0] + 1 :]] if dots else [*given, *more]


# --- one index ------------------------------------------------------------------------------------


def read_index(x: Any, dim: str, given: Any) -> Any:
    """An index along a dimension as a slice, or as integers with names. Raises `DimsError`,
    `NDimError`, `DTypeError`.
    """

    def wrong(error: type[Exception], what: str, hint: str | None = None) -> Exception:
        return error(located(f"the index along {dim!r} {what}", inputs=[x], hint=hint))

    if given is None:
        raise wrong(DimsError, "is None", "expand_dims names a new dimension")
    if isinstance(given, slice):
        return _read_slice(given)
    if isinstance(given, Mapping):
        raise wrong(DimsError, "is a dict: it stands alone")
    at = _named_index(given, dim)
    if at is None:
        raise wrong(NDimError, "has several dimensions without names", "as_xtensor names them")
    if at.type.kind == "b":
        if at.type.dims != (dim,):
            raise wrong(DimsError, f"is a mask along {at.type.dims}; it has to be along {dim!r}")
        (positions,) = at.values.nonzero()
        return xtensor_from_tensor(positions, [dim])
    if at.type.kind not in "iu":
        raise wrong(DTypeError, f"is of dtype {at.type.dtype}; integers or booleans are taken")
    return at


def _read_slice(given: slice) -> slice:
    """A slice whose ends are numbers or tensors."""
    if given == WHOLE:
        return WHOLE
    ends = [given.start, given.stop, given.step]
    return slice(*[tensor_from_xtensor(end) if is_named(end) else end for end in ends])


def _named_index(given: Any, dim: str) -> Any:
    """An index as an array with names: `(names, array)` has its own, one dimension without a name
    that of the place. None for more dimensions.
    """
    if is_named(given) or is_data_array(given):
        return as_xtensor(given)
    if isinstance(given, tuple) and len(given) == 2 and _are_names(given[0]):
        names, array = given
        if is_named(array):
            raise DimsError(located(f"names, {names!r}, for what has some", inputs=[array]))
        return as_xtensor(pt.as_tensor(array), names)
    if isinstance(given, Variable) and not isinstance(given.type, TensorType):
        raise ForeignObjectError(located("no index", inputs=[given]))
    array = given if isinstance(given, Variable) else _integers(given)
    return None if array.type.ndim > 1 else xtensor_from_tensor(array, [dim][: array.type.ndim])


def _are_names(x: Any) -> bool:
    return isinstance(x, str) or (
        isinstance(x, tuple | list) and all([isinstance(d, str) for d in x])
    )


def _integers(given: Any) -> Any:
    """A value as a tensor; an empty list is one of integers."""
    empty = isinstance(given, list | tuple) and not len(given)
    return pt.constant(np.zeros(0, "int64") if empty else given)


# --- writing --------------------------------------------------------------------------------------


def written(part: Any, value: Any, mode: str) -> Any:
    """For `part`, which is `x[index]`: x with it replaced ("set"), or increased ("inc"), by a value
    that has no dimensions but those of the part. Raises `ForeignObjectError` where it is no part,
    `DimsError`.
    """
    steps, array = _steps(part)
    dims = part.type.dims
    if isinstance(value, np.ndarray | list) and np.ndim(value) == len(dims):
        value = xtensor_from_tensor(pt.as_tensor(value), dims)
    y: Any = as_xtensor(value)
    if not {*y.type.dims} <= {*dims}:
        what = f"the value has dimensions {y.type.dims}, the part {dims}"
        raise DimsError(located(what, inputs=[y, part]))
    joined([y, part])
    y = in_order(y, dims)
    taken = False
    for step in steps:
        if isinstance(step.owner.op, DimShuffle):
            order = step.owner.op.new_order
            y = y.dimshuffle([order.index(k) for k in range(len(order))])
            continue
        y, mode, taken = getattr(step, mode)(y), "set", True
    if not taken:  # (the index took everything)
        y = pt.cast(pt.second(array, y) if mode == "set" else array + y, array.type.dtype)
    return xtensor_from_tensor(y, array.owner.inputs[0].type.dims)


def _steps(part: Any) -> tuple[list[Any], Any]:
    """The tensors between a part and the array it is taken of, the last first; and that array."""
    steps: list[Any] = []
    at = part.owner.inputs[0] if part.owner is not None else part
    while at.owner is not None and _is_step(at.owner.op):
        steps.append(at)
        at = at.owner.inputs[0]
    if at.owner is None or not isinstance(at.owner.op, TensorFromXTensor):
        hint = "write x[index].set(value), or x.isel(dim=index).set(value)"
        raise ForeignObjectError(located("not a part of an array", inputs=[part], hint=hint))
    return steps, at


def _is_step(op: Any) -> bool:
    """Return whether an op takes a part, or puts dimensions in order."""
    if isinstance(op, DimShuffle):
        return op.is_transpose
    return isinstance(op, Subtensor | AdvancedSubtensor)
