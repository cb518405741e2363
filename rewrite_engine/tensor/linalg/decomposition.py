"""Cholesky decomposition of matrices: `cholesky`, and ops for its gradient.

Gradients: I. Murray, "Differentiation of the Cholesky decomposition", arXiv:1602.07527 (2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import DTypeError
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.creation import Tri, eye
from rewrite_engine.tensor.index.diagonals import tril
from rewrite_engine.tensor.linalg.op import (
    SingularMatrixError,
    _MatrixOp,
    adjoint,
    floats,
    lapack,
    of_dtype,
)
from rewrite_engine.tensor.linalg.triangular import SolveTriangular
from rewrite_engine.tensor.product.dots import matmul
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["Cholesky", "CholeskyGradient", "CovarianceGradient", "cholesky"]


class Cholesky(_MatrixOp):
    """Triangular factor L of a positive definite matrix L @ L.T; only one triangle of the matrix is
    read.

    lower=False: U of U.T @ U (complex: conjugate transposes). on_error: for a matrix that is not
    positive definite "nan" returns a matrix of NaN, "raise" raises `SingularMatrixError`.
    """

    __props__ = ("lower", "on_error")
    signature = "(m,m)->(m,m)"
    samples: Sequence[Any] = (
        ({}, [[4.0, 0.0], [1.0, 3.0]]),
        ({"lower": False, "on_error": "raise"}, [[4.0, 1, 0.5], [0, 3.0, -1], [0, 0, 2.0]]),
    )

    def __init__(self, lower: bool = True, on_error: str = "nan") -> None:
        self.lower = lower
        self.on_error = on_error
        self.only_lengths = on_error == "nan"
        triangle = "lower_triangular" if lower else "upper_triangular"
        self.implied = {triangle: True, "square": True, "invertible": "positive_definite"}

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by LAPACK's `potrf`, on the transpose, as LAPACK stores
        columns.
        """
        potrf, below = lapack("potrf", dtype), not self.lower

        def run(a: Any) -> Any:
            factor, info = potrf(a.T, below)
            return None if info else factor.T

        return run

    def batched(self, *arrays: Any) -> Any:
        """Compute by `numpy.linalg.cholesky`; one by one only if a matrix has no factor."""
        (a,) = of_dtype(*arrays)
        try:
            return np.linalg.cholesky(a, upper=not self.lower)
        except np.linalg.LinAlgError:
            pass
        out = np.empty_like(a)
        for index in np.ndindex(a.shape[:-2]):
            try:
                out[index] = np.linalg.cholesky(a[index], upper=not self.lower)
            except np.linalg.LinAlgError:
                if self.on_error == "raise":
                    where = f"matrix {index} of the array" if index else "the matrix"
                    what = f"{where} of shape {a.shape} is not positive definite"
                    raise SingularMatrixError(what) from None
                out[index] = np.nan
        return out

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient of the triangle that is read."""
        (factor,), (g,) = outputs, output_gradients
        if self.lower:
            return [CholeskyGradient()(factor, _below(g))]
        return [adjoint(CholeskyGradient()(adjoint(factor), adjoint(g)))]


def _below(g: Any, depth: int = 3) -> Any:
    """Return a gradient with the same lower triangle, without masks for it in the last `depth`
    sums.
    """
    op, inputs = g.head, g.owner.inputs if g.owner is not None and depth else []
    if inputs and op in (m.add, m.neg):
        return op(*[_below(x, depth - 1) for x in inputs])
    is_tril = inputs and op is m.switch and inputs[0].head == Tri()
    if is_tril and inputs[0].owner.inputs[2].number == 0 and inputs[2].number == 0:
        return inputs[1]
    return g


class CholeskyGradient(_MatrixOp):
    """Gradient of the lower triangle of a matrix, from its Cholesky factor L and the gradient G of
    L.

    It is Φ(S + S.T) with S = inv(L).T @ Φ(L.T @ G) @ inv(L), where Φ is the lower triangle with
    half of the diagonal (complex: conjugate transposes). L has zeros above the diagonal; of G the
    lower triangle is read.
    """

    __props__ = ()
    nin = 2
    signature = "(m,m),(m,m)->(m,m)"
    only_lengths = True
    triangular = (0,)  # these inputs have zeros above the diagonal
    samples: Sequence[Any] = (
        ({}, [[4.0, 0.0], [1.0, 3.0]], (2, 2)),
        ({}, [[4.0, 0.0, 0.0], [-1, 3.0, 0.0], [2.0, 0.5, 2.0]], (3, 3)),
        ({}, (0, 0), (0, 0)),
    )

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by LAPACK, on conjugate transposes."""
        back = _Back(dtype)
        if dtype.kind == "c":
            return lambda low, g: back.of(low.T.conj(), g.T.conj()).T.conj()
        return lambda low, g: back.of(low.T, g.T).T

    def batched(self, *arrays: Any) -> Any:
        """Compute the gradients matrix by matrix."""
        low, g = of_dtype(*arrays)
        batch = np.broadcast_shapes(low.shape[:-2], g.shape[:-2])
        out = np.empty((*batch, *g.shape[-2:]), g.dtype)
        if out.size:
            low, g = [np.broadcast_to(x, out.shape) for x in (low, g)]
            one = self.single(g.dtype)
            for index in np.ndindex(batch):
                out[index] = one(low[index], g[index])
        return out

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients; that of G is the tangent of L (Murray, section 2.1, equation 8)."""
        (low, g), (found,), (h,) = inputs, outputs, output_gradients
        low, g, half = tril(low), tril(g), halved(h)
        forward, both = SolveTriangular(lower=True), m.add(half, adjoint(half))
        inner = forward(low, adjoint(forward(low, both)))
        moved = matmul(low, halved(inner))
        whole = matmul(m.add(found, adjoint(found)), matmul(low, inner))
        return [tril(m.sub(matmul(g, adjoint(halved(inner))), whole)), moved]


class CovarianceGradient(_MatrixOp):
    """Matrix Φ(a v @ v.T + b inv(L @ L.T)) of a Cholesky factor L, a matrix v, and numbers a and b.

    It is the gradient of a normal log density for the covariance matrix (Φ: see
    `CholeskyGradient`). Floats. L has zeros above the diagonal.
    """

    __props__ = ()
    nin = 4
    signature = "(m,m),(m,n),(),()->(m,m)"
    only_lengths = True
    triangular = (0,)
    samples: Sequence[Any] = (
        ({}, [[4.0, 0.0], [1.0, 3.0]], (2, 1), (), ()),
        ({}, [[4.0, 0.0, 0.0], [-1, 3.0, 0.0], [2.0, 0.5, 2.0]], (3, 2), (), ()),
        ({}, [[2.0]], (1, 0), (), ()),
        ({}, (0, 0), (0, 2), (), ()),
    )

    def dtypes(self, *types: TensorType) -> list[str]:
        if any([t.kind == "c" for t in types]):
            raise DTypeError("takes real numbers, not complex ones")
        return super().dtypes(*types)

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by `potri` and `syrk`, on transposes: L and v are in
        rows, LAPACK uses columns.
        """
        potri, syrk = lapack("potri", dtype), lapack("syrk", dtype)

        def run(low: Any, v: Any, a: Any, b: Any) -> Any:
            inverse, info = potri(low.T, 0)
            if info:
                return None
            out = syrk(a, v, b, inverse, overwrite_c=1)
            diagonal = out.reshape(-1, order="A")[:: len(low) + 1]
            diagonal *= 0.5
            return out.T

        return run

    def batched(self, *arrays: Any) -> Any:
        """Compute the matrices by the formula."""
        low, v, a, b = of_dtype(*arrays)
        phi = np.tri(low.shape[-1], dtype=low.dtype) - np.eye(low.shape[-1], dtype=low.dtype) / 2
        a, b = a[..., None, None], b[..., None, None]
        try:
            back = np.linalg.inv(low)
        except np.linalg.LinAlgError:
            back = np.full_like(low, np.nan)
        return (a * (v @ v.mT) + b * (back.mT @ back)) * phi

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients by the product rule and the derivative of the inverse (Giles, section
        2.2.3).
        """
        (low, v, a, b), (g,) = inputs, output_gradients
        half = halved(g)
        both, back = m.add(half, half.mT), SolveTriangular(lower=True)(low, eye(low.shape[0]))
        inverse = matmul(back.mT, back)
        return [
            m.mul(m.neg(b), tril(matmul(matmul(inverse, both), back.mT))),
            m.mul(a, matmul(both, v)),
            m.mul(half, matmul(v, v.mT)).sum(),
            m.mul(half, inverse).sum(),
        ]


#: rows up to which the inverse of the factor is faster than `trsm`, and both than halves
_SMALL, _BLOCK = 16, 64


class _Back:
    """Reverse derivative of the Cholesky gradient: the conjugate transpose of the gradient, from
    those of the factor and of its gradient.

    Small matrices use the formula (Murray, section 3.1, equation 10); larger ones are split into
    such blocks (section 3.2).
    """

    def __init__(self, dtype: Any) -> None:
        names = "trmm", "trtri", "hegst" if dtype.kind == "c" else "sygst", "trsm", "gemm"
        self.trmm, self.trtri, self.sygst, self.trsm, self.gemm = [
            lapack(name, dtype) for name in names
        ]
        #: for a number of rows the transpose of Φ of ones, and where it is not 0
        self.phi = cache(lambda n: ((np.tri(n) - 0.5 * np.eye(n)).T.astype(dtype), np.tri(n).T > 0))
        self.is_complex = dtype.kind == "c"

    def of(self, up: Any, g: Any) -> Any:
        n = len(up)
        if n > _BLOCK:
            return self.halves(up, g, n // 2)
        out = self.trmm(1, g, up.T.conj() if self.is_complex else up.T)
        inverse, info = self.trtri(up) if n <= _SMALL else (None, 1)
        if not info:
            return self.halved(self.sygst(out, inverse, 3, 0, 1)[0])
        out = self.halved(out)
        out = self.trsm(1, up, out + out.T.conj(), 1, 0, 2, 0, 1)
        return self.halved(self.trsm(1, up, out.T.conj(), 1, 0, 2))

    def halved(self, x: Any) -> Any:
        """Return Φ, transposed, with zeros also where a number below the diagonal was infinite."""
        phi, where = self.phi(len(x))
        return np.multiply(x, phi, out=np.zeros_like(x), where=where)

    def halves(self, up: Any, g: Any, half: int) -> Any:
        out, gemm = np.zeros(up.shape, up.dtype, "F"), self.gemm
        last = out[half:, half:] = self.of(up[half:, half:], g[half:, half:])
        first, corner = up[:half, :half], up[:half, half:]
        side = gemm(-1, corner, last + last.T.conj(), 1, g[:half, half:])
        side = out[:half, half:] = self.trsm(1, first, side, overwrite_b=True)
        rest = gemm(-1, corner, side, 1, g[:half, :half], trans_b=2)
        out[:half, :half] = self.of(first, rest)
        return out


def halved(x: Any) -> Any:
    """Return Murray's Φ: the lower triangle, with half of the diagonal."""
    return m.mul(m.add(tril(x), tril(x, -1)), 0.5)


def cholesky(
    x: TensorLike,
    lower: bool = True,
    *,
    check_finite: bool = True,
    overwrite_a: bool = False,
    on_error: str = "nan",
) -> TensorVariable:
    """Return the triangular factors L of positive definite matrices L @ L.T.

    a: shape (…, n, n); only the lower triangle is read. The result has that shape, floats.
    lower=False: U of U.T @ U; only the upper triangle is read. on_error: for a matrix that is not
    positive definite "nan" returns a matrix of NaN, "raise" raises `SingularMatrixError`.
    check_finite and overwrite_a have no effect. Raises `ValueError`, `NDimError`, `ShapeError`.

    >>> from rewrite_engine.tensor.linalg import cholesky
    >>> cholesky([[4.0, 2.0], [2.0, 5.0]]).eval()
    array([[2., 0.],
           [1., 2.]])
    """
    if on_error not in ("nan", "raise"):
        raise ValueError(located(f'on_error must be "nan" or "raise", not {on_error!r}'))
    return Cholesky(bool(lower), on_error).lifted(*floats(x))
