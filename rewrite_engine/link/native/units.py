"""Library functions that kernels call, from vectors to vectors, each compiled on first use.

The library's own are in `mathematics.py`. `numpy_exp`, `scipy_erf`, … call the inner loop of that
ufunc, by its address, on one vector. Loops of C source come from `own_code.py`.

An inner loop takes the addresses of its operands, their number, and the steps between elements: the
public interface of ufuncs (`PyUFuncGenericFunction`).
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.link.native import threads
from rewrite_engine.link.native.mathematics import FUNCTIONS, SINGLE_FUNCTIONS, Math
from rewrite_engine.link.native.own_code import own_loops
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.native.text import ALIGNED_STACK, DTYPES, SIZE

HEAD_BYTES = object.__basicsize__


class Unit(NamedTuple):
    """Function with its declarations, the units that it calls, and imported addresses."""

    text: str
    declared: tuple[str, ...]
    units: tuple[str, ...]
    imports: tuple[tuple[str, int], ...] = ()


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
_ufuncs: dict[str, np.ufunc] = {"numpy_sin": np.sin, "numpy_cos": np.cos}


def unit_of_ufunc(ufunc: np.ufunc) -> str | None:
    """Return the name of the unit that calls a ufunc's loop; None if it has none on float64."""
    if loop_of(ufunc) is None or ufunc.signature is not None:
        return None
    home = "numpy" if getattr(np, ufunc.__name__, None) is ufunc else "scipy"
    name = f"{home}_{ufunc.__name__.strip('_')}"
    return name if _ufuncs.setdefault(name, ufunc) is ufunc else None


def unit(full: str, machine: Machine) -> Unit:
    """Return the unit of a name: `exp_w8` is the function on vectors of 8, `exp_f_w8` that of
    float32.
    """
    if full == SPLIT_UNIT:
        imports = {"pool": threads.pool.ctypes.data} | (threads.functions() or {})
        threads.refresh()
        return Unit(threads.TEXT, threads.DECLARED, (), tuple(imports.items()))
    name, _, width = full.rpartition("_w")
    if name in _ufuncs:
        return _of_ufunc(full, name, int(width))
    if name in own_loops:
        return _of_code(full, name, int(width))
    single = name.endswith("_f")
    b = Math(int(width), machine.fma, "f" if single else "d")
    found = SINGLE_FUNCTIONS[name[:-2]](b, "%x") if single else FUNCTIONS[name](b, "%x")
    type_ = b.type(b.kind)
    aligned = ALIGNED_STACK + " " if b.units else ""
    head = f"define {type_} @{full}({type_} %x) {aligned}#0 {{\nentry:\n"
    text = head + "\n".join(b.lines) + f"\n  ret {type_} {found}\n}}\n"
    return Unit(text, tuple(b.declared), tuple(b.units))


def _of_ufunc(full: str, name: str, width: int) -> Unit:
    """A unit that lets the inner loop of a ufunc do it."""
    ufunc = _ufuncs[name]
    loop = loop_of(ufunc)
    assert loop is not None
    imports = [(f"loop_{name}", loop.function)]
    if loop.data:
        imports.append((f"data_{name}", loop.data))
    return _calling(full, name, Math(width), "d", ufunc.nin, imports)


def _of_code(full: str, name: str, width: int) -> Unit:
    """A unit that lets a loop of C code do it, on the lanes that count."""
    own = own_loops[name]
    imports = [(f"loop_{name}", own.find())]
    return _calling(full, name, Math(width), own.kind, own.nin, imports, counted=True)


def _calling(
    full: str, name: str, b: Math, kind: str, n: int, imports: list[tuple[str, int]],
    counted: bool = False,
) -> Unit:  # fmt: skip
    """A unit that calls a loop on n operands. counted: it also takes how many lanes count."""
    type_, inputs = b.type(kind), [f"%x{i}" for i in range(n)]
    b.count = n
    places = [b.new(f"alloca {type_}, align 64") for _ in range(n + 1)]
    for x, place in zip(inputs, places):
        b.do(f"store {type_} {x}, ptr {place}")
    table, steps = b.new(f"alloca [{n + 1} x ptr]"), b.new(f"alloca [{n + 1} x i64]")
    number = b.new("alloca i64")
    b.do(f"store i64 {'%n' if counted else b.width}, ptr {number}")
    if counted:
        b.do(f"store {type_} zeroinitializer, ptr {places[n]}")
    for i, place in enumerate(places):
        b.do(f"store ptr {place}, ptr {b.new(f'getelementptr ptr, ptr {table}, i64 {i}')}")
        step = b.new(f"getelementptr i64, ptr {steps}, i64 {i}")
        b.do(f"store i64 {SIZE[kind]}, ptr {step}")
    has_data = len(imports) > 1
    data = f"@data_{name}" if has_data else "null"
    b.do(f"call void @loop_{name}(ptr {table}, ptr {number}, ptr {steps}, ptr {data})")
    found = b.new(f"load {type_}, ptr {places[n]}")
    given = ", ".join([f"{type_} {x}" for x in inputs] + ["i64 %n"] * counted)
    head = f"define {type_} @{full}({given}) #0 {{\nentry:\n"
    text = head + "\n".join(b.lines) + f"\n  ret {type_} {found}\n}}\n"
    declared = [f"declare void @loop_{name}(ptr, ptr, ptr, ptr)"]
    declared += [f"@data_{name} = external global i8"] * has_data
    return Unit(text, tuple(declared), (), tuple(imports))


SPLIT_UNIT = "split"  # the function that shares a kernel among threads
ROUTINE_PREFIX = "lapack_"  # what names of routines of LAPACK and BLAS begin with, as units
CLOCK_UNIT = "clock_gettime"  # the function of C
PRODUCT_PREFIX = (
    "loop_matmul_"  # and of the inner loops of `np.matmul`; their kind of numbers follows
)


def address_of(name: str) -> int:
    """Return the address of an existing function, by the name of its unit; 0 if it must be
    compiled.
    """
    if name == CLOCK_UNIT:
        return pointer_of(ctypes.CDLL(None).clock_gettime)
    if name.startswith(ROUTINE_PREFIX):
        return _routine(name.removeprefix(ROUTINE_PREFIX))
    if name.startswith(PRODUCT_PREFIX):
        found = loop_of(np.matmul, DTYPES[name.removeprefix(PRODUCT_PREFIX)])
        return 0 if found is None else found.function
    return 0


def _routine(name: str) -> int:
    """The address of a routine of LAPACK or BLAS, of SciPy's: f2py tells it."""
    from rewrite_engine.tensor.linalg.op import lapack  # few graphs have one

    get: Any = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(lapack(name[1:], np.dtype("float64"))._cpointer, None))


def pointer_of(value: Any) -> int:
    """Return the address of a C function that ctypes knows."""
    return ctypes.cast(value, ctypes.c_void_p).value or 0
