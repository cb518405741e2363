"""Conversion of values to sparse variables: `constant`, `as_sparse_variable`, and the constructors
`matrix`, `csr_matrix`, `csc_matrix`.
"""

from __future__ import annotations

from typing import Any

from rewrite_engine.config import config
from rewrite_engine.errors import ForeignObjectError, NDimError, NoTensorError, describe, message
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.scalar.dtype import dtype_name
from rewrite_engine.sparse.type import FORMATS, SparseTensorType, is_sparse
from rewrite_engine.sparse.variable import SparseConstant
from rewrite_engine.tensor.constant import as_tensor_variable

__all__ = [
    "as_sparse",
    "as_sparse_or_tensor_variable",
    "as_sparse_variable",
    "constant",
    "csc_dmatrix",
    "csc_fmatrix",
    "csc_matrix",
    "csr_dmatrix",
    "csr_fmatrix",
    "csr_matrix",
    "matrix",
    "sparse_formats",
]

sparse_formats = ["csc", "csr"]


def constant(x: Any, name: str | None = None) -> Any:
    """Return a constant with the value of a sparse array or matrix of SciPy, in its format (csr or
    csc, others become csr).

    Raises `NoTensorError` for other values, `NDimError` for sparse arrays of other ranks.

    >>> from scipy.sparse import csr_array
    >>> constant(csr_array([[0.0, 2.0]])).type
    Sparse(csr, float64, (1, 2))
    """
    if isinstance(x, SparseConstant):
        x = x.data
    if not is_sparse(x):
        what = f"not a sparse matrix: {describe(x)}"
        hint = (
            "create one by `scipy.sparse.csr_array(…)`, or use `tensor.constant` for dense arrays"
        )
        raise NoTensorError(message(what, hint=hint))
    if x.ndim != 2:
        raise NDimError(message(f"a sparse matrix must have 2 dimensions, not {x.ndim}"))
    format = x.format if x.format in FORMATS else "csr"
    return SparseTensorType(format, dtype_name(x.dtype)).make_constant(x, name)


def as_sparse_variable(x: Any, name: str | None = None, ndim: int | None = None) -> Any:
    """Return `x` as a sparse variable: itself if it is one, a constant for a value of SciPy.

    ndim: accepted for compatibility; must be 2 or None. A pattern (an object with `__apply_op__`)
    is returned unchanged. Raises `ForeignObjectError` for a dense variable, `NoTensorError` for
    other values, `NDimError`.
    """
    if hasattr(type(x), "__apply_op__"):
        return x
    if ndim not in (None, 2):
        raise NDimError(message(f"a sparse matrix must have 2 dimensions, not {ndim}"))
    if isinstance(x, Apply):
        x = x.default_output()
    if not isinstance(x, Variable):
        return constant(x, name)
    if not isinstance(x.type, SparseTensorType):
        hint = "use `csr_from_dense(x)` to make a dense matrix sparse"
        raise ForeignObjectError(message("the variable is not sparse", inputs=[x], hint=hint))
    return x


as_sparse = as_sparse_variable


def as_sparse_or_tensor_variable(x: Any, name: str | None = None, **options: Any) -> Any:
    """Return a sparse variable for a sparse object, a tensor variable for numbers, arrays and
    lists.

    options: see `as_tensor_variable`.
    """
    if hasattr(type(x), "__apply_op__"):
        return x
    if isinstance(getattr(x, "type", None), SparseTensorType) or is_sparse(x):
        return as_sparse_variable(x, name)
    return as_tensor_variable(x, name, **options)


def matrix(format: str, name: str | None = None, dtype: Any = None, shape: Any = None) -> Any:
    """Return a new sparse variable.

    format: "csr" or "csc". dtype: by default `config.floatX`. shape: two lengths, None if unknown.
    Raises `OptionError`, `DTypeError`, `NDimError`.
    """
    return SparseTensorType(format, config.floatX if dtype is None else dtype, shape)(name)


def csr_matrix(name: str | None = None, dtype: Any = None, shape: Any = None) -> Any:
    """Return a new sparse variable stored by rows (arguments: see `matrix`)."""
    return matrix("csr", name, dtype, shape)


def csc_matrix(name: str | None = None, dtype: Any = None, shape: Any = None) -> Any:
    """Return a new sparse variable stored by columns (arguments: see `matrix`)."""
    return matrix("csc", name, dtype, shape)


csr_dmatrix, csc_dmatrix = SparseTensorType("csr", "float64"), SparseTensorType("csc", "float64")
csr_fmatrix, csc_fmatrix = SparseTensorType("csr", "float32"), SparseTensorType("csc", "float32")
