"""Decompositions of pairs of matrices: `qz`, `ordqz`, and `eigh` of two matrices.

Gradients: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", Advances in Automatic Differentiation (2008), section 3.1, with lengths in the
second matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.graph.null import grad_not_implemented, is_disconnected
from rewrite_engine.tensor.linalg.op import (
    SingularMatrixError,
    _MatrixOp,
    _Symmetric,
    adjoint,
    check_order,
    complex_dtype,
    connected,
    floats,
    found,
    in_triangle,
    lapack,
    of_dtype,
    real_dtype,
    unit,
)
from rewrite_engine.tensor.product.dots import matmul
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = ["EighPair", "QZ", "ordqz", "qz"]


class QZ(_MatrixOp):
    """Square matrices a and b as q @ aa @ z.T and q @ bb @ z.T (complex: conjugate transposes),
    with eigenvalues.

    q and z are orthogonal, aa and bb upper triangular, except for blocks of two rows in a real aa;
    alpha / beta are the eigenvalues of a @ v = (b @ v) * w. output, sort: see `qz`. Returns NaN for
    matrices that are not finite. Raises `SingularMatrixError` if the decomposition is not found.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ("output", "sort")
    nin = 2
    signature = "(m,m),(m,m)->(m,m),(m,m),(m),(m),(m,m),(m,m)"
    output_names = ("AA", "BB", "alpha", "beta", "Q", "Z")
    samples: Sequence[Any] = (
        ({"output": "complex"}, (3, 3), (3, 3)),
        ({"output": "complex", "sort": "lhp"}, (2, 2), (2, 2)),
        ({"output": "complex"}, (1, 1), (1, 1)),
    )

    def __init__(self, output: str = "real", sort: str | None = None) -> None:
        self.output = output
        self.sort = sort

    def dtypes(self, *types: TensorType) -> list[str]:
        own = super().dtypes(*types)[0]
        own = own if self.output == "real" else complex_dtype(own)
        return [own, own, complex_dtype(own), own, own, own]

    def batched(self, *arrays: Any) -> Any:
        """Compute the decompositions pair by pair."""
        a, b = of_dtype(*arrays)
        own = a.dtype.name if self.output == "real" else complex_dtype(a.dtype.name)
        batch, n = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-1]
        a, b = [np.broadcast_to(x.astype(own), (*batch, n, n)) for x in (a, b)]
        shapes = [(n, n), (n, n), (n,), (n,), (n, n), (n, n)]
        kinds = [own, own, complex_dtype(own), own, own, own]
        out = [np.full((*batch, *s), np.nan, kind) for s, kind in zip(shapes, kinds, strict=True)]
        for index in np.ndindex(batch if n else (0,)):
            if np.isfinite(a[index]).all() and np.isfinite(b[index]).all():
                for result, value in zip(out, self.one(a[index], b[index]), strict=True):
                    result[index] = value
        return tuple(out)

    def one(self, a: Any, b: Any) -> Any:
        """Compute by `scipy.linalg.ordqz`, or LAPACK's `gges`, which does not sort."""
        if self.sort:
            from scipy.linalg import ordqz

            return found(ordqz, a, b, self.sort, self.output)
        aa, bb, _, *values, beta, q, z, _, info = lapack("gges", a.dtype)(
            lambda *_: None, a, b, sort_t=0
        )
        if info:
            raise SingularMatrixError(f"the QZ decomposition was not found (shape {a.shape})")
        alpha = values[0] if len(values) == 1 else values[0] + 1j * values[1]
        return aa, bb, alpha, beta, q, z

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return null gradients: the op has no gradient."""
        return [grad_not_implemented(self, i, x) for i, x in enumerate(inputs)]


class EighPair(_Symmetric):
    """Eigenvalues w, rising, and eigenvectors v (columns) of a @ v = (b @ v) * w.

    The matrices are symmetric or Hermitian, one triangle of each is read, and `b` is positive
    definite; v.T @ b @ v is the unit matrix (complex: conjugate transposes). Raises
    `SingularMatrixError`.
    """

    nin = 2
    signature = "(m,m),(m,m)->(m),(m,m)"
    _definite = ([[4.0, 1.0], [1.0, 3.0]], [[3.0]])
    samples: Sequence[Any] = (
        ({}, (2, 2), _definite[0]),
        ({"lower": False}, (2, 2), _definite[0]),
        ({}, (1, 1), _definite[1]),
    )

    def single(self, dtype: Any) -> Any:
        """Return a function for one pair by LAPACK's `sygvd`."""
        sygvd = lapack("hegvd" if dtype.kind == "c" else "sygvd", dtype)
        below = "L" if self.lower else "U"

        def run(a: Any, b: Any) -> Any:
            values, vectors, info = sygvd(a, b, 1, "V", below)
            return None if info else (values, vectors)

        return run

    def batched(self, *arrays: Any) -> Any:
        """Compute the eigenvalues pair by pair."""
        a, b = of_dtype(*arrays)
        batch, n = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-1]
        a, b = [np.broadcast_to(x, (*batch, n, n)) for x in (a, b)]
        values, vectors = (
            np.empty((*batch, n), real_dtype(a.dtype.name)),
            np.empty(a.shape, a.dtype),
        )
        one = self.single(a.dtype)
        for index in np.ndindex(batch if n else (0,)):
            found = one(a[index], b[index])
            if found is None:
                where = f"pair {index} of the arrays" if index else "the matrices"
                what = "the second is not positive definite, or an element is NaN"
                raise SingularMatrixError(f"{where} of shape {(n, n)} have no eigenvalues: {what}")
            values[index], vectors[index] = found
        return values, vectors

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return gradients of the triangles that are read, as for `Eigh`, with v.T @ b @ v
        constant.
        """
        w, v = outputs
        gw, gv = connected(outputs, output_gradients)
        e = unit(v)
        core = m.mul(e, gw)
        others = m.neg(core * w)
        if not is_disconnected(output_gradients[1]):
            inner = matmul(adjoint(v), gv)
            core = core + m.true_div(1 - e, w - w[:, None] + e) * inner
            others = m.neg(core * w + 0.5 * e * inner)
        found = [matmul(matmul(v, part), adjoint(v)) for part in (core, others)]
        return [in_triangle(g, self.lower) for g in found]


# --- functions --------------------------------------------------------------------------------


def qz(
    A: TensorLike,
    B: TensorLike,
    output: str = "real",
    sort: str | None = None,
    return_eigenvalues: bool = False,
) -> tuple[TensorVariable, ...]:
    """Return the generalised Schur decompositions of square matrices A and B, shape (…, n, n).

    The outputs are `AA`, `BB`, `Q`, `Z` with A = Q @ AA @ Z.T and B = Q @ BB @ Z.T (complex:
    conjugate transposes). Q and Z are orthogonal, AA and BB upper triangular; a real AA has a block
    of two rows for each pair of complex eigenvalues. return_eigenvalues: the outputs are `AA`,
    `BB`, `alpha`, `beta`, `Q`, `Z`, where alpha / beta are the eigenvalues of A @ v = (B @ v) * w;
    alpha is complex.

    output: "real", or "complex" for a complex decomposition of real matrices. sort: eigenvalues
    that come first: "lhp" (real part below 0), "rhp" (above 0), "iuc" (absolute value below 1),
    "ouc" (above 1). Has no gradient. Raises `ValueError`, `NDimError`, `ShapeError`;
    `SingularMatrixError` at run time if the decomposition is not found.

    >>> from rewrite_engine.tensor.linalg import qz
    >>> qz([[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [0.0, 1.0]])[0].eval()
    array([[1., 2.],
           [0., 3.]])
    """
    check_order(output, sort)
    aa, bb, alpha, beta, q, z = QZ(output, sort).lifted(*floats(A, B))
    return (aa, bb, alpha, beta, q, z) if return_eigenvalues else (aa, bb, q, z)


def ordqz(
    A: TensorLike, B: TensorLike, sort: str | None = None, output: str = "real"
) -> tuple[TensorVariable, ...]:
    """Return all outputs of `qz`, including the eigenvalues, sorted."""
    return qz(A, B, output, sort, return_eigenvalues=True)
