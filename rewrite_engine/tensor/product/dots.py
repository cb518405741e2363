"""Products of vectors and matrices: `Dot`, the batched `MatMul`, and `dot`, `matmul`, `outer`,
`tensordot`.

Solving and decomposing are in linear algebra (`linalg/`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import DTypeError, NDimError, ShapeError
from rewrite_engine.graph.node import Apply, Variable
from rewrite_engine.graph.op import Op
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.blockwise import Blockwise
from rewrite_engine.tensor.constant import as_tensor_variable, has_pattern, have_ranks
from rewrite_engine.tensor.dimshuffle import (
    dimshuffle,
    expand_dims,
    normalize_axes,
    squeeze,
    transpose,
    transposes,
)
from rewrite_engine.tensor.op import Shapes, TensorOp
from rewrite_engine.tensor.reshape import flatten, product, reshape
from rewrite_engine.tensor.shape import shape_tuple, specify_shape
from rewrite_engine.tensor.shaping.joins import upcast
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import DTypeLike, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["Dot", "MatMul", "dot", "inner", "matmul", "outer", "tensordot", "vdot"]


def _gram(f: Any, a: Any, b: Any) -> Any:
    """Prove that a product is symmetric: one matrix is the transpose of the other."""
    if a.type.ndim == b.type.ndim == 2 and a.type.kind == "f" and transposes(a, b):
        return f.because("the product of a matrix and its transpose")
    return f.unknown("it is not known to be a product of a matrix and its transpose", blame=a)


def _of_both(name: str) -> Any:
    """Return the proof that a product of matrices has a property of both of them."""

    def prove(f: Any, a: Any, b: Any) -> Any:
        return f.every("a product of", getattr(f, name), [a, b])

    return prove


_PRODUCT = {
    "nonneg": "nonneg", "symmetric": _gram, "positive_semidefinite": _gram, "square": _gram,
} | {
    name: _of_both(name)
    for name in ("diagonal", "lower_triangular", "upper_triangular", "orthogonal", "invertible")
}  # fmt: skip


class Dot(TensorOp):
    """Product of two vectors or matrices: the sum of a[..., k] * b[k, ...] over k, dtypes promoted.

    Raises `NDimError` for other numbers of dimensions, and `ShapeError` if the lengths of the
    summed dimensions differ: while building the graph if they are known, else at run time.
    """

    __props__ = ()
    implied = _PRODUCT
    nin = 2
    only_lengths = True
    samples: Sequence[Any] = (
        ({}, (2, 3), (3, 4)),
        ({}, (2, 3), (3,)),
        ({}, (3,), (3, 4)),
        ({}, (3,), (3,)),
        ({}, (2, 0), (0, 3)),
    )

    def dtypes(self, *types: TensorType) -> list[str]:
        return [upcast(types)]

    def shapes(self, *types: TensorType) -> Shapes:
        """Return the shape rule: the lengths of the summed dimensions must be equal."""
        a, b = types
        if any(t.ndim not in (1, 2) for t in types):
            raise NDimError(f"takes two vectors or matrices, not types {a} and {b}")
        inner = [(0, a.ndim - 1), (1, 0)]
        out = [(0, i) for i in range(a.ndim - 1)] + [(1, i) for i in range(1, b.ndim)]
        return Shapes([out], [inner])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]
    ) -> None:
        self.check(node, inputs)
        output_storage[0][0] = np.asarray(np.dot(*inputs))

    def vectorize(self, node: Apply, inputs: Sequence[Any]) -> Sequence[Any]:
        """Apply the op to a batch, with vectors as matrices of one row or one column."""
        row, column = [v.type.ndim == 1 for v in node.inputs]
        a, b = inputs
        if row and a.type.ndim == 2 and b.type.ndim == 2 - column:  # rows of one matrix
            return [self(a, b)]
        if column and b.type.ndim == 2 and a.type.ndim == 2 - row:
            return [self(b, a if row else transpose(a))]
        out = _matmul(expand_dims(a, -2) if row else a, expand_dims(b, -1) if column else b)
        gone = [-2] * row + [-1] * column
        return [squeeze(out, gone) if gone else out]

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Any]) -> list[Any]:
        a, b = map(m.conjugated, inputs)
        products = self._products(a, b, output_gradients[0])
        return [m.as_gradient_of(x, g) for x, g in zip(inputs, products, strict=True)]

    def _products(self, a: Any, b: Any, g: Any) -> list[Any]:
        if a.type.ndim == 1 and b.type.ndim == 1:
            return [g * b, g * a]
        if b.type.ndim == 1:
            return [outer(g, b), self(transpose(a), g)]
        if a.type.ndim == 1:
            return [self(b, g), outer(a, g)]
        return [self(g, transpose(b)), self(transpose(a), g)]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> list[Any]:
        return [_product_rule(self, inputs, eval_points)]

    def flops(self, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...]]) -> int:
        return 2 * inputs[0][-1] * math.prod(outputs[0])

    def __str__(self) -> str:
        return "dot"


class MatMul(Blockwise):
    """Product of arrays with two dimensions or more, as `numpy.matmul`: matrix products whose other
    dimensions broadcast.

    As in elementwise ops, only a dimension with static length 1 broadcasts (`BroadcastError`).
    """

    __props__ = ()
    implied = _PRODUCT
    batched = staticmethod(np.matmul)
    samples: Sequence[Any] = (
        ({}, (5, 2, 3), (5, 3, 4)),
        ({}, (1, 2, 3), (5, 3, 4)),
        ({}, (2, 3), (5, 3, 4)),
        ({}, (0, 2, 3), (3, 1)),
    )

    def __init__(self) -> None:
        super().__init__(Dot(), "(m,k),(k,n)->(m,n)")

    def __str__(self) -> str:
        return "MatMul"


def _product_rule(op: Op, inputs: Sequence[Variable], eval_points: Sequence[Any]) -> Any:
    """Return the tangent da b + a db of a product, where None stands for zero."""
    (a, b), (da, db) = inputs, eval_points
    terms = [op(da, b)] if da is not None else []
    terms += [op(a, db)] if db is not None else []
    if not terms:
        return None
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


_dot = Dot()
_matmul = MatMul()


def _is_sparse(x: Variable) -> bool:
    """Return whether a variable represents a sparse matrix, which has `@`."""
    return getattr(x.type, "format", None) in ("csr", "csc")


def dot(a: TensorLike, b: TensorLike) -> TensorVariable:
    """Return the product of `a` and `b` as `numpy.dot` does.

    A 0-d factor multiplies; else the last dimension of `a` is summed with the second to last (or
    only) one of `b`. A product with a sparse matrix is `a @ b`. Raises `ShapeError` if the lengths
    differ (while building the graph if they are known, else at run time).

    >>> from rewrite_engine.tensor import tensor
    >>> dot(tensor(shape=(2, 3)), tensor(shape=(3,))).type
    TensorType(float64, (2,))
    """
    if any([isinstance(x, Variable) and _is_sparse(x) for x in (a, b)]):
        return a @ b  # type: ignore[operator, return-value]
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if has_pattern([a, b]) and not have_ranks([a, b]):
        return _dot(a, b)
    if a.type.ndim == 0 or b.type.ndim == 0:
        return a * b
    if a.type.ndim > 2 or b.type.ndim > 2:
        return tensordot(a, b, [[a.type.ndim - 1], [max(0, b.type.ndim - 2)]])
    return _dot(a, b)


def matmul(x1: TensorLike, x2: TensorLike, dtype: DTypeLike = None) -> TensorVariable:
    """Return `x1 @ x2`: `dot` for vectors and matrices, matrix products in the last two dimensions
    for more.

    dtype: the dtype of the computation, None for NumPy's choice. Raises `NDimError` for a 0-d
    factor, `DTypeError`, `ShapeError`, `BroadcastError`.
    """
    x1, x2 = as_tensor_variable(x1), as_tensor_variable(x2)
    if dtype is not None:
        x1, x2 = _cast_alike(x1, dtype), _cast_alike(x2, dtype)
    if has_pattern([x1, x2]) and not have_ranks([x1, x2]):
        return _dot(x1, x2)
    if x1.type.ndim == 0 or x2.type.ndim == 0:
        what = "matmul takes arrays with at least one dimension"
        raise NDimError(located(what, inputs=[x1, x2], hint="use * for scalars"))
    if x1.type.ndim <= 2 and x2.type.ndim <= 2:
        return _dot(x1, x2)
    if x1.type.ndim == 1:
        return squeeze(_matmul(expand_dims(x1, 0), x2), -2)
    if x2.type.ndim == 1:
        return squeeze(_matmul(x1, expand_dims(x2, 1)), -1)
    return _matmul(x1, x2)


def _cast_alike(x: TensorVariable, dtype: Any) -> TensorVariable:
    if not np.can_cast(x.type.dtype, dtype, "same_kind"):
        what = f"matmul: {x.type.dtype} cannot be computed in {np.dtype(dtype)}"
        raise DTypeError(located(what, inputs=[x], hint="cast it"))
    return m.cast(x, dtype)


def outer(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return the matrix of products x[i] * y[j]; arrays are flattened first."""
    x, y = flatten(as_tensor_variable(x)), flatten(as_tensor_variable(y))
    return dimshuffle(x, 0, "x") * dimshuffle(y, "x", 0)


def vdot(a: TensorLike, b: TensorLike) -> TensorVariable:
    """Return the 0-d product of two arrays seen as vectors, the first one conjugated."""
    return _dot(flatten(m.conjugated(as_tensor_variable(a))), flatten(as_tensor_variable(b)))


def inner(a: TensorLike, b: TensorLike) -> TensorVariable:
    """Return the sum of products over the last dimension of both."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.type.ndim == 0 or b.type.ndim == 0:
        return a * b
    return tensordot(a, b, [[a.type.ndim - 1], [b.type.ndim - 1]])


def tensordot(a: TensorLike, b: TensorLike, axes: Any = 2) -> TensorVariable:
    """Return the sum of products over pairs of dimensions, as `numpy.tensordot`.

    axes: the number of last dimensions of `a` and first ones of `b`, or two sequences of
    dimensions. Raises `ShapeError`, `AxisError`.
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    n, m = a.type.ndim, b.type.ndim
    if not isinstance(axes, Sequence):
        left, right = tuple(range(n - index(axes), n)), tuple(range(axes))
    elif len(axes) == 2:
        left, right = [normalize_axes(one, d) for one, d in zip(axes, (n, m), strict=True)]
    else:
        what = f"tensordot: axes must be a number, or the axes of each factor, not {axes}"
        raise ShapeError(located(what, inputs=[a, b]))
    if len(left) != len(right) or len(left) > min(n, m):
        what = f"tensordot: axes {axes} do not fit the arrays"
        raise ShapeError(located(what, inputs=[a, b]))
    for i, j in zip(left, right, strict=True):
        s, t = a.type.shape[i], b.type.shape[j]
        if None not in (s, t) and s != t:
            what = f"tensordot: dimensions {i} and {j} have lengths {s} and {t}"
            raise ShapeError(located(what, inputs=[a, b]))
    free_a = [i for i in range(n) if i not in left]
    free_b = [j for j in range(m) if j not in right]
    sizes_a, sizes_b = shape_tuple(a), shape_tuple(b)
    if len(left) > 1:  # joined, unequal lengths might have equal products
        over = dict(zip(right, left, strict=True))
        b = specify_shape(b, [sizes_a[over[j]] if j in over else None for j in range(m)])
    rows = _matrix(transpose(a, [*free_a, *left]), len(free_a))
    columns = _matrix(transpose(b, [*right, *free_b]), len(right))
    product = _dot(rows, columns)
    return reshape(product, [sizes_a[i] for i in free_a] + [sizes_b[j] for j in free_b])


def _matrix(x: Any, split: int) -> Any:
    """Return x as a matrix: the first `split` dimensions are its rows, the others its columns."""
    if x.type.ndim == 2 and split == 1:
        return x
    sizes = shape_tuple(x)
    return reshape(x, [product(sizes[:split]), product(sizes[split:])])
