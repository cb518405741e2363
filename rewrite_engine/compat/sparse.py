"""Names of `pytensor.sparse` without a counterpart of ours: tests of values, and ops that are
functions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rewrite_engine import sparse
from rewrite_engine.compat.op_classes import stands_for
from rewrite_engine.errors import ForeignObjectError, describe
from rewrite_engine.graph.node import Variable
from rewrite_engine.sparse.join import SparseStack
from rewrite_engine.sparse.op import is_sparse_variable
from rewrite_engine.sparse.type import FORMATS, is_sparse
from rewrite_engine.tensor.type import TensorType

__all__ = ["Cast", "HStack", "StructuredDot", "VStack", "structured_elemwise"]

_mtypes = [classes[1] for classes in FORMATS.values()][::-1]

StructuredDot = stands_for(
    sparse.SparseDot,
    lambda: sparse.structured_dot,
    "Product whose gradient has only stored elements.",
    lambda op: op.structured,
)


def Cast(out_type: str) -> Any:
    """Return a function that converts to a dtype."""
    return partial(sparse.cast, dtype=out_type)


def _is_sparse(x: Any) -> bool:
    """Return whether a value is a sparse matrix, not a dense array. Raises `ForeignObjectError`."""
    if isinstance(x, Variable) or not (is_sparse(x) or isinstance(x, np.ndarray | list | tuple)):
        raise ForeignObjectError(f"expected a sparse or dense value, not {describe(x)}")
    return is_sparse(x)


def _is_dense(x: Any) -> bool:
    """Return whether a value is a dense array, not a sparse matrix. Raises `ForeignObjectError`."""
    return not _is_sparse(x)


def _is_sparse_variable(x: Any) -> bool:
    """Return whether a variable is a sparse matrix, not a tensor. Raises `ForeignObjectError`."""
    if not isinstance(getattr(x, "type", None), sparse.SparseTensorType | TensorType):
        raise ForeignObjectError(f"expected a sparse or dense variable, not {describe(x)}")
    return is_sparse_variable(x)


def _is_dense_variable(x: Any) -> bool:
    """Return whether a variable is a tensor, not a sparse matrix. Raises `ForeignObjectError`."""
    return not _is_sparse_variable(x)


def structured_elemwise(tensor_op: Any) -> Any:
    """Return a decorator that applies a function of tensors to the stored values of sparse
    matrices.
    """

    def decorator(fn: Any) -> Any:
        def applied(x: Any, *others: Any) -> Any:
            return sparse.structured(tensor_op, x, *others)

        applied.__name__, applied.__doc__ = fn.__name__, fn.__doc__
        return applied

    return decorator


def _stacking(function: Any) -> Any:
    """Return a constructor of functions that stack matrices."""

    def made(format: str = "csc", dtype: Any = None) -> Any:
        return lambda *blocks: function(blocks, format, dtype)

    return made


HStack = stands_for(
    SparseStack, _stacking(sparse.hstack), "Matrices beside each other.", lambda op: op.axis == 1
)
VStack = stands_for(
    SparseStack, _stacking(sparse.vstack), "Matrices below each other.", lambda op: op.axis == 0
)
