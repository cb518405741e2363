"""Conversion of names to positions: `as_xtensor` returns a variable with named dimensions,
`aligned` returns several as tensors with one order of dimensions.

Every function of this package is built from these two, a function of tensors, and names for the
result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rewrite_engine.errors import BroadcastError, DimsError, ForeignObjectError, NDimError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.constant import constant
from rewrite_engine.tensor.dimshuffle import broadcast_to
from rewrite_engine.tensor.numbers import tensor_from_scalar
from rewrite_engine.tensor.shape import specify_shape
from rewrite_engine.tensor.type import TensorType
from rewrite_engine.xtensor.type import (
    is_named,
    named,
    tensor_from_xtensor,
    xtensor_constant,
    xtensor_from_tensor,
)

if TYPE_CHECKING:
    from rewrite_engine.xtensor.variable import XTensorVariable


def as_xtensor(
    x: Any, dims: Sequence[str] | None = None, *, name: str | None = None
) -> XTensorVariable:
    """Return `x` as a variable with named dimensions; itself if it is one.

    x: a variable with names, a tensor, a number, an array, a list, or an `xarray.DataArray`. dims:
    the names, in the order of the dimensions; required if x has dimensions without names, and
    otherwise equal to its names. name: name of a new variable. Raises `NDimError` if names are
    missing, `DimsError` if they differ, `ForeignObjectError` for other variables.

    >>> import rewrite_engine.tensor as pt
    >>> as_xtensor(pt.matrix("x"), dims=("city", "year")).sizes.keys()
    dict_keys(['city', 'year'])
    """
    if isinstance(x, Apply):
        x = x.default_output()
    if not isinstance(x, Variable):
        return xtensor_constant(x, name, dims)
    if is_named(x):
        if dims is not None and x.type.dims != named(dims):
            what = f"the dimensions are {x.type.dims}, not {named(dims)}"
            raise DimsError(located(what, inputs=[x], hint="transpose or rename it"))
        return x  # type: ignore[return-value]
    if isinstance(x.type, ScalarType):
        x = tensor_from_scalar(x)
    if not isinstance(x.type, TensorType):
        raise ForeignObjectError(
            located("the object cannot become an array with named dimensions", inputs=[x])
        )
    if dims is None and x.type.ndim:
        hint = "name them by as_xtensor(x, dims=…)"
        raise NDimError(located("the dimensions of the array have no names", inputs=[x], hint=hint))
    return xtensor_from_tensor(x, dims or (), name)


def operand(x: Any) -> Any:
    """Return an operand of an elementwise function: a variable with names, or a Python number,
    which takes the precision of the others.
    """
    if x.__class__ in (int, float, complex):
        return x
    return as_xtensor(constant(x) if x.__class__ is bool else x)


# --- in one order ---------------------------------------------------------------------------------


def joined(operands: Iterable[Any], but: Sequence[str] = ()) -> dict[str, int | None]:
    """Return the names of all operands, in order of first occurrence, except some; and their known
    lengths.

    Raises `BroadcastError` if two lengths of one name are known to differ: dimensions with a common
    name do not broadcast.
    """
    found: dict[str, int | None] = {}
    for x in operands:
        for dim, n in zip(x.type.dims, x.type.shape, strict=True):
            if dim in but:
                continue
            known = found.setdefault(dim, n)
            if known is None:
                found[dim] = n
            elif n not in (None, known):
                what = f"dimension {dim!r} has the lengths {known} and {n}"
                raise BroadcastError(located(what, inputs=list(operands)))
    return found


def in_order(x: Any, dims: Sequence[str], lengths: dict[str, int | None] | None = None) -> Any:
    """Return a variable with names as a tensor with these dimensions; missing ones have length 1.

    lengths: known lengths of other operands. A length that is 1 there must be 1 here, checked at
    run time: a tensor would broadcast along it.
    """
    tensor = tensor_from_xtensor(x)
    own = x.type.dims
    if lengths:
        ones = [1 if lengths.get(dim) == 1 else None for dim in own]
        if any([n == 1 and have is None for n, have in zip(ones, x.type.shape, strict=True)]):
            tensor = specify_shape(tensor, ones)
    order = [own.index(dim) if dim in own else "x" for dim in dims]
    return tensor if order == list(range(len(own))) else tensor.dimshuffle(order)


def aligned(operands: Sequence[Any]) -> tuple[tuple[str, ...], list[Any]]:
    """Return the names of all operands, and tensors with these dimensions in this order; numbers
    unchanged.
    """
    variables = [x for x in operands if isinstance(x, Variable)]
    lengths = joined(variables)
    dims = tuple(lengths)
    return dims, [in_order(x, dims, lengths) if isinstance(x, Variable) else x for x in operands]


def elementwise(function: Callable[..., Any], *operands: Any, **options: Any) -> Any:
    """Apply an elementwise function of tensors to operands aligned by names."""
    given = [operand(x) for x in operands]
    if not any([isinstance(x, Variable) for x in given]):
        given[0] = as_xtensor(given[0])
    dims, tensors = aligned(given)
    found = function(*tensors, **options)
    if isinstance(found, list | tuple):
        return tuple([xtensor_from_tensor(x, dims) for x in found])
    return xtensor_from_tensor(found, dims)


def along(function: Callable[..., Any], x: Any, dim: Any, **options: Any) -> Any:
    """Apply a function of a tensor that takes `axis` along these dimensions, and remove them from
    the names.
    """
    x = as_xtensor(x)
    dims = dims_of(x, dim)
    axes = tuple([x.type.dims.index(d) for d in dims])
    found = function(tensor_from_xtensor(x), axis=axes, **options)
    return xtensor_from_tensor(found, [d for d in x.type.dims if d not in dims])


def dims_of(x: Any, dim: Any) -> tuple[str, ...]:
    """Return the dimensions of an argument `dim`: None and `...` mean all. Raise `DimsError` for a
    missing one.
    """
    if dim is None or dim is ...:
        return x.type.dims  # type: ignore[no-any-return]
    dims = named(dim)
    refuse_missing(x, dims)
    return dims


def refuse_missing(x: Any, dims: Iterable[str]) -> None:
    """Raise `DimsError` for names without dimension."""
    for dim in dims:
        if dim not in x.type.dims:
            what = f"there is no dimension {dim!r}; the dimensions are {x.type.dims}"
            raise DimsError(located(what, inputs=[x]))


def refuse_taken(x: Any, dims: Iterable[str]) -> None:
    """Raise `DimsError` for names that a dimension already has."""
    for dim in dims:
        if dim in x.type.dims:
            raise DimsError(
                located(f"dimension {dim!r} already exists: choose another name", inputs=[x])
            )


def stretched(tensor: Any, dims: Sequence[str], lengths: dict[str, Any]) -> Any:
    """Return a tensor with these dimensions; those of static length 1 are broadcast to the known
    lengths.
    """
    pairs = list(zip(tensor.type.shape, dims, strict=True))
    if all([n != 1 or lengths[dim] == 1 for n, dim in pairs]):
        return tensor
    want = [lengths[d] if n == 1 else tensor.shape[k] for k, (n, d) in enumerate(pairs)]
    return broadcast_to(tensor, want)


def lengths_of(operands: Iterable[Any], dims: Sequence[str]) -> dict[str, Any]:
    """Return the length of each dimension: an integer if one is known, else a variable."""
    found: dict[str, Any] = {}
    for x in operands:
        for k, (dim, n) in enumerate(zip(x.type.dims, x.type.shape, strict=True)):
            if dim in dims and not isinstance(found.get(dim), int):
                found[dim] = found.get(dim, tensor_from_xtensor(x).shape[k]) if n is None else n
    return found
