"""Equations of control theory: `solve_sylvester`, and the equations of Lyapunov and Riccati.

Gradients: T.-C. Kao & G. Hennequin, "Automatic differentiation of Sylvester, Lyapunov, and
algebraic Riccati equations", arXiv:2011.11430 (2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.errors import NDimError
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.linalg.op import (
    SingularMatrixError,
    _MatrixOp,
    adjoint,
    floats,
    found,
    lapack,
    of_dtype,
    unit,
)
from rewrite_engine.tensor.linalg.solvers import solve
from rewrite_engine.tensor.product.dots import matmul
from rewrite_engine.tensor.shape import lengths

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "SolveDiscreteARE", "SolveSylvester", "solve_continuous_lyapunov", "solve_discrete_are",
    "solve_discrete_lyapunov", "solve_sylvester",
]  # fmt: skip


class _OneByOne(_MatrixOp):
    """Base class of ops of several matrices with one output, computed by `one` for one matrix of
    each input.
    """

    def batched(self, *arrays: Any) -> Any:
        """Compute the outputs matrix by matrix; NaN if an input is not finite. Raise the errors of
        `one`.
        """
        arrays = tuple(of_dtype(*arrays))
        batch = np.broadcast_shapes(*[x.shape[:-2] for x in arrays])
        out = np.full((*batch, *arrays[2].shape[-2:]), np.nan, arrays[0].dtype)
        if not out.size:
            return out
        arrays = tuple([np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in arrays])
        for index in np.ndindex(batch):
            matrices = [x[index] for x in arrays]
            if all([np.isfinite(x).all() for x in matrices]):
                out[index] = self.one(*matrices)
        return out

    def one(self, *matrices: Any) -> Any:
        """Return the output matrix."""
        raise NotImplementedError


class SolveSylvester(_OneByOne):
    """Solution x of a @ x + x @ b = q. Raises `SingularMatrixError` if `a` and -b have a common
    eigenvalue.
    """

    __props__ = ()
    nin = 3
    signature = "(m,m),(n,n),(m,n)->(m,n)"
    samples: Sequence[Any] = (
        ({}, [[1.0, 2.0], [-0.5, 3.0]], [[2.0, 0.5, 0], [1, 4.0, 1], [0, -1, 3.0]], (2, 3)),
        ({}, [[2.0]], [[3.0]], (1, 1)),
    )

    def one(self, *matrices: Any) -> Any:
        """Solve by Schur decompositions and LAPACK's `trsyl`."""
        from scipy.linalg import schur

        a, b, q = matrices
        (r, u), (s, v) = [found(schur, x, output="real") for x in (a, b)]
        y, scale, info = lapack("trsyl", q.dtype)(r, s, u.conj().T @ q @ v)
        if info:
            shapes = f"the matrices of shapes {a.shape} and {b.shape}"
            raise SingularMatrixError(
                f"the equation is singular: {shapes} have eigenvalues whose sum is 0"
            )
        return u @ (y / scale) @ v.conj().T

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients by Kao & Hennequin, equations 10 and 11."""
        (a, b, _), turned = inputs, adjoint(outputs[0])
        g = self(adjoint(a), adjoint(b), output_gradients[0])
        return [m.neg(matmul(g, turned)), m.neg(matmul(turned, g)), g]


class SolveDiscreteARE(_OneByOne):
    """Stabilizing solution x of a.T @ x @ a - x - a.T @ x @ b @ inv(r + b.T @ x @ b) @ b.T @ x @ a
    + q = 0 (complex: conjugate transposes).

    Inputs: a, b, q, r; only the Hermitian parts of q and r matter. Raises `SingularMatrixError` if
    there is none.
    """

    __props__ = ()
    nin = 4
    signature = "(m,m),(m,n),(m,m),(n,n)->(m,m)"
    samples: Sequence[Any] = (
        ({}, (2, 2), (2, 1), [[2.0, 0.5], [0.5, 3.0]], [[1.5]]),
        ({}, [[1.1, 0.3], [0.2, 0.7]], (2, 2), [[2.0, 0], [0, 3.0]], [[2.0, 0.5], [0.5, 3.0]]),
    )

    def one(self, *matrices: Any) -> Any:
        """Solve one equation by `scipy.linalg.solve_discrete_are`."""
        from scipy.linalg import solve_discrete_are

        a, b, q, r = matrices
        try:
            return solve_discrete_are(a, b, (q + q.conj().T) / 2, (r + r.conj().T) / 2)
        except np.linalg.LinAlgError as error:
            what = f"the equation is singular, or it has no stabilizing solution: {error}"
            raise SingularMatrixError(what) from None

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients by Kao & Hennequin, section 4."""
        (a, b, _, r), (x,), (g,) = inputs, outputs, output_gradients
        xb = matmul(adjoint(b), x)
        inner = m.add(_hermitian(r), matmul(xb, b))
        gain = solve(inner, matmul(xb, a))
        closed = m.sub(a, matmul(b, gain))
        s = solve_discrete_lyapunov(closed, _hermitian(g))
        ga = m.mul(matmul(matmul(x, closed), s), 2)
        turned = adjoint(gain)
        return [ga, m.neg(matmul(ga, turned)), s, matmul(matmul(gain, s), turned)]


def _hermitian(x: Any) -> Any:
    return m.mul(m.add(x, adjoint(x)), 0.5)


# --- functions --------------------------------------------------------------------------------


def solve_sylvester(A: TensorLike, B: TensorLike, Q: TensorLike) -> TensorVariable:
    """Return the X of A @ X + X @ B = Q.

    A: shape (…, m, m). B: shape (…, n, n). Q: shape (…, m, n). The result has the shape of Q,
    floats. Raises `NDimError`, `ShapeError`; `SingularMatrixError` at run time if A and -B have a
    common eigenvalue.

    >>> from rewrite_engine.tensor.linalg import solve_sylvester
    >>> solve_sylvester([[1.0]], [[3.0, 0.0], [0.0, 1.0]], [[4.0, 4.0]]).eval()
    array([[1., 2.]])
    """
    return SolveSylvester().lifted(*floats(A, B, Q))


def solve_continuous_lyapunov(A: TensorLike, Q: TensorLike) -> TensorVariable:
    """Return the X of A @ X + X @ A.T = Q (complex: the conjugate transpose).

    A, Q: square matrices, shape (…, n, n). The result has that shape, floats. Raises `NDimError`,
    `ShapeError`; `SingularMatrixError` at run time if A and -A.T have a common eigenvalue.

    >>> from rewrite_engine.tensor.linalg import solve_continuous_lyapunov
    >>> solve_continuous_lyapunov([[1.0]], [[4.0]]).eval()
    array([[2.]])
    """
    A, Q = floats(A, Q)
    return SolveSylvester().lifted(A, adjoint(A), Q)


def solve_discrete_lyapunov(A: Any, Q: Any, method: str = "bilinear") -> TensorVariable:
    """Return the X of A @ X @ A.T - X + Q = 0 (complex: the conjugate transpose).

    A, Q: square matrices, shape (…, n, n). The result has that shape, floats. method: "bilinear"
    solves a Sylvester equation (not if -1 is an eigenvalue of A); "direct" solves linear equations
    with n * n unknowns. Raises `ValueError`, `NDimError`, `ShapeError`; `SingularMatrixError` at
    run time.

    >>> from rewrite_engine.tensor.linalg import solve_discrete_lyapunov
    >>> solve_discrete_lyapunov([[0.5]], [[3.0]]).eval()
    array([[4.]])
    """
    if method not in ("direct", "bilinear"):
        raise ValueError(located(f'method must be "direct" or "bilinear", not {method!r}'))
    A, Q = floats(A, Q)
    if A.type.ndim < 2 or Q.type.ndim < 2:
        raise NDimError(located("solve_discrete_lyapunov: takes matrices", inputs=[A, Q]))
    if method == "bilinear":
        above = m.add(A, unit(A))
        half = solve(above, Q, b_ndim=2)
        whole = adjoint(solve(above, adjoint(half), b_ndim=2))
        turned = solve(above, m.sub(A, unit(A)), b_ndim=2)
        return SolveSylvester().lifted(turned, adjoint(turned), m.mul(whole, -2))
    *batch, rows, columns = lengths(A)
    pairs = m.mul(A[..., :, None, :, None], m.conjugated(A)[..., None, :, None, :])
    pairs = pairs.reshape((*batch, rows * rows, columns * columns))
    *batch, rows, columns = lengths(Q)
    x = solve(m.sub(unit(pairs), pairs), Q.reshape((*batch, rows * columns)), b_ndim=1)
    return x.reshape((*lengths(x)[:-1], rows, columns))


def solve_discrete_are(
    A: TensorLike, B: TensorLike, Q: TensorLike, R: TensorLike
) -> TensorVariable:
    """Return the stabilizing X of Riccati's equation A.T @ X @ A - X - A.T @ X @ B @ inv(R + B.T @
    X @ B) @ B.T @ X @ A + Q = 0 (complex: conjugate transposes).

    A and Q have shape (…, m, m), B (…, m, n), R (…, n, n); only the symmetric (Hermitian) parts of
    Q and R matter. The result has the shape of A, floats. Raises `NDimError`, `ShapeError`;
    `SingularMatrixError` at run time if there is no such X.

    >>> from rewrite_engine.tensor.linalg import solve_discrete_are
    >>> solve_discrete_are([[1.0]], [[1.0]], [[2.0]], [[4.0]]).eval()
    array([[4.]])
    """
    return SolveDiscreteARE().lifted(*floats(A, B, Q, R))
