"""Dtypes: their names, their promotion, and the dtypes of Python numbers among other operands."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

import numpy as np

from rewrite_engine.config import config
from rewrite_engine.errors import DTypeError, NoTensorError

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
KIND = {name: np.dtype(name).kind for name in DTYPES}
DISCRETE = frozenset(name for name in DTYPES if KIND[name] in "biu")
#: dtypes by what they hold, under the names that other libraries have for it
bool_dtypes, int_dtypes, uint_dtypes, float_dtypes, complex_dtypes = [
    tuple([name for name in DTYPES if KIND[name] == kind]) for kind in "biufc"
]
integer_dtypes, continuous_dtypes = int_dtypes + uint_dtypes, float_dtypes + complex_dtypes
discrete_dtypes = bool_dtypes + integer_dtypes
all_dtypes = discrete_dtypes + continuous_dtypes

_FLOAT = {d: "float32" if np.dtype(d).itemsize < 4 else "float64" for d in DISCRETE}
_WIDE = {"float16": "float64", "float32": "float64", "complex64": "complex128"}
_PLAIN_NUMBERS = frozenset((bool, int, float, complex))


def dtype_name(dtype: Any) -> str:
    """Return the canonical name of a dtype, or of the dtype of a scalar type.

    "floatX" stands for `config.floatX`. Raises `DTypeError` for a dtype that tensors cannot have
    (strings, objects, dates, extended precision).
    """
    if isinstance(dtype, str):
        if dtype in KIND:
            return dtype
        if dtype == "floatX":
            return config.floatX
    own = getattr(dtype, "dtype", None)
    try:
        name = own if isinstance(own, str) else np.dtype(dtype).name
    except TypeError:
        name = str(dtype)
    if dtype is None or name not in KIND:
        raise DTypeError(f"no tensor can have dtype {dtype!r}; use one of {', '.join(DTYPES)}")
    return name


@lru_cache(4096)
def promote(*dtypes: str) -> str:
    """Return the dtype to which NumPy promotes these dtypes."""
    return np.result_type(*dtypes).name


def float_dtype(*dtypes: str) -> str:
    """Return the dtype of a float result (an exponential, a mean) for these operand dtypes.

    Booleans and integers of up to 16 bits count as float32, wider integers as float64.
    """
    return promote(*[_FLOAT.get(d, d) for d in dtypes])


def quotient_dtype(*dtypes: str) -> str:
    """Return the dtype of a quotient: floatX if all operands are integers or booleans, else the
    promotion by NumPy.
    """
    return config.floatX if DISCRETE.issuperset(dtypes) else promote(*dtypes)


def accumulator(dtype: str) -> str:
    """Return the dtype in which sums and products are accumulated: twice the precision for floats
    narrower than float64.
    """
    return _WIDE.get(dtype, dtype)


def is_number(x: Any) -> bool:
    """Return whether `x` is a plain Python number. NumPy scalars are not: they have a dtype of
    their own.
    """
    return type(x) in _PLAIN_NUMBERS


def weak_dtype(value: bool | int | float | complex, strong: str | None) -> str:
    """Return the dtype of a Python number among operands that promote to `strong` (None: no
    others).

    NEP 50: the number takes the precision of the other operands and never raises it, but its kind
    counts: int8 and 1 stay int8, int8 and 0.5 give a float. Raises `DTypeError` for an integer that
    does not fit.
    """
    kind = "b" if strong is None else KIND[strong]
    if value.__class__ is bool:
        return "bool"
    if value.__class__ is int:
        if kind in "iu":
            return _checked(value, strong)
        return "int64" if kind == "b" else _real(strong)
    if value.__class__ is float:
        return config.floatX if kind in "biu" else _real(strong)
    if kind == "c":
        return str(strong)
    return "complex64" if strong in ("float16", "float32") else "complex128"


def _real(dtype: str | None) -> str:
    """Return the dtype of the parts of a complex dtype; a float dtype unchanged."""
    return {"complex64": "float32", "complex128": "float64"}.get(str(dtype), str(dtype))


def _checked(value: Any, dtype: str | None) -> str:
    limits = np.iinfo(str(dtype))
    if not limits.min <= value <= limits.max:
        raise DTypeError(
            f"the Python integer {value} does not fit in {dtype}, the dtype of the other operands; "
            "cast one of them to a wider dtype"
        )
    return str(dtype)


def refuse_masked(value: Any) -> None:
    """Raise `NoTensorError` for an array with masked elements, also inside lists: the mask would be
    lost.
    """
    masked = sys.modules.get("numpy.ma")  # which NumPy imports when it is first used
    if masked is None or value.__class__ in _PLAIN_NUMBERS or value.__class__ is np.ndarray:
        return
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, list | tuple):
            if not _PLAIN_NUMBERS.issuperset(map(type, item)):
                todo += item
        elif isinstance(item, masked.MaskedArray) and masked.is_masked(item):
            raise NoTensorError(
                "the array has masked elements, which tensors cannot have: call `.filled(value)` "
                "first"
            )


@lru_cache(4096)
def normal_range(dtype: str) -> tuple[float, float]:
    """Return the smallest and the largest normal number of a dtype."""
    limits = np.finfo(dtype)
    return float(limits.tiny), float(limits.max)
