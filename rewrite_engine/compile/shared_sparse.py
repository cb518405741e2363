"""Shared sparse matrices. The module is loaded when one is made."""

from __future__ import annotations

from typing import Any

from rewrite_engine.compile.shared import OPTIONS, SharedVariable
from rewrite_engine.errors import refuse_options, refuse_unknown
from rewrite_engine.scalar.dtype import dtype_name
from rewrite_engine.sparse.type import FORMATS, SparseTensorType
from rewrite_engine.sparse.variable import SparseVariable

__all__ = ["SparseTensorSharedVariable", "shared_sparse"]


class SparseTensorSharedVariable(SharedVariable, SparseVariable):
    """Shared variable that holds a sparse matrix."""

    __slots__ = ()


def shared_sparse(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    shape: Any = None,
    broadcastable: Any = None,
    format: str | None = None,
    **options: Any,
) -> SparseTensorSharedVariable:
    """Return a shared variable with a sparse matrix. format: by default the format of the value if
    it is csr or csc, else csr. Its lengths may change later, unless `shape` fixes some.
    """
    refuse_unknown("shared", options, (*OPTIONS, "format"))
    refuse_options("shared", "a sparse matrix takes only shape", broadcastable=broadcastable)
    format = format or (value.format if value.format in FORMATS else "csr")
    type_ = SparseTensorType(format, dtype_name(value.dtype), shape)
    kept = value if borrow else value.copy()
    return SparseTensorSharedVariable(type_, kept, strict, allow_downcast, name=name)
