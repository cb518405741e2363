"""Matrices of blocks: `Kron`, a Kronecker product, and `BlockDiag`.

They are ops so that rules see what the matrices are made of (`rules/linalg/structure.py`); what is
left of them in the end is written with other ops, `written_out`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import NDimError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.tensor.creation import zeros
from rewrite_engine.tensor.op import Computed, Shapes, TensorOp
from rewrite_engine.tensor.reduce import Sum
from rewrite_engine.tensor.reshape import reshape
from rewrite_engine.tensor.shape import lengths
from rewrite_engine.tensor.shaping.joins import upcast
from rewrite_engine.tensor.type import TensorType

__all__ = ["BlockDiag", "Kron"]

#: what holds of a matrix of blocks if it holds of all blocks
SHARED = (
    "square", "symmetric", "diagonal", "lower_triangular", "upper_triangular", "unit_diagonal",
    "orthogonal", "invertible", "positive_definite", "positive_semidefinite",
)  # fmt: skip


class _Blocks(TensorOp):
    """Base class of matrices made of blocks."""

    __props__ = ()
    has_structure = True
    only_lengths = True
    implied: Mapping[str, Any] = {name: name for name in SHARED}

    def dtypes(self, *types: TensorType) -> list[str]:
        return [upcast(types)]

    def check_ranks(self, types: Sequence[TensorType]) -> None:
        """Raise `NDimError` for operands that are not matrices."""
        if any([t.ndim != 2 for t in types]):
            raise NDimError(f"takes matrices, not {' and '.join([f'type {t}' for t in types])}")


class Kron(_Blocks):
    """Kronecker product of two matrices: each element of the first times all of the second, in
    blocks. Raises `NDimError`.
    """

    nin = 2
    samples: Sequence[Any] = (({}, (2, 3), (3, 2)), ({}, (1, 2), (0, 2)))

    def shapes(self, *types: TensorType) -> Shapes:
        self.check_ranks(types)
        return Shapes([[Computed(_times, [(0, i), (1, i)]) for i in range(2)]])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        dtype = node.outputs[0].type.numpy_dtype
        output_storage[0][0] = np.kron(*[np.asarray(x, dtype) for x in inputs])

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        """Return one product per element."""
        return math.prod(outputs[0])

    def written_out(self, a: Any, b: Any) -> Any:
        """Return the product by other ops."""
        apart = m.mul(a.dimshuffle(0, "x", 1, "x"), b.dimshuffle("x", 0, "x", 1))
        return reshape(apart, [p * q for p, q in zip(lengths(a), lengths(b), strict=True)])

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        """Return the sums over all places of an element."""
        a, b = inputs
        (rows, columns), (below, right) = lengths(a), lengths(b)
        apart = reshape(output_gradients[0], (rows, below, columns, right))
        x, y = [m.conjugated(v) for v in (a, b)]
        of_a = Sum((1, 3))(m.mul(apart, y.dimshuffle("x", 0, "x", 1)))
        of_b = Sum((0, 2))(m.mul(apart, x.dimshuffle(0, "x", 1, "x")))
        return [m.as_gradient_of(v, g) for v, g in ((a, of_a), (b, of_b))]


def _times(a: Any, b: Any) -> Any:
    return a * b


class BlockDiag(_Blocks):
    """Matrix with the given matrices along its diagonal, zeros elsewhere. Raises `NDimError`."""

    nin = None
    samples: Sequence[Any] = (({}, (2, 3), (1, 2), (0, 1)), ({}, (2, 2)))

    def shapes(self, *types: TensorType) -> Shapes:
        self.check_ranks(types)
        numbers = range(len(types))
        return Shapes([[Computed(_sum, [(k, i) for k in numbers]) for i in range(2)]])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        shape = [sum([x.shape[i] for x in inputs]) for i in range(2)]
        out = np.zeros(shape, node.outputs[0].type.numpy_dtype)
        row = column = 0
        for x in inputs:
            below, right = row + x.shape[0], column + x.shape[1]
            out[row:below, column:right] = x
            row, column = below, right
        output_storage[0][0] = out

    def written_out(self, *matrices: Any) -> Any:
        """Return the matrix by other ops."""
        rows, columns = [starts(matrices, i) for i in range(2)]
        out = zeros((rows[-1], columns[-1]), dtype=upcast([x.type for x in matrices]))
        for k, x in enumerate(matrices):
            out = out[rows[k] : rows[k + 1], columns[k] : columns[k + 1]].set(x)
        return out

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Any]) -> list[Any]:
        """Return the blocks of the gradient."""
        (g,) = output_gradients
        rows, columns = [starts(inputs, i) for i in range(2)]
        parts = [g[rows[k] : rows[k + 1], columns[k] : columns[k + 1]] for k in range(len(inputs))]
        return [m.as_gradient_of(x, part) for x, part in zip(inputs, parts, strict=True)]


def _sum(*lengths: Any) -> Any:
    return reduce(add, lengths)


def starts(matrices: Sequence[Any], axis: int) -> list[Any]:
    """Return where the blocks of a block diagonal matrix begin along a dimension, and its end."""
    ends: list[Any] = [0]
    for x in matrices:
        ends.append(ends[-1] + lengths(x)[axis])
    return ends
