"""Attributes of types that programs with C code expect, and their names for C classes.

In those libraries all types are `CType`s, and arrays and numbers have `dtype_specs` and
`c_element_type`. Types of this library know nothing of C, so these are added when a program uses a
name of `link.c`.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.errors import CompileError
from rewrite_engine.errors import NoCompilerError as MissingGXX
from rewrite_engine.graph.intern import Interned
from rewrite_engine.graph.type import Type
from rewrite_engine.link import c
from rewrite_engine.scalar.type import ScalarType
from rewrite_engine.tensor.type import TensorType

__all__ = ["CType", "CompileError", "MissingGXX"]


class _AnyType(Interned):
    """Metaclass of a class that counts every type as its instance; subclasses count only their
    own.
    """

    def __instancecheck__(self, instance: Any) -> bool:
        return type.__instancecheck__(Type if self is PeerCType else self, instance)


class PeerCType(c.CType, metaclass=_AnyType):
    """Base class `CType` that counts every type as its instance."""


CType = PeerCType


def dtype_specs(self: Any) -> tuple[type, str, str]:
    """Return the class of a number, its name in C, and the name of its dtype in NumPy's C
    interface.
    """
    return self.numpy_dtype.type, f"npy_{self.dtype}", f"NPY_{self.dtype.upper()}"


def c_element_type(self: Any) -> str:
    """Return the name of an element's type in C."""
    return f"npy_{self.dtype}"


_classes: tuple[Any, ...] = (TensorType, ScalarType)
for _class in _classes:
    _class.dtype_specs, _class.c_element_type = dtype_specs, c_element_type
