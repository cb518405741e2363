"""Indexing of arrays with named dimensions, as in `xarray`.

A slice keeps the dimension; an integer removes it; an array of integers replaces it by its own
dimensions (one dimension without a name: by that of the position). Arrays with a common name are
indexed together, arrays with different names in all combinations. An array of booleans selects
where it is true.
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
    """Return parts of `x` along named dimensions: `{"year": slice(1, None)}`.

    missing_dims: treatment of names without dimension (see `transpose`). Raises the errors of
    `index`.
    """
    known = known_only(x, list(indexers), missing_dims)
    return index(x, *[indexers[d] if d in known else WHOLE for d in x.type.dims])


def head(x: Any, counts: Mapping[str, Any]) -> Any:
    """Return the first elements along dimensions. counts: {name: number}."""
    return isel(x, {d: slice(None, n) for d, n in counts.items()})


def tail(x: Any, counts: Mapping[str, Any]) -> Any:
    """Return the last elements along dimensions, or all if there are fewer. counts: {name:
    number}.
    """
    starts = {d: pt.maximum(x.sizes[d] - n, 0) for d, n in counts.items() if d in x.type.dims}
    return isel(x, {d: slice(starts.get(d), None) for d in counts})


def thin(x: Any, steps: Mapping[str, Any]) -> Any:
    """Return every n-th element along dimensions. steps: {name: n}."""
    return isel(x, {d: slice(None, None, n) for d, n in steps.items()})


def index(x: Any, *indices: Any) -> Any:
    """Return parts of `x`, with an index for each dimension in order; `...` stands for several
    dimensions.

    The dimensions of the result are in the order of the indices. Raises `DimsError` for too many
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
    """Return the dimensions that replace an indexed one."""
    return arrays[dim].type.dims if dim in arrays else (dim,)


def _at_arrays(x: Any, dims: Sequence[str], arrays: dict[str, Any]) -> tuple[Any, list[str]]:
    """Return a tensor with these dimensions indexed by arrays, and the dimensions of the result.

    A dimension that has the name of an array's dimension, and no array of its own, is indexed
    together with them.
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
    """Return an index for each dimension."""
    given = list(indices)
    dots = [k for k, i in enumerate(given) if i is ...]
    if len(dots) > 1 or len(given) - len(dots) > x.type.ndim:
        what = f"there are {len(given)} indices, but only the dimensions {x.type.dims}"
        raise DimsError(located(what, inputs=[x]))
    more = [WHOLE] * (x.type.ndim - len(given) + len(dots))
    return [*given[: dots[0]], *more, *given[dots[0] + 1 :]] if dots else [*given, *more]


# --- one index ------------------------------------------------------------------------------------


def read_index(x: Any, dim: str, given: Any) -> Any:
    """Return an index along a dimension as a slice, or as integers with names. Raise `DimsError`,
    `NDimError`, `DTypeError`.
    """

    def wrong(error: type[Exception], what: str, hint: str | None = None) -> Exception:
        return error(located(f"the index along {dim!r} {what}", inputs=[x], hint=hint))

    if given is None:
        raise wrong(DimsError, "is None", "use expand_dims for a new dimension")
    if isinstance(given, slice):
        return _read_slice(given)
    if isinstance(given, Mapping):
        raise wrong(DimsError, "is a dict, which must be the only index")
    at = _named_index(given, dim)
    if at is None:
        raise wrong(NDimError, "has several dimensions without names", "name them by as_xtensor")
    if at.type.kind == "b":
        if at.type.dims != (dim,):
            raise wrong(DimsError, f"is a mask along {at.type.dims}, but must be along {dim!r}")
        (positions,) = at.values.nonzero()
        return xtensor_from_tensor(positions, [dim])
    if at.type.kind not in "iu":
        raise wrong(DTypeError, f"has dtype {at.type.dtype}, but must be integers or booleans")
    return at


def _read_slice(given: slice) -> slice:
    """Return a slice whose ends are numbers or tensors."""
    if given == WHOLE:
        return WHOLE
    ends = [given.start, given.stop, given.step]
    return slice(*[tensor_from_xtensor(end) if is_named(end) else end for end in ends])


def _named_index(given: Any, dim: str) -> Any:
    """Return an index as an array with names.

    `(names, array)` has its own names; a single dimension without a name has that of the position.
    None for more dimensions.
    """
    if is_named(given) or is_data_array(given):
        return as_xtensor(given)
    if isinstance(given, tuple) and len(given) == 2 and _are_names(given[0]):
        names, array = given
        if is_named(array):
            raise DimsError(
                located(
                    f"the array already has names and cannot get the names {names!r}",
                    inputs=[array],
                )
            )
        return as_xtensor(pt.as_tensor(array), names)
    if isinstance(given, Variable) and not isinstance(given.type, TensorType):
        raise ForeignObjectError(located("the object is not an index", inputs=[given]))
    array = given if isinstance(given, Variable) else _integers(given)
    return None if array.type.ndim > 1 else xtensor_from_tensor(array, [dim][: array.type.ndim])


def _are_names(x: Any) -> bool:
    return isinstance(x, str) or (
        isinstance(x, tuple | list) and all([isinstance(d, str) for d in x])
    )


def _integers(given: Any) -> Any:
    """Return a value as a tensor; an empty list as integers."""
    empty = isinstance(given, list | tuple) and not len(given)
    return pt.constant(np.zeros(0, "int64") if empty else given)


# --- writing --------------------------------------------------------------------------------------


def written(part: Any, value: Any, mode: str) -> Any:
    """Return x with its part `x[index]` replaced ("set") or increased ("inc") by a value.

    The value has no dimensions other than those of the part. Raises `ForeignObjectError` if `part`
    is not a part of an array, `DimsError`.
    """
    steps, array = _steps(part)
    dims = part.type.dims
    if isinstance(value, np.ndarray | list) and np.ndim(value) == len(dims):
        value = xtensor_from_tensor(pt.as_tensor(value), dims)
    y: Any = as_xtensor(value)
    if not {*y.type.dims} <= {*dims}:
        what = f"the value has dimensions {y.type.dims}, but the part has {dims}"
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
    """Return the tensors between a part and its array, the last first; and the array."""
    steps: list[Any] = []
    at = part.owner.inputs[0] if part.owner is not None else part
    while at.owner is not None and _is_step(at.owner.op):
        steps.append(at)
        at = at.owner.inputs[0]
    if at.owner is None or not isinstance(at.owner.op, TensorFromXTensor):
        hint = "write x[index].set(value), or x.isel(dim=index).set(value)"
        raise ForeignObjectError(
            located("expected an expression x[index]", inputs=[part], hint=hint)
        )
    return steps, at


def _is_step(op: Any) -> bool:
    """Return whether an op selects a part, or reorders dimensions."""
    if isinstance(op, DimShuffle):
        return op.is_transpose
    return isinstance(op, Subtensor | AdvancedSubtensor)
