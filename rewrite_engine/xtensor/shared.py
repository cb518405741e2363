"""Shared variables with named dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewrite_engine.compile.shared import SharedVariable
from rewrite_engine.xtensor.type import XTensorType, values_and_dims
from rewrite_engine.xtensor.variable import XTensorVariable


class XTensorSharedVariable(SharedVariable, XTensorVariable):
    """Shared array with named dimensions."""

    __slots__ = ()


def xtensor_shared(
    x: Any,
    *,
    name: str | None = None,
    shape: Sequence[int | None] | None = None,
    dims: Sequence[str] | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
) -> XTensorSharedVariable:
    """Return a shared variable with this value: a `DataArray`, or an array (a number, a list) with
    names for its dimensions.

    shape: lengths that stay fixed; the others may change when another value is set. The other
    options are those of `shared`. Raises the errors of `as_xtensor`.
    """
    value, names = values_and_dims(x, dims)
    return XTensorSharedVariable(
        XTensorType(value.dtype, dims=names, shape=shape),
        value if borrow else value.copy(),
        strict,
        allow_downcast,
        name=getattr(x, "name", None) if name is None else name,
    )
