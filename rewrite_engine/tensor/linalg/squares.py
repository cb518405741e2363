"""Least squares, `lstsq`; pseudo-inverses, `pinv`; linear equations of tensors, `tensorsolve` and
`tensorinv`.

Gradients: G. Golub & V. Pereyra, SIAM J. Numer. Anal. 10 (1973).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import NDimError
from rewrite_engine.graph.null import is_disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.constant import as_tensor_variable
from rewrite_engine.tensor.dimshuffle import normalize_axes, squeeze
from rewrite_engine.tensor.elemwise_grad import zero_gradient
from rewrite_engine.tensor.linalg.op import (
    _MatrixOp,
    adjoint,
    floats,
    in_triangle,
    of_dtype,
    of_finite,
    real_dtype,
)
from rewrite_engine.tensor.linalg.solvers import inv, mirrored, solve
from rewrite_engine.tensor.linalg.spectral import SVD
from rewrite_engine.tensor.linalg.triangular import columns
from rewrite_engine.tensor.product.dots import matmul
from rewrite_engine.tensor.reduce import Sum
from rewrite_engine.tensor.shape import larger, lengths
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["Lstsq", "MatrixPinv", "lstsq", "pinv", "tensorinv", "tensorsolve"]


class Lstsq(_MatrixOp):
    """Least squares solution x of a @ x = b, for matrices b; the rank of `a`, and its singular
    values.

    If there are several solutions, x is the smallest. The third input is the fraction of the
    largest singular value up to which others count as 0 (the precision of the dtype, if it is not
    between 0 and 1). Raises `SingularMatrixError` if the decomposition is not found, as with NaN or
    infinite numbers.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ()
    nin = 3
    signature = "(m,n),(m,p),()->(n,p),(),(k)"
    output_names = ("x", "rank", "s")
    samples: Sequence[Any] = (
        ({}, (3, 2), (3, 2), 1e-15),
        ({}, (2, 3), (2, 1), 1e-15),
        ({}, (2, 2), (2, 3), -1.0),
    )

    def dtypes(self, *types: TensorType) -> list[str]:
        x = super().dtypes(*types[:2])[0]
        return [x, "int32", real_dtype(x)]

    def batched(self, *arrays: Any) -> Any:
        """Solve all equations by `numpy.linalg.svd`."""
        a, b = of_dtype(*arrays[:2])
        u, s, vh = of_finite(np.linalg.svd, a, full_matrices=False)
        part = np.asarray(arrays[2], s.dtype)[..., None]
        part = np.where(
            (part > 0) & (part < 1), part, np.finfo(s.dtype).eps / 2
        )  # as LAPACK has it
        kept = s > part * s.max(-1, initial=0, keepdims=True)
        over = np.divide(1, s, out=np.zeros_like(s), where=kept)[..., None]
        x = vh.mT.conj() @ (over * (u.mT.conj() @ b))
        batch = x.shape[:-2]
        rank, s = np.broadcast_to(kept.sum(-1), batch), np.broadcast_to(s, (*batch, s.shape[-1]))
        return x, rank.copy(), s.copy()

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient by Golub & Pereyra, equation 4.12, which assumes constant rank."""
        (a, b, part), x = inputs, outputs[0]
        g, _, of_s = output_gradients
        ga, gb = zero_gradient(a), zero_gradient(b)
        if not is_disconnected(g):
            turned = adjoint(a)
            gb = self(turned, g, part)[0]
            again, back = self(a, gb, part)[0], self(turned, x, part)[0]
            rest, other = b - matmul(a, x), g - matmul(turned, gb)
            ga = matmul(rest, adjoint(again)) - matmul(gb, adjoint(x))
            ga = ga + matmul(back, adjoint(other))
        if not is_disconnected(of_s):
            u, _, vh = SVD()(a)
            ga = ga + matmul(m.mul(u, of_s), vh)
        return [ga, gb, zero_gradient(part)]


class MatrixPinv(_MatrixOp):
    """Pseudo-inverses of matrices. hermitian: whether they are Hermitian; then one triangle is
    read.
    """

    __props__ = ("hermitian",)
    samples: Sequence[Any] = (({}, (3, 2)), ({}, (2, 3)), ({"hermitian": True}, (3, 3)))

    def __init__(self, hermitian: bool = False) -> None:
        self.hermitian = hermitian
        self.signature = "(m,m)->(m,m)" if hermitian else "(m,n)->(n,m)"

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by `SVD`, if no singular value counts as 0."""
        svd = SVD().single(dtype)

        def run(a: Any) -> Any:
            u, s, vh = svd(a) or (a, (0, 0), a)
            return (vh.T.conj() / s).dot(u.T.conj()) if s[-1] > 1e-15 * s[0] else None

        return None if self.hermitian else run

    def batched(self, *arrays: Any) -> Any:
        """Compute the pseudo-inverses by `numpy.linalg.pinv`."""
        return of_finite(np.linalg.pinv, *of_dtype(*arrays), hermitian=self.hermitian)

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient by Golub & Pereyra, equation 4.12, for constant rank."""
        (a,), (p,), (g,) = inputs, outputs, output_gradients
        a = mirrored("hermitian", a, True) if self.hermitian else a
        p_turned, g_turned = adjoint(p), adjoint(g)
        left = matmul(g_turned - matmul(a, matmul(p, g_turned)), matmul(p, p_turned))
        right = matmul(p_turned, p)
        right = matmul(right, g_turned - matmul(matmul(g_turned, p), a))
        whole = left + right - matmul(matmul(p_turned, g), p_turned)
        return [in_triangle(whole, True) if self.hermitian else whole]


# --- functions --------------------------------------------------------------------------------


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[TensorVariable, ...]:
    """Return the x that minimizes the squares of a @ x - b, with residuals, ranks and singular
    values.

    a: shape (…, m, n). b: shape (…, m, k), or a vector. x has shape (…, n, k), or is a vector;
    floats. If there are several solutions, x is the smallest. rcond: singular values up to this
    fraction of the largest count as 0 (default: the precision of the dtype, times the larger
    length; the precision alone, if rcond is not between 0 and 1).

    Returns x; the sums of squares for each column of b (for single matrices none if the rank is
    lower than n, or m <= n, as in NumPy); the ranks of `a`, int32; its singular values. The
    gradients assume constant rank. Raises `NDimError`, `ShapeError`; `SingularMatrixError` if it
    does not converge, as with NaN.

    >>> from rewrite_engine.tensor.linalg import lstsq
    >>> lstsq([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 3.0, 5.0])[0].eval()
    array([1., 2.])
    """
    a, b, vector = columns(a, b, None)
    if a.type.ndim < 2:
        raise NDimError(located("lstsq: takes matrices, the last two dimensions", inputs=[a]))
    many, few = lengths(a)[-2:]
    if rcond is None:
        rcond = float(np.finfo(a.type.dtype).eps) * larger(many, few)
    x, rank, s = Lstsq().lifted(a, b, as_tensor_variable(rcond))
    rest = Sum(-2)(m.sqr(m.abs(b - matmul(a, x))))
    if rest.type.ndim == 1:
        told = m.and_(m.eq(rank, few), m.gt(many, few))
        rest = rest[: m.switch(told, lengths(rest)[0], 0)]
    return (squeeze(x, -1) if vector else x), rest, rank, s


def pinv(x: TensorLike, hermitian: bool = False) -> TensorVariable:
    """Return the pseudo-inverses of matrices, by singular values.

    x: shape (…, m, n); the result has shape (…, n, m). hermitian: use eigenvalues of the lower
    triangle. The gradient assumes constant rank. Raises `NDimError`; `ShapeError` for a Hermitian
    matrix that is not square.

    >>> from rewrite_engine.tensor.linalg import pinv
    >>> pinv([[2.0], [0.0]]).eval()
    array([[0.5, 0. ]])
    """
    return MatrixPinv(bool(hermitian)).lifted(*floats(x))


def tensorinv(a: TensorLike, ind: int = 2) -> TensorVariable:
    """Return the inverse of a tensor, of shape a.shape[ind:] + a.shape[:ind], as floats.

    `a` is seen as a matrix: the first `ind` dimensions are its rows, the others its columns. Raises
    `ValueError` for ind < 1, `ShapeError`; `SingularMatrixError` at run time.

    >>> from rewrite_engine.tensor.linalg import tensorinv
    >>> tensorinv([[1.0, 1.0], [1.0, 3.0]], ind=1).eval()
    array([[ 1.5, -0.5],
           [-0.5,  0.5]])
    """
    a = as_tensor_variable(a)
    if ind < 1:
        raise ValueError(located(f"tensorinv: ind must be 1 or more, not {ind}", inputs=[a]))
    shape = lengths(a)
    rows, cols = shape[:ind], shape[ind:]
    return inv(a.reshape((math.prod(rows), math.prod(cols)))).reshape((*cols, *rows))


def tensorsolve(a: TensorLike, b: TensorLike, axes: Any = None) -> TensorVariable:
    """Return the x of tensordot(a, x, x.ndim) = b, as floats.

    x has the shape of `a` after its first b.ndim dimensions. axes: dimensions of `a` to move to its
    end first. Raises `AxisError`, `NDimError`, `ShapeError`; `SingularMatrixError` at run time.

    >>> from rewrite_engine.tensor.linalg import tensorsolve
    >>> tensorsolve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).eval()
    array([1. , 0.5])
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.type.ndim <= b.type.ndim:
        raise NDimError(located("tensorsolve: a must have more dimensions than b", inputs=[a, b]))
    if axes is not None:
        last = [normalize_axes(k, a.type.ndim)[0] for k in axes]
        a = a.dimshuffle(*[k for k in range(a.type.ndim) if k not in last], *last)
    shape = lengths(a)
    rows, cols = shape[: b.type.ndim], shape[b.type.ndim :]
    flat = a.reshape((math.prod(rows), math.prod(cols)))
    return solve(flat, b.reshape((math.prod(lengths(b)),)), b_ndim=1).reshape(tuple(cols))
