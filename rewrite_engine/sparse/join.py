"""Joins of sparse matrices: `hstack`, `vstack`, `block_diag`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy import sparse as scipy_sparse

from rewrite_engine.errors import InputCountError, NDimError, OptionError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.origin import located
from rewrite_engine.sparse.constant import as_sparse_or_tensor_variable
from rewrite_engine.sparse.convert import cast, to_format
from rewrite_engine.sparse.index import get_item_2d
from rewrite_engine.sparse.op import ANY, SparseOp, is_sparse_variable, result
from rewrite_engine.sparse.parts import DenseFromSparse, SparseFromDense
from rewrite_engine.tensor.math import as_gradient_of
from rewrite_engine.tensor.op import Computed, Shapes
from rewrite_engine.tensor.shape import shape_i

__all__ = ["BlockDiagonal", "SparseStack", "block_diag", "hstack", "vstack"]


def sum_of(*lengths: Any) -> Any:
    """Return the sum of lengths: integers, or variables."""
    return reduce(add, lengths)


class SparseStack(SparseOp):
    """Sparse matrices stacked below each other (axis 0), or next to each other (axis 1). Plain
    gradient.
    """

    __props__ = ("axis", "format")
    nin = None
    only_lengths = True
    samples: Sequence[Any] = (
        ({"axis": 0, "format": "csr"}, (2, 3), (1, 3)),
        ({"axis": 0, "format": "csc"}, (2, 3), (0, 3), (2, 3)),
        ({"axis": 1, "format": "csc"}, (2, 3), (2, 1)),
    )

    def __init__(self, axis: int, format: str) -> None:
        if axis not in (0, 1):
            raise OptionError(f"SparseStack: the axis must be 0 or 1, not {axis!r}")
        self.axis = axis
        self.format = SparseFromDense(format).format

    def __str__(self) -> str:
        return f"sparse_{'hv'[self.axis == 0]}stack"

    def takes(self, types: Any) -> None:
        """Accept one matrix or more. Raise `InputCountError`."""
        if not types:
            raise InputCountError("takes one matrix or more")
        super().takes(types)

    def formats(self, *types: Any) -> list[str]:
        return [self.format]

    def dtypes(self, *types: Any) -> list[str]:
        return [result(types)]

    def shapes(self, *types: Any) -> Shapes:
        along = Computed(sum_of, [(i, self.axis) for i in range(len(types))])
        other = 1 - self.axis
        out = [along, (0, other)] if self.axis == 0 else [(0, other), along]
        return Shapes([out], [[(i, other) for i in range(len(types))]])

    def function(self, node: Apply) -> Callable[..., Any]:
        stack = scipy_sparse.vstack if self.axis == 0 else scipy_sparse.hstack
        out = node.outputs[0].type
        return lambda *blocks: stack(blocks, out.format, out.numpy_dtype)

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (g,) = output_gradients
        whole = (slice(None),) * self.axis
        return [get_item_2d(g, (*whole, part)) for part in spans(inputs, self.axis)]


def spans(blocks: Sequence[Any], axis: int) -> list[slice]:
    """Return the positions of blocks that follow each other along an axis."""
    found: list[slice] = []
    start: Any = 0
    for block in blocks:
        stop = start + (block.type.shape[axis] or shape_i(block, axis))
        found.append(slice(start, stop))
        start = stop
    return found


def _stacked(axis: int, blocks: Any, format: str | None, dtype: Any) -> Any:
    made = [to_format(x, format or "csc") for x in blocks] if blocks else []
    found = SparseStack(axis, format or "csc")(*made)
    return found if dtype is None else cast(found, dtype)


def hstack(blocks: Any, format: str | None = None, dtype: Any = None) -> Any:
    """Return matrices, sparse or dense, next to each other as a sparse one.

    format: by default csc. Raises `ShapeError` if they have different numbers of rows,
    `InputCountError` without matrices.
    """
    return _stacked(1, blocks, format, dtype)


def vstack(blocks: Any, format: str | None = None, dtype: Any = None) -> Any:
    """Return matrices, sparse or dense, below each other as a sparse one.

    format: by default csc. Raises `ShapeError` if they have different numbers of columns,
    `InputCountError` without matrices.
    """
    return _stacked(0, blocks, format, dtype)


class BlockDiagonal(SparseOp):
    """Sparse matrix with sparse or dense matrices along its diagonal. Plain gradient."""

    __props__ = ("format",)
    nin = None
    kinds = (ANY,)
    only_lengths = True
    samples: Sequence[Any] = (
        ({"format": "csr"}, (2, 3), ("dense", 1, 2)),
        ({"format": "csc"}, (2, 3), (2, 2), (0, 1)),
    )

    def __init__(self, format: str = "csc") -> None:
        self.format = SparseFromDense(format).format

    def __str__(self) -> str:
        return "block_diag"

    def takes(self, types: Any) -> None:
        """Accept one matrix or more. Raise `InputCountError`, `NDimError`."""
        if not types:
            raise InputCountError("takes one matrix or more")
        super().takes(types)

    def formats(self, *types: Any) -> list[str]:
        return [self.format]

    def dtypes(self, *types: Any) -> list[str]:
        return [result(types)]

    def shapes(self, *types: Any) -> Shapes:
        for t in types:
            if t.ndim != 2:
                raise NDimError(f"takes matrices, not type {t}")
        every = range(len(types))
        return Shapes([[Computed(sum_of, [(i, axis) for i in every]) for axis in (0, 1)]])

    def function(self, node: Apply) -> Callable[..., Any]:
        out = node.outputs[0].type

        def run(*blocks: Any) -> Any:
            some = [
                b if scipy_sparse.issparse(b) else out.classes[0](np.asarray(b)) for b in blocks
            ]
            found = scipy_sparse.block_diag(some, out.format)
            return found if found.dtype == out.numpy_dtype else found.astype(out.numpy_dtype)

        return run

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (g,) = output_gradients
        parts = zip(inputs, spans(inputs, 0), spans(inputs, 1), strict=True)
        found = [(x, get_item_2d(g, (rows, columns))) for x, rows, columns in parts]
        return [gx if is_sparse_variable(x) else as_gradient_of(x, DenseFromSparse(False)(gx))
                for x, gx in found]  # fmt: skip


def block_diag(*matrices: Any, format: str = "csc") -> Any:
    """Return a sparse matrix with sparse or dense matrices along its diagonal, zeros elsewhere.

    >>> block_diag([[1, 2]], [[3]], format="csr").toarray().eval()
    array([[1, 2, 0],
           [0, 0, 3]])
    """
    if not matrices:
        raise InputCountError(located("block_diag takes one matrix or more"))
    return BlockDiagonal(format)(*map(as_sparse_or_tensor_variable, matrices))
