"""Scalar ops that processors have as instructions, for the formulas in `rules/lowering`: programs
of users have no need of them. They have no gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rewrite_engine.scalar.op import ScalarOp

_op = ScalarOp.define
#: beyond this size of angles, `sin_far` and `cos_far` call NumPy
MAX_REDUCED_ANGLE = 1.0e6
_WIDER = {"float32": np.dtype("float64"), "float64": np.dtype("longdouble")}
_SAME_SIZE = {"float64": "int64", "float32": "int32", "int64": "float64", "int32": "float32"}


def _put(found: Any, out: Any) -> Any:
    if out is None:
        return found
    out[...] = found
    return out


def _first_dtype(*dtypes: str) -> str:
    return dtypes[0]


def _muladd(x: Any, y: Any, z: Any, out: Any = None) -> Any:
    wide = _WIDER[x.dtype.name]
    return _put((x.astype(wide) * y + z).astype(x.dtype), out)


def _reinterpret(x: Any, out: Any = None) -> Any:
    return _put(np.array(x).view(_SAME_SIZE[x.dtype.name]), out)


def _reinterpreted(dtype: str) -> str:
    if dtype not in _SAME_SIZE:
        raise TypeError("takes numbers of 32 or 64 bits")
    return _SAME_SIZE[dtype]


def _quotient(x: Any, y: Any, out: Any = None) -> Any:
    return _put((x - np.fmod(x, y)) // y, out)


def _sine_far(x: Any, found: Any, out: Any = None) -> Any:
    return _put(np.where(np.abs(x) > MAX_REDUCED_ANGLE, np.sin(x), found), out)


def _cosine_far(x: Any, found: Any, out: Any = None) -> Any:
    return _put(np.where(np.abs(x) > MAX_REDUCED_ANGLE, np.cos(x), found), out)


#: x * y + z, rounded once if the processor can (NumPy cannot: in a wider dtype)
muladd = _op("muladd", 3, compute=_muladd, dtypes=_first_dtype)
#: the bits of a float as an integer of the same size, and of an integer as a float
reinterpret = _op("reinterpret", 1, compute=_reinterpret, dtypes=_reinterpreted)
#: x * 2**n, and x / 2**n rounded towards negative infinity, of integers with more than n bits
shift_up = _op("shift_up", 2, "left_shift")
shift_down = _op("shift_down", 2, "right_shift")
#: x / y of integers rounded towards 0, and what is left; y is not 0, and the result in range
quotient = _op("quotient", 2, compute=_quotient, dtypes=_first_dtype)
rest = _op("rest", 2, "fmod")
#: y, which is the sine (cosine) of x; NumPy's where x is so large that y has few digits
sin_far = _op("sin_far", 2, compute=_sine_far, dtypes=_first_dtype)
cos_far = _op("cos_far", 2, compute=_cosine_far, dtypes=_first_dtype)
