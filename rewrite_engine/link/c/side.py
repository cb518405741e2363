"""C interfaces of types: `c_side(type)`.

The core's types know nothing of C; their interfaces are here, by class. A type of a program has its
own, as a `CType`, or because it has methods of that name: methods that it does not define come from
the class it is derived from.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from rewrite_engine.errors import MethodNotDefined
from rewrite_engine.graph.type import Generic
from rewrite_engine.link.c.interface import CLinkerType, Sub
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.type import TensorType

C_METHODS = frozenset(name for name in dir(CLinkerType) if name.startswith("c_"))


def c_side(type_: Any) -> CLinkerType:
    """Return the object with the C methods of a type. Raises `MethodNotDefined` for a type without
    any.
    """
    if isinstance(type_, CLinkerType):
        return type_
    found = side_of(type_)
    if any([hasattr(type(type_), name) for name in ("c_declare", "c_init", "c_extract", "c_sync")]):
        return _Mixed(type_, found or CLinkerType())
    if found is None:
        raise MethodNotDefined(f"type {type_} has no C interface")
    return found


class _Mixed(CLinkerType):
    """C interface of a type with methods of its own, which override those of its base class."""

    def __init__(self, type_: Any, base: CLinkerType) -> None:
        self.type = type_
        for name in C_METHODS:
            if hasattr(type_, name):
                setattr(self, name, getattr(type_, name))
            elif getattr(type(base), name) is not getattr(CLinkerType, name):
                setattr(self, name, getattr(base, name))
        if not hasattr(type(type_), "c_is_valid"):
            self.c_is_valid = lambda value: "0"  # type: ignore[method-assign]
        if not hasattr(type(type_), "c_code_cache_version"):
            self.c_code_cache_version = lambda: ()  # type: ignore[method-assign]

    def __str__(self) -> str:
        return str(self.type)


@singledispatch
def side_of(type_: Any) -> CLinkerType | None:
    """Return the C interface of a core type, by its class."""
    return None


class ArraySide(CLinkerType):
    """C interface of arrays: `PyArrayObject *<name>`, NULL if there is none, and the type of its
    elements, `dtype_<name>`.

    Unaligned arrays are copied, so that elements can be read directly.
    """

    def __init__(self, type_: TensorType) -> None:
        self.type = type_
        self.element = f"npy_{type_.dtype}"
        self.number = f"NPY_{type_.dtype.upper()}"

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        return f"PyArrayObject* {name};\ntypedef {self.element} dtype_{name};"

    def c_init(self, name: str, sub: Sub) -> str:
        return f"{name} = NULL;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        if not check_input:
            return f"{name} = (PyArrayObject*)py_{name};\nPy_INCREF({name});"
        read = f"rw_array(py_{name}, {self.number}, {self.type.ndim})"
        return f"{name} = {read};\nif ({name} == NULL) {sub['fail']}"

    def c_sync(self, name: str, sub: Sub) -> str:
        return f"rw_set(&py_{name}, {name} ? (PyObject*){name} : Py_None);"

    def c_cleanup(self, name: str, sub: Sub) -> str:
        return f"Py_XDECREF({name});"

    def c_element_type(self) -> str:
        return self.element

    def c_is_valid(self, value: str) -> str:
        test = f"rw_is_array({value}, {self.number}, {self.type.ndim})"
        fixed = [(i, n) for i, n in enumerate(self.type.shape) if n is not None]
        lengths = [f"PyArray_DIMS((PyArrayObject*){value})[{i}] == {n}" for i, n in fixed]
        return " && ".join([test, *lengths])

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)


class NumberSide(CLinkerType):
    """C interface of single numbers."""

    def __init__(self, type_: ScalarType) -> None:
        self.type = type_
        self.element = f"npy_{type_.dtype}"
        self.number = f"NPY_{type_.dtype.upper()}"

    def c_headers(self, **kwargs: Any) -> list[str]:
        return ["<math.h>"]

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        return f"{self.element} {name};\ntypedef {self.element} dtype_{name};"

    def c_init(self, name: str, sub: Sub) -> str:
        return f"memset(&{name}, 0, sizeof({name}));"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        return f"if (rw_number(py_{name}, {self.number}, &{name}) != 0) {sub['fail']}"

    def c_sync(self, name: str, sub: Sub) -> str:
        return f"if (rw_set_number(&py_{name}, {self.number}, &{name}) != 0) {sub['fail']}"

    def c_literal(self, data: Any) -> str:
        value = data.item()
        if self.type.kind == "c" or not np.isfinite(value) or abs(value) >= 2**31:
            raise MethodNotDefined(f"{value} is not written as a literal")
        return f"({self.element})({int(value) if self.type.kind in 'biu' else repr(value)})"

    def c_is_simple(self) -> bool:
        return True

    def c_element_type(self) -> str:
        return self.element

    def c_is_valid(self, value: str) -> str:
        return f"rw_is_number({value}, {self.number})"

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)


class ObjectSide(CLinkerType):
    """C interface of any Python object: `PyObject *<name>`, NULL if there is none."""

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        return f"PyObject* {name};"

    def c_init(self, name: str, sub: Sub) -> str:
        return f"{name} = NULL;"

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        return f"{name} = py_{name};\nPy_INCREF({name});"

    def c_sync(self, name: str, sub: Sub) -> str:
        return f"rw_set(&py_{name}, {name} ? {name} : Py_None);"

    def c_cleanup(self, name: str, sub: Sub) -> str:
        return f"Py_XDECREF({name});"

    def c_is_valid(self, value: str) -> str:
        return "1"

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (1,)


side_of.register(TensorType, ArraySide)
side_of.register(ScalarType, NumberSide)
side_of.register(Generic, lambda type_: ObjectSide())
