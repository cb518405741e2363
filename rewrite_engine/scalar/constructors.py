"""Scalar types by name, such as `int64` and `float64`, and `constant`.

`float64("x")` is a variable for one number; the scalars of user code are 0-d tensors
(`tensor.scalar`). There is no `bool` here, as it would hide Python's: write `ScalarType("bool")`.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.scalar.dtype import weak_dtype
from rewrite_engine.scalar.type import ScalarConstant, ScalarType

int8, int16, int32, int64 = map(ScalarType, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(ScalarType, ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = map(ScalarType, ("float16", "float32", "float64"))
complex64, complex128 = map(ScalarType, ("complex64", "complex128"))


def constant(x: Any, name: str | None = None, dtype: Any = None) -> ScalarConstant:
    """Return a number as a constant of a scalar graph.

    dtype: by default the dtype of a NumPy number, int64 for an integer, floatX for a float. Raises
    `DTypeError`, and `NDimError` if `x` is not a single number.

    >>> constant(2).type, constant(0.5, dtype="float32").type
    (ScalarType(int64), ScalarType(float32))
    """
    own = getattr(x, "dtype", None)
    found = dtype if dtype is not None else weak_dtype(x, None) if own is None else own
    return ScalarType(found).make_constant(x, name)  # type: ignore[no-any-return]
