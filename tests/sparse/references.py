"""What the ops of sparse matrices mean, in the words of NumPy, for the dense values of all inputs.

Where values depend on how a matrix is stored (`CSMProperties`, `At`), `stored` is the matrix of
SciPy that was given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from rewrite_engine.sparse.type import coordinates


def at(y: Any, s: Any) -> Any:
    """The elements of a dense array where a matrix stores some."""
    return np.broadcast_to(y, s.shape)[coordinates(s)]


def placed(shape: Any, i: Any, j: Any, data: Any) -> Any:
    """A dense matrix with elements added up at places."""
    made = np.zeros(tuple(int(n) for n in shape), data.dtype)
    np.add.at(made, (i, j), data)
    return made


def csm(op: Any, data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """A matrix of its parts."""
    major = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    where = (major, indices) if op.format == "csr" else (indices, major)
    return placed(shape, *where, data)


def with_data(op: Any, x: Any, data: Any, stored: Any) -> Any:
    return placed(x.shape, *coordinates(stored), data)


def taken(op: Any, x: Any, *numbers: Any) -> Any:
    left = iter(int(n) for n in numbers)
    parts = [slice(*[next(left) if type(k) is type(op.idx_list) or k == "i" else k for k in e])
             for e in op.idx_list]  # fmt: skip
    return x[tuple(parts)]


COMPARED = {
    "eq": np.equal, "neq": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def slogdet(op: Any, a: Any) -> Any:
    return list(np.linalg.slogdet(a if a.dtype.kind == "f" else a.astype("float64")))


MEANS: dict[str, Callable[..., Any]] = {
    "CSM": csm,
    "WithData": with_data,
    "Canonical": lambda op, x: x,
    "EnsureSortedIndices": lambda op, x: x,
    "Remove0": lambda op, x: x,
    "At": lambda op, y, s, stored: at(y, stored),
    "DenseFromSparse": lambda op, x: x,
    "SparseFromDense": lambda op, x: x,
    "SpSum": lambda op, x: np.sum(x, op.axis),
    "AsFormat": lambda op, x: x,
    "SparseTranspose": lambda op, x: x.T,
    "Add": lambda op, x, y: x + y,
    "Multiply": lambda op, x, y: x * y,
    "Compare": lambda op, x, y: COMPARED[op.name](x, y),
    "DotAt": lambda op, x, y, p, stored: at(x @ y.T, stored),
    "SparseDot": lambda op, x, y: x @ y,
    "TrueDot": lambda op, x, y: x @ y,
    "FromCoordinates": lambda op, data, i, j, shape: placed(shape, i, j, data),
    "Elements": lambda op, x, i, j: x[i, j],
    "SparseRows": lambda op, x, i: x[i],
    "SparseSlices": taken,
    "SparseDiagonal": lambda op, x: np.diagonal(x),
    "SquareDiagonal": lambda op, v: np.diag(v),
    "SparseStack": lambda op, *xs: np.concatenate(xs, op.axis),
    "BlockDiagonal": lambda op, *xs: linalg.block_diag(*xs),
    "SpSolve": lambda op, a, b: np.linalg.solve(a, b),
    "SpLogDet": slogdet,
    "InverseAt": lambda op, a, stored: np.linalg.inv(a).T[coordinates(stored)],
}
