"""Library functions that kernels call, from vectors to vectors, each compiled on first use.

Rules write those of the library (`scalars.py`). `numpy_exp`, `scipy_erf`, … call the inner loop of
that ufunc, by its address, on one vector. Loops of C source come from `own_code.py`.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import sys
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rewrite_engine.disk import DiskCache
from rewrite_engine.link.native import threads
from rewrite_engine.link.native.inner_loops import loop_of, ufuncs
from rewrite_engine.link.native.own_code import own_loops
from rewrite_engine.link.native.scalars import function_steps
from rewrite_engine.link.native.target import Machine
from rewrite_engine.link.native.text import ALIGNED_STACK, DTYPES, SIZE, Assembler
from rewrite_engine.rules import lowering
from rewrite_engine.scalar import machine as ops_of_machines

_texts = DiskCache("native", ".text")


class Unit(NamedTuple):
    """Function with its declarations, the units that it calls, and imported addresses."""

    text: str
    declared: tuple[str, ...]
    units: tuple[str, ...]
    imports: tuple[tuple[str, int], ...] = ()


def unit(full: str, machine: Machine) -> Unit:
    """Return the unit of a name: `exp_w8` is the function on vectors of 8, `exp_f_w8` that of
    float32.
    """
    if full == SPLIT_UNIT:
        imports = {"pool": threads.pool.ctypes.data} | (threads.functions() or {})
        threads.refresh()
        return Unit(threads.TEXT, threads.DECLARED, (), tuple(imports.items()))
    name, _, width = full.rpartition("_w")
    if name in ufuncs:
        return _of_ufunc(full, name, int(width))
    if name in own_loops:
        return _of_code(full, name, int(width))
    content = _texts.get((full, str(machine.fma), *_versions()), lambda: _of_rules(full, machine))
    text, declared, units = marshal.loads(content)
    return Unit(text, declared, units)


def _of_rules(full: str, machine: Machine) -> bytes:
    """The text of a function that rules of the phase "lower" write, its declarations and units."""
    name, _, width = full.rpartition("_w")
    name, kind = (name[:-2], "f") if name.endswith("_f") else (name, "d")
    steps = function_steps(name, kind)
    assert steps is not None
    t = Assembler(int(width), machine.fma)
    found = steps.write(t, kind, ["%x"])
    type_ = t.type(kind)
    aligned = ALIGNED_STACK + " " if t.units else ""
    head = f"define {type_} @{full}({type_} %x) {aligned}#0 {{\nentry:\n"
    text = head + "\n".join(t.lines) + f"\n  ret {type_} {found}\n}}\n"
    return marshal.dumps((text, tuple(t.declared), tuple(t.units)))


@cache
def _versions() -> tuple[str, ...]:
    """Return a key of what these texts depend on: the version of Python (of `marshal`), and the
    files that write them, by size and time.
    """
    folders = [os.path.dirname(path) for path in (__file__, lowering.__file__)]
    try:
        files = [file for folder in folders for file in os.scandir(folder)]
        found = [os.stat(ops_of_machines.__file__), *[f.stat() for f in files if f.is_file()]]
    except OSError:  # no folder: nothing is found again
        return (os.urandom(8).hex(),)
    return (sys.version, *sorted([f"{one.st_size} {one.st_mtime_ns}" for one in found]))


def _of_ufunc(full: str, name: str, width: int) -> Unit:
    """A unit that lets the inner loop of a ufunc do it."""
    ufunc = ufuncs[name]
    loop = loop_of(ufunc)
    assert loop is not None
    imports = [(f"loop_{name}", loop.function)]
    if loop.data:
        imports.append((f"data_{name}", loop.data))
    return _calling(full, name, Assembler(width), "d", ufunc.nin, imports)


def _of_code(full: str, name: str, width: int) -> Unit:
    """A unit that lets a loop of C code do it, on the lanes that count."""
    own = own_loops[name]
    imports = [(f"loop_{name}", own.find())]
    return _calling(full, name, Assembler(width), own.kind, own.nin, imports, counted=True)


def _calling(
    full: str, name: str, b: Assembler, kind: str, n: int, imports: list[tuple[str, int]],
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
