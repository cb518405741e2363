"""Linear equations: `solve`, `cho_solve`, and inverses.

Gradients: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", Advances in Automatic Differentiation (2008), section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.graph.node import Variable
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.dimshuffle import expand_dims, squeeze
from rewrite_engine.tensor.index.diagonals import diagonal, tril, triu
from rewrite_engine.tensor.linalg.decomposition import cholesky
from rewrite_engine.tensor.linalg.op import (
    FEW,
    SingularMatrixError,
    _MatrixOp,
    _Structured,
    adjoint,
    floats,
    lapack,
    may_be_definite,
    of_dtype,
    singular,
    solved,
)
from rewrite_engine.tensor.linalg.triangular import _Equations, columns, solve_triangular
from rewrite_engine.tensor.linalg.tridiagonal import SolveTridiagonal
from rewrite_engine.tensor.product.dots import matmul

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["MatrixInverse", "Solve", "cho_solve", "inv", "inverse", "matrix_inverse", "solve"]


def _solves(f: Any, a: Any, b: Any) -> Any:
    """Prove that equations have a solution, by the matrix and the lengths."""
    return f.both("equations with", f.invertible(a), f.same_length(a, 1, b, 0))


class Solve(_Structured, _Equations):
    """Solution x of a @ x = b for square matrices `a` and matrices `b`. Raises
    `SingularMatrixError`.

    as_written: see `_Structured`.
    """

    implied = {"fits": _solves}
    samples: Sequence[Any] = (
        ({}, (2, 2), (2, 3)),
        ({}, [[1.0, 2.0, 0.5], [0.0, 1.0, 3.0], [2.0, 1.0, 1.0]], (3, 2)),
        ({}, (0, 0), (0, 2)),
    )

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by LAPACK's `getrf` and `getrs`, on the transpose of a
        matrix in rows, as LAPACK stores columns; by `posv` for a larger one that may be positive
        definite.
        """
        getrf, getrs, posv = [lapack(name, dtype) for name in ("getrf", "getrs", "posv")]

        def run(a: Any, b: Any) -> Any:
            if len(a) > FEW and may_be_definite(a):
                _, x, info = posv(a.T, b)
                if not info:
                    return x
            turned = a.flags.c_contiguous
            both, pivots, info = getrf(a.T if turned else a)
            return None if info else getrs(both, pivots, b, int(turned))[0]

        return run

    def batched(self, *arrays: Any) -> Any:
        """Solve all equations by `numpy.linalg.solve`."""
        return solved(*of_dtype(*arrays))


class MatrixInverse(_Structured, _MatrixOp):
    """Inverses of square matrices. Raises `SingularMatrixError`.

    as_written: see `_Structured`.
    """

    signature = "(m,m)->(m,m)"
    implied: Any = {
        "symmetric": "symmetric", "positive_definite": "positive_definite", "diagonal": "diagonal",
        "orthogonal": "orthogonal", "square": True, "invertible": True,
        "fits": lambda f, a: f.invertible(a),
    }  # fmt: skip
    samples: Sequence[Any] = (
        ({}, (2, 2)),
        ({}, [[1.0, 2.0, 0.5], [0.0, 1.0, 3.0], [2.0, 1.0, 1.0]]),
        ({}, (0, 0)),
    )

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by `getrf` and `getri`, on the transpose, as LAPACK
        stores columns.
        """
        getrf, getri = lapack("getrf", dtype), lapack("getri", dtype)

        def run(a: Any) -> Any:
            both, pivots, info = getrf(a.T)
            if not info:
                inverse, info = getri(both, pivots, 64 * len(a), True)
            return None if info else inverse.T

        return run

    def batched(self, *arrays: Any) -> Any:
        """Compute the inverses by `numpy.linalg.inv`."""
        (a,) = of_dtype(*arrays)
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            raise SingularMatrixError(singular(a)) from None

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient by Giles, section 2.2.3."""
        turned = adjoint(outputs[0])
        return [m.neg(matmul(matmul(turned, output_gradients[0]), turned))]


# --- functions --------------------------------------------------------------------------------


_SHORT = {
    "gen": "general", "sym": "symmetric", "her": "hermitian", "pos": "positive definite",
}  # fmt: skip
_KINDS = (
    *_SHORT.values(), "diagonal", "tridiagonal", "banded", "upper triangular", "lower triangular",
)  # fmt: skip


def solve(
    a: TensorLike,
    b: TensorLike,
    *,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
    transposed: bool = False,
    b_ndim: int | None = None,
) -> TensorVariable:
    """Return the x of a @ x = b.

    a: shape (…, m, m). b: shape (…, m, n), or vectors of shape (…, m) if b has one dimension or
    b_ndim=1. The result has the shape of b, floats; integers are converted.

    assume_a: "gen"; "sym", "her", "pos" read one triangle of `a` (the lower one if `lower`), "pos"
    uses its Cholesky factor; "diagonal", "tridiagonal", "upper triangular", "lower triangular" read
    only that part; "banded" is treated as "gen". transposed: solve a.T @ x = b. overwrite_a,
    overwrite_b and check_finite have no effect: the pipeline decides what to overwrite, and NaN in
    the input returns NaN. Raises `ValueError`, `NDimError`, `ShapeError`; `SingularMatrixError` at
    run time.

    >>> from rewrite_engine.tensor.linalg import solve
    >>> solve([[2.0, 0.0], [1.0, 1.0]], [4.0, 3.0]).eval()
    array([2., 1.])
    """
    kind = _SHORT.get(assume_a, assume_a)
    if kind not in _KINDS:
        raise ValueError(located(f"assume_a must be one of {[*_SHORT, *_KINDS]}, not {assume_a!r}"))
    if kind in ("upper triangular", "lower triangular"):
        below, trans = kind == "lower triangular", int(transposed)
        return solve_triangular(a, b, trans=trans, lower=below, b_ndim=b_ndim)
    if kind == "positive definite":
        factor = cholesky(a, lower, on_error="raise")
        factor = m.conjugated(factor) if transposed else factor
        return cho_solve((factor, lower), b, b_ndim=b_ndim)
    a, b, vector = columns(a, b, b_ndim)
    if kind == "diagonal":
        x = m.true_div(b, expand_dims(diagonal(a, 0, -2, -1), -1))
    else:
        whole, op = mirrored(kind, a, lower), SolveTridiagonal if kind == "tridiagonal" else Solve
        x = op().lifted(whole.mT if transposed else whole, b)
    return squeeze(x, -1) if vector else x


def mirrored(kind: str, a: Any, lower: bool) -> Any:
    """Return the full matrix of the triangle that is read, if it is symmetric or Hermitian."""
    if kind not in ("symmetric", "hermitian"):
        return a
    part, rest = (tril(a), tril(a, -1)) if lower else (triu(a), triu(a, 1))
    turned = rest.mT
    return m.add(part, m.conjugated(turned) if kind == "hermitian" else turned)


def cho_solve(
    c_and_lower: Any, b: Any, *, check_finite: bool = True, b_ndim: int | None = None
) -> TensorVariable:
    """Return the x of a @ x = b, from a pair: a Cholesky factor of `a`, and whether it is the lower
    one.

    Shapes and b_ndim are described in `solve`. check_finite has no effect: NaN in the input returns
    NaN. Raises `ValueError`, `NDimError`, `ShapeError`; `SingularMatrixError` at run time.

    >>> from rewrite_engine.tensor.linalg import cho_solve, cholesky
    >>> cho_solve((cholesky([[4.0, 0.0], [0.0, 9.0]]), True), [4.0, 3.0]).eval()
    array([1.        , 0.33333333])
    """
    c, lower = c_and_lower
    steps = (0, "C") if lower else ("C", 0)
    for trans in steps:
        b = solve_triangular(c, b, trans=trans, lower=lower, b_ndim=b_ndim)
    return b


def inv(x: TensorLike) -> TensorVariable:
    """Return the inverses of matrices, shape (…, n, n), as floats.

    Raises `NDimError`, `ShapeError`; `SingularMatrixError` at run time.

    >>> from rewrite_engine.tensor.linalg import inv
    >>> inv([[1.0, 1.0], [1.0, 3.0]]).eval()
    array([[ 1.5, -0.5],
           [-0.5,  0.5]])
    """
    return MatrixInverse().lifted(*floats(x))


matrix_inverse = inverse = inv
