"""Conversions of sparse matrices: other formats, transposes, other dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import rewrite_engine.tensor as pt
from rewrite_engine.graph.node import Apply
from rewrite_engine.scalar.dtype import dtype_name
from rewrite_engine.sparse.constant import as_sparse_or_tensor_variable, as_sparse_variable
from rewrite_engine.sparse.op import KEEPS, SparseOp, is_sparse_variable
from rewrite_engine.sparse.parts import SparseFromDense, csm_data, with_data
from rewrite_engine.tensor.op import Shapes, same_shape

__all__ = ["AsFormat", "SparseTranspose", "cast", "to_format", "transpose"]

OTHER = {"csr": "csc", "csc": "csr"}


class AsFormat(SparseOp):
    """Sparse matrix stored by rows ("csr") or by columns ("csc"). Plain gradient."""

    __props__ = ("format",)
    only_lengths = True
    implied = KEEPS
    view_map = {0: [0]}
    samples: Sequence[Any] = (({"format": "csc"}, (3, 4)), ({"format": "csr"}, (3, 4)))

    def __init__(self, format: str) -> None:
        self.format = SparseFromDense(format).format

    def __str__(self) -> str:
        return f"to_{self.format}"

    def formats(self, *types: Any) -> list[str]:
        return [self.format]

    def shapes(self, *types: Any) -> Shapes:
        return same_shape(types[0])

    def function(self, node: Apply) -> Callable[..., Any]:
        format = self.format
        return lambda x: x.asformat(format)

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        return [output_gradients[0]]


def to_format(x: Any, format: str) -> Any:
    """Return a sparse or dense matrix as a sparse one of this format; itself if it is one."""
    x = as_sparse_or_tensor_variable(x)
    if not is_sparse_variable(x):
        return SparseFromDense(format)(x)
    return x if x.type.format == format else AsFormat(format)(x)


class SparseTranspose(SparseOp):
    """Transpose of a sparse matrix, in the other format; a view. Plain gradient."""

    __props__ = ()
    only_lengths = True
    view_map = {0: [0]}
    entries_of = 0
    implied = {**KEEPS, "band": lambda f, x: f.across(f.band(x))}
    samples: Sequence[Any] = (({}, (3, 4)),)

    def __str__(self) -> str:
        return "transpose"

    def notation(self, args: Sequence[Any]) -> Any:
        """Return the term as formulas write it, `x.T`."""
        return [(args[0], 10), ".T"]

    def formats(self, *types: Any) -> list[str]:
        return [OTHER[types[0].format]]

    def shapes(self, *types: Any) -> Shapes:
        return Shapes([[(0, 1), (0, 0)]])

    def function(self, node: Apply) -> Callable[..., Any]:
        return lambda x: x.T

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        return [self(output_gradients[0])]


_transpose = SparseTranspose()


def transpose(x: Any) -> Any:
    """Return the transpose of a sparse matrix, in the other format."""
    return _transpose(as_sparse_variable(x))


def cast(x: Any, dtype: Any) -> Any:
    """Return a sparse matrix with its elements in another dtype. Raises `DTypeError`."""
    x = as_sparse_variable(x)
    name = dtype_name(dtype)
    return x if x.type.dtype == name else with_data(x, pt.cast(csm_data(x), name))
