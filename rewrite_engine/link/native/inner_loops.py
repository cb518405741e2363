"""Inner loops of ufuncs, by their addresses.

An inner loop takes the addresses of its operands, their number, and the steps between elements: the
public interface of ufuncs (`PyUFuncGenericFunction`).
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import NamedTuple

import numpy as np

HEAD_BYTES = object.__basicsize__


class InnerLoop(NamedTuple):
    """Addresses of an inner loop and of its data."""

    function: int
    data: int


class _Head(ctypes.Structure):
    """First fields of a `PyUFuncObject`, as far as they are public."""

    _fields_ = (
        ("nin", ctypes.c_int), ("nout", ctypes.c_int), ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int), ("functions", ctypes.c_void_p), ("data", ctypes.c_void_p),
        ("ntypes", ctypes.c_int), ("reserved", ctypes.c_int), ("name", ctypes.c_char_p),
        ("types", ctypes.c_void_p),
    )  # fmt: skip


@cache
def loop_of(ufunc: np.ufunc, dtype: str = "float64") -> InnerLoop | None:
    """Return the inner loop of a ufunc from numbers of a dtype to the same dtype; None if there is
    none.
    """
    if not isinstance(ufunc, np.ufunc) or ufunc.nout != 1:
        return None
    head = _Head.from_address(id(ufunc) + HEAD_BYTES)
    if (head.nin, head.nout, head.ntypes) != (ufunc.nin, ufunc.nout, ufunc.ntypes):
        return None  # another NumPy than this was written for
    if not head.functions or not head.types:
        return None
    number = np.dtype(dtype).num
    types = ctypes.string_at(head.types, head.nargs * head.ntypes)
    wanted = bytes([number]) * head.nargs
    for k in range(head.ntypes):
        if types[k * head.nargs : (k + 1) * head.nargs] == wanted:
            function = ctypes.c_void_p.from_address(head.functions + 8 * k).value
            data = ctypes.c_void_p.from_address(head.data + 8 * k).value if head.data else 0
            return InnerLoop(function, data or 0) if function else None
    return None


#: ufuncs by the name of their unit
ufuncs: dict[str, np.ufunc] = {"numpy_sin": np.sin, "numpy_cos": np.cos}


def unit_of_ufunc(ufunc: np.ufunc) -> str | None:
    """Return the name of the unit that calls a ufunc's loop; None if it has none on float64."""
    if loop_of(ufunc) is None or ufunc.signature is not None:
        return None
    home = "numpy" if getattr(np, ufunc.__name__, None) is ufunc else "scipy"
    name = f"{home}_{ufunc.__name__.strip('_')}"
    return name if ufuncs.setdefault(name, ufunc) is ufunc else None
