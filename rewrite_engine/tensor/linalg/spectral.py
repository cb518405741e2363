"""Decompositions with orthogonal matrices, `svd`, `eigh`, `qr`, `schur`; and `eig`, `expm`.

Gradients: J. Townsend, "Differentiating the singular value decomposition" (2016); Z.-Q. Wan & S.-X.
Zhang, arXiv:1909.02659 (2019), for complex ones; M. Giles (2008), section 3.1, for eigenvectors; S.
Walter & L. Lehmann, "Algorithmic differentiation of linear algebra functions", arXiv:1001.1654
(2010), for QR; I. Najfeld & T. Havel, Adv. Appl. Math. 16 (1995), for exponentials.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

import rewrite_engine.tensor.math as m
from rewrite_engine.graph.node import Apply
from rewrite_engine.graph.null import grad_not_implemented, is_disconnected
from rewrite_engine.graph.origin import located
from rewrite_engine.tensor.creation import arange, triangle, zeros_like
from rewrite_engine.tensor.linalg.decomposition import halved
from rewrite_engine.tensor.linalg.op import (
    FEW,
    _MatrixOp,
    _Symmetric,
    adjoint,
    check_order,
    complex_dtype,
    connected,
    double,
    floats,
    found,
    in_triangle,
    lapack,
    of_dtype,
    of_finite,
    real_dtype,
    unit,
)
from rewrite_engine.tensor.linalg.pencils import EighPair
from rewrite_engine.tensor.linalg.solvers import Solve
from rewrite_engine.tensor.linalg.triangular import SolveTriangular
from rewrite_engine.tensor.order.sorting import argsort
from rewrite_engine.tensor.product.dots import matmul
from rewrite_engine.tensor.reduce import sum as reduce_sum
from rewrite_engine.tensor.shape import lengths, smaller
from rewrite_engine.tensor.shaping.joins import concatenate
from rewrite_engine.tensor.shaping.padding import pad
from rewrite_engine.tensor.statistics.moments import argmax
from rewrite_engine.tensor.type import TensorType

if TYPE_CHECKING:
    from rewrite_engine.tensor import annotation as typed
    from rewrite_engine.tensor.annotation import TensorLike
    from rewrite_engine.tensor.variable import TensorVariable

__all__ = [
    "Eig", "Eigh", "Expm", "QR", "SVD", "Schur", "eig", "eigh", "eigvals", "eigvalsh", "expm", "qr",
    "schur", "svd",
]  # fmt: skip


class SVD(_MatrixOp):
    """Singular value decomposition of matrices as (U * S) @ Vh, with falling S. full_matrices:
    whether U and Vh are square. Raises `SingularMatrixError` if it does not converge, as with NaN.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ("full_matrices",)
    output_names = ("U", "S", "Vh")
    samples: Sequence[Any] = (({}, (3, 2)), ({}, (2, 3)), ({}, (2, 2)))

    def __init__(self, full_matrices: bool = False) -> None:
        self.full_matrices = full_matrices
        self.implied = {"orthogonal": True} if full_matrices else {}
        self.signature = "(m,n)->(m,m),(k),(n,n)" if full_matrices else "(m,n)->(m,k),(k),(k,n)"

    def dtypes(self, *types: TensorType) -> list[str]:
        u, s, vh = super().dtypes(*types)
        return [u, real_dtype(s), vh]

    def single(self, dtype: Any) -> Any:
        """Return a function for one small matrix by LAPACK's `gesdd`, without blocks."""
        gesdd, full = lapack("gesdd", double(dtype)), self.full_matrices
        add: Any = np.add.reduce
        narrow = dtype if double(dtype) != dtype else None

        def run(a: Any) -> Any:
            if max(a.shape) > FEW or not isfinite(abs(add(a, None))):
                return None
            u, s, vh, info = gesdd(a, 1, full)
            if info or narrow is None:
                return None if info else (u, s, vh)
            return u.astype(narrow), s.astype(narrow.char.lower()), vh.astype(narrow)

        return run

    def batched(self, *arrays: Any) -> Any:
        """Compute the decompositions by `numpy.linalg.svd`."""
        (a,) = of_dtype(*arrays)
        return tuple(of_finite(np.linalg.svd, a, full_matrices=self.full_matrices))

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient by Townsend, section 2; by Wan & Zhang for complex matrices."""
        alone = is_disconnected(output_gradients[0]) and is_disconnected(output_gradients[2])
        if not alone and self.full_matrices:
            why = "full matrices U and Vh have no gradient: use full_matrices=False"
            return [grad_not_implemented(self, 0, inputs[0], why)]
        if alone:
            u, s, vh = SVD()(inputs[0])
            return [matmul(m.mul(u, output_gradients[1]), vh)]
        u, s, vh = outputs
        gu, gs, gvh = connected(outputs, output_gradients)
        v, gv = adjoint(vh), adjoint(gvh)
        e = _unit_of(s)
        f = m.true_div(1 - e, m.sqr(s) - m.sqr(s)[:, None] + e)
        p, q = matmul(adjoint(u), gu), matmul(vh, gv)
        odd = p - adjoint(p)
        core = f * odd * s + s[:, None] * f * (q - adjoint(q)) + e * gs
        if u.type.kind == "c":
            core = core + e * m.true_div(odd, 2 * s)
        left = matmul(m.true_div(gu - matmul(u, p), s), vh)
        right = matmul(u, adjoint(m.true_div(gv - matmul(v, q), s)))
        return [matmul(matmul(u, core), vh) + left + right]


def _unit_of(s: Any) -> Any:
    """Return the unit matrix with as many rows as a vector has elements."""
    return unit(m.mul(s[:, None], s))


class Eigh(_Symmetric):
    """Eigenvalues, rising, and eigenvectors (columns) of symmetric or Hermitian matrices, of one
    triangle. Raises `SingularMatrixError` if it does not converge.
    """

    signature = "(m,m)->(m),(m,m)"
    samples: Sequence[Any] = (({}, (2, 2)), ({"lower": False}, (3, 3)), ({}, (1, 1)))

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by LAPACK's `syevd`."""
        run, below = lapack("heevd" if dtype.kind == "c" else "syevd", dtype), self.lower

        def found(a: Any) -> Any:
            values, vectors, info = run(a, 1, below)
            return None if info else (values, vectors)

        return found

    def batched(self, *arrays: Any) -> Any:
        """Compute the eigenvalues by `numpy.linalg.eigh`."""
        (a,) = of_dtype(*arrays)
        return tuple(found(np.linalg.eigh, a, UPLO="L" if self.lower else "U"))

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient of the triangle that is read (Giles, section 3.1). Gradients of
        eigenvectors require distinct eigenvalues and, if complex, a cost that does not depend on
        phases.
        """
        w, v = outputs
        gw, gv = connected(outputs, output_gradients)
        e = unit(v)
        core = m.mul(e, gw)
        if not is_disconnected(output_gradients[1]):
            core = core + m.true_div(1 - e, w - w[:, None] + e) * matmul(adjoint(v), gv)
        return [in_triangle(matmul(matmul(v, core), adjoint(v)), self.lower)]


class Eig(_MatrixOp):
    """Eigenvalues and eigenvectors (columns) of square matrices. Raises `SingularMatrixError` if it
    does not converge, as with NaN.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ()
    signature = "(m,m)->(m),(m,m)"
    output_names = ("eigenvalues", "eigenvectors")
    samples: Sequence[Any] = (({}, (2, 2)), ({}, (3, 3)), ({}, (1, 1)))

    def dtypes(self, *types: TensorType) -> list[str]:
        return [complex_dtype(d) for d in super().dtypes(*types)]

    def single(self, dtype: Any) -> Any:
        """Return a function for one small finite matrix by LAPACK's `geev`, without blocks."""
        geev = lapack("geev", double(dtype))
        add: Any = np.add.reduce
        wanted = np.result_type(dtype, "complex64")

        def run(a: Any) -> Any:
            if len(a) > FEW or not isfinite(abs(add(a, None))):
                return None
            *values, _, vectors, info = geev(a, 0, 1)
            if info:
                return None
            w, v = values[0].astype(wanted), vectors.astype(wanted)
            if len(values) == 2 and values[1].any():
                w.imag = values[1]
                for k in np.flatnonzero(values[1] > 0):
                    v.imag[:, k] = vectors[:, k + 1]
                    v[:, k + 1] = v[:, k].conj()
            return w, v

        return run

    def batched(self, *arrays: Any) -> Any:
        """Compute the eigenvalues by `numpy.linalg.eig`."""
        return tuple(found(np.linalg.eig, *of_dtype(*arrays)))

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient by Giles, section 3.1. An eigenvector keeps its length 1 and the
        phase that LAPACK chooses: its largest component is real.
        """
        (a,), (w, v) = inputs, outputs
        gw, gv = output_gradients
        back, core = adjoint(v), zeros_like(v)
        if not is_disconnected(gw):
            core = m.mul(unit(v), gw)
        if not is_disconnected(gv):
            along, e = reduce_sum(m.mul(m.conj(v), gv), axis=0), unit(v)
            size = m.switch(m.eq(m.imag(v), 0), m.abs(v), -1)
            largest = m.eq(arange(v.shape[0])[:, None], argmax(size, axis=0))
            turned = m.switch(largest, m.imag(along) * 1j / v, 0)
            free = gv - v * m.real(along) - turned
            core = core + m.true_div(1 - e, m.conj(w - w[:, None] + e)) * matmul(back, free)
        whole = Solve()(back, matmul(core, back))
        return [whole if a.type.kind == "c" else m.real(whole)]


def _is_square_q(f: Any, a: Any) -> Any:
    """Prove that Q is square, so that it is orthogonal: the matrix is."""
    return f.square(a)


class QR(_MatrixOp):
    """QR decomposition of matrices as Q @ R. complete: whether Q is square. pivoting: R belongs to
    the columns in the order P, an additional output, in which each has the largest remainder.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ("complete", "pivoting")
    samples: Sequence[Any] = (
        ({}, (3, 2)),
        ({}, (2, 3)),
        ({}, (2, 2)),
        ({"pivoting": True}, [[1.0, 2.0], [0.5, 5.0], [0.0, 1.0]]),
        ({"complete": True, "pivoting": True}, [[1.0, 4.0, 2.0], [5.0, 0.5, 1.0]]),
    )

    def __init__(self, complete: bool = False, pivoting: bool = False) -> None:
        self.complete = complete
        self.pivoting = pivoting
        self.output_names = ("Q", "R", "P") if pivoting else ("Q", "R")
        self.implied = {"orthogonal": _is_square_q if not complete else True}
        signature = "(m,n)->(m,m),(m,n)" if complete else "(m,n)->(m,k),(k,n)"
        self.signature = signature + ",(n)" * pivoting

    def dtypes(self, *types: TensorType) -> list[str]:
        return [*super().dtypes(*types)[:2], "int32"][: 2 + self.pivoting]

    def single(self, dtype: Any) -> Any:
        """Return a function for one matrix by `geqrf` or `geqp3`, and `orgqr`, with blocks of
        columns.
        """
        geqrf, geqp3 = lapack("geqrf", dtype), lapack("geqp3", dtype)
        orgqr = lapack("ungqr" if dtype.kind == "c" else "orgqr", dtype)
        complete, pivoting = self.complete, self.pivoting

        def run(a: Any) -> Any:
            rows, columns = a.shape
            k, wider = min(rows, columns), complete and rows > columns
            if pivoting:
                both, order, tau, *_ = geqp3(a, 34 * (columns + 1))
                order -= 1
            else:
                both, tau, *_ = geqrf(a, 64 * columns)
            q, r = both[:, :k], both[:k]
            if wider:
                r, q = both, np.zeros((rows, rows), a.dtype, "F")
                q[:, :k] = both
            q = orgqr(q, tau, 64 * q.shape[1], wider)[0]
            r = np.where(triangle(len(r), columns, -1), 0, r)
            return (q, r, order) if pivoting else (q, r)

        return run

    def batched(self, *arrays: Any) -> Any:
        """Compute the decompositions by `numpy.linalg.qr`; with pivots matrix by matrix."""
        (a,) = of_dtype(*arrays)
        if not self.pivoting:
            run: Any = np.linalg.qr
            return tuple(run(a, mode="complete" if self.complete else "reduced"))
        *batch, rows, columns = a.shape
        k = rows if self.complete else min(rows, columns)
        q, r = np.zeros((*batch, rows, k), a.dtype), np.zeros((*batch, k, columns), a.dtype)
        q[...] = np.eye(rows, k)
        order = np.broadcast_to(np.arange(columns, dtype="int32"), (*batch, columns)).copy()
        one = self.single(a.dtype)
        for index in np.ndindex(*batch if a.size else (0,)):
            q[index], r[index], order[index] = one(a[index])
        return q, r, order

    def connection_pattern(self, node: Apply) -> list[list[bool]]:  # type: ignore[override]
        """Disconnect the order of columns, which small changes leave constant."""
        return [[True, True, False][: 2 + self.pivoting]]

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient by Walter & Lehmann, section 4; for a wide matrix by its first
        columns.
        """
        (a,), (q, r, *order) = inputs, outputs
        rows, columns = a.type.shape
        if self.complete and None not in (rows, columns) and rows > columns:
            return [
                grad_not_implemented(
                    self, 0, a, "a complete Q with more columns than A has no gradient"
                )
            ]
        gq, gr = connected(outputs[:2], output_gradients[:2])
        k = q.shape[1]
        gq = gq + matmul(a[:, order[0]][:, k:] if order else a[:, k:], adjoint(gr[:, k:]))
        core = halved(matmul(r[:, :k], adjoint(gr[:, :k])) - matmul(adjoint(gq), q))
        own = adjoint(gq + matmul(q, core + adjoint(core)))
        first = adjoint(SolveTriangular(lower=False)(r[:, :k], own))
        whole = concatenate([first, matmul(q, gr[:, k:])], axis=1)
        return [whole[:, argsort(order[0])] if order else whole]


class Schur(_MatrixOp):
    """Schur decomposition of square matrices as z @ t @ z.T (complex: its conjugate). output, sort:
    see `schur`. Returns NaN for matrices that are not finite. Raises `SingularMatrixError` if the
    decomposition is not found.
    """

    __call__: Callable[..., Any]  # (several outputs)
    __props__ = ("output", "sort")
    signature = "(m,m)->(m,m),(m,m)"
    output_names = ("T", "Z")
    samples: Sequence[Any] = (
        ({"output": "complex"}, (3, 3)),
        ({"output": "complex", "sort": "lhp"}, (2, 2)),
        ({"output": "complex"}, (1, 1)),
    )

    def __init__(self, output: str = "real", sort: str | None = None) -> None:
        self.output = output
        self.sort = sort

    def dtypes(self, *types: TensorType) -> list[str]:
        own = super().dtypes(*types)
        return own if self.output == "real" else [complex_dtype(d) for d in own]

    def batched(self, *arrays: Any) -> Any:
        """Compute the decompositions by `scipy.linalg.schur`, matrix by matrix."""
        from scipy.linalg import schur

        (a,) = of_dtype(*arrays)
        if self.output == "complex":
            a = a.astype(complex_dtype(a.dtype.name))
        t, z = np.full_like(a, np.nan), np.full_like(a, np.nan)
        for index in np.ndindex(a.shape[:-2] if a.size else (0,)):
            if np.isfinite(a[index]).all():
                t[index], z[index] = found(schur, a[index], self.output, sort=self.sort)[:2]
        return t, z

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return null gradients: the op has no gradient."""
        return [grad_not_implemented(self, 0, inputs[0])]


class Expm(_MatrixOp):
    """Exponentials of square matrices."""

    __props__ = ()
    signature = "(m,m)->(m,m)"
    only_lengths = True
    implied = {"symmetric": "symmetric"}
    samples: Sequence[Any] = (({}, (2, 2)), ({}, (1, 1)))

    def batched(self, *arrays: Any) -> Any:
        """Compute the exponentials by `scipy.linalg.expm`."""
        from scipy.linalg import expm

        (a,) = of_dtype(*arrays)
        return expm(a) if a.size else a

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """Return the gradient by Najfeld & Havel, theorem 2.1, from a matrix of blocks."""
        (a,), (g,) = inputs, output_gradients
        top = concatenate([adjoint(a), g], axis=1)
        low = concatenate([zeros_like(a), adjoint(a)], axis=1)
        n = a.shape[0]
        return [self(concatenate([top, low], axis=0))[:n, n:]]


# --- functions --------------------------------------------------------------------------------


@overload
def svd(a: TensorLike, full_matrices: bool = True, compute_uv: Literal[True] = True
        ) -> typed.SingularFactors: ...  # fmt: skip
@overload
def svd(a: TensorLike, full_matrices: bool = True, *, compute_uv: Literal[False]
        ) -> TensorVariable: ...  # fmt: skip
def svd(a: TensorLike, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Return the singular value decompositions of matrices: `U`, `S`, `Vh` with a = (U * S) @ Vh.

    a: shape (…, m, n). S: shape (…, k) with k = min(m, n), falling, floats. full_matrices: U and Vh
    are square; else they have shapes (…, m, k) and (…, k, n). compute_uv=False: return `S` alone. U
    and Vh have gradients with full_matrices=False if the singular values are distinct; for complex
    matrices the cost must not depend on the phases of a column of U and its row of Vh. Raises
    `NDimError`; `SingularMatrixError` if it does not converge, as with NaN.

    >>> from rewrite_engine.tensor.linalg import svd
    >>> svd([[3.0, 0.0], [0.0, 4.0]]).S.eval()
    array([4., 3.])
    """
    if compute_uv:
        return SVD(bool(full_matrices)).lifted(*floats(a))
    return SVD().lifted(*floats(a))[1]


def eigh(
    a: TensorLike,
    b: TensorLike | None = None,
    lower: bool = True,
    UPLO: str | None = None,
    driver: str = "evr",
) -> typed.Eigenpairs:
    """Return the eigenvalues, rising, and eigenvectors (columns) of symmetric or Hermitian
    matrices.

    a: shape (…, n, n); one triangle is read. b: of the generalised problem a @ v = (b @ v) * w,
    positive definite; one triangle is read. UPLO: "L" or "U", older form of `lower`. driver has no
    effect. Eigenvectors have gradients if the eigenvalues are distinct (NaN otherwise); for complex
    ones the cost must not depend on phases. A symmetric function of equal eigenvalues has a
    gradient. Raises `ValueError`, `NDimError`, `ShapeError`; `SingularMatrixError` at run time if
    `b` is not positive definite.

    >>> from rewrite_engine.tensor.linalg import eigh
    >>> eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.eval()
    array([1., 2.])
    """
    if UPLO not in (None, "L", "U"):
        raise ValueError(located(f"UPLO must be 'L' or 'U', not {UPLO!r}"))
    lower = bool(lower) if UPLO is None else UPLO == "L"
    if b is None:
        return Eigh(lower).lifted(*floats(a))
    return EighPair(lower).lifted(*floats(a, b))


def eig(x: TensorLike) -> typed.Eigenpairs:
    """Return the eigenvalues and eigenvectors (columns) of square matrices, as complex numbers.

    x: shape (…, n, n). There are gradients if the eigenvalues are distinct. An eigenvector has
    length 1 and a real largest component; its gradient requires a single largest component (or a
    cost that does not depend on phases). Raises `NDimError`, `ShapeError`; `SingularMatrixError` if
    it does not converge, as with NaN.

    >>> from rewrite_engine.tensor.linalg import eig
    >>> eig([[0.0, -1.0], [1.0, 0.0]]).eigenvalues.eval()
    array([0.+1.j, 0.-1.j])
    """
    return Eig().lifted(*floats(x))


def eigvals(a: Any) -> TensorVariable:
    """Return the eigenvalues of square matrices, shape (…, n), as complex numbers (see `eig`)."""
    return eig(a)[0]


def schur(A: TensorLike, output: str = "real", sort: str | None = None) -> typed.SchurFactors:
    """Return the Schur decompositions of square matrices: `T` and `Z` with A = Z @ T @ Z.T.

    A: shape (…, n, n), as have T and Z (complex: the conjugate transpose). Z is orthogonal, T upper
    triangular; a real T has a block of two rows for each pair of complex eigenvalues. output:
    "real", or "complex" for a complex decomposition of real matrices. sort: eigenvalues that come
    first: "lhp" (real part below 0), "rhp" (not below 0), "iuc" (absolute value up to 1), "ouc"
    (above 1). Has no gradient. Raises `ValueError`, `NDimError`, `ShapeError`.

    >>> from rewrite_engine.tensor.linalg import schur
    >>> schur([[1.0, 2.0], [0.0, 3.0]]).T.eval()
    array([[1., 2.],
           [0., 3.]])
    """
    check_order(output, sort)
    return Schur(output, sort).lifted(*floats(A))


def eigvalsh(a: TensorLike, b: TensorLike | None = None, lower: bool = True) -> TensorVariable:
    """Return the eigenvalues, rising, of symmetric or Hermitian matrices (see `eigh`)."""
    return eigh(a, b, lower)[0]


_COMPLETE = {"full": True, "complete": True, "economic": False, "reduced": False}


@overload
def qr(A: TensorLike, mode: typed.QRMode = "full", overwrite_a: bool = False,
       pivoting: Literal[False] = False, lwork: int | None = None
       ) -> typed.QRFactors: ...  # fmt: skip
@overload
def qr(A: TensorLike, mode: typed.QRMode = "full", overwrite_a: bool = False, *,
       pivoting: Literal[True], lwork: int | None = None
       ) -> typed.PivotedQRFactors: ...  # fmt: skip
@overload
def qr(A: TensorLike, mode: str, overwrite_a: bool = False, pivoting: bool = False,
       lwork: int | None = None) -> Any: ...  # fmt: skip
def qr(A: TensorLike, mode: str = "full", overwrite_a: bool = False, pivoting: bool = False,
       lwork: int | None = None) -> Any:  # fmt: skip
    """Return the QR decompositions of matrices: A = Q @ R with orthonormal columns of `Q`.

    A: shape (…, m, n), floats. mode: "full" ("complete"): Q is square; "economic" ("reduced"): Q
    has min(m, n) columns; "r": R alone, with m rows; "raw" is refused (`ValueError`). pivoting:
    decompose A[:, P]; P, an additional int32 output, orders the columns so that the sizes on the
    diagonal of R fall. overwrite_a and lwork have no effect. Raises `NDimError`. There are
    gradients if the first columns of A are independent; with a square Q only if m <= n (else
    `NullTypeGradError`, or `ShapeError` at run time if that is not known before).

    >>> from rewrite_engine.tensor.linalg import qr
    >>> qr([[1.0, 2.0], [0.0, 2.0]], pivoting=True)[2].eval()
    array([1, 0], dtype=int32)
    """
    if mode not in (*_COMPLETE, "r"):
        what = f"mode must be one of {[*_COMPLETE, 'r']}, not {mode!r}"
        raise ValueError(located(f"qr: {what}"))
    (a,) = floats(A)
    whole = QR(_COMPLETE.get(mode, False), bool(pivoting)).lifted(a)
    if mode == "r":
        rows, columns = lengths(a)[-2:]
        zero = [(0, 0)] * (a.type.ndim - 2) + [(0, rows - smaller(rows, columns)), (0, 0)]
        return (pad(whole.R, zero), whole.P) if pivoting else pad(whole.R, zero)
    return whole


def expm(A: TensorLike) -> TensorVariable:
    """Return the exponentials of square matrices, shape (…, n, n). Raise `NDimError`,
    `ShapeError`.
    """
    return Expm().lifted(*floats(A))
