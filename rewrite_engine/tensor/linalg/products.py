"""Matrices made from others: `block_diag`, `kron`, `matrix_dot`, `matrix_power`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import NDimError, ShapeError
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.creation import eye, zeros
from rewrite_engine.tensor.linalg.solvers import inv
from rewrite_engine.tensor.product.blocks import BlockDiag
from rewrite_engine.tensor.product.dots import dot, matmul
from rewrite_engine.tensor.product.products import kron
from rewrite_engine.tensor.shape import lengths, specify_shape
from rewrite_engine.tensor.shaping.joins import upcast
from rewrite_engine.tensor.shaping.rearrange import broadcast_shape

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["block_diag", "kron", "matrix_dot", "matrix_power", "multi_dot"]


def _matrices(name: str, x: Any) -> Any:
    """Return an operand with at least two dimensions. Raise `NDimError`."""
    x = as_tensor_variable(x)
    if x.type.ndim < 2:
        raise NDimError(located(f"{name}: takes matrices, the last two dimensions", inputs=[x]))
    return x


def matrix_dot(*args: Any) -> TensorVariable:
    """Return the product of matrices, from left to right: `dot(dot(a, b), c)`.

    >>> from rewrite_engine.tensor.linalg import matrix_dot
    >>> matrix_dot([[1, 2]], [[3], [4]], [[2]]).eval()
    array([[22]])
    """
    return reduce(dot, args)


def multi_dot(arrays: Sequence[Any]) -> TensorVariable:
    """Return the product of several matrices; the first and the last may be vectors."""
    return matrix_dot(*arrays)


def matrix_power(M: TensorLike, n: int) -> TensorVariable:
    """Return powers of square matrices, shape (…, m, m).

    n: an int. For n < 0 the powers are those of the inverses, which are floats; for 0 they are unit
    matrices. About 2 log2(n) products are computed. Raises `NDimError`, `ShapeError`, `TypeError`
    for another n, `SingularMatrixError` at run time.

    >>> from rewrite_engine.tensor.linalg import matrix_power
    >>> matrix_power([[1, 1], [0, 1]], 5).eval()
    array([[1, 5],
           [0, 1]])
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise TypeError(located(f"matrix_power takes an integer, not {n!r}"))
    x, k = _matrices("matrix_power", M), abs(int(n))
    rows, columns = lengths(x)[-2:]
    if isinstance(rows, int) and isinstance(columns, int) and rows != columns:
        raise ShapeError(located("matrix_power: takes square matrices", inputs=[x]))
    if n < 0:
        x = inv(x)
    elif k < 2:  # no product compares the lengths
        x = specify_shape(x, [*[None] * (x.type.ndim - 1), rows])
    if not k:
        return m.second(x, eye(rows, dtype=x.type.dtype))
    found: Any = None
    while k:
        if k % 2:
            found = x if found is None else matmul(found, x)
        k //= 2
        x = matmul(x, x) if k else x
    return found


def block_diag(*matrices: Any) -> TensorVariable:
    """Return a matrix with the given matrices along its diagonal, zeros elsewhere.

    The matrices are the last two dimensions; the dimensions before them broadcast, dtypes are
    promoted. Raises `NDimError`, `BroadcastError`; `ValueError` without matrices.

    >>> from rewrite_engine.tensor.linalg import block_diag
    >>> block_diag([[1, 2]], [[3]]).eval()
    array([[1, 2, 0],
           [0, 0, 3]])
    """
    if not matrices:
        raise ValueError(located("block_diag: takes one matrix or more"))
    xs = [_matrices("block_diag", x) for x in matrices]
    if all([x.type.ndim == 2 for x in xs]):
        return BlockDiag()(*xs)
    sizes = [lengths(x) for x in xs]
    batch: Any = ()
    if any([x.type.ndim > 2 for x in xs]):
        batch = broadcast_shape(*[size[:-2] for size in sizes], arrays_are_shapes=True)
    rows, columns = [reduce(add, [s[i] for s in sizes]) for i in (-2, -1)]
    out = zeros((*batch, rows, columns), dtype=upcast([x.type for x in xs]))
    row: Any = 0
    column: Any = 0
    for x, size in zip(xs, sizes, strict=True):
        below, right = row + size[-2], column + size[-1]
        out = out[..., row:below, column:right].set(x)
        row, column = below, right
    return out
