"""Products of matrices with at least one sparse operand.

| function | the result | gradient of a sparse operand |
|---|---|---|
| `dot` | dense | plain: all its elements are stored |
| `structured_dot`, `x @ y` | dense if one operand is | structured |
| `true_dot` | sparse | plain: what the product of gradients stores |
| `sampling_dot` | sparse, with a given pattern | plain |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import rewrite_engine.tensor as pt
from rewrite_engine.errors import ForeignObjectError, NDimError, OptionError
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.null import disconnected
from rewrite_engine.sparse.constant import as_sparse_variable
from rewrite_engine.sparse.convert import transpose
from rewrite_engine.sparse.elementwise import conjugate, pair, structured
from rewrite_engine.sparse.op import ANY, DENSE, SPARSE, SparseOp, is_sparse_variable, result
from rewrite_engine.sparse.parts import (
    At,
    SparseFromDense,
    as_structured,
    with_data,
)
from rewrite_engine.sparse.tidy import canonical
from rewrite_engine.sparse.type import SparseTensorType, coordinates
from rewrite_engine.tensor.math import as_gradient_of, conjugated
from rewrite_engine.tensor.op import Shapes

__all__ = [
    "DotAt",
    "SparseDot",
    "TrueDot",
    "dot",
    "matmul",
    "sampling_dot",
    "structured_dot",
    "true_dot",
    "usmm",
]

#: bytes of rows that are multiplied at once
CHUNK = 1 << 22


def conj(x: Any) -> Any:
    """Return the conjugate of a complex matrix, sparse or dense; a real one unchanged."""
    if is_sparse_variable(x):
        return conjugate(x) if x.type.numpy_dtype.kind == "c" else x
    return conjugated(x)


def turned(x: Any) -> Any:
    """Return the transpose of a matrix, sparse or dense."""
    return transpose(x) if is_sparse_variable(x) else x.T


class DotAt(SparseOp):
    """Elements of x @ y.T at the stored elements of p, in the order of `csm_data(p)`: a vector.
    Only these are computed.

    Inputs: dense matrices x (m, k) and y (n, k), a sparse one p (m, n). Nothing depends on the
    elements of p.
    """

    __props__ = ()
    nin = 3
    kinds = (DENSE, DENSE, SPARSE)
    entries_of = 2
    only_lengths = True
    samples: Sequence[Any] = (
        ({}, ("dense", 3, 2), ("dense", 4, 2), (3, 4)),
        ({}, ("dense", 3, 1), ("dense", 4, 1), (3, 4)),
    )

    def __str__(self) -> str:
        return "dot_at"

    def formats(self, *types: Any) -> list[None]:
        return [None]

    def dtypes(self, *types: Any) -> list[str]:
        return [result(types[:2])]

    def shapes(self, *types: Any) -> Shapes:
        if types[0].ndim != 2 or types[1].ndim != 2:
            raise NDimError("takes two dense matrices and a sparse one")
        return Shapes([[None]], [[(0, 1), (1, 1)], [(0, 0), (2, 0)], [(1, 0), (2, 1)]])

    def function(self, node: Apply) -> Callable[..., Any]:
        dtype = node.outputs[0].type.numpy_dtype

        def run(x: Any, y: Any, p: Any) -> Any:
            rows, columns = coordinates(p)
            if x.shape[1] == 1:
                return (x[:, 0][rows] * y[:, 0][columns]).astype(dtype, copy=False)
            found = np.empty(len(rows), dtype)
            step = max(1, CHUNK // max(1, x.shape[1] * dtype.itemsize))
            for k in range(0, len(rows), step):
                part = slice(k, k + step)
                found[part] = np.einsum("ij,ij->i", x[rows[part]], y[columns[part]])
            return found

        return run

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Connect the dense matrices only."""
        return [[True], [True], [False]]

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (x, y, p), (g,) = inputs, output_gradients
        of = with_data(p, g)
        gx, gy = structured_dot(of, conj(y)), structured_dot(transpose(of), conj(x))
        return [as_gradient_of(x, gx), as_gradient_of(y, gy), disconnected()]


class Product(SparseOp):
    """Base class of products of two matrices; the first or both are sparse.

    structured: whether gradients of sparse operands are omitted where no element is stored.
    """

    __props__ = ("structured",)
    nin = 2
    kinds: Sequence[str] = (ANY, ANY)
    only_lengths = True

    def __init__(self, structured: bool = False) -> None:
        self.structured = bool(structured)

    def dtypes(self, *types: Any) -> list[str]:
        return [result(types)]

    def shapes(self, *types: Any) -> Shapes:
        a, b = types
        if a.ndim not in (1, 2) or b.ndim not in (1, 2):
            raise NDimError(f"takes matrices, or a matrix and a vector, not types {a} and {b}")
        inner = [(0, a.ndim - 1), (1, 0)]
        out = [(0, i) for i in range(a.ndim - 1)] + [(1, i) for i in range(1, b.ndim)]
        return Shapes([out], [inner])


class SparseDot(Product):
    """Product as a dense array; one or both operands are sparse, and a dense one may be a
    vector.
    """

    samples: Sequence[Any] = tuple(
        [
            ({"structured": s}, *given)
            for s in (False, True)
            for given in (
                ((3, 4), ("dense", 4, 2)),
                ((3, 4), ("dense", 4)),
                (("dense", 2, 3), (3, 4)),
                (("dense", 3), (3, 4)),
                ((3, 4), (4, 2)),
            )
        ]
    )

    def __str__(self) -> str:
        return "structured_dot" if self.structured else "sparse_dot"

    def notation(self, args: Sequence[Any]) -> Any:
        """Return the term as formulas write it, `x @ y`."""
        return [(args[0], 7), " @ ", (args[1], 8)]

    def formats(self, *types: Any) -> list[None]:
        if not any([isinstance(t, SparseTensorType) for t in types]):
            raise ForeignObjectError(
                "one of the operands must be sparse; use `tensor.dot` for dense ones"
            )
        return [None]

    def function(self, node: Apply) -> Callable[..., Any]:
        x, y = [v.type for v in node.inputs]
        dtype = node.outputs[0].type.numpy_dtype
        if isinstance(x, SparseTensorType) and isinstance(y, SparseTensorType):
            return lambda x, y: (x @ y).toarray().astype(dtype, copy=False)
        if x.dtype == y.dtype and dtype.kind in "fc":
            return lambda x, y: x @ y
        return lambda x, y: np.asarray(x @ y, dtype)

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any] | None:
        """Apply the op to a batch of the dense operand, joined to one matrix."""
        first = is_sparse_variable(inputs[1])  # the dense one
        if first == is_sparse_variable(inputs[0]):
            return None
        s, d = inputs if not first else (inputs[1], inputs[0])
        vector = node.inputs[1 - first].type.ndim == 1
        if not first:
            s = transpose(s)
            d = d if vector else pt.swapaxes(d, -1, -2)
        lengths = pt.shape_tuple(d)[:-1]
        found = self(pt.reshape(d, (-1, d.shape[-1])), s)
        found = pt.reshape(found, (*lengths, found.shape[-1]))
        return [found if first or vector else pt.swapaxes(found, -1, -2)]

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (x, y), (g,) = inputs, output_gradients
        row, column = x.type.ndim == 1, y.type.ndim == 1
        wide = g[None] if row else g[:, None] if column else g
        a, b = conj(x[None] if row else x), conj(y[:, None] if column else y)
        if row:
            gx = self(conj(y), g)
        else:
            gx = self._of_operand(x, wide, turned(b))
        if column:
            gy = self(turned(a), g)
        else:
            gy = self._of_operand(y, turned(a), wide)
        return [gv if is_sparse_variable(v) else as_gradient_of(v, gv)
                for v, gv in zip(inputs, (gx, gy), strict=True)]  # fmt: skip

    def _of_operand(self, v: Any, left: Any, right: Any) -> Any:
        """Return the gradient of an operand: left @ right; for a structured one only the part at
        stored elements.
        """
        sparse = [is_sparse_variable(w) for w in (left, right)]
        if not is_sparse_variable(v):
            return self(left, right) if any(sparse) else pt.dot(left, right)
        if not self.structured:
            return SparseFromDense(v.type.format)(
                self(left, right) if any(sparse) else pt.dot(left, right)
            )
        if any(sparse):
            return as_structured(v, lambda p: At()(self(left, right), p))
        return as_structured(v, lambda p: DotAt()(left, right.T, p))


class TrueDot(Product):
    """Product of a sparse matrix and another one, as a sparse matrix in the format of the first."""

    kinds = (SPARSE, ANY)
    implied = {"band": lambda f, x, y: f.along(f.band(x), f.band(y))}
    samples: Sequence[Any] = tuple(
        [
            ({"structured": s}, *given)
            for s in (False, True)
            for given in (((3, 4), (4, 2)), ((3, 4), ("dense", 4, 2)), ((0, 3), (3, 2)))
        ]
    )

    def __str__(self) -> str:
        return "true_dot{structured}" if self.structured else "true_dot"

    def shapes(self, *types: Any) -> Shapes:
        if types[1].ndim != 2:
            raise NDimError(f"takes two matrices, not type {types[1]}; use `dot` for vectors")
        return super().shapes(*types)

    def function(self, node: Apply) -> Callable[..., Any]:
        out = node.outputs[0].type
        make, format, dtype = out.classes[0], out.format, out.numpy_dtype

        def run(x: Any, y: Any) -> Any:
            found = x @ y
            if isinstance(found, np.ndarray):
                found = make(found)
            found = found if found.format == format else found.asformat(format)
            return found if found.dtype == dtype else found.astype(dtype)

        return run

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        (x, y), (g,) = inputs, output_gradients
        gx, back = self(g, turned(conj(y))), transpose(conj(x))
        if not is_sparse_variable(y):
            return [self._kept(x, gx), as_gradient_of(y, SparseDot()(back, g))]
        return [self._kept(x, gx), self._kept(y, self(back, g))]

    def _kept(self, x: Any, g: Any) -> Any:
        return as_structured(x, lambda at: At()(g, at)) if self.structured else g


def dot(x: Any, y: Any) -> Any:
    """Return the product of x and y, one or both sparse: a dense matrix, or a vector if a dense
    operand is one.

    The gradient of a sparse operand is plain: all of its elements are computed, and stored. Raises
    `NoTensorError` if both are dense, `NDimError`, `ShapeError`.
    """
    return SparseDot()(*pair("dot", x, y))


def structured_dot(x: Any, y: Any) -> Any:
    """Return the product of x and y with a structured gradient: dense, or sparse if both are
    sparse.

    Only the stored elements of a sparse operand have a gradient. Raises `NoTensorError` if both are
    dense, `NDimError`, `ShapeError`.
    """
    x, y = pair("dot", x, y)
    both = is_sparse_variable(x) and is_sparse_variable(y)
    return TrueDot(True)(x, y) if both else SparseDot(True)(x, y)


def true_dot(x: Any, y: Any, grad_preserves_dense: bool = True) -> Any:
    """Return the product of x and y, one or both sparse, as a sparse matrix with plain gradients.

    The gradient of a dense operand is dense: `grad_preserves_dense=False` is refused.
    """
    if not grad_preserves_dense:
        what = (
            "true_dot: the gradient of a dense matrix is dense; grad_preserves_dense must be True"
        )
        raise OptionError(what)
    x, y = pair("dot", x, y)
    if is_sparse_variable(x):
        return TrueDot()(x, y)
    return transpose(TrueDot()(transpose(y), x.T))


def matmul(x: Any, y: Any) -> Any:
    """Return `x @ y`, computed by `structured_dot`."""
    return structured_dot(x, y)


def sampling_dot(x: Any, y: Any, p: Any) -> Any:
    """Return p * (x @ y.T), computed only at the stored elements of p.

    x: a dense (m, k) matrix, y: (n, k), p: a sparse (m, n) one. Raises `NDimError`, `ShapeError`.
    """
    x, y, p = pt.as_tensor_variable(x), pt.as_tensor_variable(y), canonical(as_sparse_variable(p))
    return structured(lambda data: data * DotAt()(x, y, p), p)


def usmm(alpha: Any, x: Any, y: Any, z: Any) -> Any:
    """Return alpha * (x @ y) + z, where x or y is sparse, as a dense matrix."""
    return alpha * dot(x, y) + z
