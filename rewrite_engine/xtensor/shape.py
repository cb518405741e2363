"""Changes of dimensions: their order, names and number; joined arrays."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import rewrite_engine.tensor as pt
from rewrite_engine.errors import DimsError, NDimError, OptionError, ShapeError, dimensions
from rewrite_engine.graph.origin import located
from rewrite_engine.xtensor.alignment import (
    as_xtensor,
    in_order,
    joined,
    lengths_of,
    refuse_missing,
    refuse_taken,
    stretched,
)
from rewrite_engine.xtensor.math import cast, second
from rewrite_engine.xtensor.ops import Transpose
from rewrite_engine.xtensor.type import named, tensor_from_xtensor, xtensor_from_tensor

if TYPE_CHECKING:
    from rewrite_engine.xtensor.variable import XTensorVariable

__all__ = [
    "Transpose",
    "broadcast",
    "concat",
    "expand_dims",
    "full_like",
    "ones_like",
    "rename",
    "squeeze",
    "stack",
    "transpose",
    "unstack",
    "zeros_like",
]


def transpose(x: Any, *dim: Any, missing_dims: str = "raise") -> XTensorVariable:
    """Return `x` with its dimensions in this order; `...` stands for all others, and without names
    the order is reversed.

    missing_dims: what to do about a name without dimension: "raise" (`DimsError`), "warn",
    "ignore". Raises `DimsError` if some dimensions are not named and there is no `...`.

    >>> from rewrite_engine.xtensor import xtensor
    >>> transpose(xtensor("x", dims=("a", "b", "c")), "c", ...).dims
    ('c', 'a', 'b')
    """
    x = as_xtensor(x)
    own = x.type.dims
    named_here = known_only(x, [d for d in dim if d is not ...], missing_dims)
    if dim.count(...) > 1:
        raise DimsError(located("transpose: takes only one `...`", inputs=[x]))
    rest = [d for d in own if d not in named_here]
    if not dim:
        order: tuple[str, ...] = own[::-1]
    elif ... in dim:
        before = [d for d in dim[: dim.index(...)] if d in own]
        order = (*before, *rest, *named_here[len(before) :])
    else:
        order = tuple(named_here)
    return x if order == own else Transpose(order)(x)


def known_only(x: Any, dims: Sequence[str], missing_dims: str) -> list[str]:
    """Return the existing dimensions; treat the others as `missing_dims` says."""
    if missing_dims not in ("raise", "warn", "ignore"):
        raise OptionError(
            located(f"missing_dims must be raise, warn or ignore, not {missing_dims!r}")
        )
    if missing_dims == "raise":
        refuse_missing(x, dims)
    missing = [d for d in dims if d not in x.type.dims]
    if missing and missing_dims == "warn":
        warnings.warn(f"there are no dimensions {missing} in {x.type.dims}", stacklevel=3)
    return [d for d in named(dims) if d in x.type.dims]


def rename(x: Any, names: Mapping[str, str]) -> XTensorVariable:
    """Return `x` with dimensions renamed: `{"year": "time"}`. Raise `DimsError`."""
    x = as_xtensor(x)
    refuse_missing(x, names)
    return xtensor_from_tensor(tensor_from_xtensor(x), [names.get(d, d) for d in x.type.dims])


def expand_dims(x: Any, dim: Any = None, axis: Any = None, **more: Any) -> XTensorVariable:
    """Return `x` with new dimensions, first or at axes of the result.

    dim: a name, several, or `{name: length}` (keywords likewise). The default length is 1; elements
    are repeated for longer ones. Raises `DimsError` for a name that already exists.

    >>> from rewrite_engine.xtensor import xtensor
    >>> expand_dims(xtensor("x", dims=("a",)), {"year": 3}).type
    XTensorType(float64, shape=(3, None), dims=('year', 'a'))
    """
    x = as_xtensor(x)
    if dim is not None and more:
        raise OptionError(located("expand_dims: takes dim or keywords, not both"))
    given = more if dim is None else dim
    new = dict(given) if isinstance(given, Mapping) else dict.fromkeys(named(given), 1)
    refuse_taken(x, new)
    dims, tensor = (*new, *x.type.dims), in_order(x, (*new, *x.type.dims))
    sizes = {d: _length(n) for d, n in new.items()}
    if any([not isinstance(n, int) or n != 1 for n in sizes.values()]):
        tensor = pt.broadcast_to(tensor, [*sizes.values(), *tensor.shape[len(new) :]])
    found = xtensor_from_tensor(tensor, dims)
    if axis is None:
        return found
    axes = list(axis) if isinstance(axis, Sequence) else [axis]
    if len(axes) != len(new):
        raise NDimError(located(f"expand_dims: {dimensions(len(new))}, but {len(axes)} axes"))
    order = list(x.type.dims)
    for d, k in sorted(zip(new, [k % len(dims) for k in axes], strict=True), key=lambda p: p[1]):
        order.insert(k, d)
    return transpose(found, *order)


def _length(n: Any) -> Any:
    """Return a length: an integer, or a 0-d tensor; for a sequence (of coordinates) its number of
    elements.
    """
    if hasattr(n, "__len__") and not hasattr(n, "type"):
        return len(n)
    return n if isinstance(n, int) else pt.as_tensor(n, allow_xtensor_conversion=True)


def squeeze(x: Any, dim: Any = None) -> XTensorVariable:
    """Return `x` without dimensions of length 1: those named, or all known ones.

    Raises `DimsError` for a name without dimension, `ShapeError` for another length.
    """
    x = as_xtensor(x)
    if dim is None:
        dims = tuple([d for d, n in zip(x.type.dims, x.type.shape, strict=True) if n == 1])
    else:
        dims = named(dim)
    refuse_missing(x, dims)
    rest = [d for d in x.type.dims if d not in dims]
    tensor = tensor_from_xtensor(x).dimshuffle([x.type.dims.index(d) for d in rest])
    return xtensor_from_tensor(tensor, rest) if dims else x


def stack(x: Any, dim: Mapping[str, Any] | None = None, **more: Any) -> XTensorVariable:
    """Return `x` with several dimensions joined into one, the last: `stack(x, cell=("city",
    "year"))`.

    The last of them changes fastest. Raises `DimsError`.
    """
    found = as_xtensor(x)
    for new, given in {**(dim or {}), **more}.items():
        if isinstance(given, str) or not (dims := named(given)):
            what = f"stack: {new!r} must be made of several dimensions, ({given!r}, …)"
            raise DimsError(located(what, inputs=[found]))
        refuse_missing(found, dims)
        rest = [d for d in found.type.dims if d not in dims]
        refuse_taken(found, [new] if new not in dims else [])
        tensor = in_order(found, [*rest, *dims])
        joint = pt.join_dims(tensor, len(rest), len(dims))
        found = xtensor_from_tensor(joint, [*rest, new])
    return found


def unstack(x: Any, dim: Mapping[str, Any] | None = None, **more: Any) -> XTensorVariable:
    """Return `x` with a dimension split into several, the last ones: `unstack(x, cell={"city": 2,
    "year": 3})`.

    The last of them changes fastest. Raises `DimsError`; `ShapeError` if the lengths do not fit.
    """
    found = as_xtensor(x)
    for old, lengths in {**(dim or {}), **more}.items():
        refuse_missing(found, [old])
        rest = [d for d in found.type.dims if d != old]
        refuse_taken(found, [d for d in lengths if d != old])
        shape = [_length(n) for n in lengths.values()]
        tensor = pt.split_dims(in_order(found, [*rest, old]), shape, axis=len(rest))
        found = xtensor_from_tensor(tensor, [*rest, *lengths])
    return found


# --- several arrays -------------------------------------------------------------------------------


def broadcast(*args: Any, exclude: Any = None) -> tuple[XTensorVariable, ...]:
    """Return arrays that all have the dimensions of all, in order of first occurrence, with equal
    lengths.

    exclude: dimensions left unchanged, after the others. Raises `BroadcastError`.
    """
    operands = [as_xtensor(x) for x in args]
    but = () if exclude is None else named(exclude)
    dims = tuple(joined(operands, but))
    lengths = lengths_of(operands, dims)
    return tuple([_stretched(x, dims, [d for d in but if d in x.type.dims], lengths)
                  for x in operands])  # fmt: skip


def _stretched(x: Any, dims: Sequence[str], more: Sequence[str], lengths: dict[str, Any]) -> Any:
    """Return an array broadcast along all dimensions; more: its excluded dimensions, which come
    last.
    """
    every = [*dims, *more]
    own = lengths_of([x], more)
    return xtensor_from_tensor(stretched(in_order(x, every), every, lengths | own), every)


def concat(xtensors: Sequence[Any], dim: str) -> XTensorVariable:
    """Return arrays joined along a dimension.

    An array without that dimension has length 1 there; along all others arrays are broadcast.
    Raises `BroadcastError`, `ShapeError`.

    >>> from rewrite_engine.xtensor import xtensor
    >>> x = xtensor("x", dims=("a", "b"), shape=(2, None))
    >>> concat([x, 0.0], dim="a").type
    XTensorType(float64, shape=(3, None), dims=('a', 'b'))
    """
    operands = [as_xtensor(x) for x in xtensors]
    if not operands:
        raise ShapeError(located("concat: takes at least one array"))
    others = joined(operands, [dim])
    names = dict.fromkeys([d for x in operands for d in x.type.dims])
    dims = tuple(names) if dim in names else (dim, *names)
    lengths = lengths_of(operands, tuple(others)) | {dim: 1}
    axis = dims.index(dim)
    parts = [stretched(in_order(x, dims, others), dims, lengths) for x in operands]
    return xtensor_from_tensor(pt.concatenate(parts, axis=axis), dims)


def full_like(x: Any, fill_value: Any, dtype: Any = None) -> XTensorVariable:
    """Return an array with the dimensions of `x`, filled with a number (a value, or a 0-d
    variable).

    dtype: by default that of x. Raises `NDimError`.
    """
    x, value = as_xtensor(x), as_xtensor(fill_value)
    if value.type.ndim:
        raise NDimError(located("full_like: fill_value must be a single number", inputs=[x, value]))
    return second(x, cast(value, x.type.dtype if dtype is None else dtype))


def ones_like(x: Any, dtype: Any = None) -> XTensorVariable:
    """Return ones with the dimensions of `x`."""
    return full_like(x, 1, dtype)


def zeros_like(x: Any, dtype: Any = None) -> XTensorVariable:
    """Return zeros with the dimensions of `x`."""
    return full_like(x, 0, dtype)
