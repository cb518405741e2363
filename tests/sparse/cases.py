"""Sparse matrices for tests: of each format and class, stored in several ways; and the samples that
ops of sparse matrices declare.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse as ss

import rewrite_engine.sparse as sparse
from rewrite_engine.graph.op import Op
from rewrite_engine.sparse.op import SparseOp
from rewrite_engine.sparse.type import FORMATS
from rewrite_engine.tensor.type import TensorType

#: how the elements of a matrix may be stored
STORED = ("plain", "zeros", "duplicates", "unsorted")


def dense(shape: Any, dtype: str = "float64", seed: int = 0) -> Any:
    """A dense array of numbers other than 0."""
    n = int(np.prod(shape))
    x = np.random.default_rng(seed).permutation(np.linspace(-2.1, 1.9, n)).reshape(shape)
    if dtype == "bool":
        return x > 0
    x = x + 0.5j * x[::-1] if dtype.startswith("complex") and x.ndim else x
    return (x * 3 if dtype.startswith("int") else x).astype(dtype)


def masked(shape: Any, dtype: str = "float64", seed: int = 0) -> Any:
    """A dense matrix with many zeros."""
    holes = np.random.default_rng(seed + 99).random(shape) < 0.5
    return np.where(holes, np.zeros((), dtype), dense(shape, dtype, seed))


def stored(x: Any, format: str = "csr", how: str = "plain", matrix: bool = False) -> Any:
    """A dense matrix as a sparse one: with zeros among what is stored; with elements in several
    parts; with indices that are not sorted.
    """
    make = FORMATS[format][matrix]
    if how == "plain" or x.dtype == bool:
        return make(x)
    rows, columns = np.nonzero(x) if how != "zeros" else np.indices(x.shape).reshape(2, -1)
    data = x[rows, columns]
    if how == "duplicates":
        parts = (data.copy(), np.zeros(len(data), data.dtype))
        half = (data / 4).astype(data.dtype) if data.dtype.kind in "fc" else data - data + 1
        parts = (data - half, half)
        rows, columns, data = np.tile(rows, 2), np.tile(columns, 2), np.concatenate(parts)
    major, minor, n = (
        (rows, columns, x.shape[0]) if format == "csr" else (columns, rows, x.shape[1])
    )
    order = np.lexsort((-minor, major))
    starts = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=n))]).astype("int32")
    return make((data[order], minor[order].astype("int32"), starts), shape=x.shape)


def as_dense(x: Any) -> Any:
    """A value, dense."""
    return x.toarray() if ss.issparse(x) else np.asarray(x)


def classes(base: type) -> list[Any]:
    """The ops below a class that compute something."""
    below = [c for cls in base.__subclasses__() for c in [cls, *classes(cls)]]
    ours = [c for c in below if c.__module__.startswith("rewrite_engine.sparse")]
    return [c for c in dict.fromkeys(ours) if c.samples]


class Case(NamedTuple):
    """An op, and what its inputs are."""

    op: Any
    given: tuple[Any, ...]

    @property
    def name(self) -> str:
        return type(self.op).__name__

    def is_sparse(self, i: int) -> bool:
        x = self.given[i]
        if not isinstance(x, tuple) or x[:1] == ("dense",):
            return False
        kinds = self.op.kinds if self.op.nin is not None else (self.op.kinds[0],) * 9
        return bool(kinds[i] != "dense")

    def values(
        self, format: str = "csr", how: str = "plain", dtype: str = "float64", matrix: bool = False
    ) -> list[Any]:
        """Values of the inputs."""
        made: list[Any] = []
        for i, x in enumerate(self.given):
            if x == "entries":
                made.append(dense((len(made[0].data),), dtype, i))
            elif not isinstance(x, tuple):
                made.append(np.asarray(x, "int64"))
            elif x[:1] == ("square",):
                a = masked(x[1:], dtype, i) + np.eye(x[1]).astype(dtype) * 9
                made.append(stored(a.astype(dtype), format, how, matrix))
            elif self.is_sparse(i):
                shape = x[1:] if x[:1] == ("sparse",) else x
                made.append(stored(masked(shape, dtype, i), format, how, matrix))
            else:
                made.append(dense(x[1:] if x[:1] == ("dense",) else x, dtype, i))
        return made

    def apply(self, values: Any, known: bool = False) -> tuple[list[Any], list[Any]]:
        """Variables for values, and the outputs. known: whether types know the shapes."""
        inputs = []
        for x in values:
            shape = x.shape if known else [1 if n == 1 else None for n in x.shape]
            is_sparse = ss.issparse(x)
            type_ = (
                sparse.SparseTensorType(x.format, x.dtype, shape)
                if is_sparse
                else TensorType(x.dtype, shape)
            )
            inputs.append(type_())
        return inputs, list(self.op.make_node(*inputs).outputs)


OPS = [
    c
    for c in classes(SparseOp)
    if c.perform is not Op.perform and c.__name__ not in ("Tidied", "OfTwo")
]
CASES = [Case(cls(**sample[0]), sample[1:]) for cls in OPS for sample in cls.samples]
