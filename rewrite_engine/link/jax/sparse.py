"""Sparse matrices: where elements are stored is known while tracing, what they are need not be.

A matrix that is known stays one of SciPy. One with traced elements is a `SparseArray`. Products are
sums over the stored elements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rewrite_engine.graph.node import Apply
from rewrite_engine.link.jax.funcify import as_output, register, untraceable_error
from rewrite_engine.sparse.convert import SparseTranspose
from rewrite_engine.sparse.parts import (
    At,
    CSMProperties,
    DenseFromSparse,
    SpSum,
    WithData,
)
from rewrite_engine.sparse.product import DotAt, SparseDot
from rewrite_engine.sparse.tidy import Canonical


class SparseArray(NamedTuple):
    """Sparse matrix: a SciPy matrix that says where elements are stored, and the elements, in its
    order.
    """

    pattern: Any
    data: Any

    @property
    def shape(self) -> tuple[int, int]:
        """The lengths of both dimensions."""
        return self.pattern.shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return 2

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.data.dtype

    def places(self) -> tuple[Any, Any]:
        """Return the row and the column of each element."""
        numbers = np.arange(len(self.pattern.data))
        ends = self.pattern.indptr
        major = np.searchsorted(ends, numbers, side="right") - 1
        minor = np.asarray(self.pattern.indices)
        return (major, minor) if self.pattern.format == "csr" else (minor, major)


def is_sparse(x: Any) -> bool:
    """Return whether a value is a sparse matrix."""
    return isinstance(x, SparseArray) or hasattr(x, "indptr")


def as_sparse(x: Any) -> SparseArray:
    """Return a sparse matrix as a `SparseArray`."""
    return x if isinstance(x, SparseArray) else SparseArray(x, jnp.asarray(x.data))


@register(SparseDot)
def _(op: Any, node: Apply, x: Any, y: Any) -> Any:
    dtype = node.outputs[0].type.dtype
    if is_sparse(x) and is_sparse(y):
        y = _dense(as_sparse(y))
    if is_sparse(x):
        return _product(as_sparse(x), jnp.asarray(y, dtype))
    found = _product(_turned(as_sparse(y)), jnp.asarray(x, dtype).T)
    return found.T


def _product(a: SparseArray, y: Any) -> Any:
    """Return the product of a sparse matrix with a vector, or a matrix."""
    rows, columns = a.places()
    data = jnp.asarray(a.data, y.dtype)
    parts = (data if y.ndim == 1 else data[:, None]) * y[columns]
    return jax.ops.segment_sum(parts, rows, num_segments=a.shape[0])


def _turned(a: SparseArray) -> SparseArray:
    return SparseArray(a.pattern.T, a.data)


def _dense(a: SparseArray) -> Any:
    return jnp.zeros(a.shape, a.dtype).at[a.places()].add(a.data)


@register(SparseTranspose)
def _(op: Any, node: Apply, x: Any) -> Any:
    return _turned(as_sparse(x))


@register(DenseFromSparse)
def _(op: Any, node: Apply, x: Any) -> Any:
    return _dense(as_sparse(x))


@register(SpSum)
def _(op: Any, node: Apply, x: Any) -> Any:
    a = as_sparse(x)
    data = as_output(node, a.data)
    if op.axis is None:
        return data.sum()
    return jax.ops.segment_sum(data, a.places()[1 - op.axis], num_segments=a.shape[1 - op.axis])


@register(CSMProperties)
def _(op: Any, node: Apply, x: Any) -> Any:
    a = as_sparse(x)
    indices, ends = [np.asarray(n, "int32") for n in (a.pattern.indices, a.pattern.indptr)]
    return a.data, indices, ends, np.array(a.shape, "int32")


@register(WithData)
def _(op: Any, node: Apply, x: Any, data: Any) -> Any:
    pattern = as_sparse(x).pattern
    if np.shape(data) != np.shape(pattern.data):
        op.fail(node, f"{len(data)} elements where {len(pattern.data)} are stored")
    return SparseArray(pattern, data)


@register(Canonical)
def _(op: Any, node: Apply, x: Any) -> Any:
    a = as_sparse(x)
    if not a.pattern.has_canonical_format:
        raise untraceable_error(node, "elements are stored twice, or not in order")
    return a


@register(At)
def _(op: Any, node: Apply, y: Any, x: Any) -> Any:
    a = as_sparse(x)
    whole = _dense(as_sparse(y)) if is_sparse(y) else jnp.asarray(y)
    return jnp.broadcast_to(whole, a.shape)[a.places()]


@register(DotAt)
def _(op: Any, node: Apply, x: Any, y: Any, p: Any) -> Any:
    rows, columns = as_sparse(p).places()
    return (as_output(node, x)[rows] * as_output(node, y)[columns]).sum(axis=1)
