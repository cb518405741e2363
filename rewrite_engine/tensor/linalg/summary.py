"""Numbers that summarize matrices: `det`, `slogdet`, `trace`, `norm`.

Gradients: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", Advances in Automatic Differentiation (2008), section 2.2.4; G. Stewart, "On the
adjugate matrix", Linear Algebra Appl. 283 (1998).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import isnan, log
from operator import mul, ne
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import NDimError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.null import grad_not_implemented, is_disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.dimshuffle import expand_dims, normalize_axes
from rewrite_engine.tensor.elemwise_grad import zero_gradient
from rewrite_engine.tensor.index.diagonals import diagonal
from rewrite_engine.tensor.linalg.factor import Factor, FactorSLogDet
from rewrite_engine.tensor.linalg.op import (
    FEW,
    SingularMatrixError,
    _MatrixOp,
    _Structured,
    adjoint,
    double,
    floats,
    lapack,
    of_dtype,
    real_dtype,
    singular,
    unit,
)
from rewrite_engine.tensor.linalg.solvers import MatrixInverse, inv
from rewrite_engine.tensor.linalg.spectral import svd
from rewrite_engine.tensor.product.dots import matmul
from rewrite_engine.tensor.reduce import Max, Sum
from rewrite_engine.tensor.reduce import min as reduce_min
from rewrite_engine.tensor.reduce import sum as reduce_sum
from rewrite_engine.tensor.shape import larger, lengths
from rewrite_engine.tensor.statistics import descriptive
from rewrite_engine.tensor.statistics.descriptive import largest_size
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import Axis, SignAndLogDet, TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "Cofactors", "Det", "SLogDet", "cond", "det", "matrix_norm", "matrix_rank", "norm", "slogdet",
    "svdvals", "trace", "vector_norm",
]  # fmt: skip


def _pivots(dtype: Any) -> Any:
    """Return a function of matrices: whether `getrf` swaps an odd number of rows, and the diagonal
    of its result.

    The function returns no diagonal for singular and for large matrices. Returns None for complex
    dtypes.
    """
    getrf = lapack("getrf", double(dtype))

    def found(a: Any) -> tuple[int, list[float]]:
        both, order, info = getrf(a.T) if len(a) <= FEW else (a, a, 1)
        if info:
            return 0, []
        return sum(map(ne, order.tolist(), range(len(a)))) % 2, both.diagonal().tolist()

    return None if dtype.kind == "c" else found


class Det(_MatrixOp):
    """Determinants of square matrices."""

    __props__ = ()
    has_structure = True
    signature = "(m,m)->()"
    only_lengths = True
    samples: Sequence[Any] = (({}, (3, 3)), ({}, (1, 1)), ({}, (0, 0)))

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix: a product, if it neither overflows nor underflows on
        the way.
        """
        factored, limits = _pivots(dtype), np.finfo(dtype)
        least, most = float(limits.tiny), float(limits.max)

        def run(a: Any) -> Any:
            odd, pivots = factored(a)
            parts = [*accumulate(pivots, mul)]
            sizes = [*map(abs, parts)]
            if not (sizes and min(sizes) >= least and max(sizes) <= most):
                return None
            return np.array(-parts[-1] if odd else parts[-1], dtype)

        return factored and run

    def batched(self, *arrays: Any) -> Any:
        """Compute the determinants by `numpy.linalg.det`."""
        return np.linalg.det(*of_dtype(*arrays))

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the cofactors times the gradient (Giles, 2.2.4, for invertible matrices)."""
        return [m.mul(output_gradients[0], m.conjugated(Cofactors()(inputs[0])))]


class Cofactors(_MatrixOp):
    """Cofactors of the elements of square matrices: the gradient of the determinant.

    They are the determinant times the transposed inverse, and exist for singular matrices, too.
    """

    __props__ = ()
    signature = "(m,m)->(m,m)"
    only_lengths = True
    samples: Sequence[Any] = (({}, (3, 3)), ({}, (1, 1)), ({}, (0, 0)))

    def batched(self, *arrays: Any) -> Any:
        """Compute by `numpy.linalg.inv`; by singular values if that loses half of the digits."""
        (a,) = of_dtype(*arrays)
        try:
            inverse = np.linalg.inv(a)
        except np.linalg.LinAlgError:
            return _by_singular_values(a)
        with np.errstate(all="ignore"):
            out = np.linalg.det(a)[..., None, None] * inverse.mT
        poor = ~(_condition(a, inverse) < np.finfo(a.dtype).eps ** -0.5)
        if poor.any():
            out[poor] = _by_singular_values(a[poor])
        return out

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient by the inverse; at run time a matrix without an accurate inverse is
        an error.
        """
        (a,), (c,), (g,) = inputs, outputs, output_gradients
        turned = m.conjugated(c)
        scale = m.mul(Sum()(m.mul(g, turned)), unit(c))
        return [matmul(m.sub(scale, matmul(turned, g.mT)), adjoint(_SafeInverse()(a)))]


class _SafeInverse(MatrixInverse):
    """Inverses of matrices with at least one correct digit. Raises `SingularMatrixError`
    otherwise.
    """

    def single(self, dtype: Any) -> None:
        """Return None: the accuracy must be checked."""

    def batched(self, *arrays: Any) -> Any:
        """Compute the inverses as `MatrixInverse` does, and check their accuracy."""
        (a,) = of_dtype(*arrays)
        inverse = super().batched(a)
        lost = _condition(a, inverse) * np.finfo(a.dtype).eps > 0.1
        if lost.any():
            raise SingularMatrixError(singular(a, tuple(np.argwhere(lost)[0].tolist())))
        return inverse


def _condition(a: Any, inverse: Any) -> Any:
    """Return the factor by which errors in the elements of a matrix may grow in its inverse."""
    with np.errstate(all="ignore"):
        sizes = [np.abs(x).max((-2, -1), initial=0) for x in (a, inverse)]
        return sizes[0] * sizes[1] * a.shape[-1]


def _by_singular_values(a: Any) -> Any:
    """Return cofactors by singular values; NaN for a matrix that is not finite."""
    known = np.isfinite(a).all((-2, -1))[..., None, None]
    u, s, vh = np.linalg.svd(np.where(known, a, 0))
    ones = np.ones_like(s[..., :1])
    before = np.concatenate([ones, np.cumprod(s[..., :-1], -1)], -1)
    behind = np.concatenate([np.cumprod(s[..., :0:-1], -1)[..., ::-1], ones], -1)
    sign = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    found = sign * ((u * (before * behind)[..., None, :]) @ vh).conj()
    return np.where(known, found, np.nan).astype(a.dtype)


class SLogDet(_Structured, _MatrixOp):
    """Signs of the determinants of square matrices, and logarithms of their absolute values (0 and
    -inf for a singular one).

    as_written: see `_Structured`.
    """

    __call__: Callable[..., Any]  # (several outputs)
    signature = "(m,m)->(),()"
    output_names = ("sign", "logabsdet")
    only_lengths = True
    samples: Sequence[Any] = (({}, (3, 3)), ({}, (1, 1)), ({}, (0, 0)))

    def dtypes(self, *types: TensorType) -> list[str]:
        found, _ = super().dtypes(*types)
        return [found, real_dtype(found)]

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix, by sums of logarithms: of the Cholesky factor of a
        larger one that is positive definite.
        """
        factored, factor = _pivots(dtype), Factor().single(double(dtype))
        of_factor = FactorSLogDet().one(double(dtype))

        def run(a: Any) -> Any:
            if len(a) > FEW:
                return [np.asarray(x, dtype) for x in of_factor(*factor(a))]
            odd, pivots = factored(a)
            if not pivots or not all(pivots) or any(map(isnan, pivots)):
                return None
            odd += sum([x < 0 for x in pivots])
            size = sum(map(log, map(abs, pivots)))
            return np.array(-1 if odd % 2 else 1, dtype), np.array(size, dtype)

        return factored and run

    def batched(self, *arrays: Any) -> Any:
        """Compute both outputs by `numpy.linalg.slogdet`; a determinant that is NaN has no sign."""
        sign, size = np.linalg.slogdet(*of_dtype(*arrays))
        return np.where(np.isnan(size), np.nan, sign).astype(sign.dtype), size

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient of the logarithm; the sign is constant. A singular matrix is an error
        at run time.
        """
        (a,), (of_sign, g) = inputs, output_gradients
        if outputs[0].type.kind == "c" and not is_disconnected(of_sign):
            return [
                grad_not_implemented(
                    self, 0, a, "the sign of a complex determinant has no gradient"
                )
            ]
        if is_disconnected(g):
            return [zero_gradient(a)]
        return [m.mul(g, adjoint(MatrixInverse()(a)))]


def det(x: TensorLike) -> TensorVariable:
    """Return the determinants of matrices, shape (…, n, n), as floats.

    The gradient exists for every matrix; the second derivative raises `SingularMatrixError` at run
    time for a singular one. Raises `NDimError`, `ShapeError`.

    >>> from rewrite_engine.tensor.linalg import det
    >>> det([[2.0, 1.0], [0.0, 3.0]]).eval()
    array(6.)
    """
    return Det().lifted(*floats(x))


def slogdet(x: TensorLike) -> SignAndLogDet:
    """Return the signs of the determinants of matrices, and the logarithms of their absolute
    values: `sign` and `logabsdet`.

    x: shape (…, n, n). Raises `NDimError`, `ShapeError`; the gradient raises `SingularMatrixError`
    at run time.

    >>> from rewrite_engine.tensor.linalg import slogdet
    >>> slogdet([[2.0, 1.0], [0.0, -3.0]]).sign.eval()
    array(-1.)
    """
    return SLogDet().lifted(*floats(x))


def trace(X: TensorLike) -> TensorVariable:
    """Return the sums of the diagonals of matrices, the last two dimensions. Raise `NDimError`."""
    return diagonal(X, 0, -2, -1).sum(axis=-1)


_OF_VECTORS = "a number, inf or -inf"
#: the norms of matrices: the dimension that sizes are summed over, and what is taken of the sums
_SUMS: dict[Any, tuple[int, Any]] = {
    1: (-2, largest_size),
    -1: (-2, reduce_min),
    np.inf: (-1, largest_size),
    -np.inf: (-1, reduce_min),
}
#: what is taken of the singular values
_SPECTRAL: dict[Any, Any] = {"nuc": reduce_sum, 2: largest_size, -2: reduce_min}


def norm(
    x: TensorLike, ord: Any = None, axis: Axis = None, keepdims: bool = False
) -> TensorVariable:
    """Return the norm of vectors (one axis) or of matrices (two axes), as floats.

    axis: by default the last two dimensions of an array with at least two, else the only one. ord:
    for vectors a number, inf or -inf, 2 by default; for matrices "fro" (default), "nuc", 1, -1, 2,
    -2, inf, -inf. The gradient is NaN where the norm is 0, as it has no slope there. Raises
    `AxisError`, `NDimError`, `ValueError` for another ord.

    >>> from rewrite_engine.tensor.linalg import norm
    >>> norm([[3.0, 0.0], [4.0, 1.0]], 1).eval()
    array(7.)
    """
    x = as_tensor_variable(x)
    ord = {"inf": np.inf, "-inf": -np.inf, "f": "fro"}.get(ord, ord)
    every = tuple(range(x.type.ndim))
    axes = every[-2:] if axis is None else normalize_axes(axis, x.type.ndim)
    if len(axes) < 2:
        if isinstance(ord, str):
            raise ValueError(located(f"ord of a vector must be {_OF_VECTORS}, not {ord!r}"))
        return descriptive.norm(x, 2 if ord is None else ord, axes, keepdims)
    if len(axes) > 2:
        raise NDimError(located(f"norm: takes one axis or two, not {axis}", inputs=[x]))
    if ord in (None, "fro"):
        return descriptive.norm(x, 2, axes, keepdims)
    found = _of_matrices(x.dimshuffle(*[i for i in every if i not in axes], *axes), ord)
    return expand_dims(found, tuple(sorted(axes))) if keepdims else found


def _of_matrices(x: Any, ord: Any) -> Any:
    """Return the norms of the matrices in the last two dimensions. Raise `ValueError`."""
    if ord in _SUMS:
        axis, extreme = _SUMS[ord]
        return extreme(Sum(axis)(m.abs(floats(x)[0])), -1)
    if ord in _SPECTRAL:
        return _SPECTRAL[ord](svd(x, compute_uv=False), -1)
    what = "ord of a matrix must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"
    raise ValueError(located(f"{what}, not {ord!r}"))


def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: Any = "fro") -> TensorVariable:
    """Return the norms of matrices, the last two dimensions (see `norm`). Raise `NDimError`."""
    return norm(x, ord, (-2, -1), keepdims)


def vector_norm(
    x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2
) -> TensorVariable:
    """Return the norms of vectors along axes, by default of all elements: (sum |x|^ord)^(1/ord)."""
    return descriptive.norm(x, ord, axis, keepdims)


def svdvals(x: TensorLike) -> TensorVariable:
    """Return the singular values of matrices, falling, shape (…, k). Raise `NDimError`."""
    return svd(x, compute_uv=False)


def cond(x: TensorLike, p: Any = None) -> TensorVariable:
    """Return the condition numbers of matrices, shape (…, m, n).

    p: None or 2: the largest singular value over the smallest; -2: the smallest over the largest;
    another norm `p`: the norm of the matrix times that of its inverse. Raises `NDimError`,
    `ShapeError`; `SingularMatrixError` at run time.

    >>> cond([[2.0, 0.0], [0.0, 0.5]]).eval()
    array(4.)
    """
    if p in (None, 2, -2):
        s = svdvals(x)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    (x,) = floats(x)
    return matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p)


def matrix_rank(
    A: TensorLike, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> TensorVariable:
    """Return the number of singular values of matrices above `tol`, as int64.

    tol: by default `rtol` times the largest singular value; rtol: by default the larger length
    times the precision. hermitian has no effect. Raises `NDimError`.

    >>> matrix_rank([[1.0, 2.0], [2.0, 4.0]]).eval()
    array(1)
    """
    s = svdvals(A)
    if tol is None:
        rows, columns = lengths(as_tensor_variable(A))[-2:]
        precision = float(np.finfo(s.type.dtype).eps)
        tol = Max(-1, keepdims=True)(s) * (
            larger(rows, columns) * precision if rtol is None else rtol
        )
    else:
        tol = expand_dims(as_tensor_variable(tol), -1)
    return Sum(-1)(m.gt(s, tol))
