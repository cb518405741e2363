"""PyTensor's lists of scalar types, and its conversion of arguments to scalars."""

from __future__ import annotations

from typing import Any

from rewrite_engine.errors import ForeignObjectError, NDimError, describe
from rewrite_engine.graph.node import Variable
from rewrite_engine.scalar import constructors as c
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.numbers import scalar_from_tensor
from rewrite_engine.tensor.type import TensorType

bool = ScalarType("bool")
int_types = c.int8, c.int16, c.int32, c.int64
uint_types = c.uint8, c.uint16, c.uint32, c.uint64
float_types = c.float16, c.float32, c.float64
complex_types = c.complex64, c.complex128
integer_types = (*int_types, *uint_types)
discrete_types = (bool, *integer_types)
continuous_types = (*float_types, *complex_types)
all_types = (*discrete_types, *continuous_types)


def ints(*names: str) -> list[Any]:
    """Return scalars of int64 with these names; for one string, named after its letters."""
    return [c.int64(name) for name in (names[0] if len(names) == 1 else names)]


def floats(*names: str) -> list[Any]:
    """Return scalars of float64 with these names; for one string, named after its letters."""
    return [c.float64(name) for name in (names[0] if len(names) == 1 else names)]


def as_scalar(x: Any, name: str | None = None) -> Any:
    """Convert `x` to a scalar: itself, the element of a tensor without dimensions, or a constant.
    Raises `NDimError`, `ForeignObjectError`.
    """
    if not isinstance(x, Variable):
        return c.constant(x, name)
    if isinstance(x.type, ScalarType):
        return x
    if not isinstance(x.type, TensorType):
        raise ForeignObjectError(f"as_scalar: takes numbers, not {describe(x)}")
    if x.type.ndim:
        raise NDimError(f"as_scalar: takes numbers, not {describe(x)}")
    return scalar_from_tensor(x)
